//! Bounded reads that never wait.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};

use crate::directory::FolderHandle;
use crate::{FileEntryKind, FileError};

/// Returns the bytes of an ordinary file. Links, folders, pipes, sockets, devices and
/// files of more than `most` bytes are refused.
pub fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let (folder, name) = FolderHandle::of(path)?;
    // Checked before opening because opening alone can set off a device, and checked again
    // once open because the name may have changed hands in between.
    folder.expect(name, path, FileEntryKind::File)?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(&folder.handle, name, flags, Mode::empty())
        .map_err(FileError::system(path, "open"))?;
    let about = rustix::fs::fstat(&handle).map_err(FileError::system(path, "look at"))?;
    let found = FileEntryKind::of(FileType::from_raw_mode(about.st_mode));
    if found != FileEntryKind::File {
        let (path, wanted) = (path.to_owned(), FileEntryKind::File);
        return Err(FileError::Other {
            path,
            found,
            wanted,
        });
    }
    let mut bytes = Vec::new();
    File::from(handle)
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(FileError::system(path, "read"))?;
    if bytes.len() as u64 > most {
        let path = path.to_owned();
        return Err(FileError::TooLarge { path, most });
    }
    Ok(bytes)
}
