//! Why a path beneath a root was not used.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::{FileError, Op, Refusal};

/// Why a path beneath a root was not used. Nothing was changed, unless the system failed half way
/// and says so.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// The path leads out of the root: by `..`, by a link, or because it is another absolute path.
    #[error("`{}` leads outside of `{}`: {how}", path.display(), root.display())]
    Outside {
        /// What was asked for.
        path: PathBuf,
        /// The root.
        root: PathBuf,
        /// What leads out.
        how: String,
    },
    /// Another file system or a bound folder is mounted there; what it shows lies elsewhere.
    #[error("`{}` crosses a mount point at `{}`, so its files lie outside", path.display(), at.display())]
    Mount {
        /// What was asked for.
        path: PathBuf,
        /// Where the mount begins.
        at: PathBuf,
    },
    /// The guard said no.
    #[error("`{}` may not be {op}: {}", resolved.display(), refusal.reason)]
    Refused {
        /// What was asked for.
        path: PathBuf,
        /// The path it really has.
        resolved: PathBuf,
        /// What was to be done.
        op: Op,
        /// Rule and reason.
        refusal: Refusal,
    },
    /// The file has more names than were found inside; one of them may lie outside.
    #[error(
        "`{}` is a hard link: the file has {links} names and {found} of them were found inside \
         ({searched} entries searched), so it may be a file from outside",
        path.display()
    )]
    NamedElsewhere {
        /// What was asked for.
        path: PathBuf,
        /// How many names the file has.
        links: u64,
        /// How many lie beneath the root.
        found: u64,
        /// How many entries of the tree were looked at.
        searched: usize,
    },
    /// The folder is not empty.
    #[error("`{}` is a folder that is not empty; remove what is in it first", path.display())]
    NotEmpty {
        /// What was asked for.
        path: PathBuf,
    },
    /// The root itself is only ever read.
    #[error("`{}` is the root itself, which is neither written nor removed", path.display())]
    IsRoot {
        /// What was asked for.
        path: PathBuf,
    },
    /// The tree changed each time between looking and opening.
    #[error("`{}` kept changing while it was opened; try again when nothing else moves it", path.display())]
    Unsteady {
        /// What was asked for.
        path: PathBuf,
    },
    /// The kernel cannot open files beneath a folder, and nothing else is safe.
    #[error(
        "this system cannot open files beneath a folder (openat2, Linux 5.6 or newer): {cause}"
    )]
    Unsupported {
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The file itself: missing, of the wrong kind, too large, not permitted.
    #[error(transparent)]
    File(#[from] FileError),
}

impl RootError {
    /// Tells whether nothing is there under that name.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::File(error) if error.system_kind() == Some(io::ErrorKind::NotFound))
    }

    /// Makes the function that puts words around what the system said.
    pub(super) fn system(path: &Path, doing: &'static str) -> impl FnOnce(Errno) -> Self {
        let path = path.to_owned();
        move |cause| Self::File(FileError::system(&path, doing)(cause))
    }
}

/// How one attempt ended without success.
pub(super) enum Stop {
    /// Somebody changed the tree in between: look again.
    Changed,
    /// Looking again would not help.
    Failed(RootError),
}

impl<E: Into<RootError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}
