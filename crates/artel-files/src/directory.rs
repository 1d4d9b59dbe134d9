//! Opening folders as handles and creating them durably.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::{FileEntryKind, FileError};

/// Creates a folder with at most these permissions (the umask may take some away). It
/// returns only when the folder would survive a loss of power. An existing folder is left
/// as it is; a file or a link in its place is refused.
pub fn make_dir(path: &Path, mode: u32) -> Result<(), FileError> {
    let (parent, name) = FolderHandle::of(path)?;
    match rustix::fs::mkdirat(&parent.handle, name, Mode::from_raw_mode(mode)) {
        Ok(()) => parent.sync(path),
        Err(Errno::EXIST) => parent.expect(name, path, FileEntryKind::Folder),
        Err(cause) => Err(FileError::system(path, "make the folder")(cause)),
    }
}

/// Creates a folder and its missing ancestors, all with these permissions.
pub fn make_dirs(path: &Path, mode: u32) -> Result<(), FileError> {
    // An existing ancestor may be a link to a folder; only the folders created here are ours
    // to judge.
    let missing: Vec<_> = path
        .ancestors()
        .skip(1)
        .take_while(|above| !above.as_os_str().is_empty() && !above.is_dir())
        .collect();
    for above in missing.into_iter().rev() {
        make_dir(above, mode)?;
    }
    make_dir(path, mode)
}

/// An open folder. Names are looked up through the handle, so the folder cannot be
/// exchanged half way.
pub(crate) struct FolderHandle {
    pub(crate) handle: OwnedFd,
}

impl FolderHandle {
    /// Opens the folder that holds `path` and returns the name within it.
    pub(crate) fn of(path: &Path) -> Result<(Self, &OsStr), FileError> {
        let no_name = || FileError::NoName {
            path: path.to_owned(),
        };
        let name = path.file_name().ok_or_else(no_name)?;
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(parent, flags, Mode::empty())
            .map_err(FileError::system(parent, "open the folder"))?;
        Ok((Self { handle }, name))
    }

    /// Returns what stands under a name; a link counts as itself, not as its target.
    pub(crate) fn find(
        &self,
        name: &OsStr,
        path: &Path,
    ) -> Result<Option<FileEntryKind>, FileError> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(FileEntryKind::of(FileType::from_raw_mode(
                about.st_mode,
            )))),
            Err(Errno::NOENT) => Ok(None),
            Err(cause) => Err(FileError::system(path, "look at")(cause)),
        }
    }

    /// Refuses anything but the wanted kind; a name that does not exist is fine.
    pub(crate) fn expect(
        &self,
        name: &OsStr,
        path: &Path,
        wanted: FileEntryKind,
    ) -> Result<(), FileError> {
        match self.find(name, path)? {
            Some(found) if found != wanted => Err(FileError::Other {
                path: path.to_owned(),
                found,
                wanted,
            }),
            _ => Ok(()),
        }
    }

    /// Makes the names in the folder durable. Some network file systems cannot do that for a
    /// folder and answer EINVAL; they keep names safe in their own way.
    pub(crate) fn sync(&self, path: &Path) -> Result<(), FileError> {
        match rustix::fs::fsync(&self.handle) {
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(cause) => Err(FileError::system(path, "sync the folder of")(cause)),
        }
    }
}
