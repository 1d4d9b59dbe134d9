//! Accesses files beneath a folder that is held open, without following a single link.
//!
//! The person's folder is read and written while the person works in it, and processes that
//! the run left behind may change the run's own tree. So the kernel opens every path
//! beneath the folder's handle, with links forbidden anywhere in it. A file is replaced by
//! a rename within the handle of its folder. A folder that was exchanged for a link
//! therefore leads nowhere.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};
use rustix::io::Errno;

use super::RunTreeError;

/// Number of tries at a path: the kernel gives up with `EAGAIN` if something is renamed
/// while it checks the path.
const MOST_AGAINS: u32 = 64;

/// A folder that is held open.
#[derive(Debug)]
pub(crate) struct NoFollowFolder {
    handle: OwnedFd,
    syncs: bool,
}

/// The content found at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathContent {
    Nothing,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Link(OsString),
    /// A folder, a pipe or a device: nothing that a run puts in place.
    Other,
}

/// The content to put at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NewPathContent<'w> {
    /// A file with these bytes and this mode.
    File {
        bytes: &'w [u8],
        mode: NewFileMode,
    },
    Link(&'w OsStr),
}

/// The permissions of a file to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewFileMode {
    /// Exactly these bits and, if the system permits, this owner.
    Exactly(u32, Option<(u32, u32)>),
    /// These bits, less those that the umask removes.
    New(u32),
}

