//! Decides when a file that somebody puts into a watched folder is complete.
//!
//! Each path waits until 200 ms have passed since its last event. A file that was renamed
//! into place, or that had been unchanged before it was noticed, is complete then. A file
//! that is written in place is complete when two looks at least a second apart see the
//! same. While they differ, the looks become less frequent, and in the end the file is
//! ignored until its next event. The state holds paths and fingerprints, never contents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a path must be quiet before it is looked at.
pub const QUIET: Duration = Duration::from_millis(200);
/// Shortest time between the two looks that must see the same.
pub const APART: Duration = Duration::from_secs(1);
/// Longest wait between two looks at a file that keeps changing.
const LONGEST: Duration = Duration::from_secs(4);
/// Number of looks that may see a change; at the longest wait this is about five minutes.
const MOST_CHANGES: u32 = 80;

/// An event of a path. Its moment is the time since some fixed beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchedFileEvent {
    /// The file was created, written or touched in place.
    Changed,
    /// The file was renamed into place, or was found unchanged for a while: nobody writes
    /// it any more.
    MovedIn,
    /// The file was removed or renamed away.
    Gone,
}

/// The result of a look at a file. Equal fingerprints are taken for equal content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedFileFingerprint {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last write, in nanoseconds.
    pub modified: i128,
    /// Hash of the content.
    pub hash: [u8; 32],
}

/// The conclusion from a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStability {
    /// The file is complete and can be taken, once.
    Settled,
    /// The file does not exist.
    Gone,
    /// The file must be looked at again; [`FileStabilityTracker::due`] tells when.
    NotYet,
    /// The file never stopped changing and is ignored until its next event.
    Unstable,
}

/// The paths with events that are not settled yet.
#[derive(Debug, Clone, Default)]
pub struct FileStabilityTracker {
    files: BTreeMap<PathBuf, UnsettledFile>,
    queue: BTreeSet<(Duration, PathBuf)>,
}

#[derive(Debug, Clone)]
struct UnsettledFile {
    /// When the file is looked at next.
    at: Duration,
    last: WatchedFileEvent,
    /// The result of the last look, and its time.
    seen: Option<(WatchedFileFingerprint, Duration)>,
    /// Number of looks that saw a change.
    changes: u32,
    /// Whether there was an event since the last look.
    is_heard: bool,
}

impl FileStabilityTracker {
    /// Notes an event of a path.
    pub fn happened(&mut self, path: &Path, what: WatchedFileEvent, now: Duration) {
        let known = self.files.get(path);
        let mut file = known.cloned().unwrap_or(UnsettledFile {
            at: Duration::ZERO,
            last: what,
            seen: None,
            changes: 0,
            is_heard: true,
        });
        file.last = what;
        file.is_heard = true;
        let quiet = now.saturating_add(QUIET);
        // A file that keeps changing is not read for every write.
        let paced = file.seen.map(|(_, at)| at.saturating_add(pace(&file)));
        let paced = paced.filter(|_| what == WatchedFileEvent::Changed);
        let at = paced.map_or(quiet, |paced| paced.max(quiet));
        self.put(path, UnsettledFile { at, ..file });
    }

    /// Returns the paths to look at now, longest-waiting first, at most `most`. The caller
    /// must report each to [`FileStabilityTracker::seen`]; a path that is not reported is returned
    /// again.
    pub fn due(&self, now: Duration, most: usize) -> Vec<PathBuf> {
        let due = self.queue.iter().take_while(|(at, _)| *at <= now);
        due.take(most).map(|(_, path)| path.clone()).collect()
    }

    /// Returns when the next path is due.
    pub fn next(&self) -> Option<Duration> {
        self.queue.first().map(|(at, _)| *at)
    }

    /// Notes the result of a look, `None` if the file does not exist, and returns the
    /// conclusion.
    pub fn seen(
        &mut self,
        path: &Path,
        print: Option<WatchedFileFingerprint>,
        now: Duration,
    ) -> FileStability {
        let Some(file) = self.files.get(path).cloned() else {
            // Nobody asked for this look.
            return FileStability::NotYet;
        };
        let Some(print) = print else {
            self.forget(path);
            return FileStability::Gone;
        };
        if file.last == WatchedFileEvent::MovedIn {
            self.forget(path);
            return FileStability::Settled;
        }
        match file.seen {
            Some((before, at)) if before == print => {
                let whole = at.saturating_add(APART);
                if now >= whole {
                    self.forget(path);
                    return FileStability::Settled;
                }
                self.put(path, UnsettledFile { at: whole, ..file });
            }
            before => {
                let changes = file.changes + u32::from(before.is_some());
                if changes > MOST_CHANGES {
                    self.forget(path);
                    return FileStability::Unstable;
                }
                let next = UnsettledFile {
                    at: now,
                    last: WatchedFileEvent::Changed,
                    seen: Some((print, now)),
                    changes,
                    is_heard: false,
                };
                // If changes are reported as events, the next look need not wait longer.
                let wait = if file.is_heard { APART } else { pace(&next) };
                let at = now.saturating_add(wait);
                self.put(path, UnsettledFile { at, ..next });
            }
        }
        FileStability::NotYet
    }

    /// Returns whether a path is not settled yet.
    pub fn knows(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// Returns the number of unsettled paths.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns whether every path is settled.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn put(&mut self, path: &Path, file: UnsettledFile) {
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

/// Returns the time between looks at a file that was written again.
fn pace(file: &UnsettledFile) -> Duration {
    let doublings = 2_u32.saturating_pow(file.changes.min(8));
    APART.saturating_mul(doublings).min(LONGEST)
}

#[cfg(test)]
mod tests;
