//! Removing and moving beneath a root.
//!
//! A name is first moved aside in its own folder, then checked, then removed. So what is
//! removed is what was judged, and if the folder was carried elsewhere meanwhile, the name
//! is put back.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, OFlags, RenameFlags};
use rustix::io::Errno;

use super::beneath::{about, changed_or};
use super::error::{RootAttemptError, RootFolderError};
use super::walk::{FinalLinkHandling, walk, wrong_kind};
use super::write::place_of;
use super::{FileMetadata, RootFolder};
use crate::directory::FolderHandle;
use crate::temp::UnfinishedFile;
use crate::{FileAccessGuard, FileAccessKind, FileEntryKind, FileError};

impl RootFolder {
    /// Removes a file, a link or an empty folder, and returns the path it had. A link itself
    /// is removed, never its target. Pipes, sockets and devices are left alone.
    pub fn delete(
        &self,
        path: &Path,
        guard: &dyn FileAccessGuard,
    ) -> Result<PathBuf, RootFolderError> {
        self.steadily(path, || self.delete_once(path, guard))
    }

    /// Moves an ordinary file to an unused path beneath the root, creating missing parent
    /// folders. The guard is asked about deleting the old path and writing the new one.
    pub fn rename(
        &self,
        from: &Path,
        to: &Path,
        guard: &dyn FileAccessGuard,
    ) -> Result<PathBuf, RootFolderError> {
        self.steadily(from, || self.rename_once(from, to, guard))
    }

    fn delete_once(
        &self,
        asked: &Path,
        guard: &dyn FileAccessGuard,
    ) -> Result<PathBuf, RootAttemptError> {
        let walked = walk(self, asked, FinalLinkHandling::Keep)?;
        let (Some(above), Some(name)) = (walked.path.parent(), walked.path.file_name()) else {
            return Err(RootFolderError::IsRoot {
                path: asked.to_owned(),
            }
            .into());
        };
        let seen = walked.there(asked)?;
        if seen.found == FileEntryKind::Special {
            return Err(wrong_kind(asked, seen.found, FileEntryKind::File).into());
        }
        walked.ask(guard, asked, FileAccessKind::Delete)?;
        self.judge_names(asked, &seen, guard, FileAccessKind::Delete)?;
        let folder = self.folder(asked, above)?;
        if seen.found == FileEntryKind::Folder {
            self.expect_empty(asked, &folder, name)?;
        }
        self.still_at(asked, &folder, above)?;
        self.remove_aside(asked, &folder, above, name, &seen)?;
        folder.sync(asked)?;
        Ok(walked.path)
    }

    fn remove_aside(
        &self,
        asked: &Path,
        folder: &FolderHandle,
        above: &Path,
        name: &OsStr,
        seen: &FileMetadata,
    ) -> Result<(), RootAttemptError> {
        let aside = UnfinishedFile::aside(folder, name);
        let mut aside = aside.map_err(|cause| match cause {
            Errno::NOENT => RootAttemptError::Changed,
            cause => RootAttemptError::Failed(RootFolderError::system(asked, "remove")(cause)),
        })?;
        let is_the_one = aside.identity() == Some(seen.identity);
        let moved = self.still_at(asked, folder, above);
        if !is_the_one || moved.is_err() {
            aside
                .put_back(name)
                .map_err(RootFolderError::system(asked, "put back"))?;
            return Err(moved.err().unwrap_or(RootAttemptError::Changed));
        }
        let flags = match seen.found {
            FileEntryKind::Folder => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        if let Err(cause) = aside.remove(flags) {
            aside
                .put_back(name)
                .map_err(RootFolderError::system(asked, "put back"))?;
            return Err(match cause {
                Errno::NOTEMPTY | Errno::EXIST => not_empty(asked).into(),
                cause => RootAttemptError::Failed(RootFolderError::system(asked, "remove")(cause)),
            });
        }
        Ok(())
    }

    fn expect_empty(
        &self,
        asked: &Path,
        folder: &FolderHandle,
        name: &OsStr,
    ) -> Result<(), RootAttemptError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let handle = self.open_name(&folder.handle, name, flags);
        let handle = handle.map_err(|cause| changed_or(asked, cause))?;
        let dir = Dir::new(handle).map_err(RootFolderError::system(asked, "list"))?;
        for entry in dir {
            let entry = entry.map_err(RootFolderError::system(asked, "list"))?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                return Err(not_empty(asked).into());
            }
        }
        Ok(())
    }

    fn rename_once(
        &self,
        from: &Path,
        to: &Path,
        guard: &dyn FileAccessGuard,
    ) -> Result<PathBuf, RootAttemptError> {
        let source = walk(self, from, FinalLinkHandling::Keep)?;
        let seen = source.there(from)?;
        let (from_above, from_name) = place_of(from, &source)?;
        let target = walk(self, to, FinalLinkHandling::Follow)?;
        if target.about.is_some() {
            return Err(FileError::Exists {
                path: to.to_owned(),
            }
            .into());
        }
        let (to_above, to_name) = place_of(to, &target)?;
        source.ask(guard, from, FileAccessKind::Delete)?;
        target.ask(guard, to, FileAccessKind::Write)?;
        self.judge_names(from, &seen, guard, FileAccessKind::Delete)?;
        let made = self.make_missing(to, &target)?;
        let from_folder = self.folder(from, from_above)?;
        let to_folder = self.folder(to, to_above)?;
        let both_in_place = || {
            self.still_at(from, &from_folder, from_above)?;
            self.still_at(to, &to_folder, to_above)
        };
        both_in_place()?;
        move_name(&from_folder, from_name, &to_folder, to_name).map_err(|cause| match cause {
            Errno::NOENT | Errno::EXIST => RootAttemptError::Changed,
            cause => RootAttemptError::Failed(RootFolderError::system(from, "move")(cause)),
        })?;
        let moved = self
            .open_name(&to_folder.handle, to_name, OFlags::PATH)
            .ok();
        let moved = moved.and_then(|handle| about(&handle, to).ok());
        let is_the_one = moved.is_some_and(|moved| moved.identity == seen.identity);
        if let (false, _) | (_, Err(_)) = (is_the_one, both_in_place()) {
            move_name(&to_folder, to_name, &from_folder, from_name)
                .map_err(RootFolderError::system(from, "put back"))?;
            return Err(RootAttemptError::Changed);
        }
        to_folder.sync(to)?;
        from_folder.sync(from)?;
        made.keep();
        Ok(target.path)
    }
}

fn move_name(
    from: &FolderHandle,
    name: &OsStr,
    to: &FolderHandle,
    new: &OsStr,
) -> Result<(), Errno> {
    let flags = RenameFlags::NOREPLACE;
    rustix::fs::renameat_with(&from.handle, name, &to.handle, new, flags)
}

fn not_empty(asked: &Path) -> RootFolderError {
    RootFolderError::NotEmpty {
        path: asked.to_owned(),
    }
}
