//! The actions of a tool call, in the form that the policy judges.

use serde::{Deserialize, Serialize};

/// One action that a call would perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyAction {
    /// Reads a file or lists a folder.
    Read(FileTarget),
    /// Creates or changes a file.
    Write(FileTarget),
    /// Removes a file.
    Delete(FileTarget),
    /// Runs shell text, as it would be passed to `bash -c`.
    Shell(String),
    /// Runs these words, without a shell.
    Words(Vec<String>),
    /// Connects to a host.
    Network(String),
    /// Uses a secret of the key store, by name.
    Secret(String),
    /// Performs a git operation, as a class of the permission matrix.
    Git(GitOperation),
    /// Lets something run that a stranger may have written, such as a filter of a repository.
    /// The trust covers exactly this content.
    Trust {
        /// The trusted thing, with the hash of its content: `git:9f2c…`.
        what: String,
        /// The lines shown to a person.
        shown: Vec<String>,
    },
    /// Touches only the run's own notes: `todo`, `finish`, `ask_person`.
    Nothing,
}

/// A file and the tree it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileTarget {
    /// The tree the file is in.
    pub place: TargetTree,
    /// The path relative to that tree. It is resolved when it is used.
    pub path: String,
}

/// A file tree known to the policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetTree {
    /// The run's own tree.
    Worktree,
    /// A portal, by name.
    Portal(String),
    /// The folder of the active skill, which is read-only.
    Skill,
}

/// A class of git operations in the permission matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GitOperation {
    /// Status, differences, history: changes nothing.
    Read,
    /// Add, commit and stash in the run's own tree.
    Commit,
    /// Creates a branch.
    BranchCreate,
    /// Switches the tree to another commit.
    Checkout,
    /// Revert, cherry-pick, soft reset: adds history without rewriting what others have.
    History,
    /// Fetch and pull.
    Remote,
    /// Clones into a temporary folder.
    Clone,
    /// Push. Never allowed.
    Push,
    /// Merge. Never allowed: a person merges a changeset.
    Merge,
    /// Hard reset, amend, rebase, filter. Never allowed.
    Rewrite,
}
