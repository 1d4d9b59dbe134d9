//! Counts the bytes and files that a process tree writes to disk, and ends it beyond a
//! limit.
//!
//! For every process the kernel counts the bytes written by it and its ended children, so
//! the sum over the remaining processes is what the whole tree wrote. Files in memory are
//! not counted here: they have their own limit.

use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Dir, FileType, Mode, OFlags, Timespec};
use rustix::process::{Signal, pidfd_send_signal};
use rustix::time::{ClockId, clock_gettime};

use crate::cgroup::CommandCgroups;

/// Interval between checks.
pub(super) const PERIOD: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 250_000_000,
};

/// The state of a tree's write limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteLimitState {
    Yes,
    TooMuch,
    TooMany,
}

/// Watches the writes of one tree.
pub(super) struct WriteLimitWatcher<'a> {
    pub(super) first: &'a OwnedFd,
    pub(super) pid: i32,
    pub(super) groups: &'a CommandCgroups,
    pub(super) most: u64,
    pub(super) files: WritableFileCounter,
    pub(super) kept: WriteLimitState,
}

impl WriteLimitWatcher<'_> {
    /// Checks the limits, and ends the tree if it exceeded one.
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
            self.end(WriteLimitState::TooMuch);
        } else if self.files.are_too_many(FileCountTiming::IfItIsTime) {
            self.end(WriteLimitState::TooMany);
        }
    }

    /// Checks a last time after the end, because files may have been created in one burst.
    pub(super) fn look_at_the_end(&mut self) {
        if self.kept == WriteLimitState::Yes && self.files.are_too_many(FileCountTiming::Now) {
            self.kept = WriteLimitState::TooMany;
        }
    }

    fn end(&mut self, why: WriteLimitState) {
        self.kept = why;
        // A process that has just ended does not need to be killed.
        let _ = pidfd_send_signal(self.first, Signal::KILL);
    }
}

/// Counts the files in the writable folders. That means walking through them, so it is
/// done only if a file system reports many new files or no count, and takes a small share
/// of the time.
#[derive(Debug)]
pub(super) struct WritableFileCounter {
    folders: Vec<CountedFolder>,
    most: u64,
    /// The earliest time of the next walk.
    next: Duration,
}

#[derive(Debug)]
struct CountedFolder {
    path: PathBuf,
    /// Files in its whole file system at the start, or `None` if that is not reported.
    began: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileCountTiming {
    IfItIsTime,
    Now,
}

/// The files are counted once the new ones exceed this fraction (one in so many) of the
/// limit.
const WORTH_COUNTING: u64 = 8;

/// After a walk, the pause is this many times as long as the walk took.
const SHARE: u32 = 10;

/// Depth limit of the walk.
const DEEPEST: usize = 200;

impl WritableFileCounter {
    pub(super) fn of(folders: Vec<PathBuf>, most: u64) -> Self {
        let counted = |path: PathBuf| CountedFolder {
            began: used(&path),
            path,
        };
        Self {
            folders: folders.into_iter().map(counted).collect(),
            most,
            next: now(),
        }
    }

    fn are_too_many(&mut self, look: FileCountTiming) -> bool {
        let began = now();
        if look == FileCountTiming::IfItIsTime && began < self.next {
            return false;
        }
        let made: Vec<_> = self.folders.iter().map(CountedFolder::made).collect();
        // If a file system reports no count, its files have to be counted.
        let is_worth_it =
            |made: &Option<u64>| made.is_none_or(|it| it > self.most / WORTH_COUNTING);
        if !made.iter().any(is_worth_it) {
            return false;
        }
        let mut walk = FileCountWalk {
            left: self.most,
            is_whole: true,
        };
        for folder in &self.folders {
            walk.root(&folder.path);
        }
        let ended = now();
        self.next = ended + ended.saturating_sub(began).saturating_mul(SHARE);
        let mut made = made.into_iter().flatten();
        let hides_many = !walk.is_whole && made.any(|made| made > self.most);
        walk.left == 0 || hides_many
    }
}

impl CountedFolder {
    /// Returns how many files its file system has gained since the start.
    fn made(&self) -> Option<u64> {
        Some(used(&self.path)?.saturating_sub(self.began?))
    }
}

/// Returns the number of files in a file system, if it reports one.
fn used(path: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(path).ok()?;
    (about.f_files > 0).then(|| about.f_files.saturating_sub(about.f_ffree))
}

fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

/// A walk that stops when it has counted enough.
struct FileCountWalk {
    left: u64,
    is_whole: bool,
}

impl FileCountWalk {
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

/// Collects a process and all its descendants.
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

/// Returns the bytes that a process and its ended children wrote, and the bytes they
/// removed before those reached the disk. Both are zero for a process that is gone.
fn written_by(pid: i32) -> (u64, u64) {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let count = |wanted: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(name, _)| *name == wanted);
        found.and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
    };
    (count("write_bytes"), count("cancelled_write_bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the files in folders, each with the count that its file system reported at the
    /// start.
    fn are_too_many(folders: &[(&Path, Option<u64>)], most: u64) -> bool {
        let counted = |(path, began): &(&Path, Option<u64>)| CountedFolder {
            path: (*path).to_owned(),
            began: *began,
        };
        let mut count = WritableFileCounter {
            folders: folders.iter().map(counted).collect(),
            most,
            next: Duration::ZERO,
        };
        count.are_too_many(FileCountTiming::Now)
    }

    #[test]
    fn files_are_counted_at_the_end_where_the_file_system_does_not_tell() {
        let (full, empty) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for name in 0..10 {
            fs::write(full.path().join(name.to_string()), "").unwrap();
        }
        assert!(are_too_many(&[(full.path(), None)], 10));
        assert!(!are_too_many(&[(full.path(), None)], 11));
        // A file system that reports no new files does not speak for the others.
        let other = (empty.path(), Some(u64::MAX));
        assert!(are_too_many(&[other, (full.path(), None)], 10));
        assert!(!are_too_many(&[(full.path(), Some(u64::MAX))], 10));
    }
}
