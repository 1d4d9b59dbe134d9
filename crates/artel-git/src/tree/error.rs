//! Why a run's tree could not be made, kept or used.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::GitError;

/// Why something about a run's tree failed.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The system refused.
    #[error("could not {doing} `{}`: {cause}", path.display())]
    System {
        /// What was being done.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A link stands in the way, so the path would lead to another place.
    #[error("`{}` leads through a link or a mount point, so its file lies elsewhere", path.display())]
    LedAway {
        /// The path.
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
        /// The folder.
        folder: PathBuf,
        /// How many files it holds.
        files: usize,
        /// How many bytes it holds.
        bytes: u64,
        /// The bound on files.
        most_files: usize,
        /// The bound on bytes.
        most_bytes: u64,
        /// The largest folders in it, with their sizes.
        largest: String,
    },
    /// What was named is not there, or not below the folder.
    #[error("`{}` is not a file or folder below `{}`", path.display(), folder.display())]
    NotBelow {
        /// What was named.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// There is a tree already.
    #[error("`{}` holds a run's tree already", at.display())]
    Exists {
        /// The run's folder.
        at: PathBuf,
    },
    /// No tree was made there, or its making was cut short.
    #[error("`{}` holds no run's tree; make it anew", at.display())]
    NotMade {
        /// The run's folder.
        at: PathBuf,
    },
    /// There is no snapshot of that name.
    #[error("there is no snapshot `{label}`")]
    NoSnapshot {
        /// The name.
        label: String,
    },
    /// A snapshot cannot have that name.
    #[error("`{label}` cannot name a snapshot; use letters, digits, `-` and `_`")]
    BadLabel {
        /// The name.
        label: String,
    },
    /// Something of the run's own records cannot be read.
    #[error("`{}` is damaged: {why}", path.display())]
    Damaged {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Another process is putting files there, and does not end.
    #[error(
        "another process is putting files in place in `{}` and does not end, so nothing was written",
        folder.display()
    )]
    Occupied {
        /// The folder.
        folder: PathBuf,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file of the workshop's own failed.
    #[error(transparent)]
    File(#[from] artel_files::FileError),
}

/// Why nothing was put in place.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The person changed, made or removed these since the run began.
    #[error(
        "these were touched since the run began, so nothing was written: {}",
        names(paths)
    )]
    Touched {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// A run may not put these in place.
    #[error("these are protected, so nothing was written: {}", names(paths))]
    Protected {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// These were asked for, and the run did not change them.
    #[error(
        "the run did not change these, so nothing was written: {}",
        names(paths)
    )]
    Unchanged {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// A write failed, and what had been written was taken back.
    #[error("`{}` could not be put in place; everything is as it was before", path.display())]
    TakenBack {
        /// Where it failed.
        path: PathBuf,
        /// Why.
        #[source]
        cause: Box<TreeError>,
    },
    /// A write failed, and so did taking back. The plan is kept: trying again goes on with it.
    #[error(
        "`{}` could not be put in place, and `{}` could not be put back; mend the cause and try again",
        path.display(), stuck.display()
    )]
    Halfway {
        /// Where it failed.
        path: PathBuf,
        /// What could not be put back.
        stuck: PathBuf,
        /// Why the first failed.
        #[source]
        cause: Box<TreeError>,
    },
    /// Nothing was written.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

impl TreeError {
    /// Makes the function that puts words around what the system said.
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

    /// The same for a path beneath a root, where a link in the way has an error of its own.
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

/// Writes paths one after the other, the first of them where they are many.
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