impl NoFollowFolder {
    pub(crate) fn open(folder: &Path) -> Result<Self, RunTreeError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(folder, flags, Mode::empty())
            .map_err(RunTreeError::system("open the folder", folder))?;
        Ok(Self {
            handle,
            syncs: true,
        })
    }

    /// Skips waiting for the disk: for files that can be written again from a snapshot.
    pub(crate) fn without_waiting(mut self) -> Self {
        self.syncs = false;
        self
    }

    /// Opens whatever is at a path; a link is opened as a link.
    fn entry(&self, path: &Path) -> Result<Option<(OwnedFd, Stat)>, Errno> {
        let found = self.open_at(path, OFlags::PATH | OFlags::NOFOLLOW);
        let handle = match found {
            Ok(handle) => handle,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(cause) => return Err(cause),
        };
        let stat = rustix::fs::fstat(&handle)?;
        Ok(Some((handle, stat)))
    }

    /// Returns the status of whatever is at a path. A link among the folders above it is an
    /// error.
    pub(crate) fn look(&self, path: &Path) -> Result<Option<Stat>, RunTreeError> {
        let found = self.entry(path);
        let found = found.map_err(RunTreeError::beneath("look at", path))?;
        Ok(found.map(|(_, stat)| stat))
    }

    /// Opens an ordinary file for reading. Never blocks on a pipe.
    pub(crate) fn open_file(&self, path: &Path) -> Result<File, RunTreeError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let handle = self.open_at(path, flags);
        handle
            .map(File::from)
            .map_err(RunTreeError::beneath("open", path))
    }

    /// Returns the target of a link.
    pub(crate) fn read_link(&self, path: &Path) -> Result<OsString, RunTreeError> {
        let read = || {
            let handle = self.open_at(path, OFlags::PATH | OFlags::NOFOLLOW)?;
            rustix::fs::readlinkat(&handle, c"", Vec::new())
        };
        let target: CString = read().map_err(RunTreeError::beneath("read the link", path))?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Returns the content at a path. Of a file larger than `most` bytes, only `most` + 1 bytes
    /// are read.
    pub(crate) fn content(&self, path: &Path, most: u64) -> Result<PathContent, RunTreeError> {
        let Some(stat) = self.look(path)? else {
            return Ok(PathContent::Nothing);
        };
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let mut bytes = Vec::new();
                let file = self.open_file(path)?;
                file.take(most.saturating_add(1))
                    .read_to_end(&mut bytes)
                    .map_err(RunTreeError::system("read", path))?;
                let mode = stat.st_mode & 0o7777;
                PathContent::File { bytes, mode }
            }
            FileType::Symlink => PathContent::Link(self.read_link(path)?),
            _ => PathContent::Other,
        })
    }

    /// Puts a file or link at a path in one step, and makes the folders above it. `temp` is the
    /// name of the unfinished file beside it; an existing one is a leftover and is replaced.
    pub(crate) fn put(
        &self,
        path: &Path,
        wanted: NewPathContent<'_>,
        temp: &OsStr,
    ) -> Result<(), RunTreeError> {
        self.put_once(path, wanted, temp)
            .map_err(RunTreeError::beneath("put in place", path))
    }

    fn put_once(&self, path: &Path, wanted: NewPathContent<'_>, temp: &OsStr) -> Result<(), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let above = path.parent().unwrap_or(Path::new(""));
        self.make_folders_once(above)?;
        let folder = self.open_at(above, OFlags::RDONLY | OFlags::DIRECTORY)?;
        match rustix::fs::unlinkat(&folder, temp, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(cause) => return Err(cause),
        }
        let placed = self
            .fill(&folder, temp, wanted)
            .and_then(|()| rustix::fs::renameat(&folder, temp, &folder, name));
        if placed.is_err() {
            // The first error is reported; a leftover has a name of ours.
            let _ = rustix::fs::unlinkat(&folder, temp, AtFlags::empty());
            return placed;
        }
        self.sync(&folder)
    }

    /// Moves a folder of the same file system to a free path, and makes the folders above it.
    pub(crate) fn move_in(&self, from: &Path, path: &Path) -> Result<(), RunTreeError> {
        let moved = || {
            let name = path.file_name().ok_or(Errno::INVAL)?;
            let above = path.parent().unwrap_or(Path::new(""));
            self.make_folders_once(above)?;
            let folder = self.open_at(above, OFlags::RDONLY | OFlags::DIRECTORY)?;
            rustix::fs::renameat(CWD, from, &folder, name)?;
            self.sync(&folder)
        };
        moved().map_err(RunTreeError::beneath("move into the tree", path))
    }

    /// Removes a file or link. Succeeds if it is already gone.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), RunTreeError> {
        self.unlink(path, AtFlags::empty())
    }

    /// Removes a folder if it is empty. Returns whether it is gone.
    pub(crate) fn remove_empty(&self, path: &Path) -> Result<bool, RunTreeError> {
        match self.unlink(path, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(RunTreeError::System { cause, .. })
                if matches!(
                    Errno::from_io_error(&cause),
                    Some(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR)
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn unlink(&self, path: &Path, flags: AtFlags) -> Result<(), RunTreeError> {
        let remove = || {
            let name = path.file_name().ok_or(Errno::INVAL)?;
            let above = path.parent().unwrap_or(Path::new(""));
            let folder = self.open_at(above, OFlags::RDONLY | OFlags::DIRECTORY)?;
            rustix::fs::unlinkat(&folder, name, flags)?;
            self.sync(&folder)
        };
        match remove() {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            // Nothing can exist below something that is not a folder.
            Err(Errno::NOTDIR) if !flags.contains(AtFlags::REMOVEDIR) => Ok(()),
            Err(cause) => Err(RunTreeError::beneath("remove", path)(cause)),
        }
    }

    /// Makes a folder and the folders above it.
    pub(crate) fn make_folders(&self, path: &Path) -> Result<(), RunTreeError> {
        self.make_folders_once(path)
            .map_err(RunTreeError::beneath("make the folder", path))
    }

    fn make_folders_once(&self, path: &Path) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        if self.open_at(path, flags).is_ok() {
            return Ok(());
        }
        let mut here = PathBuf::new();
        for name in path {
            let folder = self.open_at(&here, flags)?;
            match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => self.sync(&folder)?,
                Err(Errno::EXIST) => {}
                Err(cause) => return Err(cause),
            }
            here.push(name);
        }
        self.open_at(path, flags).map(drop)
    }

    fn open_at(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.as_os_str().is_empty() {
            OsStr::new(".")
        } else {
            path.as_os_str()
        };
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        let flags = flags | OFlags::CLOEXEC;
        let mut said = Errno::AGAIN;
        for _ in 0..MOST_AGAINS {
            match rustix::fs::openat2(&self.handle, path, flags, Mode::empty(), resolve) {
                Err(cause @ (Errno::AGAIN | Errno::INTR)) => said = cause,
                done => return done,
            }
        }
        Err(said)
    }

    fn fill(
        &self,
        folder: &OwnedFd,
        temp: &OsStr,
        wanted: NewPathContent<'_>,
    ) -> Result<(), Errno> {
        let (bytes, mode) = match wanted {
            NewPathContent::Link(target) => {
                return rustix::fs::symlinkat(target.as_bytes(), folder, temp);
            }
            NewPathContent::File { bytes, mode } => (bytes, mode),
        };
        let made_as = match mode {
            NewFileMode::Exactly(mode, _) => mode & 0o700,
            NewFileMode::New(mode) => mode,
        };
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(folder, temp, flags, Mode::from_raw_mode(made_as))?;
        let mut file = File::from(handle);
        let io = |cause: std::io::Error| Errno::from_io_error(&cause).unwrap_or(Errno::IO);
        file.write_all(bytes).map_err(io)?;
        if let NewFileMode::Exactly(mode, owner) = mode {
            let user = owner.map(|(user, _)| Uid::from_raw(user));
            let group = owner.map(|(_, group)| Gid::from_raw(group));
            // Only root may give files away; for everyone else the file belongs to the writer.
            let _ = rustix::fs::fchown(&file, user, group);
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        if self.syncs {
            file.sync_all().map_err(io)?;
        }
        Ok(())
    }

    /// Makes the names in a folder durable, if the file system can.
    fn sync(&self, folder: &OwnedFd) -> Result<(), Errno> {
        if !self.syncs {
            return Ok(());
        }
        match rustix::fs::fsync(folder) {
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(cause) => Err(cause),
        }
    }
}

/// Returns whether git takes a file with this mode for executable.
pub(crate) fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}
