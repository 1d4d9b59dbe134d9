//! What can go wrong with a file, with its path and what the system said.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

/// Why a file or folder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path ends in no name: it is empty, a root, or ends in `..`.
    #[error("`{}` names no file", path.display())]
    NoName {
        /// What was asked for.
        path: PathBuf,
    },
    /// Something else stands where the file or folder should be.
    #[error("`{}` is {found}; {wanted} was expected", path.display())]
    Other {
        /// What was asked for.
        path: PathBuf,
        /// What is there.
        found: Found,
        /// What should be there.
        wanted: Found,
    },
    /// The file must be new and is not.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// What was asked for.
        path: PathBuf,
    },
    /// The file holds more than the caller takes.
    #[error("`{}` is larger than {most} bytes", path.display())]
    TooLarge {
        /// What was asked for.
        path: PathBuf,
        /// The bound.
        most: u64,
    },
    /// The system refused.
    #[error("could not {doing} `{}`: {cause}", path.display())]
    System {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// An ordinary file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl FileError {
    /// Returns the path that the error is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::NoName { path }
            | Self::Other { path, .. }
            | Self::Exists { path }
            | Self::TooLarge { path, .. }
            | Self::System { path, .. } => path,
        }
    }

    /// Returns the sort of error the system reported, if it was the system: callers tell a full
    /// disk or a missing file apart by it.
    pub fn system_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::System { cause, .. } => Some(cause.kind()),
            _ => None,
        }
    }

    /// Makes the function that puts words around what the system said.
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

impl Found {
    pub(crate) fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Special => "a pipe, a socket or a device",
        })
    }
}
