//! Files on their way: written beside their target under a name that nobody else uses.

use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use crate::directory::Folder;
use crate::{FileError, Identity};

/// How the names of unfinished files begin.
pub const TEMP_PREFIX: &str = ".artel-tmp-";

/// A name that is taken is somebody's mischief: that many are tried before we give up.
const MOST_TRIES: u32 = 1000;

/// How the names of this process's unfinished files begin. The number of a process comes again,
/// in a container nearly always; what is drawn by lot does not.
static OURS: LazyLock<String> = LazyLock::new(|| {
    let lot = RandomState::new().hash_one(());
    format!("{TEMP_PREFIX}{}-{lot:016x}-", std::process::id())
});

/// Tells whether a file's name is that of an unfinished file.
pub fn is_unfinished(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes())
}

/// Tells whether a file's name is that of an unfinished file of another process. In a folder where
/// no other process writes, a crash has left it.
pub fn is_leftover(name: &OsStr) -> bool {
    is_unfinished(name) && !name.as_encoded_bytes().starts_with(OURS.as_bytes())
}

/// An unfinished file. Dropping it removes it; only a rename keeps its bytes.
pub(crate) struct Temp<'f> {
    folder: &'f Folder,
    name: String,
    is_there: bool,
}

impl<'f> Temp<'f> {
    /// Writes the bytes to a new file in the folder, durably. `path` is the target, for messages.
    pub(crate) fn write(
        folder: &'f Folder,
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

    /// Moves whatever stands under `name` aside, to a name that nobody else uses. Unlike a file of
    /// ours it is not removed when this is dropped.
    pub(crate) fn aside(folder: &'f Folder, name: &OsStr) -> Result<Self, Errno> {
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

    fn create(folder: &'f Folder, path: &Path, mode: u32) -> Result<(Self, File), FileError> {
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

    /// Puts the file in the place of `name`, whatever ordinary file was there.
    pub(crate) fn replace(mut self, name: &OsStr) -> Result<(), Errno> {
        let folder = &self.folder.handle;
        rustix::fs::renameat(folder, &self.name, folder, name)?;
        self.is_there = false;
        Ok(())
    }

    /// Gives the file another's permissions, and its owner where the system lets us.
    pub(crate) fn take_after(&self, mode: u32, (user, group): (u32, u32)) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.folder.handle, &self.name, flags, Mode::empty())?;
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        // Only root may give files away; for everyone else the file becomes the writer's.
        let _ = rustix::fs::fchown(&handle, Some(user), Some(group));
        rustix::fs::fchmod(&handle, Mode::from_raw_mode(mode))
    }

    /// Exchanges the file with what stands under `name`: from then on that is what is removed.
    pub(crate) fn exchange(&self, name: &OsStr) -> Result<(), Errno> {
        let folder = &self.folder.handle;
        rustix::fs::renameat_with(folder, &self.name, folder, name, RenameFlags::EXCHANGE)
    }

    /// Returns which file it is.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let stat = rustix::fs::statat(&self.folder.handle, &self.name, flags).ok()?;
        Some(Identity {
            device: stat.st_dev,
            inode: stat.st_ino,
        })
    }

    /// Removes the file.
    pub(crate) fn remove(&self, flags: AtFlags) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.folder.handle, &self.name, flags)
    }

    /// Gives back what was moved aside.
    pub(crate) fn put_back(&mut self, name: &OsStr) -> Result<(), Errno> {
        let (folder, flags) = (&self.folder.handle, RenameFlags::NOREPLACE);
        rustix::fs::renameat_with(folder, &self.name, folder, name, flags)
    }

    /// Puts the file under `name` if nothing is there.
    pub(crate) fn place(mut self, name: &OsStr) -> Result<(), Errno> {
        self.settle(name)
    }

    /// Takes the file away from `name` again; dropping removes it.
    pub(crate) fn unsettle(&mut self, name: &OsStr) {
        let folder = &self.folder.handle;
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(folder, name, folder, &self.name, flags) {
            Ok(()) => self.is_there = true,
            // The second name that `settle` gave it on such a file system; the first one is there.
            Err(Errno::INVAL | Errno::NOSYS) => {
                let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
            }
            Err(_) => {}
        }
    }

    /// Like [`Temp::place`], and can be taken back.
    pub(crate) fn settle(&mut self, name: &OsStr) -> Result<(), Errno> {
        let folder = &self.folder.handle;
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(folder, &self.name, folder, name, flags) {
            Ok(()) => {
                self.is_there = false;
                Ok(())
            }
            // A file system without that flag: a second name is refused just as surely if the
            // name is taken, and dropping takes the first one away.
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

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if self.is_there {
            // There is nobody left to tell; the name says what it is, and `clean` finds it.
            let _ = rustix::fs::unlinkat(&self.folder.handle, &self.name, AtFlags::empty());
        }
    }
}
