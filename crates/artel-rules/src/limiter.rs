//! The limiter: what being asked to slow down does to one provider.
//!
//! A 429, or a word of being overloaded, shuts the gate for everybody. The wait doubles with every
//! refusal in a row, and a wait that the provider names wins. When it has passed, one call goes
//! first to see, and the others follow once it has succeeded: a hundred calls that all come back
//! at once would only be refused again.
//!
//! Many calls may be under way when the provider says no, and each of them hears it. They are one
//! refusal: only that of the one call that went to see is the next step of the back-off.

use std::time::Duration;

use artel_types::{Class, Timestamp};

use crate::retry;

/// A wait longer than this is not sat out: whoever waits is parked, with the time shown.
pub const PARK_ABOVE: Duration = Duration::from_secs(600);

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Everybody.
    Open,
    /// One call, to see; nobody else while it is out. The queue sees to that.
    One,
    /// Nobody.
    Shut {
        /// When to look again.
        until: Timestamp,
    },
}

/// One provider's gate, as this process knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limiter {
    pause: Option<Pause>,
}

/// What a refusal leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paused {
    /// It is waited for.
    For {
        /// Until when.
        until: Timestamp,
        /// How many refusals there were in a row.
        attempt: u32,
    },
    /// It takes so long that the run is parked.
    Park {
        /// Until when.
        until: Timestamp,
    },
}

/// The provider is asked again as usual, which others must hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed;

/// Which call something is heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// The one that went to see.
    OfTheOne,
    /// Any other: it was sent before the pause.
    OfAnother,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pause {
    until: Timestamp,
    /// How long it was when it was named. A clock that is set back must not make it longer.
    length: Duration,
    attempt: u32,
    scout: Scout,
}

/// The one call that goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scout {
    /// It may not go yet.
    Held,
    /// It may go.
    Due,
    /// It is under way.
    Out,
}

impl Limiter {
    /// Returns who may call now. Once the wait has passed it is [`Gate::One`] until the fate of
    /// the one call is reported.
    pub fn gate(&mut self, now: Timestamp) -> Gate {
        let Some(pause) = &mut self.pause else {
            return Gate::Open;
        };
        if pause.scout == Scout::Held {
            pause.until = pause.until.min(now.after(pause.length));
            if now < pause.until {
                return Gate::Shut { until: pause.until };
            }
            pause.scout = Scout::Due;
        }
        Gate::One
    }

    /// Takes note that the provider asked us to slow down, and returns until when.
    ///
    /// `jitter_permille` is a random number from 0 to 1000 that spreads our own waits between half
    /// and the whole of the schedule's. A wait that the provider names is kept to the letter,
    /// except that naming no time at all names nothing. A refusal of a call that was sent before
    /// the pause can only make the pause longer, by naming a later end.
    pub fn slowed(
        &mut self,
        now: Timestamp,
        heard: Heard,
        retry_after: Option<Duration>,
        jitter_permille: u32,
    ) -> Paused {
        let named = retry_after.filter(|wait| !wait.is_zero());
        let pause = match (self.pause.take(), heard) {
            (Some(pause), heard) if !pause.is_news(heard) => pause.prolonged(now, named),
            (before, _) => {
                let attempt = before.map_or(0, |pause| pause.attempt).saturating_add(1);
                let wait = named.unwrap_or_else(|| own_wait(attempt, jitter_permille));
                Pause::new(now, now.after(wait), attempt)
            }
        };
        let (until, attempt) = (pause.until, pause.attempt);
        self.pause = Some(pause);
        if until.since(now) > PARK_ABOVE {
            return Paused::Park { until };
        }
        Paused::For { until, attempt }
    }

    /// Takes note of a success. If it is that of the one call that went to see, the pause is over
    /// and the next one starts from the shortest wait. A call that was sent before the pause and
    /// ends well in it says nothing: the provider refuses new ones.
    pub fn succeeded(&mut self, heard: Heard) -> Option<Resumed> {
        self.pause.take_if(|pause| pause.is_news(heard))?;
        Some(Resumed)
    }

    /// Takes note that a call is sent, and tells whether it is the one that goes to see. Its fate
    /// is then to be reported as such.
    pub fn sent(&mut self) -> Heard {
        match &mut self.pause {
            Some(pause) if pause.scout == Scout::Due => {
                pause.scout = Scout::Out;
                Heard::OfTheOne
            }
            _ => Heard::OfAnother,
        }
    }

    /// Takes note that the one call ended without telling anything about the gate: it was called
    /// off, or failed for another reason. Another one may go.
    pub fn one_abandoned(&mut self) {
        if let Some(pause) = &mut self.pause
            && pause.scout == Scout::Out
        {
            pause.scout = Scout::Due;
        }
    }

    /// Takes note that another process was asked to slow down. The longer wait holds; a call of
    /// ours that went to see is then one more of the same refusal. What is no longer than a pause
    /// that is known, nor a further step, is no news: their burst is told in as many facts as it
    /// had calls.
    ///
    /// `said` is when they said so: how long the pause is counts from there.
    pub fn paused_elsewhere(&mut self, said: Timestamp, until: Timestamp, attempt: u32) {
        self.pause = Some(match self.pause.take() {
            None => Pause::new(said, until, attempt),
            Some(ours) if until <= ours.until && attempt <= ours.attempt => ours,
            Some(ours) => Pause::new(said, ours.until.max(until), ours.attempt.max(attempt)),
        });
    }

    /// Takes note that another process's call went through, or that a person said so.
    pub fn resumed_elsewhere(&mut self) {
        self.pause = None;
    }

    /// Returns until when it is paused. That may have passed, as long as nobody went to see.
    pub fn paused_until(&self) -> Option<Timestamp> {
        self.pause.as_ref().map(|pause| pause.until)
    }
}

impl Pause {
    fn new(said: Timestamp, until: Timestamp, attempt: u32) -> Self {
        Self {
            until,
            length: until.since(said),
            attempt,
            scout: Scout::Held,
        }
    }

    /// Tells whether the fate of a call says something new: so does only that of the one, as long
    /// as no other process has shut the gate since it went.
    fn is_news(&self, heard: Heard) -> bool {
        heard == Heard::OfTheOne && self.scout == Scout::Out
    }

    fn prolonged(mut self, now: Timestamp, named: Option<Duration>) -> Self {
        if let Some(later) = named.map(|wait| now.after(wait))
            && later > self.until
        {
            self.until = later;
            self.length = later.since(now);
            self.scout = Scout::Held;
        }
        self
    }
}

/// Returns the schedule's wait, shortened by up to a half. The provider's pause outlasts the tries
/// of a single call, so the longest wait goes on where the schedule ends.
fn own_wait(attempt: u32, jitter_permille: u32) -> Duration {
    let schedule = Class::RateLimit.schedule();
    let whole = retry::next_wait(&schedule, attempt, None).unwrap_or(schedule.longest);
    whole * (1000 + jitter_permille.min(1000)) / 2000
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
