//! Scans a run's tree: every file's stamp, in process and by handle.
//!
//! A snapshot needs to know what has changed since the last one. A file whose stamp (size,
//! times, inode, mode) is the same has not changed, with one exception that git knows as
//! well: the clock of a file system moves in steps, so a file changed twice within one step
//! can look the same. So files changed within the step of the scan are remembered with a
//! hash of their bytes, which the next scan compares.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::aside::{self, SetAsidePath, SetAsideReason};
use super::crowd::OverflowExclusions;
use super::ignores::{GitIgnoreRules, SnapshotFolderFilter};
use super::{RunTreeError, RunTreeLimits};

/// Deepest folder that is scanned. Each level holds a handle.
pub(super) const DEEPEST: usize = 200;

/// Longest path of a folder that is scanned. Paths that people make are shorter, and with a
/// name added, git and the system can still handle it.
const LONGEST_PATH: usize = 3000;

/// The status of a file, known without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeFileStamp {
    pub(super) size: u64,
    modified: (i64, u64),
    changed: (i64, u64),
    inode: u64,
    mode: u32,
}

/// A file as a scan saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScannedTreeFile {
    pub(super) stamp: TreeFileStamp,
    /// Hash of its bytes, if it was once seen too soon after a change to trust the stamp.
    content: Option<blake3::Hash>,
    /// Whether the stamp alone cannot be trusted next time.
    is_fresh: bool,
}

pub(super) type Files = BTreeMap<PathBuf, ScannedTreeFile>;

/// The result of scanning the tree.
#[derive(Debug, Default)]
pub(super) struct RunTreeScan {
    /// Files and links.
    pub(super) files: Files,
    /// Every folder that was entered.
    pub(super) folders: Vec<PathBuf>,
    /// Folders with nothing in them.
    pub(super) empty: Vec<PathBuf>,
    /// Paths that no snapshot holds.
    pub(super) set_aside: Vec<SetAsidePath>,
    /// Ignored folders of dependencies and build results.
    pub(super) left_out: Vec<PathBuf>,
}

/// The input of a scan.
pub(super) struct RunTreeScanner<'l> {
    pub(super) files: &'l Path,
    /// The one `.git` that is neither reported nor part of a snapshot.
    pub(super) ours: Option<&'l Path>,
    pub(super) left_out: &'l SnapshotFolderFilter,
    pub(super) rules: GitIgnoreRules,
    /// File that is touched to read the file system's clock.
    pub(super) clock: &'l Path,
    pub(super) known: &'l Files,
    pub(super) bounds: RunTreeLimits,
    /// Folders and files left out because the tree would hold too many files.
    pub(super) without: &'l OverflowExclusions,
}

/// The outcome of a scan.
pub(super) enum RunTreeScanOutcome {
    All(RunTreeScan),
    /// The tree holds more files than are kept. The files seen so far have this many bytes.
    TooMany {
        bytes: u64,
    },
}

/// The reason that a scan ended early.
enum RunTreeScanHalt {
    TooMany,
    Failed(RunTreeError),
}

impl From<RunTreeError> for RunTreeScanHalt {
    fn from(error: RunTreeError) -> Self {
        Self::Failed(error)
    }
}

