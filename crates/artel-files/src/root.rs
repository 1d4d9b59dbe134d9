//! A folder held open, through whose handle everything beneath it is used.
//!
//! A path is used in three steps. *Look*: it is followed component by component, links
//! included, without ever opening anything outside; the result is a relative path free of
//! links. *Judge*: the guard decides about that path. *Use*: the kernel opens exactly that
//! path beneath the root and refuses any link in it (`openat2` with `RESOLVE_BENEATH` and
//! `RESOLVE_NO_SYMLINKS`). If the tree changes between the steps, the last one fails and
//! all three start over, a bounded number of times. The guard never approves one file
//! while another is used.
//!
//! Changes to a folder are made through its handle. Before and after the change, the
//! handle is checked to lie where it was judged; if it does not, the change is undone. One
//! gap remains: a process that may move folders out of the root can carry a changed folder
//! along between the change and the second check. It could as well have written there
//! itself.
//!
//! Mount points are not crossed: a bind-mounted folder shows files that lie elsewhere.

mod beneath;
mod error;
mod names;
mod read;
mod remove;
mod walk;
mod write;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

pub use error::RootFolderError;
pub use names::MOST_ENTRIES_SEARCHED;
pub use read::{FolderEntry, FolderListing, OpenedFile};
pub use write::WrittenFile;

use crate::{FileAccessGuard, FileAccessKind, FileEntryKind};
use error::RootAttemptError;
use walk::FinalLinkHandling;

/// Number of attempts while the tree changes underneath.
const MOST_TRIES: u32 = 32;

/// A folder held open. Every access goes through its handle: the folder may be renamed,
/// and a link put in its place misleads nobody.
#[derive(Debug)]
pub struct RootFolder {
    handle: OwnedFd,
    /// The path the root was opened with, made absolute; absolute paths may begin with it.
    given: PathBuf,
    /// The path without links; absolute paths may begin with it too.
    real: PathBuf,
    resolve: ResolveFlags,
}

/// The place that a path leads to beneath the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedRootPath {
    /// The path relative to the root, without links; empty for the root itself.
    pub path: PathBuf,
    /// What is there, or `None` if it would have to be created.
    pub about: Option<FileMetadata>,
}

/// What is known about a file or folder without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMetadata {
    /// The kind of entry.
    pub found: FileEntryKind,
    /// Identifies the file whatever its name.
    pub identity: FileIdentity,
    /// The file's length in bytes.
    pub length: u64,
    /// The permission bits.
    pub mode: u32,
    /// Time of the last change, in nanoseconds since 1970. If identity, length and this time
    /// are all unchanged, the file has not been written since.
    pub changed_ns: i128,
    links: u64,
    owner: (u32, u32),
}

/// Identifies a file whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    /// The device the file lies on.
    pub device: u64,
    /// The inode number on that device.
    pub inode: u64,
}

impl RootFolder {
    /// Opens a folder as a root. Links in the folder's own path are followed here, once.
    pub fn open(dir: &Path) -> Result<Self, RootFolderError> {
        let failed = |doing| RootFolderError::system(dir, doing);
        let io = |cause: std::io::Error| Errno::from_io_error(&cause).unwrap_or(Errno::INVAL);
        let given = std::path::absolute(dir)
            .map_err(io)
            .map_err(failed("find"))?;
        let real = given.canonicalize().map_err(io).map_err(failed("find"))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&real, flags, rustix::fs::Mode::empty())
            .map_err(failed("open the folder"))?;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
        let root = Self {
            handle,
            given,
            real,
            resolve,
        };
        match root.open_at(Path::new(""), OFlags::PATH) {
            Ok(_) => Ok(root),
            // Some containers forbid the call although the kernel knows it.
            Err(cause @ (Errno::NOSYS | Errno::PERM)) => Err(RootFolderError::Unsupported {
                cause: cause.into(),
            }),
            Err(cause) => Err(failed("open the folder")(cause)),
        }
    }

    /// Lets paths cross mount points beneath the root, for trees that a person has built from
    /// several file systems on purpose.
    #[must_use]
    pub fn across_mounts(mut self) -> Self {
        self.resolve.remove(ResolveFlags::NO_XDEV);
        self
    }

    /// Returns the path of the root when it was opened, without links.
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// Follows a path to its target, links included. A path that does not exist yet resolves
    /// too.
    ///
    /// The answer holds for this moment only: use it for showing and judging, never for
    /// opening. Reading and writing take the original path and resolve it again.
    pub fn resolve(&self, path: &Path) -> Result<ResolvedRootPath, RootFolderError> {
        self.steadily(path, || {
            Ok(walk::walk(self, path, FinalLinkHandling::Follow)?.resolved())
        })
    }

    /// Like [`RootFolder::resolve`], but a link at the end of the path is not followed.
    pub fn look(&self, path: &Path) -> Result<ResolvedRootPath, RootFolderError> {
        self.steadily(path, || {
            Ok(walk::walk(self, path, FinalLinkHandling::Keep)?.resolved())
        })
    }

    /// Repeats an attempt while the tree changes underneath, up to a bound.
    fn steadily<T>(
        &self,
        path: &Path,
        mut attempt: impl FnMut() -> Result<T, RootAttemptError>,
    ) -> Result<T, RootFolderError> {
        for _ in 0..MOST_TRIES {
            match attempt() {
                Ok(done) => return Ok(done),
                Err(RootAttemptError::Failed(error)) => return Err(error),
                Err(RootAttemptError::Changed) => {}
            }
        }
        Err(RootFolderError::Unsteady {
            path: path.to_owned(),
        })
    }
}

impl FileMetadata {
    fn of(stat: &Stat) -> Self {
        Self {
            found: FileEntryKind::of(FileType::from_raw_mode(stat.st_mode)),
            identity: FileIdentity {
                device: stat.st_dev,
                inode: stat.st_ino,
            },
            length: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode & 0o7777,
            changed_ns: i128::from(stat.st_ctime) * 1_000_000_000 + i128::from(stat.st_ctime_nsec),
            links: stat.st_nlink,
            owner: (stat.st_uid, stat.st_gid),
        }
    }
}

/// Asks the guard about a resolved path and turns its refusal into an error.
fn ask(
    guard: &dyn FileAccessGuard,
    asked: &Path,
    resolved: &Path,
    op: FileAccessKind,
) -> Result<(), RootFolderError> {
    guard
        .judge(resolved, op)
        .map_err(|refusal| RootFolderError::Refused {
            path: asked.to_owned(),
            resolved: resolved.to_owned(),
            op,
            refusal,
        })
}

#[cfg(test)]
mod tests;
