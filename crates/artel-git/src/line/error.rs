//! Errors of lines, and refusals of merges.

use std::path::PathBuf;

use crate::tree::error::names;
use crate::{GitError, RunTreeApplyError, RunTreeError};

use super::threeway::MergeConflict;

/// An error of an operation on a line.
#[derive(Debug, thiserror::Error)]
pub enum PlanBranchError {
    /// The person's repository has no commit yet.
    #[error(
        "the repository of `{}` has no commit yet, so there is nothing to branch from; \
         try `git commit --allow-empty -m start`",
        folder.display()
    )]
    NoCommit {
        /// The person's folder.
        folder: PathBuf,
    },
    /// The person's repository borrows objects from another one.
    #[error(
        "the repository of `{}` needs `{}`, which lies outside of it, where agents see nothing; \
         try `git repack -a -d`, then remove `{}`",
        folder.display(),
        from.display(),
        list.display()
    )]
    Borrows {
        /// The person's folder.
        folder: PathBuf,
        /// The object folder it borrows from.
        from: PathBuf,
        /// File in the person's repository that names the other one.
        list: PathBuf,
    },
    /// A link stands where the person's repository keeps objects.
    #[error(
        "in the repository of `{}` there is a link where git keeps objects, and agents see nothing \
         of what lies outside; try a plain copy in the place of `{}`",
        folder.display(),
        link.display()
    )]
    LinkedObjects {
        /// The person's folder.
        folder: PathBuf,
        /// Path of the link.
        link: PathBuf,
    },
    /// The person's folder is in no repository.
    #[error(
        "`{}` is in no git repository, so nothing can be merged there; take the patch instead, \
         or try `git init` and begin again",
        folder.display()
    )]
    Private {
        /// The person's folder.
        folder: PathBuf,
    },
    /// The person's repository is no longer where it was.
    #[error("the git repository of `{}` is gone", folder.display())]
    Gone {
        /// The person's folder.
        folder: PathBuf,
    },
    /// No line was made there, or making it was cut short.
    #[error("`{}` holds no line of commits; make it anew", at.display())]
    NotMade {
        /// The line's folder.
        at: PathBuf,
    },
    /// A record of the line cannot be read.
    #[error("`{}` is damaged: {why}", path.display())]
    Damaged {
        /// Path of the record.
        path: PathBuf,
        /// Reason that it cannot be read.
        why: &'static str,
    },
    /// The name is neither a whole object id nor a valid branch name.
    #[error("`{name}` is neither the whole id of a commit nor the name of a branch")]
    BadName {
        /// Name that was given.
        name: String,
    },
    /// The tree was not checked out from a line.
    #[error("the files of `{}` were not checked out of a commit", files.display())]
    NoCheckout {
        /// Folder with the tree's files.
        files: PathBuf,
    },
    /// A branch is not where it was expected.
    #[error(
        "the branch `{branch}` moved: it is at {}; look at it, then try again",
        found.as_deref().unwrap_or("nothing any more")
    )]
    Moved {
        /// Name of the branch.
        branch: String,
        /// Commit the branch is at now, or `None` if it does not exist.
        found: Option<String>,
    },
    /// The person has a branch of that name with commits of somebody else's.
    #[error(
        "there is a branch `{branch}` already, with commits of somebody else's; take another name"
    )]
    Taken {
        /// Name of the branch.
        branch: String,
    },
    /// The person has the branch checked out, so it cannot be moved or removed under their
    /// files.
    #[error(
        "the branch `{branch}` is checked out in `{}`; switch to another there first (`git switch -`)",
        at.display()
    )]
    CheckedOut {
        /// Name of the branch.
        branch: String,
        /// Working tree that has it checked out.
        at: PathBuf,
    },
    /// The branch has no commit, so there is nothing to bring over.
    #[error("the branch `{branch}` has no commit")]
    Empty {
        /// Name of the branch.
        branch: String,
    },
    /// Another branch was checked out after the merge was planned.
    #[error(
        "another branch was checked out since the merge into `{branch}` was planned; plan it anew"
    )]
    Switched {
        /// Branch to merge into.
        branch: String,
    },
    /// The person changed these files after the merge was planned. Nothing was changed.
    #[error(
        "you changed these meanwhile, so nothing was merged: {}; commit or stash them, then try again",
        names(files)
    )]
    Dirty {
        /// Files that the person changed.
        files: Vec<PathBuf>,
    },
    /// Another git operation is under way in the person's repository.
    #[error("{why}")]
    Busy {
        /// Which operation it is, and what to do about it.
        why: String,
    },
    /// Files could not be written into the person's folder.
    #[error(transparent)]
    Placing(#[from] RunTreeApplyError),
    /// An operation on a run's tree or its files failed.
    #[error(transparent)]
    Tree(#[from] RunTreeError),
    /// A file operation of Artel's own failed.
    #[error(transparent)]
    File(#[from] artel_files::FileError),
    /// A git command failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The reason that a merge, an undo or a redo was not even begun. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum MergeRefusedError {
    /// The branch has moved, and changed the same places in another way.
    #[error(
        "`{into}` changed the same places: {}; take the changes of `{into}` into the branch and \
         approve again, or merge by hand with `git merge --no-ff`",
        names(&conflicts.iter().map(|one| one.path.clone()).collect::<Vec<_>>())
    )]
    Conflict {
        /// Branch to merge into.
        into: String,
        /// The conflicts, with both sides.
        conflicts: Vec<MergeConflict>,
    },
    /// The person has their own changes in the same files.
    #[error(
        "you have changes of your own in the same files: {}; commit them or put them aside with \
         `git stash --include-untracked`, then try again",
        names(files)
    )]
    Dirty {
        /// Files with the person's changes.
        files: Vec<PathBuf>,
    },
    /// Git converts these files between commit and disk, and the conversion is never run here.
    #[error(
        "git converts these between commit and disk (filter, eol, encoding), which is never done \
         here: {}; merge by hand with `git merge --no-ff`",
        names(files)
    )]
    Converted {
        /// Files that git converts.
        files: Vec<PathBuf>,
    },
    /// The branch does not exist.
    #[error(
        "there is no branch `{branch}` any more; name another, or make it with `git branch {branch}`"
    )]
    NoBranch {
        /// Name of the branch.
        branch: String,
    },
    /// Another git operation is under way in the person's repository.
    #[error("{why}")]
    Busy {
        /// Which operation it is, and what to do about it.
        why: String,
    },
    /// The branch is checked out in another worktree.
    #[error(
        "`{branch}` is checked out in the worktree `{}`; merge there with `git merge --no-ff`, or \
         switch it to another branch",
        at.display()
    )]
    Elsewhere {
        /// Name of the branch.
        branch: String,
        /// Path of that worktree.
        at: PathBuf,
    },
    /// The branch already has all of it.
    #[error("`{into}` has all of it already")]
    Already {
        /// Name of the branch.
        into: String,
    },
    /// The commit to be reversed is not on the branch.
    #[error("{commit} is not on `{into}`, so it cannot be taken back there")]
    NotThere {
        /// Id of the commit.
        commit: String,
        /// Name of the branch.
        into: String,
    },
    /// The check itself failed.
    #[error(transparent)]
    Line(#[from] PlanBranchError),
}

impl From<RunTreeError> for MergeRefusedError {
    fn from(error: RunTreeError) -> Self {
        Self::Line(error.into())
    }
}

impl From<GitError> for MergeRefusedError {
    fn from(error: GitError) -> Self {
        Self::Line(error.into())
    }
}
