//! Git as Artel runs it: by absolute path, in an environment of its own, with everything switched
//! off that a repository could make it start.
//!
//! A repository is data that somebody else may have written. Its hooks, pagers, editors, helpers
//! and drivers are never run; what cannot be switched off on the command line, such as a filter
//! that changes file contents, is reported as a [`Danger`] before anything else is done.
//!
//! A run works in a [`RunTree`] of its own, and only a person's word puts its changes in place. The
//! commits of a plan are made on a [`Line`], and only a person's word merges them.
#![warn(missing_docs)]

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
