//! How much a tree of processes has written to disk, and its end beyond a bound.
//!
//! The kernel counts for every process what it and its ended children have written, so the sum over
//! those that are left is what the whole tree wrote. Files in memory are not counted here: they have
//! a bound of their own.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::fs::Timespec;
use rustix::process::{Signal, pidfd_send_signal};

use crate::cgroup::Own;

/// How often it is looked at.
pub(super) const PERIOD: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 250_000_000,
};

/// Whether a tree kept its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Yes,
    No,
}

/// Watches one tree.
pub(super) struct Meter<'a> {
    pub(super) first: &'a OwnedFd,
    pub(super) pid: i32,
    pub(super) groups: &'a Own,
    pub(super) most: u64,
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
            self.kept = Kept::No;
            // One that has just ended needs no end.
            let _ = pidfd_send_signal(self.first, Signal::KILL);
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
