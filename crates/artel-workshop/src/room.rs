//! Going on through a full disk. The journal waits for room by itself; whatever else lacks it fails,
//! and is done again once there is some. That is safe for exactly what can be taken up after a
//! crash: orders are on record, and carried out from wherever they stand.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artel_engine::Stop;
use artel_types::{Code, Failure, Lack, Shortage, Waiting};
use tokio::sync::watch;

use crate::workshop::Workshop;

/// How often, and within how long, something is done again whose failure says that there was no
/// room, although there is some by now.
const MOST_TRIES: (usize, Duration) = (20, Duration::from_mins(10));

/// What the system says where there is no room; git and other programs say it in its words.
const SAID: [&str; 3] = [
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
];

/// What the system says where a file system is mounted read-only.
const SAID_READ_ONLY: &str = "Read-only file system";

/// Says whether something that failed is to be done again, once there is room for it.
pub(crate) struct Patience<'w> {
    workshop: &'w Workshop,
    folder: PathBuf,
    /// Looks at the folder, and writes nothing.
    seen: fn(&Path) -> Option<Shortage>,
    stop: Option<watch::Receiver<Stop>>,
    tries: usize,
    /// Since when they are counted.
    since: Duration,
}

/// What a failure has to do with room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// There was none.
    Full,
    /// The file system is mounted read-only.
    ReadOnly,
    /// The journal's disk failed, which may be for that.
    Broken,
}

/// What is waited for: the place, and the turn there.
type Wait = Option<(PathBuf, Waiting)>;

impl Patience<'_> {
    /// Ends the waiting, too, when this says to stop.
    #[must_use]
    pub(crate) fn until(self, stop: &watch::Receiver<Stop>) -> Self {
        let stop = Some(stop.clone());
        Self { stop, ..self }
    }

    /// Waits for room, and tells whether to do it again: only what failed for lack of room is.
    pub(crate) async fn again(&mut self, failure: &Failure) -> bool {
        let mut wait = None;
        loop {
            match self.look(failure, &mut wait) {
                ControlFlow::Continue(pause) => tokio::time::sleep(pause).await,
                ControlFlow::Break(again) => return again,
            }
        }
    }

    /// The same for a thread that may wait.
    pub(crate) fn again_blocking(&mut self, failure: &Failure) -> bool {
        let mut wait = None;
        loop {
            match self.look(failure, &mut wait) {
                ControlFlow::Continue(pause) => std::thread::park_timeout(pause),
                ControlFlow::Break(again) => return again,
            }
        }
    }

    /// Looks once: either it is clear whether to do it again, or how long to wait before the next
    /// look.
    fn look(&mut self, failure: &Failure, wait: &mut Wait) -> ControlFlow<bool, Duration> {
        let room = &self.workshop.caller.room;
        let stop = self.stop.as_ref();
        let is_stopped = stop.is_some_and(|stop| *stop.borrow() != Stop::No);
        let Some(said) = Said::of(failure).filter(|_| !is_stopped && room.is_awaited()) else {
            return ControlFlow::Break(false);
        };
        // Without room for the journal everybody waits; a folder concerns whoever works on it.
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
                let begun = match is_own {
                    true => room.wait(lack),
                    false => room.wait_apart(lack),
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

    /// Returns what the folder lacks of what the failure speaks of. Many a folder is read-only for
    /// good, and works are about it all the same.
    fn folder_lack(&self, said: Said) -> Option<Lack> {
        let why = (self.seen)(&self.folder)?;
        let is_meant = match said {
            Said::Full => why != Shortage::ReadOnly,
            Said::ReadOnly => why == Shortage::ReadOnly,
            Said::Broken => false,
        };
        let (need, at) = (None, self.folder.clone());
        is_meant.then_some(Lack { why, need, at })
    }

    /// By the time of the look there may be room again.
    fn is_tried_again(&mut self, said: Said) -> bool {
        let (most, span) = MOST_TRIES;
        let now = self.workshop.caller.clock.uptime();
        if now.saturating_sub(self.since) > span {
            (self.tries, self.since) = (0, now);
        }
        self.tries += 1;
        said == Said::Full && self.tries < most
    }
}

impl Said {
    fn of(failure: &Failure) -> Option<Self> {
        let says = |said: &str| {
            let why = failure.why.as_ref();
            failure.what.contains(said) || why.is_some_and(|why| why.contains(said))
        };
        match failure.code {
            Code::J006 => Some(Self::Full),
            _ if SAID.iter().any(|said| says(said)) => Some(Self::Full),
            Code::J008 => Some(Self::Broken),
            // A journal that cannot be opened for it was so from the start.
            Code::J001 | Code::J007 => None,
            _ => says(SAID_READ_ONLY).then_some(Self::ReadOnly),
        }
    }
}

impl Workshop {
    /// Returns whom to ask whether something that fails is to be done again.
    pub(crate) fn patience(&self, folder: impl Into<PathBuf>) -> Patience<'_> {
        Patience {
            workshop: self,
            folder: folder.into(),
            seen: artel_files::shortage,
            stop: None,
            tries: 0,
            since: self.caller.clock.uptime(),
        }
    }

    /// Returns what is lacking in the workshop now.
    pub fn lack(&self) -> Option<Lack> {
        self.own_lack().or_else(|| {
            let (need, at) = (None, self.root.clone());
            artel_files::shortage(&at).map(|why| Lack { why, need, at })
        })
    }

    /// Returns what somebody waits for, or what the file system itself says is lacking: a look that
    /// writes nothing, for whoever asks often.
    pub fn lack_seen(&self) -> Option<Lack> {
        let waited = self.caller.room.lack();
        waited.or_else(|| {
            let (need, at) = (None, self.home.state().to_owned());
            artel_files::shortage(&at).map(|why| Lack { why, need, at })
        })
    }

    /// Returns what is lacking where the journal is.
    fn own_lack(&self) -> Option<Lack> {
        let why = self.caller.room.shortage(&self.home.log())?;
        let (need, at) = (None, self.home.state().to_owned());
        Some(Lack { why, need, at })
    }
}

#[cfg(test)]
mod tests;
