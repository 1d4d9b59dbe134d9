//! The breaker: leaves a provider alone for a while after it failed too often.
//!
//! Closed, every call goes. Too many failures open it, and every call is refused until a cooldown
//! has passed. Then it probes: one call at a time goes to see, and enough successes in a row close
//! it. Only failures of the provider are to be reported as such; being asked to slow down is the
//! [limiter](crate::limiter)'s business.
//!
//! Other processes share the provider. What they recorded is handed in, so that all of them
//! together leave it alone, and all of them together send one probe.

use std::collections::VecDeque;
use std::time::Duration;

use artel_types::Timestamp;

/// When often is too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// That many failures in a row open it,
    pub consecutive: u32,
    /// and so does this share of failures, in percent,
    pub rate_percent: u32,
    /// among the last so many results. Fewer results say nothing; zero turns this rule off.
    pub window: usize,
    /// How long it stays open, and how long a probe may go unanswered.
    pub cooldown: Duration,
    /// That many successful probes close it.
    pub successes: u32,
}

/// The health of one provider, as this process knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breaker {
    mode: Mode,
}

/// How a breaker stands, to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Calls go.
    Closed,
    /// Calls are refused.
    Open {
        /// When it is tried again.
        until: Timestamp,
    },
    /// One call at a time goes to see.
    Probing {
        /// How many came back well.
        successes: u32,
        /// While a probe is out, here or elsewhere: when another may replace it.
        until: Option<Timestamp>,
    },
}

/// Whether a call may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Go,
    /// It may, alone, to see whether the provider is back.
    Probe,
    /// It may not.
    Refused {
        /// When to ask again.
        until: Timestamp,
    },
}

/// What came of a call, as far as the provider's health goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The provider is well.
    Success,
    /// The provider is not well.
    Failure,
    /// The call was called off or preempted: that says nothing, and gives a probe back.
    Abandoned,
}

/// A change that others must hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It opened.
    Opened {
        /// When it is tried again.
        until: Timestamp,
        /// What decided it.
        why: String,
    },
    /// A probe is over, and it is not closed yet: another one may go.
    Probed {
        /// How many came back well so far.
        successes: u32,
    },
    /// It closed.
    Closed,
}

/// Counters live in the mode that needs them, so leaving it forgets them.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    Closed {
        consecutive: u32,
        /// The last results, oldest first.
        window: VecDeque<Health>,
    },
    Open {
        until: Timestamp,
    },
    Probing {
        successes: u32,
        /// When our probe may be replaced, if one is out.
        ours: Option<Timestamp>,
        /// The same of another process's.
        theirs: Option<Timestamp>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Well,
    Ill,
}

impl Thresholds {
    /// Those of a model provider.
    pub const MODEL: Self = Self {
        consecutive: 5,
        rate_percent: 50,
        window: 20,
        cooldown: Duration::from_secs(30),
        successes: 3,
    };
}

impl Default for Mode {
    fn default() -> Self {
        Self::Closed {
            consecutive: 0,
            window: VecDeque::new(),
        }
    }
}

impl Breaker {
    /// Decides whether a call may go now.
    ///
    /// A probe that nobody reported on may be replaced after the cooldown: the process that sent
    /// it may be gone. No wait is longer than the cooldown from now, so that a clock that was set
    /// back cannot shut a provider out for a year.
    pub fn admit(&mut self, now: Timestamp, thresholds: &Thresholds) -> Admission {
        let latest = now.after(thresholds.cooldown);
        let successes = match &mut self.mode {
            Mode::Closed { .. } => return Admission::Go,
            Mode::Open { until } => {
                *until = latest.min(*until);
                if now < *until {
                    return Admission::Refused { until: *until };
                }
                0
            }
            Mode::Probing {
                successes,
                ours,
                theirs,
            } => {
                *theirs = theirs.map(|until| until.min(latest));
                *ours = ours.map(|until| until.min(latest));
                if let Some(until) = (*ours).max(*theirs).filter(|until| now < *until) {
                    return Admission::Refused { until };
                }
                *successes
            }
        };
        self.mode = Mode::Probing {
            successes,
            ours: Some(latest),
            theirs: None,
        };
        Admission::Probe
    }

