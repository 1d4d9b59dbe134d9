//! The system calls that open one name or a whole path beneath a root, without links.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::error::{RootAttemptError, RootFolderError};
use super::{FileMetadata, RootFolder};
use crate::directory::FolderHandle;

/// Number of retries after EAGAIN, which the kernel returns when a rename happens while it
/// checks a path.
const MOST_AGAINS: u32 = 64;

impl RootFolder {
    /// Opens a resolved path beneath the root; any link in it is an error.
    pub(super) fn open_at(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.open_below(&self.handle, path, flags)
    }

    /// Opens a path without links beneath a folder beneath the root.
    pub(super) fn open_below(
        &self,
        folder: impl AsFd,
        path: &Path,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        let resolve = self.resolve | ResolveFlags::NO_SYMLINKS;
        open_beneath(folder, path.as_os_str(), flags, resolve)
    }

    /// Opens one name in a folder, a link as a link.
    pub(super) fn open_name(
        &self,
        folder: impl AsFd,
        name: &OsStr,
        flags: OFlags,
    ) -> Result<OwnedFd, Errno> {
        open_beneath(folder, name, flags | OFlags::NOFOLLOW, self.resolve)
    }

    /// Opens a path that was just looked at and judged. If it is gone, or a link is in the
    /// way, the tree has changed.
    pub(super) fn reopen(
        &self,
        asked: &Path,
        resolved: &Path,
        flags: OFlags,
    ) -> Result<(OwnedFd, FileMetadata), RootAttemptError> {
        let handle = self
            .open_at(resolved, flags)
            .map_err(|cause| changed_or(asked, cause))?;
        let about = about(&handle, asked)?;
        Ok((handle, about))
    }

    /// Opens a folder that was just looked at, so that names in it can be changed.
    pub(super) fn folder(
        &self,
        asked: &Path,
        resolved: &Path,
    ) -> Result<FolderHandle, RootAttemptError> {
        let (handle, _) = self.reopen(asked, resolved, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(FolderHandle { handle })
    }

    /// Fails unless the open folder lies at that path right now.
    pub(super) fn still_at(
        &self,
        asked: &Path,
        folder: &FolderHandle,
        resolved: &Path,
    ) -> Result<(), RootAttemptError> {
        let (_, there) = self.reopen(asked, resolved, OFlags::PATH | OFlags::DIRECTORY)?;
        if there.identity == about(&folder.handle, asked)?.identity {
            return Ok(());
        }
        Err(RootAttemptError::Changed)
    }
}

/// Returns the metadata of an open file.
pub(super) fn about(handle: impl AsFd, asked: &Path) -> Result<FileMetadata, RootFolderError> {
    let stat = rustix::fs::fstat(handle).map_err(RootFolderError::system(asked, "look at"))?;
    Ok(FileMetadata::of(&stat))
}

/// Classifies the system error for a path that was there a moment ago: the tree changed,
/// or a real failure.
pub(super) fn changed_or(asked: &Path, cause: Errno) -> RootAttemptError {
    match cause {
        Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::XDEV | Errno::AGAIN => {
            RootAttemptError::Changed
        }
        cause => RootAttemptError::Failed(RootFolderError::system(asked, "open")(cause)),
    }
}

fn open_beneath(
    folder: impl AsFd,
    path: &OsStr,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC;
    let mut said = Errno::AGAIN;
    for _ in 0..MOST_AGAINS {
        match rustix::fs::openat2(&folder, path, flags, Mode::empty(), resolve) {
            Err(cause @ (Errno::AGAIN | Errno::INTR)) => said = cause,
            done => return done,
        }
    }
    Err(said)
}
