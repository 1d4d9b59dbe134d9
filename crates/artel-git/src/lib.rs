//! Git as Artel runs it: by absolute path, in an environment of its own, with everything
//! switched off that a repository could make it start.
//!
//! A repository is data that somebody else may have written. Its hooks, pagers, editors,
//! helpers and drivers are never run. Anything that cannot be switched off on the command
//! line, such as a filter that changes file contents, is reported as a [`Danger`] before
//! anything else is done.
//!
//! A run works in a [`RunTree`] of its own, and its changes are put in place only when a
//! person says so. The commits of a plan are made on a [`Line`], and they are merged only
//! when a person says so.

mod danger;
mod git;
mod includes;
mod line;
mod settings;
mod tree;

pub use danger::{Danger, Dangers};
pub use git::{Git, GitError, Identity};
pub use line::{
    Base, ByHand, Clash, CommitOrder, Committed, Conflict, Entry, FileStat, HandWay, Line,
    LineError, Logged, Merge, MergeOrder, MergeRefused, Stat, StatKind, UndoOrder,
};
pub use settings::{SettingsFile, repositories_in, settings_files};
pub use tree::{
    Applied, ApplyError, Change, ChangeKind, Fingerprint, FolderTurn, Making, Restored, RunTree,
    SHARED_NAMES, SetAside, SetAsideReason, Snapshot, TreeBounds, TreeError, shared_folders,
};

#[cfg(test)]
mod tests;
