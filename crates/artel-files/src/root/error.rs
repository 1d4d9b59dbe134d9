//! Why a path beneath a root was not used.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::{FileAccessKind, FileAccessRefusal, FileError};

/// Why a path beneath a root was not used. Nothing was changed, unless a system call
/// failed half way and the error says so.
#[derive(Debug, thiserror::Error)]
pub enum RootFolderError {
    /// The path leads out of the root: by `..`, by a link, or as an absolute path elsewhere.
    #[error("`{}` leads outside of `{}`: {how}", path.display(), root.display())]
    Outside {
        /// The requested path.
        path: PathBuf,
        /// The root folder.
        root: PathBuf,
        /// What leads out, as a phrase for the message.
        how: String,
    },
    /// Another file system or a bind-mounted folder is mounted there; its files lie elsewhere.
    #[error("`{}` crosses a mount point at `{}`, so its files lie outside", path.display(), at.display())]
    Mount {
        /// The requested path.
        path: PathBuf,
        /// The mount point.
        at: PathBuf,
    },
    /// The guard refused access.
    #[error("`{}` may not be {op}: {}", resolved.display(), refusal.reason)]
    Refused {
        /// The requested path.
        path: PathBuf,
        /// The path it really has.
        resolved: PathBuf,
        /// The refused access.
        op: FileAccessKind,
        /// The rule and the reason.
        refusal: FileAccessRefusal,
    },
    /// The file has more names than were found inside the root; one of them may lie outside.
    #[error(
        "`{}` is a hard link: the file has {links} names and {found} of them were found inside \
         ({searched} entries searched), so it may be a file from outside",
        path.display()
    )]
    NamedElsewhere {
        /// The requested path.
        path: PathBuf,
        /// Number of names the file has.
        links: u64,
        /// Number of its names found beneath the root.
        found: u64,
        /// Number of entries of the tree that were searched.
        searched: usize,
    },
    /// The folder is not empty.
    #[error("`{}` is a folder that is not empty; remove what is in it first", path.display())]
    NotEmpty {
        /// The requested path.
        path: PathBuf,
    },
    /// The root itself can only be read.
    #[error("`{}` is the root itself, which is neither written nor removed", path.display())]
    IsRoot {
        /// The requested path.
        path: PathBuf,
    },
    /// Every attempt found the tree changed between looking and opening.
    #[error("`{}` kept changing while it was opened; try again when nothing else moves it", path.display())]
    Unsteady {
        /// The requested path.
        path: PathBuf,
    },
    /// The kernel cannot open files beneath a folder, and no other way is safe.
    #[error(
        "this system cannot open files beneath a folder (openat2, Linux 5.6 or newer): {cause}"
    )]
    Unsupported {
        /// The error of the system call.
        #[source]
        cause: io::Error,
    },
    /// The file itself is at fault: missing, of the wrong kind, too large, not permitted.
    #[error(transparent)]
    File(#[from] FileError),
}

impl RootFolderError {
    /// Returns whether the path does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::File(error) if error.system_kind() == Some(io::ErrorKind::NotFound))
    }

    /// Returns a function that turns a system error into a [`RootFolderError`].
    pub(super) fn system(path: &Path, doing: &'static str) -> impl FnOnce(Errno) -> Self {
        let path = path.to_owned();
        move |cause| Self::File(FileError::system(&path, doing)(cause))
    }
}

/// The failure of one attempt.
pub(super) enum RootAttemptError {
    /// The tree changed in between: try again.
    Changed,
    /// Trying again would not help.
    Failed(RootFolderError),
}

impl<E: Into<RootFolderError>> From<E> for RootAttemptError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}
