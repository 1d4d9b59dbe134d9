//! What a tool call would do, in the words that policy judges.

use serde::{Deserialize, Serialize};

/// One thing that a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Reads a file or lists a folder.
    Read(Target),
    /// Makes or changes a file.
    Write(Target),
    /// Removes a file.
    Delete(Target),
    /// Runs shell text, as it would go to `bash -c`.
    Shell(String),
    /// Runs these words, without a shell.
    Words(Vec<String>),
    /// Reaches a host.
    Network(String),
    /// Uses a secret of the key store, by its name.
    Secret(String),
    /// Does something in git, as one class of the permission matrix.
    Git(GitOperation),
    /// Lets something work that a stranger may have written, such as a filter of a repository. The
    /// trust is for exactly this content.
    Trust {
        /// What it is, with the hash of its content: `git:9f2c…`.
        what: String,
        /// What a person sees of it.
        shown: Vec<String>,
    },
    /// Touches nothing but the run's own notes: `todo`, `finish`, `ask_person`.
    Nothing,
}

/// A file, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// Where it lies.
    pub place: Place,
    /// The path relative to that place; resolved once it is used.
    pub path: String,
}

/// A tree of files that policy knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The run's own tree.
    Worktree,
    /// A portal, by its name.
    Portal(String),
    /// The folder of the skill that is active; it is only read.
    Skill,
}

/// What is done in git, as the permission matrix has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GitOperation {
    /// Status, differences, history: nothing changes.
    Read,
    /// Add, commit and stash, in the run's own tree.
    Commit,
    /// A new branch.
    BranchCreate,
    /// Another commit in the tree.
    Checkout,
    /// Revert, cherry-pick, soft reset: new history, nothing rewritten that others have.
    History,
    /// Fetch and pull.
    Remote,
    /// A clone into a temporary folder.
    Clone,
    /// Push. Never.
    Push,
    /// Merge. Never: a person merges a changeset.
    Merge,
    /// Hard reset, amend, rebase, filter. Never.
    Rewrite,
}
