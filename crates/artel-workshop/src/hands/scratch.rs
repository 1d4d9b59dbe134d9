//! A temporary folder, and a copy of a tree in it.

mod difference;

use std::fs::{self, File, FileType};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use artel_types::{Failure, FailureCode};

pub(crate) use difference::differences;

use crate::caller::{CommandContext, fresh_trace};

/// Maximum number of files that a trial may copy.
const MOST_FILES: usize = 200_000;
const MOST_BYTES: u64 = 4 << 30;

/// The name of the file whose lock marks a folder as in use.
const LOCK: &str = ".lock";

/// A private temporary folder that is removed when dropped.
#[derive(Debug)]
pub(crate) struct PrivateScratchFolder {
    path: PathBuf,
    /// Locked while the folder is in use; the system releases the lock when the process ends.
    _in_use: File,
}

impl PrivateScratchFolder {
    /// Creates a new scratch folder, and removes folders that killed processes left behind.
    pub(crate) fn new(caller: &CommandContext, name: &str) -> Result<Self, Failure> {
        let id = fresh_trace()?;
        let all = caller.places.state().join("scratch");
        let path = all.join(format!("{name}-{id}"));
        Self::made(&all, path.clone()).map_err(|error| {
            Failure::new(
                FailureCode::W008,
                format!("`{}` could not be made", path.display()),
            )
            .because(error.to_string())
            .advise("see who may write there, and whether the disk is full")
        })
    }

    fn made(all: &Path, path: PathBuf) -> io::Result<Self> {
        artel_files::make_dirs(all, 0o700).map_err(io::Error::other)?;
        // One process at a time: a folder that is not locked yet must not be mistaken for an
        // abandoned one.
        let turn = File::create(all.join(LOCK))?;
        turn.lock()?;
        sweep(all)?;
        artel_files::make_dirs(&path.join("spool"), 0o700).map_err(io::Error::other)?;
        let in_use = File::create(path.join(LOCK))?;
        in_use.lock()?;
        Ok(Self {
            path,
            _in_use: in_use,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies a tree into the folder. Scratch folders inside the tree are left out. Links are
    /// copied as links, and special files are skipped.
    pub(crate) fn copy(&self, tree: &Path) -> Result<PathBuf, Failure> {
        if !tree.is_dir() {
            return Err(Failure::new(
                FailureCode::W010,
                format!("there is no folder `{}`", tree.display()),
            )
            .advise("`--root` names the folder to copy"));
        }
        let to = self.path.join("tree");
        let mut copy = BoundedFolderCopy {
            without: self.path.parent().unwrap_or(&self.path),
            files: MOST_FILES,
            bytes: MOST_BYTES,
        };
        copy.folder(tree, &to).map_err(|error| {
            Failure::new(
                FailureCode::W008,
                format!("`{}` could not be copied", tree.display()),
            )
            .because(error.to_string())
            .advise("`--root` names a folder that can be read and is not too large")
        })?;
        Ok(to)
    }
}

impl Drop for PrivateScratchFolder {
    fn drop(&mut self) {
        // If the folder cannot be removed now, the next scratch folder tries again.
        drop(remove(&self.path));
    }
}

/// Removes the folders that no process uses any more.
fn sweep(all: &Path) -> io::Result<()> {
    for entry in fs::read_dir(all)? {
        let path = entry?.path();
        if !path.is_dir() {
            continue;
        }
        let is_free = match File::open(path.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if is_free {
            drop(remove(&path));
        }
    }
    Ok(())
}

/// Removes a folder, even if it contains copied folders that are read-only.
fn remove(path: &Path) -> io::Result<()> {
    if fs::remove_dir_all(path).is_ok() {
        return Ok(());
    }
    open_up(path)?;
    fs::remove_dir_all(path)
}

fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

/// A copy in progress, with what it may still copy.
struct BoundedFolderCopy<'c> {
    /// The folder that is left out.
    without: &'c Path,
    files: usize,
    bytes: u64,
}

impl BoundedFolderCopy<'_> {
    fn folder(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (path, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type()?;
            self.files = self.files.checked_sub(1).ok_or_else(|| {
                io::Error::other(format!(
                    "more than {MOST_FILES} files; name a smaller folder"
                ))
            })?;
            if path == self.without || leads_to_a_repository(&path, kind)? {
                continue;
            }
            if kind.is_dir() {
                self.folder(&path, &target)?;
            } else if kind.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(&path)?, &target)?;
            } else if kind.is_file() {
                let size = entry.metadata()?.len();
                self.bytes = self
                    .bytes
                    .checked_sub(size)
                    .ok_or_else(|| io::Error::other("more than 4 GiB; name a smaller folder"))?;
                fs::copy(&path, &target)?;
            }
        }
        fs::set_permissions(to, fs::metadata(from)?.permissions())
    }
}

/// Returns whether the path is a `.git` link or file that points to a repository
/// elsewhere, as in a linked worktree. In a copy, git would change the original repository
/// through it.
fn leads_to_a_repository(path: &Path, kind: FileType) -> io::Result<bool> {
    if kind.is_dir() || path.file_name() != Some(".git".as_ref()) {
        return Ok(false);
    }
    if kind.is_symlink() {
        return Ok(fs::read_link(path)?.is_absolute());
    }
    let text = artel_files::read_bounded(path, 64 * 1024).map_err(io::Error::other)?;
    let text = String::from_utf8_lossy(&text);
    let place = text.trim_start().strip_prefix("gitdir:");
    Ok(place.is_some_and(|place| Path::new(place.trim()).is_absolute()))
}

#[cfg(test)]
mod tests;
