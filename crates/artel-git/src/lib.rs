//! Git as Artel runs it: by absolute path, in an environment of its own, with everything
//! switched off that a repository could make it start.
//!
//! A repository is data that somebody else may have written. Its hooks, pagers, editors,
//! helpers and drivers are never run. Anything that cannot be switched off on the command
//! line, such as a filter that changes file contents, is reported as a [`GitConfigDanger`] before
//! anything else is done.
//!
//! A run works in a [`RunTree`] of its own, and its changes are put in place only when a
//! person says so. The commits of a plan are made on a [`PlanBranch`], and they are merged only
//! when a person says so.

mod danger;
mod git;
mod includes;
mod line;
mod settings;
mod tree;

pub use danger::{GitConfigDanger, GitConfigDangers};
pub use git::{GitError, GitIdentity, GitRunner};
pub use line::{
    BranchLogEntry, CommitDiffStat, CommitOutcome, CommitSpec, FileDiffKind, FileDiffStat,
    GitTreeEntryKind, ManualMerge, ManualMergeKind, MergeConflict, MergeConflictKind,
    MergeRefusedError, MergeSpec, PersonCheckoutState, PlanBranch, PlanBranchError, PreparedMerge,
    UndoSpec,
};
pub use settings::{SettingsFile, repositories_in, settings_files};
pub use tree::{
    FolderWriteTurn, RunTree, RunTreeApplyError, RunTreeApplyOutcome, RunTreeChange,
    RunTreeChangeKind, RunTreeError, RunTreeFingerprint, RunTreeLimits, RunTreeRestoreOutcome,
    RunTreeSnapshot, RunTreeSpec, SHARED_NAMES, SetAsidePath, SetAsideReason, shared_folders,
};

#[cfg(test)]
mod tests;