    /// Takes what came of a call that was admitted, and returns what changed.
    ///
    /// Open, it takes no notice: calls that were under way when it opened are no news. Probing, it
    /// takes a result only while our probe is out, and then for the probe's. It cannot tell a call
    /// that was let go before it opened from a probe, so its caller should report the former only
    /// while it is closed.
    pub fn report(
        &mut self,
        verdict: Verdict,
        now: Timestamp,
        thresholds: &Thresholds,
    ) -> Option<Change> {
        match (&mut self.mode, verdict) {
            (Mode::Closed { .. }, Verdict::Success) => self.count(Health::Well, now, thresholds),
            (Mode::Closed { .. }, Verdict::Failure) => self.count(Health::Ill, now, thresholds),
            (Mode::Probing { ours, .. }, _) if ours.is_some() => {
                *ours = None;
                self.end_probe(verdict, now, thresholds)
            }
            _ => None,
        }
    }

    /// Takes note that another process opened it.
    pub fn opened_elsewhere(&mut self, until: Timestamp) {
        let until = match self.mode {
            Mode::Open { until: ours } => ours.max(until),
            _ => until,
        };
        self.mode = Mode::Open { until };
    }

    /// Takes note that another process sent a probe: nothing goes until then, unless it is heard
    /// of sooner. A probe of ours that is out still counts.
    /// A probe that is over has an `until` that has passed; `successes` counts all processes'.
    pub fn probed_elsewhere(&mut self, until: Timestamp, successes: u32) {
        let ours = match self.mode {
            Mode::Probing { ours, .. } => ours,
            _ => None,
        };
        self.mode = Mode::Probing {
            successes,
            ours,
            theirs: Some(until),
        };
    }

    /// Closes it and forgets every result: a person said so, or another process closed it.
    pub fn reset(&mut self) {
        self.mode = Mode::default();
    }

    /// Returns how it stands.
    pub fn state(&self) -> State {
        match &self.mode {
            Mode::Closed { .. } => State::Closed,
            Mode::Open { until } => State::Open { until: *until },
            Mode::Probing {
                successes,
                ours,
                theirs,
            } => State::Probing {
                successes: *successes,
                until: (*ours).max(*theirs),
            },
        }
    }

    /// Counts a result while closed. A success too may complete a window that is bad enough.
    fn count(&mut self, health: Health, now: Timestamp, at: &Thresholds) -> Option<Change> {
        let Mode::Closed {
            consecutive,
            window,
        } = &mut self.mode
        else {
            return None;
        };
        *consecutive = match health {
            Health::Well => 0,
            Health::Ill => consecutive.saturating_add(1),
        };
        let consecutive = *consecutive;
        window.push_back(health);
        while window.len() > at.window {
            window.pop_front();
        }
        if health == Health::Ill && consecutive >= at.consecutive {
            return Some(self.open(now, at, format!("{consecutive} failures in a row")));
        }
        let ill = window.iter().filter(|health| **health == Health::Ill);
        let (ill, all) = (ill.count(), at.window);
        let is_telling = all > 0 && window.len() == all;
        if is_telling && ill as u128 * 100 >= all as u128 * u128::from(at.rate_percent) {
            return Some(self.open(now, at, format!("{ill} of the last {all} calls failed")));
        }
        None
    }

    fn end_probe(&mut self, verdict: Verdict, now: Timestamp, at: &Thresholds) -> Option<Change> {
        let Mode::Probing { successes, .. } = &mut self.mode else {
            return None;
        };
        match verdict {
            Verdict::Abandoned => Some(Change::Probed {
                successes: *successes,
            }),
            Verdict::Failure => Some(self.open(now, at, "the probe failed".to_owned())),
            Verdict::Success => {
                *successes += 1;
                let successes = *successes;
                if successes < at.successes {
                    return Some(Change::Probed { successes });
                }
                self.reset();
                Some(Change::Closed)
            }
        }
    }

    fn open(&mut self, now: Timestamp, thresholds: &Thresholds, why: String) -> Change {
        let until = now.after(thresholds.cooldown);
        self.mode = Mode::Open { until };
        Change::Opened { until, why }
    }
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
