//! Why a file operation failed, with the path and the system's error.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

/// Why a file or folder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path has no final name: it is empty, a root, or ends in `..`.
    #[error("`{}` names no file", path.display())]
    NoName {
        /// The requested path.
        path: PathBuf,
    },
    /// Another kind of entry stands where the file or folder should be.
    #[error("`{}` is {found}; {wanted} was expected", path.display())]
    Other {
        /// The requested path.
        path: PathBuf,
        /// The kind that is there.
        found: FileEntryKind,
        /// The kind that should be there.
        wanted: FileEntryKind,
    },
    /// The file must be new, but it exists.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The requested path.
        path: PathBuf,
    },
    /// The file is larger than the caller accepts.
    #[error("`{}` is larger than {most} bytes", path.display())]
    TooLarge {
        /// The requested path.
        path: PathBuf,
        /// The limit in bytes.
        most: u64,
    },
    /// A system call failed.
    #[error("could not {doing} `{}`: {cause}", path.display())]
    System {
        /// The file or folder it was about.
        path: PathBuf,
        /// The failed operation, as a verb for the message.
        doing: &'static str,
        /// The error of the system call.
        #[source]
        cause: io::Error,
    },
}

/// The kind of entry that stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileEntryKind {
    /// An ordinary file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it points.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl FileError {
    /// Returns the path the error is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::NoName { path }
            | Self::Other { path, .. }
            | Self::Exists { path }
            | Self::TooLarge { path, .. }
            | Self::System { path, .. } => path,
        }
    }

    /// Returns the kind of the system's error, or `None` for any other cause. Callers use it
    /// to tell a full disk from a missing file.
    pub fn system_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::System { cause, .. } => Some(cause.kind()),
            _ => None,
        }
    }

    /// Returns a function that turns a system error into a [`FileError::System`].
    pub(crate) fn system<E: Into<io::Error>>(
        path: &Path,
        doing: &'static str,
    ) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |cause| Self::System {
            path,
            doing,
            cause: cause.into(),
        }
    }
}

impl FileEntryKind {
    pub(crate) fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}

impl fmt::Display for FileEntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Special => "a pipe, a socket or a device",
        })
    }
}