impl RunTreeScanner<'_> {
    /// Scans the whole tree.
    pub(super) fn all(&mut self) -> Result<RunTreeScanOutcome, RunTreeError> {
        let now = tick(self.clock)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let top = rustix::fs::open(self.files, flags, Mode::empty())
            .map_err(RunTreeError::system("open the folder", self.files))?;
        let mut walk = RunTreeScan::default();
        match self.folder(top, Path::new(""), now, &mut walk) {
            Ok(()) => Ok(RunTreeScanOutcome::All(walk)),
            Err(RunTreeScanHalt::TooMany) => Ok(RunTreeScanOutcome::TooMany {
                bytes: walk.files.values().map(|seen| seen.stamp.size).sum(),
            }),
            Err(RunTreeScanHalt::Failed(error)) => Err(error),
        }
    }

    fn folder(
        &mut self,
        handle: OwnedFd,
        at: &Path,
        now: (i64, u64),
        walk: &mut RunTreeScan,
    ) -> Result<(), RunTreeScanHalt> {
        let whole = self.files.join(at);
        let failed = |doing| RunTreeError::beneath(doing, &whole);
        let mut dir = Dir::new(handle).map_err(failed("list"))?;
        let mut names: Vec<OsString> = Vec::new();
        while let Some(entry) = dir.read() {
            let entry = entry.map_err(failed("list"))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        let is_top = at.as_os_str().is_empty();
        if names.is_empty() && !is_top {
            walk.empty.push(at.to_owned());
        }
        let handle = dir.fd().map_err(failed("list"))?;
        let is_repository = aside::is_repository(names.iter().map(OsString::as_os_str));
        if is_repository && !is_top {
            let stamp = aside::stamp_of(handle);
            walk.set_aside.push(SetAsidePath {
                path: at.to_owned(),
                why: SetAsideReason::BareRepository,
                stamp,
            });
            return Ok(());
        }
        if !is_top {
            walk.folders.push(at.to_owned());
        }
        for name in names {
            let path = at.join(&name);
            if is_repository && aside::is_of_repository(&name) {
                // The root itself stays; without these names it is not a repository.
                walk.set_aside(path, SetAsideReason::BareRepository);
                continue;
            }
            match rustix::fs::statat(handle, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => self.entry(&handle, &name, path, &stat, now, walk)?,
                // The file has disappeared since it was listed.
                Err(Errno::NOENT) => {}
                Err(cause) => return Err(RunTreeError::beneath("look at", &path)(cause).into()),
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: &impl std::os::fd::AsFd,
        name: &OsStr,
        path: PathBuf,
        stat: &Stat,
        now: (i64, u64),
        walk: &mut RunTreeScan,
    ) -> Result<(), RunTreeScanHalt> {
        let kind = FileType::from_raw_mode(stat.st_mode);
        if let Some(why) = metadata_or_special(name, kind) {
            let is_ours = self.ours == Some(&path) && kind == FileType::RegularFile;
            if !is_ours && !is_placeholder(stat) {
                walk.set_aside(path, why);
            }
            return Ok(());
        }
        if kind == FileType::Directory {
            return self.inner(folder, name, path, stat, now, walk);
        }
        if let Some(files) = self.without.file(&path) {
            let folder = path.parent().unwrap_or(&path);
            walk.set_aside_once(folder, SetAsideReason::TooManyIn(files));
            return Ok(());
        }
        let stamp = TreeFileStamp::of(stat);
        if kind == FileType::RegularFile && stamp.size > self.bounds.file_bytes {
            walk.set_aside.push(SetAsidePath {
                path,
                why: SetAsideReason::TooLarge(stamp.size),
                stamp: stamp.short(),
            });
            return Ok(());
        }
        if walk.files.len() >= self.bounds.files {
            return Err(RunTreeScanHalt::TooMany);
        }
        // Git cannot keep a file that its owner may not read, nor such a mode.
        let is_closed = kind == FileType::RegularFile && stat.st_mode & 0o400 == 0;
        let opened = is_closed.then(|| grant(folder, name, 0o400)).transpose();
        let opened = opened.map_err(RunTreeError::beneath("open up", &path))?;
        let seen = self.seen(folder, name, &path, opened.as_ref().unwrap_or(stat), now);
        let seen = seen.map_err(RunTreeError::beneath("read", &path))?;
        walk.files.insert(path, seen);
        Ok(())
    }

    fn inner(
        &mut self,
        folder: &impl std::os::fd::AsFd,
        name: &OsStr,
        path: PathBuf,
        stat: &Stat,
        now: (i64, u64),
        walk: &mut RunTreeScan,
    ) -> Result<(), RunTreeScanHalt> {
        if self.left_out.is_left_out(&path, &mut self.rules) {
            walk.left_out.push(path);
            return Ok(());
        }
        if let Some(files) = self.without.folder(&path) {
            walk.set_aside(path, SetAsideReason::TooMany(files));
            return Ok(());
        }
        if is_too_deep(&path) {
            walk.set_aside(path, SetAsideReason::TooDeep);
            return Ok(());
        }
        let inner = open_folder(folder, name, stat);
        let inner = inner.map_err(RunTreeError::beneath("open the folder", &path))?;
        self.folder(inner, &path, now, walk)
    }

    fn seen(
        &self,
        folder: &impl std::os::fd::AsFd,
        name: &OsStr,
        path: &Path,
        stat: &Stat,
        now: (i64, u64),
    ) -> Result<ScannedTreeFile, Errno> {
        let stamp = TreeFileStamp::of(stat);
        let is_fresh = stamp.changed >= now;
        let known = self.known.get(path).filter(|known| known.stamp == stamp);
        if let Some(known) = known.filter(|known| !known.is_fresh) {
            return Ok(known.clone());
        }
        let content = if is_fresh || known.is_some() {
            Some(hash(folder, name, stat)?)
        } else {
            None
        };
        Ok(ScannedTreeFile {
            stamp,
            content,
            is_fresh,
        })
    }
}

impl ScannedTreeFile {
    /// Returns whether it is the same file with the same bytes.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.stamp == other.stamp && self.content == other.content
    }
}

impl TreeFileStamp {
    fn of(stat: &Stat) -> Self {
        let time = |seconds: i64, parts: u64| (seconds, parts);
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: time(stat.st_mtime, stat.st_mtime_nsec),
            changed: time(stat.st_ctime, stat.st_ctime_nsec),
            inode: stat.st_ino,
            mode: stat.st_mode,
        }
    }

    /// Returns a number that changes when the file does.
    fn short(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.size.to_le_bytes());
        hasher.update(&self.modified.0.to_le_bytes());
        hasher.update(&self.modified.1.to_le_bytes());
        hasher.update(&self.mode.to_le_bytes());
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Adds the whole stamp to a hash.
    fn feed(&self, hasher: &mut blake3::Hasher) {
        for number in [self.size, self.modified.1, self.changed.1, self.inode] {
            hasher.update(&number.to_le_bytes());
        }
        for number in [self.modified.0, self.changed.0, i64::from(self.mode)] {
            hasher.update(&number.to_le_bytes());
        }
    }
}

