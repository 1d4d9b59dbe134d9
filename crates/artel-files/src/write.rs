//! Writing whole files: all of the bytes or none, durable on return.

use std::path::Path;

use rustix::io::Errno;

use crate::directory::FolderHandle;
use crate::temp::UnfinishedFile;
use crate::{FileEntryKind, FileError};

/// Creates or replaces a file in one step, with at most these permissions (the umask may
/// take some away).
///
/// A link in the place of the file is refused, even one that leads to an ordinary file:
/// writing through it would change a file that the caller did not name, and replacing it
/// would separate the person from the file they linked to.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let (folder, name) = FolderHandle::of(path)?;
    folder.expect(name, path, FileEntryKind::File)?;
    // If a link appears from here on, the rename replaces it without following it.
    let temp = UnfinishedFile::write(&folder, path, bytes, mode)?;
    temp.replace(name)
        .map_err(FileError::system(path, "put in place"))?;
    folder.sync(path)
}

/// Creates a file that must not exist yet. Anything that stands under the name, including
/// a link, is left alone and reported as [`FileError::Exists`].
pub fn create_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let (folder, name) = FolderHandle::of(path)?;
    let exists = || FileError::Exists {
        path: path.to_owned(),
    };
    if folder.find(name, path)?.is_some() {
        return Err(exists());
    }
    let temp = UnfinishedFile::write(&folder, path, bytes, mode)?;
    match temp.place(name) {
        Ok(()) => folder.sync(path),
        Err(Errno::EXIST) => Err(exists()),
        Err(cause) => Err(FileError::system(path, "put in place")(cause)),
    }
}
