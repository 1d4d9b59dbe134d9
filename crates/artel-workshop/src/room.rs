//! Survives a full disk. The journal waits for space by itself. Other operations fail and
//! are retried once there is space again. That is safe for everything that can be resumed
//! after a crash: orders are recorded, and are carried out from any state.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artel_engine::ShutdownLevel;
use artel_types::{DiskShortage, DiskShortageReason, DiskSpaceWait, Failure, FailureCode};
use tokio::sync::watch;

use crate::workshop::Workshop;

/// Maximum number of retries, within the given time, of an operation that reports a full
/// disk although there is space now.
const MOST_TRIES: (usize, Duration) = (20, Duration::from_mins(10));

/// The system's messages for a full disk, which git and other programs repeat.
const SAID: [&str; 3] = [
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
];

/// The system's message for a read-only file system.
const SAID_READ_ONLY: &str = "Read-only file system";

/// Decides whether to retry an operation that failed for lack of disk space.
pub(crate) struct DiskSpaceRetry<'w> {
    workshop: &'w Workshop,
    folder: PathBuf,
    /// Probes the folder without writing.
    seen: fn(&Path) -> Option<DiskShortageReason>,
    stop: Option<watch::Receiver<ShutdownLevel>>,
    tries: usize,
    /// When the current count of retries began.
    since: Duration,
}

/// The relation of a failure to disk space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiskSpaceFailure {
    /// There was no space.
    Full,
    /// The file system is mounted read-only.
    ReadOnly,
    /// The journal's disk failed, possibly for lack of space.
    Broken,
}

/// The place that is waited for, and the wait in progress there.
type Wait = Option<(PathBuf, DiskSpaceWait)>;

impl DiskSpaceRetry<'_> {
    /// Also stops waiting when `stop` says so.
    #[must_use]
    pub(crate) fn until(self, stop: &watch::Receiver<ShutdownLevel>) -> Self {
        let stop = Some(stop.clone());
        Self { stop, ..self }
    }

    /// Waits for space, and returns whether to retry. Only failures for lack of space are
    /// retried.
    pub(crate) async fn again(&mut self, failure: &Failure) -> bool {
        let mut wait = None;
        loop {
            match self.look(failure, &mut wait) {
                ControlFlow::Continue(pause) => tokio::time::sleep(pause).await,
                ControlFlow::Break(again) => return again,
            }
        }
    }

    /// Like [`Self::again`], for a thread that may block.
    pub(crate) fn again_blocking(&mut self, failure: &Failure) -> bool {
        let mut wait = None;
        loop {
            match self.look(failure, &mut wait) {
                ControlFlow::Continue(pause) => std::thread::park_timeout(pause),
                ControlFlow::Break(again) => return again,
            }
        }
    }

    /// Checks once, and returns either the decision or the time to wait before the next check.
    fn look(&mut self, failure: &Failure, wait: &mut Wait) -> ControlFlow<bool, Duration> {
        let room = &self.workshop.caller.room;
        let stop = self.stop.as_ref();
        let is_stopped = stop.is_some_and(|stop| *stop.borrow() != ShutdownLevel::No);
        let Some(said) = DiskSpaceFailure::of(failure).filter(|_| !is_stopped && room.is_awaited())
        else {
            return ControlFlow::Break(false);
        };
        // Lack of space for the journal stops everybody; lack of space in a folder concerns only
        // its users.
        let (lack, is_own) = match (self.workshop.own_lack(), self.folder_lack(said)) {
            (Some(lack), _) => (lack, true),
            (None, Some(lack)) => (lack, false),
            (None, None) => {
                let has_waited = wait.is_some();
                return ControlFlow::Break(has_waited || self.is_tried_again(said));
            }
        };
        let (_, waiting) = match wait.take().filter(|(at, _)| *at == lack.at) {
            Some(same) => wait.insert(same),
            None => {
                let at = lack.at.clone();
                let begun = if is_own {
                    room.wait(lack)
                } else {
                    room.wait_apart(lack)
                };
                let Some(begun) = begun else {
                    return ControlFlow::Break(false);
                };
                wait.insert((at, begun))
            }
        };
        match waiting.pause() {
            Some(pause) => ControlFlow::Continue(pause),
            None => ControlFlow::Break(false),
        }
    }

    /// Returns what the folder lacks, if the failure is about that. Many folders are
    /// permanently read-only, and work on them is still possible.
    fn folder_lack(&self, said: DiskSpaceFailure) -> Option<DiskShortage> {
        let why = (self.seen)(&self.folder)?;
        let is_meant = match said {
            DiskSpaceFailure::Full => why != DiskShortageReason::ReadOnly,
            DiskSpaceFailure::ReadOnly => why == DiskShortageReason::ReadOnly,
            DiskSpaceFailure::Broken => false,
        };
        let (need, at) = (None, self.folder.clone());
        is_meant.then_some(DiskShortage { why, need, at })
    }

    /// Allows a limited number of retries when there is space again by the time of the check.
    fn is_tried_again(&mut self, said: DiskSpaceFailure) -> bool {
        let (most, span) = MOST_TRIES;
        let now = self.workshop.caller.clock.uptime();
        if now.saturating_sub(self.since) > span {
            (self.tries, self.since) = (0, now);
        }
        self.tries += 1;
        said == DiskSpaceFailure::Full && self.tries < most
    }
}

impl DiskSpaceFailure {
    fn of(failure: &Failure) -> Option<Self> {
        let says = |said: &str| {
            let why = failure.why.as_ref();
            failure.what.contains(said) || why.is_some_and(|why| why.contains(said))
        };
        match failure.code {
            FailureCode::J006 => Some(Self::Full),
            _ if SAID.iter().any(|said| says(said)) => Some(Self::Full),
            FailureCode::J008 => Some(Self::Broken),
            // A journal that cannot be opened because of this has been so from the start.
            FailureCode::J001 | FailureCode::J007 => None,
            _ => says(SAID_READ_ONLY).then_some(Self::ReadOnly),
        }
    }
}

impl Workshop {
    /// Returns a retry policy for operations on a folder.
    pub(crate) fn patience(&self, folder: impl Into<PathBuf>) -> DiskSpaceRetry<'_> {
        DiskSpaceRetry {
            workshop: self,
            folder: folder.into(),
            seen: artel_files::shortage,
            stop: None,
            tries: 0,
            since: self.caller.clock.uptime(),
        }
    }

    /// Returns what the workshop lacks now.
    pub fn lack(&self) -> Option<DiskShortage> {
        self.own_lack().or_else(|| {
            let (need, at) = (None, self.root.clone());
            artel_files::shortage(&at).map(|why| DiskShortage { why, need, at })
        })
    }

    /// Returns what is being waited for, or what the file system reports as lacking. Writes
    /// nothing, so it can be called often.
    pub fn lack_seen(&self) -> Option<DiskShortage> {
        let waited = self.caller.room.lack();
        waited.or_else(|| {
            let (need, at) = (None, self.home.state().to_owned());
            artel_files::shortage(&at).map(|why| DiskShortage { why, need, at })
        })
    }

    /// Returns what the journal's folder lacks.
    fn own_lack(&self) -> Option<DiskShortage> {
        let why = self.caller.room.shortage(&self.home.log())?;
        let (need, at) = (None, self.home.state().to_owned());
        Some(DiskShortage { why, need, at })
    }
}

#[cfg(test)]
mod tests;
