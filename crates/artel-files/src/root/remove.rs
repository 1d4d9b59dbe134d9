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
use super::error::{RootError, Stop};
use super::walk::{Last, walk, wrong_kind};
use super::write::place_of;
use super::{About, Root};
use crate::directory::Folder;
use crate::temp::Temp;
use crate::{FileError, Found, Guard, Op};

impl Root {
    /// Removes a file, a link or an empty folder, and returns the path it had. A link itself
    /// is removed, never its target. Pipes, sockets and devices are left alone.
    pub fn delete(&self, path: &Path, guard: &dyn Guard) -> Result<PathBuf, RootError> {
        self.steadily(path, || self.delete_once(path, guard))
    }

    /// Moves an ordinary file to an unused path beneath the root, creating missing parent
    /// folders. The guard is asked about deleting the old path and writing the new one.
    pub fn rename(&self, from: &Path, to: &Path, guard: &dyn Guard) -> Result<PathBuf, RootError> {
        self.steadily(from, || self.rename_once(from, to, guard))
    }

    fn delete_once(&self, asked: &Path, guard: &dyn Guard) -> Result<PathBuf, Stop> {
        let walked = walk(self, asked, Last::Keep)?;
        let (Some(above), Some(name)) = (walked.path.parent(), walked.path.file_name()) else {
            return Err(RootError::IsRoot {
                path: asked.to_owned(),
            }
            .into());
        };
        let seen = walked.there(asked)?;
        if seen.found == Found::Special {
            return Err(wrong_kind(asked, seen.found, Found::File).into());
        }
        walked.ask(guard, asked, Op::Delete)?;
        self.judge_names(asked, &seen, guard, Op::Delete)?;
        let folder = self.folder(asked, above)?;
        if seen.found == Found::Folder {
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
        folder: &Folder,
        above: &Path,
        name: &OsStr,
        seen: &About,
    ) -> Result<(), Stop> {
        let aside = Temp::aside(folder, name);
        let mut aside = aside.map_err(|cause| match cause {
            Errno::NOENT => Stop::Changed,
            cause => Stop::Failed(RootError::system(asked, "remove")(cause)),
        })?;
        let is_the_one = aside.identity() == Some(seen.identity);
        let moved = self.still_at(asked, folder, above);
        if !is_the_one || moved.is_err() {
            aside
                .put_back(name)
                .map_err(RootError::system(asked, "put back"))?;
            return Err(moved.err().unwrap_or(Stop::Changed));
        }
        let flags = match seen.found {
            Found::Folder => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        if let Err(cause) = aside.remove(flags) {
            aside
                .put_back(name)
                .map_err(RootError::system(asked, "put back"))?;
            return Err(match cause {
                Errno::NOTEMPTY | Errno::EXIST => not_empty(asked).into(),
                cause => Stop::Failed(RootError::system(asked, "remove")(cause)),
            });
        }
        Ok(())
    }

    fn expect_empty(&self, asked: &Path, folder: &Folder, name: &OsStr) -> Result<(), Stop> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let handle = self.open_name(&folder.handle, name, flags);
        let handle = handle.map_err(|cause| changed_or(asked, cause))?;
        let dir = Dir::new(handle).map_err(RootError::system(asked, "list"))?;
        for entry in dir {
            let entry = entry.map_err(RootError::system(asked, "list"))?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                return Err(not_empty(asked).into());
            }
        }
        Ok(())
    }

    fn rename_once(&self, from: &Path, to: &Path, guard: &dyn Guard) -> Result<PathBuf, Stop> {
        let source = walk(self, from, Last::Keep)?;
        let seen = source.there(from)?;
        let (from_above, from_name) = place_of(from, &source)?;
        let target = walk(self, to, Last::Follow)?;
        if target.about.is_some() {
            return Err(FileError::Exists {
                path: to.to_owned(),
            }
            .into());
        }
        let (to_above, to_name) = place_of(to, &target)?;
        source.ask(guard, from, Op::Delete)?;
        target.ask(guard, to, Op::Write)?;
        self.judge_names(from, &seen, guard, Op::Delete)?;
        let made = self.make_missing(to, &target)?;
        let from_folder = self.folder(from, from_above)?;
        let to_folder = self.folder(to, to_above)?;
        let both_in_place = || {
            self.still_at(from, &from_folder, from_above)?;
            self.still_at(to, &to_folder, to_above)
        };
        both_in_place()?;
        move_name(&from_folder, from_name, &to_folder, to_name).map_err(|cause| match cause {
            Errno::NOENT | Errno::EXIST => Stop::Changed,
            cause => Stop::Failed(RootError::system(from, "move")(cause)),
        })?;
        let moved = self
            .open_name(&to_folder.handle, to_name, OFlags::PATH)
            .ok();
        let moved = moved.and_then(|handle| about(&handle, to).ok());
        let is_the_one = moved.is_some_and(|moved| moved.identity == seen.identity);
        if let (false, _) | (_, Err(_)) = (is_the_one, both_in_place()) {
            move_name(&to_folder, to_name, &from_folder, from_name)
                .map_err(RootError::system(from, "put back"))?;
            return Err(Stop::Changed);
        }
        to_folder.sync(to)?;
        from_folder.sync(from)?;
        made.keep();
        Ok(target.path)
    }
}

fn move_name(from: &Folder, name: &OsStr, to: &Folder, new: &OsStr) -> Result<(), Errno> {
    let flags = RenameFlags::NOREPLACE;
    rustix::fs::renameat_with(&from.handle, name, &to.handle, new, flags)
}

fn not_empty(asked: &Path) -> RootError {
    RootError::NotEmpty {
        path: asked.to_owned(),
    }
}
