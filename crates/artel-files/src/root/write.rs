//! Writing beneath a root: whole files, durable, in the place that was judged or not at
//! all.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::beneath::{about, changed_or};
use super::error::{RootAttemptError, RootFolderError};
use super::walk::{FinalLinkHandling, WalkedPath, walk, wrong_kind};
use super::{FileMetadata, RootFolder};
use crate::directory::FolderHandle;
use crate::temp::UnfinishedFile;
use crate::{FileAccessGuard, FileAccessKind, FileEntryKind};

/// The result of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// The path that was written, relative to the root and without links.
    pub path: PathBuf,
    /// Whether the file did not exist before.
    pub is_new: bool,
}

impl RootFolder {
    /// Creates or replaces a file in one step, with its missing parent folders.
    ///
    /// A link at the end is followed, as an editor would, and the guard is asked about the
    /// file it leads to; a link that leads outside is refused. An existing file keeps its
    /// permission bits and, where the system allows it, its owner. Its other attributes are
    /// those of a new file, and a second name inside the root keeps the old bytes. A file that
    /// may not be written in place is not replaced either.
    pub fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        guard: &dyn FileAccessGuard,
    ) -> Result<WrittenFile, RootFolderError> {
        self.steadily(path, || self.write_once(path, bytes, guard))
    }

    fn write_once(
        &self,
        asked: &Path,
        bytes: &[u8],
        guard: &dyn FileAccessGuard,
    ) -> Result<WrittenFile, RootAttemptError> {
        let walked = walk(self, asked, FinalLinkHandling::Follow)?;
        let (above, name) = place_of(asked, &walked)?;
        walked.ask(guard, asked, FileAccessKind::Write)?;
        let made = self.make_missing(asked, &walked)?;
        let folder = self.folder(asked, above)?;
        let old = self.replaceable(asked, &walked, &folder, name, guard)?;
        let temp = self.fill(asked, &folder, bytes, old.as_ref())?;
        self.still_at(asked, &folder, above)?;
        match &old {
            None => self.put_new(asked, &folder, above, name, temp)?,
            Some(old) => self.put_over(asked, &folder, above, name, temp, old)?,
        }
        folder.sync(asked)?;
        made.keep();
        Ok(WrittenFile {
            path: walked.path,
            is_new: old.is_none(),
        })
    }

    /// Creates the missing folders above the file, each through the handle of its parent.
    pub(super) fn make_missing(
        &self,
        asked: &Path,
        walked: &WalkedPath,
    ) -> Result<CreatedFolders<'_>, RootAttemptError> {
        let names: Vec<OsString> = walked.path.iter().map(OsStr::to_owned).collect();
        let there = names.len() - walked.missing;
        if walked.missing < 2 {
            return Ok(CreatedFolders {
                root: self,
                base: None,
                names: Vec::new(),
            });
        }
        let base: PathBuf = names[..there].iter().collect();
        let base = self.folder(asked, &base)?;
        let mut made = CreatedFolders {
            root: self,
            base: Some(base.handle),
            names: Vec::new(),
        };
        for name in &names[there..names.len() - 1] {
            made.add(asked, name)?;
        }
        made.sync(asked)?;
        Ok(made)
    }

    /// Returns the file about to be replaced, after the same checks as for the path (kind,
    /// permission, other names), or `None` if the name is free.
    fn replaceable(
        &self,
        asked: &Path,
        walked: &WalkedPath,
        folder: &FolderHandle,
        name: &OsStr,
        guard: &dyn FileAccessGuard,
    ) -> Result<Option<FileMetadata>, RootAttemptError> {
        let Some(seen) = walked.about else {
            return Ok(None);
        };
        let handle = self.open_name(&folder.handle, name, OFlags::PATH);
        let handle = handle.map_err(|cause| changed_or(asked, cause))?;
        let old = about(&handle, asked)?;
        if old.identity != seen.identity || old.found != FileEntryKind::File {
            return Err(RootAttemptError::Changed);
        }
        let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
        match rustix::fs::accessat(&folder.handle, name, Access::WRITE_OK, flags) {
            Ok(()) => {}
            Err(cause) => {
                return Err(RootAttemptError::Failed(RootFolderError::system(
                    asked, "write",
                )(cause)));
            }
        }
        self.judge_names(asked, &old, guard, FileAccessKind::Write)?;
        Ok(Some(old))
    }

    fn fill<'f>(
        &self,
        asked: &Path,
        folder: &'f FolderHandle,
        bytes: &[u8],
        old: Option<&FileMetadata>,
    ) -> Result<UnfinishedFile<'f>, RootAttemptError> {
        let Some(old) = old else {
            return Ok(UnfinishedFile::write(folder, asked, bytes, 0o666)?);
        };
        // The setuid and setgid bits do not survive a change of the file's bytes.
        let mode = old.mode & 0o777;
        let temp = UnfinishedFile::write(folder, asked, bytes, mode & 0o700)?;
        temp.take_after(mode, old.owner)
            .map_err(RootFolderError::system(asked, "set the mode of"))?;
        Ok(temp)
    }

    fn put_new(
        &self,
        asked: &Path,
        folder: &FolderHandle,
        above: &Path,
        name: &OsStr,
        mut temp: UnfinishedFile<'_>,
    ) -> Result<(), RootAttemptError> {
        match temp.settle(name) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(RootAttemptError::Changed),
            Err(cause) => {
                return Err(RootAttemptError::Failed(RootFolderError::system(
                    asked,
                    "put in place",
                )(cause)));
            }
        }
        let moved = self.still_at(asked, folder, above);
        if moved.is_err() {
            temp.unsettle(name);
        }
        moved
    }

    /// Exchanges the new file with the old one, so that the old one can be checked: it must be
    /// the very file that was judged, in a folder that is still where it was. If not, the two
    /// are exchanged back.
    fn put_over(
        &self,
        asked: &Path,
        folder: &FolderHandle,
        above: &Path,
        name: &OsStr,
        temp: UnfinishedFile<'_>,
        old: &FileMetadata,
    ) -> Result<(), RootAttemptError> {
        match temp.exchange(name) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(RootAttemptError::Changed),
            // This file system cannot exchange names: the file is replaced in one step, with
            // no way back.
            Err(Errno::INVAL | Errno::NOSYS) => {
                let replaced = temp.replace(name);
                return Ok(replaced.map_err(RootFolderError::system(asked, "put in place"))?);
            }
            Err(cause) => {
                return Err(RootAttemptError::Failed(RootFolderError::system(
                    asked,
                    "put in place",
                )(cause)));
            }
        }
        let is_the_one = temp.identity() == Some(old.identity);
        let moved = self.still_at(asked, folder, above);
        if is_the_one && moved.is_ok() {
            return Ok(());
        }
        temp.exchange(name)
            .map_err(RootFolderError::system(asked, "take back the change of"))?;
        Err(moved.err().unwrap_or(RootAttemptError::Changed))
    }
}

