//! How much a tree of processes has written to disk, in bytes and in files, and its end beyond a
//! bound.
//!
//! The kernel counts for every process what it and its ended children have written, so the sum over
//! those that are left is what the whole tree wrote. Files in memory are not counted here: they have
//! a bound of their own.

use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Dir, FileType, Mode, OFlags, Timespec};
use rustix::process::{Signal, pidfd_send_signal};
use rustix::time::{ClockId, clock_gettime};

use crate::cgroup::Own;

/// How often it is looked at.
pub(super) const PERIOD: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 250_000_000,
};

/// Whether a tree kept its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    TooMuch,
    TooMany,
}

/// Watches one tree.
pub(super) struct Meter<'a> {
    pub(super) first: &'a OwnedFd,
    pub(super) pid: i32,
    pub(super) groups: &'a Own,
    pub(super) most: u64,
    pub(super) files: FileCount,
    pub(super) kept: Kept,
}

impl Meter<'_> {
    /// Looks, and ends the tree if it wrote more than it may.
    pub(super) fn look(&mut self) {
        let mut members = self.groups.members();
        if members.is_empty() {
            descend(self.pid, &mut members);
        }
        let (written, taken) = members.into_iter().map(written_by).fold(
            (0_u64, 0_u64),
            |(written, taken), (more, less)| {
                (written.saturating_add(more), taken.saturating_add(less))
            },
        );
        if written.saturating_sub(taken) > self.most {
            self.end(Kept::TooMuch);
        } else if self.files.are_too_many(Look::IfItIsTime) {
            self.end(Kept::TooMany);
        }
    }

    /// Looks a last time, after the end: what was made in one go counts as well.
    pub(super) fn look_at_the_end(&mut self) {
        if self.kept == Kept::Yes && self.files.are_too_many(Look::Now) {
            self.kept = Kept::TooMany;
        }
    }

    fn end(&mut self, why: Kept) {
        self.kept = why;
        // One that has just ended needs no end.
        let _ = pidfd_send_signal(self.first, Signal::KILL);
    }
}

/// Counts the files in the writable folders. That means walking through them, so it is done only
/// where the file system says that many were made, and takes a small part of the time.
#[derive(Debug)]
pub(super) struct FileCount {
    folders: Vec<Counted>,
    most: u64,
    /// When the folders may be walked through again.
    next: Duration,
}

#[derive(Debug)]
struct Counted {
    path: PathBuf,
    /// The files of its whole file system at the start; nothing where that does not tell.
    began: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    IfItIsTime,
    Now,
}

/// So many of the files that are allowed have to be new before they are counted.
const WORTH_COUNTING: u64 = 8;

/// The walks take no more than one part in so many of the time.
const SHARE: u32 = 10;

/// Folders are walked through so far down.
const DEEPEST: usize = 200;

impl FileCount {
    pub(super) fn of(folders: Vec<PathBuf>, most: u64) -> Self {
        let counted = |path: PathBuf| Counted {
            began: used(&path),
            path,
        };
        Self {
            folders: folders.into_iter().map(counted).collect(),
            most,
            next: now(),
        }
    }

    fn are_too_many(&mut self, look: Look) -> bool {
        let began = now();
        if look == Look::IfItIsTime && began < self.next {
            return false;
        }
        let made = self.folders.iter().map(Counted::made).max().flatten();
        // Where nobody tells, the first look comes after a while.
        let is_worth_it = match made {
            Some(made) => made > self.most / WORTH_COUNTING,
            None => look == Look::IfItIsTime,
        };
        if !is_worth_it {
            return false;
        }
        let mut walk = FileWalk {
            left: self.most,
            is_whole: true,
        };
        for folder in &self.folders {
            walk.root(&folder.path);
        }
        let ended = now();
        self.next = ended + ended.saturating_sub(began).saturating_mul(SHARE);
        let hides_many = !walk.is_whole && made.is_some_and(|made| made > self.most);
        walk.left == 0 || hides_many
    }
}

impl Counted {
    /// Returns how many files its file system has more than at the start.
    fn made(&self) -> Option<u64> {
        Some(used(&self.path)?.saturating_sub(self.began?))
    }
}

/// Returns how many files a file system holds, where it tells.
fn used(path: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(path).ok()?;
    (about.f_files > 0).then(|| about.f_files.saturating_sub(about.f_ffree))
}

fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

/// A walk that ends when it has seen enough.
struct FileWalk {
    left: u64,
    is_whole: bool,
}

impl FileWalk {
    fn root(&mut self, path: &Path) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Ok(folder) = rustix::fs::open(path, flags, Mode::empty()) {
            self.folder(folder, 0);
        }
    }

    fn folder(&mut self, folder: OwnedFd, depth: usize) {
        let Ok(mut dir) = Dir::new(folder) else {
            return;
        };
        let mut folders: Vec<CString> = Vec::new();
        while let Some(Ok(entry)) = dir.read() {
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            if entry.file_type() == FileType::Directory {
                folders.push(name.to_owned());
            }
        }
        let Ok(handle) = dir.fd() else { return };
        if depth >= DEEPEST {
            self.is_whole &= folders.is_empty();
            return;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for name in folders {
            match rustix::fs::openat(handle, &name, flags, Mode::empty()) {
                Ok(inner) => self.folder(inner, depth + 1),
                Err(_) => self.is_whole = false,
            }
        }
    }
}

/// Collects a process and all below it.
fn descend(pid: i32, found: &mut Vec<i32>) {
    found.push(pid);
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return;
    };
    for task in tasks.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().flat_map(str::parse) {
            descend(child, found);
        }
    }
}

/// Returns what a process and its ended children wrote, and what of it they took away before it
/// reached the disk; nothing for one that is gone.
fn written_by(pid: i32) -> (u64, u64) {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let count = |wanted: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(name, _)| *name == wanted);
        found.and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
    };
    (count("write_bytes"), count("cancelled_write_bytes"))
}
