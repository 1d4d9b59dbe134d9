//! The only crate that touches files of the workshop: atomic and handle-based.
//!
//! It makes three promises. A reader sees a file's old bytes or its new bytes, never a
//! mixture, and acknowledged writes survive a loss of power. A link in the place of a file
//! is refused, so nobody can redirect a read or a write. No call waits on a pipe or a
//! device, and no read is unbounded.
//!
//! Files that people or the workshop itself name are used by their paths. Files that an
//! agent names are used beneath a [`RootFolder`], by handle, and judged by a [`FileAccessGuard`] on the
//! path they really have.
#![warn(missing_docs)]

mod directory;
mod error;
mod guard;
mod read;
mod remove;
mod room;
mod root;
mod temp;
mod write;

pub use directory::{make_dir, make_dirs};
pub use error::{FileEntryKind, FileError};
pub use guard::{FileAccessGuard, FileAccessKind, FileAccessRefusal};
pub use read::read_bounded;
pub use remove::remove_tree;
pub use room::{shortage, shortage_by_writing};
pub use root::{
    FileIdentity, FileMetadata, FolderEntry, FolderListing, MOST_ENTRIES_SEARCHED, OpenedFile,
    ResolvedRootPath, RootFolder, RootFolderError, WrittenFile,
};
pub use temp::{TEMP_PREFIX, is_leftover, is_unfinished};
pub use write::{create_new, write_atomic};

#[cfg(test)]
mod tests;