/// Splits a resolved path into folder and name, if a file can be there.
pub(super) fn place_of<'w>(
    asked: &Path,
    walked: &'w WalkedPath,
) -> Result<(&'w Path, &'w OsStr), RootFolderError> {
    let (Some(above), Some(name)) = (walked.path.parent(), walked.path.file_name()) else {
        return Err(RootFolderError::IsRoot {
            path: asked.to_owned(),
        });
    };
    match walked.about {
        Some(about) if about.found != FileEntryKind::File => {
            Err(wrong_kind(asked, about.found, FileEntryKind::File))
        }
        _ if walked.wants_folder => Err(wrong_kind(
            asked,
            FileEntryKind::Folder,
            FileEntryKind::File,
        )),
        _ => Ok((above, name)),
    }
}

/// Folders created on the way to a file. Unless [`CreatedFolders::keep`] is called, dropping this
/// removes those that are empty.
pub(super) struct CreatedFolders<'r> {
    root: &'r RootFolder,
    base: Option<OwnedFd>,
    /// The names below `base`, each with who created it.
    names: Vec<(OsString, FolderCreator)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FolderCreator {
    Us,
    Another,
}

impl CreatedFolders<'_> {
    pub(super) fn keep(mut self) {
        self.base = None;
    }

    fn add(&mut self, asked: &Path, name: &OsStr) -> Result<(), RootAttemptError> {
        let folder = self
            .below(self.names.len())
            .map_err(|cause| changed_or(asked, cause))?;
        let maker = match rustix::fs::mkdirat(&folder.handle, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => FolderCreator::Us,
            Err(Errno::EXIST) => FolderCreator::Another,
            Err(cause) => {
                return Err(RootAttemptError::Failed(RootFolderError::system(
                    asked,
                    "make a folder above",
                )(cause)));
            }
        };
        self.names.push((name.to_owned(), maker));
        Ok(())
    }

    /// Makes all of the folders durable. Done at the end, this costs one commit of the file
    /// system.
    fn sync(&self, asked: &Path) -> Result<(), RootAttemptError> {
        for count in (0..self.names.len()).rev() {
            let folder = self
                .below(count)
                .map_err(|cause| changed_or(asked, cause))?;
            folder.sync(asked)?;
        }
        Ok(())
    }

    /// Opens the folder that lies `count` names below the base.
    fn below(&self, count: usize) -> Result<FolderHandle, Errno> {
        let base = self.base.as_ref().ok_or(Errno::NOENT)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let path: PathBuf = self.names[..count].iter().map(|(name, _)| name).collect();
        let handle = self.root.open_below(base, &path, flags)?;
        Ok(FolderHandle { handle })
    }
}

impl Drop for CreatedFolders<'_> {
    fn drop(&mut self) {
        if self.base.is_none() {
            return;
        }
        for count in (0..self.names.len()).rev() {
            let (name, maker) = &self.names[count];
            let Ok(folder) = self.below(count) else {
                return;
            };
            // A folder that is no longer empty is in use by another process and stays.
            let is_gone = *maker == FolderCreator::Us
                && rustix::fs::unlinkat(&folder.handle, name, AtFlags::REMOVEDIR).is_ok();
            if !is_gone {
                return;
            }
        }
    }
}