impl RunTreeScan {
    fn set_aside(&mut self, path: PathBuf, why: SetAsideReason) {
        let stamp = 0;
        self.set_aside.push(SetAsidePath { path, why, stamp });
    }

    /// Reports a folder once for all the files in it.
    fn set_aside_once(&mut self, folder: &Path, why: SetAsideReason) {
        let is_it = |one: &SetAsidePath| one.path == folder && one.why == why;
        if !self.set_aside.iter().any(is_it) {
            self.set_aside(folder.to_owned(), why);
        }
    }

    /// Returns one hash over everything that was seen.
    pub(super) fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let path = |hasher: &mut blake3::Hasher, path: &Path| {
            let bytes = path.as_os_str().as_bytes();
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for (name, seen) in &self.files {
            path(&mut hasher, name);
            seen.stamp.feed(&mut hasher);
            if let Some(content) = &seen.content {
                hasher.update(content.as_bytes());
            }
        }
        hasher.update(&(self.empty.len() as u64).to_le_bytes());
        self.empty.iter().for_each(|name| path(&mut hasher, name));
        hasher.update(&(self.set_aside.len() as u64).to_le_bytes());
        for one in &self.set_aside {
            path(&mut hasher, &one.path);
            hasher.update(&one.stamp.to_le_bytes());
        }
        hasher.finalize()
    }
}

/// Returns the reason to set an entry aside: metadata of a repository in any spelling, a
/// link where git expects a file, or anything that is neither file, folder nor link.
fn metadata_or_special(name: &OsStr, kind: FileType) -> Option<SetAsideReason> {
    let is_link = kind == FileType::Symlink;
    let is_plain = is_link || matches!(kind, FileType::RegularFile | FileType::Directory);
    let is_metadata =
        name.eq_ignore_ascii_case(".git") || (is_link && name.eq_ignore_ascii_case(".gitmodules"));
    if is_metadata {
        return Some(SetAsideReason::GitMetadata);
    }
    (!is_plain).then_some(SetAsideReason::SpecialFile)
}

/// Returns whether it is a placeholder for a name that commands may not make while one
/// runs.
fn is_placeholder(stat: &Stat) -> bool {
    let is_socket = FileType::from_raw_mode(stat.st_mode) == FileType::Socket;
    is_socket && stat.st_mode & 0o777 == 0
}

pub(super) fn is_too_deep(folder: &Path) -> bool {
    folder.as_os_str().len() > LONGEST_PATH || folder.iter().count() > DEEPEST
}

/// Opens a folder, even one that its maker closed to its owner.
pub(super) fn open_folder(
    folder: &impl std::os::fd::AsFd,
    name: &OsStr,
    stat: &Stat,
) -> Result<OwnedFd, Errno> {
    if stat.st_mode & 0o700 != 0o700 {
        grant(folder, name, 0o700)?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

/// Gives the owner more permissions on an entry itself, never on the target of a link.
fn grant(folder: &impl std::os::fd::AsFd, name: &OsStr, bits: u32) -> Result<Stat, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&handle)?;
    if FileType::from_raw_mode(stat.st_mode).is_symlink() {
        return Ok(stat);
    }
    // The kernel changes no mode through such a handle, but it does through the handle's path.
    let itself = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let mode = Mode::from_raw_mode(stat.st_mode & 0o7777 | bits);
    rustix::fs::chmod(itself, mode)?;
    rustix::fs::fstat(&handle)
}

fn hash(folder: &impl std::os::fd::AsFd, name: &OsStr, stat: &Stat) -> Result<blake3::Hash, Errno> {
    if FileType::from_raw_mode(stat.st_mode).is_symlink() {
        let target = rustix::fs::readlinkat(folder, name, Vec::new())?;
        return Ok(blake3::hash(target.as_bytes()));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
    let mut hasher = blake3::Hasher::new();
    hasher
        .update_reader(file)
        .map_err(|cause| Errno::from_io_error(&cause).unwrap_or(Errno::IO))?;
    Ok(hasher.finalize())
}

/// Touches a file of ours and returns the time of that, by the file system's clock.
fn tick(clock: &Path) -> Result<(i64, u64), RunTreeError> {
    let read = || {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        let file = rustix::fs::open(clock, flags, Mode::from_raw_mode(0o600))?;
        let now = rustix::fs::Timespec {
            tv_sec: 0,
            tv_nsec: rustix::fs::UTIME_NOW,
        };
        let times = rustix::fs::Timestamps {
            last_access: now,
            last_modification: now,
        };
        rustix::fs::futimens(&file, &times)?;
        rustix::fs::fstat(&file)
    };
    let stat = read().map_err(RunTreeError::system("change", clock))?;
    Ok((stat.st_ctime, stat.st_ctime_nsec))
}
