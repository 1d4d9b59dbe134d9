//! The rate limiter: how one provider is called after it asked to slow down.
//!
//! A 429, or a report of overload, shuts the gate for all calls. The wait doubles with
//! every refusal in a row; a wait that the provider names takes precedence. When the wait
//! is over, one probing call goes first, and the others follow once it has succeeded: a
//! hundred calls that return all at once would only be refused again.
//!
//! Many calls may be under way when the provider refuses, and each of them gets a refusal.
//! Together they are one refusal: only the refusal of the probing call is the next step of
//! the back-off.

use std::time::Duration;

use artel_types::{RetryClass, Timestamp};

use crate::retry;

/// Longest wait that a run sits out; for a longer one it is parked, and the time is shown.
pub const PARK_ABOVE: Duration = Duration::from_secs(600);

/// Who may call now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimiterGate {
    /// All calls.
    Open,
    /// One probing call, and no other while it is under way. The queue makes sure of that.
    One,
    /// No call.
    Shut {
        /// When to look again.
        until: Timestamp,
    },
}

/// The gate of one provider, as this process knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderRateLimiter {
    pause: Option<ActiveRateLimitPause>,
}

/// The consequence of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimitPause {
    /// The call waits.
    For {
        /// The end of the wait.
        until: Timestamp,
        /// Number of refusals in a row.
        attempt: u32,
    },
    /// The wait is so long that the run is parked.
    Park {
        /// The end of the pause.
        until: Timestamp,
    },
}

/// The provider is called again as usual, which other processes must hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitLifted;

/// The call that a result belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimitReporter {
    /// The probing call.
    OfTheOne,
    /// Any other call: it was sent before the pause.
    OfAnother,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ActiveRateLimitPause {
    until: Timestamp,
    /// Length of the pause when it was announced. A clock that is set back must not make
    /// it longer.
    length: Duration,
    attempt: u32,
    scout: RateLimitProbeState,
}

/// The state of the probing call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RateLimitProbeState {
    /// It may not go yet.
    Held,
    /// It may go.
    Due,
    /// It is under way.
    Out,
}

impl ProviderRateLimiter {
    /// Returns who may call now. After the wait this is [`RateLimiterGate::One`] until the result of
    /// the probing call is reported.
    pub fn gate(&mut self, now: Timestamp) -> RateLimiterGate {
        let Some(pause) = &mut self.pause else {
            return RateLimiterGate::Open;
        };
        if pause.scout == RateLimitProbeState::Held {
            pause.until = pause.until.min(now.after(pause.length));
            if now < pause.until {
                return RateLimiterGate::Shut { until: pause.until };
            }
            pause.scout = RateLimitProbeState::Due;
        }
        RateLimiterGate::One
    }

    /// Notes that the provider asked to slow down, and returns until when to wait.
    ///
    /// `jitter_permille` is a random number from 0 to 1000 that spreads our own waits
    /// between half and all of the scheduled one. A wait that the provider names is kept
    /// exactly, unless it is zero. A refusal of a call that was sent before the pause can
    /// only prolong the pause, by naming a later end.
    pub fn slowed(
        &mut self,
        now: Timestamp,
        heard: RateLimitReporter,
        retry_after: Option<Duration>,
        jitter_permille: u32,
    ) -> RateLimitPause {
        let named = retry_after.filter(|wait| !wait.is_zero());
        let pause = match (self.pause.take(), heard) {
            (Some(pause), heard) if !pause.is_news(heard) => pause.prolonged(now, named),
            (before, _) => {
                let attempt = before.map_or(0, |pause| pause.attempt).saturating_add(1);
                let wait = named.unwrap_or_else(|| own_wait(attempt, jitter_permille));
                ActiveRateLimitPause::new(now, now.after(wait), attempt)
            }
        };
        let (until, attempt) = (pause.until, pause.attempt);
        self.pause = Some(pause);
        if until.since(now) > PARK_ABOVE {
            return RateLimitPause::Park { until };
        }
        RateLimitPause::For { until, attempt }
    }

    /// Notes a success. If it is that of the probing call, the pause is over, and the next
    /// one starts from the shortest wait. The success of a call that was sent before the
    /// pause says nothing: the provider refuses new calls.
    pub fn succeeded(&mut self, heard: RateLimitReporter) -> Option<RateLimitLifted> {
        self.pause.take_if(|pause| pause.is_news(heard))?;
        Some(RateLimitLifted)
    }

    /// Notes that a call is sent, and returns whether it is the probing call. Its result
    /// must be reported accordingly.
    pub fn sent(&mut self) -> RateLimitReporter {
        match &mut self.pause {
            Some(pause) if pause.scout == RateLimitProbeState::Due => {
                pause.scout = RateLimitProbeState::Out;
                RateLimitReporter::OfTheOne
            }
            _ => RateLimitReporter::OfAnother,
        }
    }

    /// Notes that the probing call ended without a word about the limit: it was called
    /// off, or failed for another reason. Another call may probe.
    pub fn one_abandoned(&mut self) {
        if let Some(pause) = &mut self.pause
            && pause.scout == RateLimitProbeState::Out
        {
            pause.scout = RateLimitProbeState::Due;
        }
    }

    /// Notes that another process was asked to slow down. The longer wait applies, and a
    /// probing call of ours then belongs to the same refusal. A pause that is neither
    /// longer than the known one nor a further step is ignored: the other process records
    /// one fact for each call of its burst.
    ///
    /// `said` is when the other process recorded it: the length of the pause counts from
    /// there.
    pub fn paused_elsewhere(&mut self, said: Timestamp, until: Timestamp, attempt: u32) {
        self.pause = Some(match self.pause.take() {
            None => ActiveRateLimitPause::new(said, until, attempt),
            Some(ours) if until <= ours.until && attempt <= ours.attempt => ours,
            Some(ours) => {
                ActiveRateLimitPause::new(said, ours.until.max(until), ours.attempt.max(attempt))
            }
        });
    }

    /// Notes that a call of another process succeeded, or that a person lifted the pause.
    pub fn resumed_elsewhere(&mut self) {
        self.pause = None;
    }

    /// Returns the end of the pause. It can be in the past, as long as no call has probed.
    pub fn paused_until(&self) -> Option<Timestamp> {
        self.pause.as_ref().map(|pause| pause.until)
    }
}

impl ActiveRateLimitPause {
    fn new(said: Timestamp, until: Timestamp, attempt: u32) -> Self {
        Self {
            until,
            length: until.since(said),
            attempt,
            scout: RateLimitProbeState::Held,
        }
    }

    /// Returns whether the result of a call is news: only that of the probing call is, as
    /// long as no other process has shut the gate since it went out.
    fn is_news(&self, heard: RateLimitReporter) -> bool {
        heard == RateLimitReporter::OfTheOne && self.scout == RateLimitProbeState::Out
    }

    fn prolonged(mut self, now: Timestamp, named: Option<Duration>) -> Self {
        if let Some(later) = named.map(|wait| now.after(wait))
            && later > self.until
        {
            self.until = later;
            self.length = later.since(now);
            self.scout = RateLimitProbeState::Held;
        }
        self
    }
}

/// Returns the scheduled wait, shortened by up to a half. The pause of a provider can
/// outlast the tries of a single call, so the longest wait repeats after the end of the
/// schedule.
fn own_wait(attempt: u32, jitter_permille: u32) -> Duration {
    let schedule = RetryClass::RateLimit.schedule();
    let whole = retry::next_wait(&schedule, attempt, None).unwrap_or(schedule.longest);
    whole * (1000 + jitter_permille.min(1000)) / 2000
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
