//! Files on their way: written beside their target under a name that nobody else uses.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::FileError;
use crate::directory::Folder;

/// How the names of unfinished files begin. One that is older than a running process was left
/// behind by a crash and can be removed.
pub const TEMP_PREFIX: &str = ".artel-tmp-";

/// A crash leaves a file behind, and a later process may get the same number from the system:
/// that many names are tried before something must be wrong.
const MOST_TRIES: u32 = 1000;

/// Tells whether a file's name is that of an unfinished file.
pub fn is_leftover(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(TEMP_PREFIX.as_bytes())
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

    fn create(folder: &'f Folder, path: &Path, mode: u32) -> Result<(Self, File), FileError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut said = Errno::EXIST;
        for _ in 0..MOST_TRIES {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{TEMP_PREFIX}{}-{number}", std::process::id());
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

    /// Puts the file under `name` if nothing is there.
    pub(crate) fn place(mut self, name: &OsStr) -> Result<(), Errno> {
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

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if self.is_there {
            // There is nobody left to tell; the name says what it is, and `clean` finds it.
            let _ = rustix::fs::unlinkat(&self.folder.handle, &self.name, AtFlags::empty());
        }
    }
}
