//! Why a line could not be made or used, and why a merge was refused.

use std::path::PathBuf;

use crate::tree::error::names;
use crate::{ApplyError, GitError, TreeError};

use super::threeway::Conflict;

/// Why something about a line failed.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
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
    /// The person's repository borrows objects of another.
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
        /// What it borrows from.
        from: PathBuf,
        /// The file of its own that says so.
        list: PathBuf,
    },
    /// A folder or file of the person's repository is a link.
    #[error(
        "in the repository of `{}` there is a link where git keeps objects, and agents see nothing \
         of what lies outside; try a plain copy in the place of `{}`",
        folder.display(),
        link.display()
    )]
    LinkedObjects {
        /// The person's folder.
        folder: PathBuf,
        /// The link.
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
    /// The person's repository is not where it was.
    #[error("the git repository of `{}` is gone", folder.display())]
    Gone {
        /// The person's folder.
        folder: PathBuf,
    },
    /// No line was made there, or its making was cut short.
    #[error("`{}` holds no line of commits; make it anew", at.display())]
    NotMade {
        /// The line's folder.
        at: PathBuf,
    },
    /// Something of the line's own records cannot be read.
    #[error("`{}` is damaged: {why}", path.display())]
    Damaged {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What was named is neither the whole name of an object nor of a branch.
    #[error("`{name}` is neither the whole id of a commit nor the name of a branch")]
    BadName {
        /// The name.
        name: String,
    },
    /// The tree was not checked out of a line.
    #[error("the files of `{}` were not checked out of a commit", files.display())]
    NoCheckout {
        /// The tree's files.
        files: PathBuf,
    },
    /// A branch is not where it was expected.
    #[error(
        "the branch `{branch}` moved: it is at {}; look at it, then try again",
        found.as_deref().unwrap_or("nothing any more")
    )]
    Moved {
        /// The branch.
        branch: String,
        /// Where it is now.
        found: Option<String>,
    },
    /// The person has a branch of that name with work of theirs.
    #[error(
        "there is a branch `{branch}` already, with commits of somebody else's; take another name"
    )]
    Taken {
        /// The branch.
        branch: String,
    },
    /// The person has the branch checked out, so it cannot be moved or removed under their files.
    #[error(
        "the branch `{branch}` is checked out in `{}`; switch to another there first (`git switch -`)",
        at.display()
    )]
    CheckedOut {
        /// The branch.
        branch: String,
        /// Where.
        at: PathBuf,
    },
    /// There is no commit on the branch, so there is nothing to bring over.
    #[error("the branch `{branch}` has no commit")]
    Empty {
        /// The branch.
        branch: String,
    },
    /// The person switched branches between the plan and the deed.
    #[error(
        "another branch was checked out since the merge into `{branch}` was planned; plan it anew"
    )]
    Switched {
        /// The branch to merge into.
        branch: String,
    },
    /// The person changed these between the plan and the deed; nothing is changed.
    #[error(
        "you changed these meanwhile, so nothing was merged: {}; commit or stash them, then try again",
        names(files)
    )]
    Dirty {
        /// Which.
        files: Vec<PathBuf>,
    },
    /// Something of the person's is under way in their repository.
    #[error("{why}")]
    Busy {
        /// What, and what to do about it.
        why: String,
    },
    /// Files could not be written into the person's folder.
    #[error(transparent)]
    Placing(#[from] ApplyError),
    /// A tree or a file failed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A file of the workshop's own failed.
    #[error(transparent)]
    File(#[from] artel_files::FileError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Why a merge, an undo or a redo was not even begun. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum MergeRefused {
    /// The branch has moved, and says something else in the same places.
    #[error(
        "`{into}` changed the same places: {}; take the changes of `{into}` into the branch and \
         approve again, or merge by hand with `git merge --no-ff`",
        names(&conflicts.iter().map(|one| one.path.clone()).collect::<Vec<_>>())
    )]
    Conflict {
        /// The branch to merge into.
        into: String,
        /// Where, with both sides.
        conflicts: Vec<Conflict>,
    },
    /// The person has changes of their own in the same files.
    #[error(
        "you have changes of your own in the same files: {}; commit them or put them aside with \
         `git stash --include-untracked`, then try again",
        names(files)
    )]
    Dirty {
        /// Which.
        files: Vec<PathBuf>,
    },
    /// Files are not on disk as they are in commits, and what converts them is never run here.
    #[error(
        "git converts these between commit and disk (filter, eol, encoding), which is never done \
         here: {}; merge by hand with `git merge --no-ff`",
        names(files)
    )]
    Converted {
        /// Which.
        files: Vec<PathBuf>,
    },
    /// There is no such branch.
    #[error(
        "there is no branch `{branch}` any more; name another, or make it with `git branch {branch}`"
    )]
    NoBranch {
        /// The branch.
        branch: String,
    },
    /// Something of the person's is under way in their repository.
    #[error("{why}")]
    Busy {
        /// What, and what to do about it.
        why: String,
    },
    /// The branch is checked out in another worktree.
    #[error(
        "`{branch}` is checked out in the worktree `{}`; merge there with `git merge --no-ff`, or \
         switch it to another branch",
        at.display()
    )]
    Elsewhere {
        /// The branch.
        branch: String,
        /// Where.
        at: PathBuf,
    },
    /// The branch has all of it already.
    #[error("`{into}` has all of it already")]
    Already {
        /// The branch.
        into: String,
    },
    /// What is to be taken back is not on the branch.
    #[error("{commit} is not on `{into}`, so it cannot be taken back there")]
    NotThere {
        /// The commit.
        commit: String,
        /// The branch.
        into: String,
    },
    /// It could not be found out.
    #[error(transparent)]
    Line(#[from] LineError),
}

impl From<TreeError> for MergeRefused {
    fn from(error: TreeError) -> Self {
        Self::Line(error.into())
    }
}

impl From<GitError> for MergeRefused {
    fn from(error: GitError) -> Self {
        Self::Line(error.into())
    }
}
