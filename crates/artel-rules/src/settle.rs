//! When a file that somebody puts into a watched folder is whole.
//!
//! Each path waits until 200 ms have passed since the last thing that happened to it. A file that
//! was renamed into place, or that had rested before anybody looked, is whole then. One that was
//! written where it lies is whole when two looks at least a second apart see the same; while they
//! do not, the looks come less often, and in the end the file is given up until something happens
//! to it again. The machine holds paths and fingerprints, never contents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a path must be quiet before it is looked at.
pub const QUIET: Duration = Duration::from_millis(200);
/// How far apart the two looks are that must see the same.
pub const APART: Duration = Duration::from_secs(1);
/// The longest wait between two looks at a file that goes on changing.
const LONGEST: Duration = Duration::from_secs(4);
/// So many looks may see something new; at the longest wait this is about five minutes.
const MOST_CHANGES: u32 = 80;

/// What happened to a path. A moment is a span since some fixed beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// It was made, written to or touched where it lies.
    Changed,
    /// It was renamed into place, or found to have rested: nobody writes it any more.
    MovedIn,
    /// It was removed or renamed away.
    Gone,
}

/// What a look at a file saw. Two that are equal are taken for the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    /// How long it is.
    pub size: u64,
    /// When it was last written, in nanoseconds.
    pub modified: i128,
    /// The hash of what is in it.
    pub hash: [u8; 32],
}

/// What follows from a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It is whole: to be taken, once.
    Settled,
    /// It is not there.
    Gone,
    /// It is to be looked at again; [`Settle::due`] says when.
    NotYet,
    /// It never stopped changing and is left alone until something happens to it again.
    Unstable,
}

/// The paths that something happened to and that are not settled yet.
#[derive(Debug, Clone, Default)]
pub struct Settle {
    files: BTreeMap<PathBuf, File>,
    queue: BTreeSet<(Duration, PathBuf)>,
}

#[derive(Debug, Clone)]
struct File {
    /// When it is looked at next.
    at: Duration,
    last: Happened,
    /// What the last look saw, and when.
    seen: Option<(Fingerprint, Duration)>,
    /// How many looks saw something new.
    changes: u32,
    /// Whether something happened since the last look.
    is_heard: bool,
}

impl Settle {
    /// Notes that something happened to a path.
    pub fn happened(&mut self, path: &Path, what: Happened, now: Duration) {
        let known = self.files.get(path);
        let mut file = known.cloned().unwrap_or(File {
            at: Duration::ZERO,
            last: what,
            seen: None,
            changes: 0,
            is_heard: true,
        });
        file.last = what;
        file.is_heard = true;
        let quiet = now.saturating_add(QUIET);
        // A file that goes on changing is not read each time somebody writes to it.
        let paced = file.seen.map(|(_, at)| at.saturating_add(pace(&file)));
        let paced = paced.filter(|_| what == Happened::Changed);
        let at = paced.map_or(quiet, |paced| paced.max(quiet));
        self.put(path, File { at, ..file });
    }

    /// Returns the paths that are to be looked at now, those that waited longest first, at most
    /// `most`. Each is to be answered by [`Settle::seen`]; one that is not comes again.
    pub fn due(&self, now: Duration, most: usize) -> Vec<PathBuf> {
        let due = self.queue.iter().take_while(|(at, _)| *at <= now);
        due.take(most).map(|(_, path)| path.clone()).collect()
    }

    /// Returns when something is due next.
    pub fn next(&self) -> Option<Duration> {
        self.queue.first().map(|(at, _)| *at)
    }

    /// Notes what a look at a path saw, nothing where the file is not there, and says what follows.
    pub fn seen(&mut self, path: &Path, print: Option<Fingerprint>, now: Duration) -> Seen {
        let Some(file) = self.files.get(path).cloned() else {
            // Nobody asked for the look.
            return Seen::NotYet;
        };
        let Some(print) = print else {
            self.forget(path);
            return Seen::Gone;
        };
        if file.last == Happened::MovedIn {
            self.forget(path);
            return Seen::Settled;
        }
        match file.seen {
            Some((before, at)) if before == print => {
                let whole = at.saturating_add(APART);
                if now >= whole {
                    self.forget(path);
                    return Seen::Settled;
                }
                self.put(path, File { at: whole, ..file });
            }
            before => {
                let changes = file.changes + u32::from(before.is_some());
                if changes > MOST_CHANGES {
                    self.forget(path);
                    return Seen::Unstable;
                }
                let next = File {
                    at: now,
                    last: Happened::Changed,
                    seen: Some((print, now)),
                    changes,
                    is_heard: false,
                };
                // Where changes are heard of, the next look needs to wait for nothing else.
                let wait = if file.is_heard { APART } else { pace(&next) };
                let at = now.saturating_add(wait);
                self.put(path, File { at, ..next });
            }
        }
        Seen::NotYet
    }

    /// Tells whether a path is on its way.
    pub fn knows(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// Returns how many paths are not settled.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Tells whether every path is settled.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn put(&mut self, path: &Path, file: File) {
        self.forget(path);
        self.queue.insert((file.at, path.to_owned()));
        self.files.insert(path.to_owned(), file);
    }

    fn forget(&mut self, path: &Path) {
        if let Some(file) = self.files.remove(path) {
            self.queue.remove(&(file.at, path.to_owned()));
        }
    }
}

/// Returns how long after a look the next one comes where the file was written to again.
fn pace(file: &File) -> Duration {
    let doublings = 2_u32.saturating_pow(file.changes.min(8));
    APART.saturating_mul(doublings).min(LONGEST)
}

#[cfg(test)]
mod tests;
