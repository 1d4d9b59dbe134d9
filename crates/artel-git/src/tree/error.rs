//! Errors of making, keeping and using a run's tree.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::GitError;

/// An error of an operation on a run's tree.
#[derive(Debug, thiserror::Error)]
pub enum RunTreeError {
    /// A system call failed.
    #[error("could not {doing} `{}`: {cause}", path.display())]
    System {
        /// The operation that failed, such as `open`.
        doing: &'static str,
        /// File or folder it was done to.
        path: PathBuf,
        /// Error from the operating system.
        #[source]
        cause: io::Error,
    },
    /// A link is in the way, so the path would lead somewhere else.
    #[error("`{}` leads through a link or a mount point, so its file lies elsewhere", path.display())]
    LedAway {
        /// Path that was to be opened.
        path: PathBuf,
    },
    /// The folder holds more than a run takes along.
    #[error(
        "`{}` holds {files} files and {bytes} bytes, more than a run takes along \
         ({most_files} files, {most_bytes} bytes); the largest folders are {largest}; \
         have git ignore what is not needed, or choose a smaller folder",
        folder.display()
    )]
    TooLarge {
        /// Path of the folder.
        folder: PathBuf,
        /// Number of files in it.
        files: usize,
        /// Number of bytes in it.
        bytes: u64,
        /// Limit on the number of files.
        most_files: usize,
        /// Limit on the number of bytes.
        most_bytes: u64,
        /// The largest folders in it, with their sizes.
        largest: String,
    },
    /// The named path does not exist, or is not below the folder.
    #[error("`{}` is not a file or folder below `{}`", path.display(), folder.display())]
    NotBelow {
        /// Path that was named.
        path: PathBuf,
        /// Folder that it should be below.
        folder: PathBuf,
    },
    /// A tree already exists there.
    #[error("`{}` holds a run's tree already", at.display())]
    Exists {
        /// The run's folder.
        at: PathBuf,
    },
    /// No tree was made there, or making it was cut short.
    #[error("`{}` holds no run's tree; make it anew", at.display())]
    NotMade {
        /// The run's folder.
        at: PathBuf,
    },
    /// There is no snapshot of that name.
    #[error("there is no snapshot `{label}`")]
    NoSnapshot {
        /// Name of the snapshot.
        label: String,
    },
    /// The name is not valid for a snapshot.
    #[error("`{label}` cannot name a snapshot; use letters, digits, `-` and `_`")]
    BadLabel {
        /// Name that was given.
        label: String,
    },
    /// A record of the run cannot be read.
    #[error("`{}` is damaged: {why}", path.display())]
    Damaged {
        /// Path of the record.
        path: PathBuf,
        /// Reason that it cannot be read.
        why: &'static str,
    },
    /// Another process is putting files there, and does not finish.
    #[error(
        "another process is putting files in place in `{}` and does not end, so nothing was written",
        folder.display()
    )]
    Occupied {
        /// Folder that the other process writes to.
        folder: PathBuf,
    },
    /// A git command failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file operation of Artel's own failed.
    #[error(transparent)]
    File(#[from] artel_files::FileError),
}

/// The reason that nothing was put in place.
#[derive(Debug, thiserror::Error)]
pub enum RunTreeApplyError {
    /// The person has changed, made or removed these since the run began.
    #[error(
        "these were touched since the run began, so nothing was written: {}",
        names(paths)
    )]
    Touched {
        /// Paths that the person touched.
        paths: Vec<PathBuf>,
    },
    /// A run may not put these in place.
    #[error("these are protected, so nothing was written: {}", names(paths))]
    Protected {
        /// Protected paths.
        paths: Vec<PathBuf>,
    },
    /// These were requested, but the run did not change them.
    #[error(
        "the run did not change these, so nothing was written: {}",
        names(paths)
    )]
    Unchanged {
        /// Requested paths without a change.
        paths: Vec<PathBuf>,
    },
    /// A write failed, and everything written before it was taken back.
    #[error("`{}` could not be put in place; everything is as it was before", path.display())]
    TakenBack {
        /// Path of the write that failed.
        path: PathBuf,
        /// Reason that it failed.
        #[source]
        cause: Box<RunTreeError>,
    },
    /// A write failed, and so did taking back. The plan is kept, so that another try continues
    /// it.
    #[error(
        "`{}` could not be put in place, and `{}` could not be put back; mend the cause and try again",
        path.display(), stuck.display()
    )]
    Halfway {
        /// Path of the write that failed.
        path: PathBuf,
        /// Path that could not be put back.
        stuck: PathBuf,
        /// Reason that the first write failed.
        #[source]
        cause: Box<RunTreeError>,
    },
    /// Another error. Nothing was written.
    #[error(transparent)]
    Tree(#[from] RunTreeError),
}

impl RunTreeError {
    /// Returns a function that turns an error from the system into one with an operation and a
    /// path.
    pub(crate) fn system<E: Into<io::Error>>(
        doing: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |cause| Self::System {
            doing,
            path,
            cause: cause.into(),
        }
    }

    /// Does the same for a path beneath a root, with an error of its own for a link in the way.
    pub(crate) fn beneath(doing: &'static str, path: &Path) -> impl FnOnce(Errno) -> Self {
        let path = path.to_owned();
        move |cause| match cause {
            Errno::LOOP | Errno::XDEV => Self::LedAway { path },
            cause => Self::System {
                doing,
                path,
                cause: cause.into(),
            },
        }
    }
}

/// Lists the paths in one line; of many, only the first ones.
pub(crate) fn names(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 20;
    let mut shown: Vec<_> = paths
        .iter()
        .take(SHOWN)
        .map(|path| format!("`{}`", path.display()))
        .collect();
    if paths.len() > SHOWN {
        shown.push(format!("and {} more", paths.len() - SHOWN));
    }
    shown.join(", ")
}
