//! Bounded reads beneath a root that never wait.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, OFlags};

use super::beneath::changed_or;
use super::error::{RootAttemptError, RootFolderError};
use super::walk::{FinalLinkHandling, walk, wrong_kind};
use super::{FileMetadata, RootFolder};
use crate::{FileAccessGuard, FileAccessKind, FileEntryKind, FileError};

/// A file opened for reading.
#[derive(Debug)]
pub struct OpenedFile {
    /// The open file.
    pub file: File,
    /// The path the file really has, relative to the root.
    pub path: PathBuf,
    /// The file's metadata when it was opened.
    pub about: FileMetadata,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// The name, byte for byte.
    pub name: OsString,
    /// The kind of entry; a link is not followed.
    pub found: FileEntryKind,
}

/// The entries of a folder, sorted by the bytes of their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderListing {
    /// The path the folder really has, relative to the root.
    pub path: PathBuf,
    /// The entries, at most as many as were requested.
    pub entries: Vec<FolderEntry>,
    /// Whether the folder holds more entries than were requested.
    pub is_cut: bool,
}

impl RootFolder {
    /// Returns the bytes of an ordinary file of at most `most` bytes. Folders, pipes, sockets
    /// and devices are refused without being opened.
    pub fn read(
        &self,
        path: &Path,
        most: u64,
        guard: &dyn FileAccessGuard,
    ) -> Result<Vec<u8>, RootFolderError> {
        let opened = self.open_file(path, guard)?;
        let too_large = || FileError::TooLarge {
            path: path.to_owned(),
            most,
        };
        if opened.about.length > most {
            return Err(too_large().into());
        }
        let mut bytes = Vec::new();
        opened
            .file
            .take(most.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(FileError::system(path, "read"))?;
        if bytes.len() as u64 > most {
            return Err(too_large().into());
        }
        Ok(bytes)
    }

    /// Opens an ordinary file for reading piece by piece.
    pub fn open_file(
        &self,
        path: &Path,
        guard: &dyn FileAccessGuard,
    ) -> Result<OpenedFile, RootFolderError> {
        self.steadily(path, || self.open_once(path, guard))
    }

    /// Lists at most `most` names of a folder.
    pub fn list(
        &self,
        path: &Path,
        most: usize,
        guard: &dyn FileAccessGuard,
    ) -> Result<FolderListing, RootFolderError> {
        self.steadily(path, || self.list_once(path, most, guard))
    }

    fn open_once(
        &self,
        asked: &Path,
        guard: &dyn FileAccessGuard,
    ) -> Result<OpenedFile, RootAttemptError> {
        let walked = walk(self, asked, FinalLinkHandling::Follow)?;
        let seen = walked.there(asked)?;
        if seen.found != FileEntryKind::File {
            return Err(wrong_kind(asked, seen.found, FileEntryKind::File).into());
        }
        walked.ask(guard, asked, FileAccessKind::Read)?;
        // If a pipe or a terminal has taken the file's place by now, the flags keep us from
        // waiting for it or making it our controlling terminal, and the next line detects it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let (handle, about) = self.reopen(asked, &walked.path, flags)?;
        if about.identity != seen.identity {
            return Err(RootAttemptError::Changed);
        }
        self.judge_names(asked, &about, guard, FileAccessKind::Read)?;
        Ok(OpenedFile {
            file: File::from(handle),
            path: walked.path,
            about,
        })
    }

    fn list_once(
        &self,
        asked: &Path,
        most: usize,
        guard: &dyn FileAccessGuard,
    ) -> Result<FolderListing, RootAttemptError> {
        let walked = walk(self, asked, FinalLinkHandling::Follow)?;
        let seen = walked.there(asked)?;
        if seen.found != FileEntryKind::Folder {
            return Err(wrong_kind(asked, seen.found, FileEntryKind::Folder).into());
        }
        walked.ask_to_list(guard, asked)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let (handle, _) = self.reopen(asked, &walked.path, flags)?;
        let mut dir = Dir::new(handle).map_err(|cause| changed_or(asked, cause))?;
        let (mut entries, mut is_cut) = (Vec::new(), false);
        while let Some(entry) = dir.read() {
            let entry = entry.map_err(RootFolderError::system(asked, "list"))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if entries.len() == most {
                is_cut = true;
                break;
            }
            let found = kind(&dir, name, entry.file_type());
            entries.push(FolderEntry {
                name: name.to_owned(),
                found,
            });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(FolderListing {
            path: walked.path,
            entries,
            is_cut,
        })
    }
}

/// Returns an entry's kind, looking it up on file systems that list names without kinds.
fn kind(dir: &Dir, name: &OsStr, listed: FileType) -> FileEntryKind {
    if listed != FileType::Unknown {
        return FileEntryKind::of(listed);
    }
    let stat = dir
        .fd()
        .and_then(|folder| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW));
    stat.map_or(FileEntryKind::Special, |stat| {
        FileEntryKind::of(FileType::from_raw_mode(stat.st_mode))
    })
}
