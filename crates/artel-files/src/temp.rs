//! Unfinished files, written beside their target under a unique name.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use crate::directory::FolderHandle;
use crate::{FileError, FileIdentity};

/// Prefix of the names of unfinished files.
pub const TEMP_PREFIX: &str = ".artel-tmp-";

/// Number of names tried before giving up. A taken name means that somebody is
/// interfering.
const MOST_TRIES: u32 = 1000;

/// Prefix of the names of this process's unfinished files. Process ids repeat, in a
/// container nearly always; the random part does not.
static OURS: LazyLock<String> = LazyLock::new(|| {
    let lot = RandomState::new().hash_one(());
    format!("{TEMP_PREFIX}{}-{lot:016x}-", std::process::id())
});

/// Returns whether this is the name of an unfinished file.
pub fn is_unfinished(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes())
}

/// Returns whether this is the name of another process's unfinished file. In a folder
/// where no other process writes, a crash has left it.
pub fn is_leftover(name: &OsStr) -> bool {
    is_unfinished(name) && !name.as_encoded_bytes().starts_with(OURS.as_bytes())
}

/// An unfinished file. Dropping it removes it; only a rename keeps its bytes.
pub(crate) struct UnfinishedFile<'f> {
    folder: &'f FolderHandle,
    name: String,
    is_there: bool,
}

impl<'f> UnfinishedFile<'f> {
    /// Writes the bytes durably to a new file in the folder. `path` is the target, for error
    /// messages.
    pub(crate) fn write(
        folder: &'f FolderHandle,
        path: &Path,
        bytes: &[u8],
        mode: u32,
    ) -> Result<Self, FileError> {
        let (temp, mut file) = Self::create(folder, path, mode)?;
        file.write_all(bytes)
            .map_err(FileError::system(path, "write"))?;
        file.sync_all().map_err(FileError::system(path, "sync"))?;
        Ok(temp)
    }

    /// Moves the entry called `name` aside, to a unique name. Unlike a file we created, it is
    /// not removed when this is dropped.
    pub(crate) fn aside(folder: &'f FolderHandle, name: &OsStr) -> Result<Self, Errno> {
        let flags = RenameFlags::NOREPLACE;
        let handle = &folder.handle;
        for _ in 0..MOST_TRIES {
            let aside = fresh_name();
            match rustix::fs::renameat_with(handle, name, handle, &aside, flags) {
                Ok(()) => {
                    let (name, is_there) = (aside, false);
                    return Ok(Self {
                        folder,
                        name,
                        is_there,
                    });
                }
                Err(Errno::EXIST) => {}
                Err(cause) => return Err(cause),
            }
        }
        Err(Errno::EXIST)
    }

    fn create(folder: &'f FolderHandle, path: &Path, mode: u32) -> Result<(Self, File), FileError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut said = Errno::EXIST;
        for _ in 0..MOST_TRIES {
            let name = fresh_name();
            match rustix::fs::openat(&folder.handle, &name, flags, Mode::from_raw_mode(mode)) {
                Ok(handle) => {
                    let is_there = true;
                    return Ok((
                        Self {
                            folder,
                            name,
                            is_there,
                        },
                        File::from(handle),
                    ));
                }
                Err(Errno::EXIST) => {}
                Err(cause) => {
                    said = cause;
                    break;
                }
            }
        }
        Err(FileError::system(path, "make an unfinished file beside")(
            said,
        ))
    }

    /// Renames the file to `name`, replacing any ordinary file there.
    pub(crate) fn replace(mut self, name: &OsStr) -> Result<(), Errno> {
        let folder = &self.folder.handle;
        rustix::fs::renameat(folder, &self.name, folder, name)?;
        self.is_there = false;
        Ok(())
    }

    /// Sets the file's permissions and, where the system allows it, its owner.
    pub(crate) fn take_after(&self, mode: u32, (user, group): (u32, u32)) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.folder.handle, &self.name, flags, Mode::empty())?;
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        // Only root may give files away; for everyone else the file stays the writer's.
        let _ = rustix::fs::fchown(&handle, Some(user), Some(group));
        rustix::fs::fchmod(&handle, Mode::from_raw_mode(mode))
    }

    /// Exchanges the file with the entry called `name`. From then on dropping this removes
    /// that entry.
    pub(crate) fn exchange(&self, name: &OsStr) -> Result<(), Errno> {
        let folder = &self.folder.handle;
        rustix::fs::renameat_with(folder, &self.name, folder, name, RenameFlags::EXCHANGE)
    }

    /// Returns the identity of the file, or `None` if it cannot be looked up.
    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let stat = rustix::fs::statat(&self.folder.handle, &self.name, flags).ok()?;
        Some(FileIdentity {
            device: stat.st_dev,
            inode: stat.st_ino,
        })
    }

    pub(crate) fn remove(&self, flags: AtFlags) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.folder.handle, &self.name, flags)
    }

    /// Moves the entry that was moved aside back to `name`.
    pub(crate) fn put_back(&mut self, name: &OsStr) -> Result<(), Errno> {
        let (folder, flags) = (&self.folder.handle, RenameFlags::NOREPLACE);
        rustix::fs::renameat_with(folder, &self.name, folder, name, flags)
    }

    /// Renames the file to `name`, failing if the name is taken.
    pub(crate) fn place(mut self, name: &OsStr) -> Result<(), Errno> {
        self.settle(name)
    }

    /// Takes the file away from `name` again, so that dropping this removes it.
    pub(crate) fn unsettle(&mut self, name: &OsStr) {
        let folder = &self.folder.handle;
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(folder, name, folder, &self.name, flags) {
            Ok(()) => self.is_there = true,
            // On such a file system `settle` only added a second name; the first one is still
            // there.
            Err(Errno::INVAL | Errno::NOSYS) => {
                let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
            }
            Err(_) => {}
        }
    }

    /// Like [`UnfinishedFile::place`], but can be undone with [`UnfinishedFile::unsettle`].
    pub(crate) fn settle(&mut self, name: &OsStr) -> Result<(), Errno> {
        let folder = &self.folder.handle;
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(folder, &self.name, folder, name, flags) {
            Ok(()) => {
                self.is_there = false;
                Ok(())
            }
            // This file system does not support the flag. A hard link fails just as surely if
            // the name is taken, and dropping this removes the first name.
            Err(Errno::INVAL | Errno::NOSYS) => {
                rustix::fs::linkat(folder, &self.name, folder, name, AtFlags::empty())
            }
            Err(cause) => Err(cause),
        }
    }
}

pub(crate) fn fresh_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{}{number}", *OURS)
}

impl Drop for UnfinishedFile<'_> {
    fn drop(&mut self) {
        if self.is_there {
            // There is nobody left to report to; the name marks the file as unfinished, and
            // `clean` finds it.
            let _ = rustix::fs::unlinkat(&self.folder.handle, &self.name, AtFlags::empty());
        }
    }
}
