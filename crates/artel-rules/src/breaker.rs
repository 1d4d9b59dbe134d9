//! The circuit breaker: leaves a provider alone for a while after it failed too often.
//!
//! While it is closed, every call may go. Too many failures open it, and every call is
//! refused until a cooldown has passed. Then it probes: one call at a time may go, and
//! enough successes in a row close it. Only failures of the provider itself should be
//! reported here; requests to slow down are the business of the [limiter](crate::limiter).
//!
//! Other processes use the same provider. The caller passes in what they recorded, so that
//! all of them together leave the provider alone, and all of them together send one probe.

use std::collections::VecDeque;
use std::time::Duration;

use artel_types::Timestamp;

/// The failure counts and rates that open the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerThresholds {
    /// Number of failures in a row that opens it.
    pub consecutive: u32,
    /// Share of failures, in percent, that opens it.
    pub rate_percent: u32,
    /// Number of last results that the rate is computed from. With fewer results the rate
    /// rule does not apply; zero turns it off.
    pub window: usize,
    /// Time that the breaker stays open, and that a probe may go unanswered.
    pub cooldown: Duration,
    /// Number of successful probes that closes it.
    pub successes: u32,
}

/// The health of one provider, as this process knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CircuitBreaker {
    mode: BreakerState,
}

/// The state of a breaker, for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerStatus {
    /// Calls may go.
    Closed,
    /// Calls are refused.
    Open {
        /// When the provider is tried again.
        until: Timestamp,
    },
    /// One probing call at a time may go.
    Probing {
        /// Number of successful probes so far.
        successes: u32,
        /// If a probe is out, here or in another process: when a new one may replace it.
        until: Option<Timestamp>,
    },
}

/// Whether a call may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerAdmission {
    /// The call may go.
    Go,
    /// The call may go alone, to find out whether the provider is back.
    Probe,
    /// The call may not go.
    Refused {
        /// When to ask again.
        until: Timestamp,
    },
}

/// The result of a call, as far as it concerns the provider's health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerCallResult {
    /// The provider is healthy.
    Success,
    /// The provider is not healthy.
    Failure,
    /// The call was called off or preempted. That says nothing about health, and frees the
    /// probe.
    Abandoned,
}

/// A change that other processes must hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakerTransition {
    /// The breaker opened.
    Opened {
        /// When the provider is tried again.
        until: Timestamp,
        /// The reason for opening.
        why: String,
    },
    /// A probe is over without closing the breaker: the next one may go.
    Probed {
        /// Number of successful probes so far.
        successes: u32,
    },
    /// The breaker closed.
    Closed,
}

/// The state of the breaker. The counters live in the variant that needs them, so that
/// leaving it resets them.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BreakerState {
    Closed {
        consecutive: u32,
        /// The last results, oldest first.
        window: VecDeque<BreakerSample>,
    },
    Open {
        until: Timestamp,
    },
    Probing {
        successes: u32,
        /// When this process's own probe may be replaced, if one is out.
        ours: Option<Timestamp>,
        /// The same for a probe of another process.
        theirs: Option<Timestamp>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BreakerSample {
    Well,
    Ill,
}

impl BreakerThresholds {
    /// The thresholds for model providers.
    pub const MODEL: Self = Self {
        consecutive: 5,
        rate_percent: 50,
        window: 20,
        cooldown: Duration::from_secs(30),
        successes: 3,
    };
}

impl Default for BreakerState {
    fn default() -> Self {
        Self::Closed {
            consecutive: 0,
            window: VecDeque::new(),
        }
    }
}

impl CircuitBreaker {
    /// Decides whether a call may go now.
    ///
    /// A probe without a report may be replaced after the cooldown, because the process
    /// that sent it may be gone. No wait is longer than the cooldown from now, so that a
    /// clock that was set back cannot shut a provider out for a year.
    pub fn admit(&mut self, now: Timestamp, thresholds: &BreakerThresholds) -> BreakerAdmission {
        let latest = now.after(thresholds.cooldown);
        let successes = match &mut self.mode {
            BreakerState::Closed { .. } => return BreakerAdmission::Go,
            BreakerState::Open { until } => {
                *until = latest.min(*until);
                if now < *until {
                    return BreakerAdmission::Refused { until: *until };
                }
                0
            }
            BreakerState::Probing {
                successes,
                ours,
                theirs,
            } => {
                *theirs = theirs.map(|until| until.min(latest));
                *ours = ours.map(|until| until.min(latest));
                if let Some(until) = (*ours).max(*theirs).filter(|until| now < *until) {
                    return BreakerAdmission::Refused { until };
                }
                *successes
            }
        };
        self.mode = BreakerState::Probing {
            successes,
            ours: Some(latest),
            theirs: None,
        };
        BreakerAdmission::Probe
    }

    /// Applies the result of an admitted call and returns the resulting change.
    ///
    /// While open, the breaker ignores results: calls that were under way when it opened
    /// bring no news. While probing, it accepts a result only if this process's own probe
    /// is out, and counts it as the probe's. It cannot tell a call that was admitted
    /// before it opened from a probe, so the caller should report such calls only while
    /// the breaker is closed.
    pub fn report(
        &mut self,
        verdict: BreakerCallResult,
        now: Timestamp,
        thresholds: &BreakerThresholds,
    ) -> Option<BreakerTransition> {
        match (&mut self.mode, verdict) {
            (BreakerState::Closed { .. }, BreakerCallResult::Success) => {
                self.count(BreakerSample::Well, now, thresholds)
            }
            (BreakerState::Closed { .. }, BreakerCallResult::Failure) => {
                self.count(BreakerSample::Ill, now, thresholds)
            }
            (BreakerState::Probing { ours, .. }, _) if ours.is_some() => {
                *ours = None;
                self.end_probe(verdict, now, thresholds)
            }
            _ => None,
        }
    }

    /// Notes that another process opened the breaker.
    pub fn opened_elsewhere(&mut self, until: Timestamp) {
        let until = match self.mode {
            BreakerState::Open { until: ours } => ours.max(until),
            _ => until,
        };
        self.mode = BreakerState::Open { until };
    }

    /// Notes that another process sent a probe: no call may go until `until`, unless its
    /// result is heard of earlier. A probe of this process that is out still counts. If
    /// the other probe is over, `until` is in the past. `successes` counts the probes of
    /// all processes.
    pub fn probed_elsewhere(&mut self, until: Timestamp, successes: u32) {
        let ours = match self.mode {
            BreakerState::Probing { ours, .. } => ours,
            _ => None,
        };
        self.mode = BreakerState::Probing {
            successes,
            ours,
            theirs: Some(until),
        };
    }

    /// Closes the breaker and forgets all results, because a person asked for it or
    /// another process closed it.
    pub fn reset(&mut self) {
        self.mode = BreakerState::default();
    }

    /// Returns the state for display.
    pub fn state(&self) -> BreakerStatus {
        match &self.mode {
            BreakerState::Closed { .. } => BreakerStatus::Closed,
            BreakerState::Open { until } => BreakerStatus::Open { until: *until },
            BreakerState::Probing {
                successes,
                ours,
                theirs,
            } => BreakerStatus::Probing {
                successes: *successes,
                until: (*ours).max(*theirs),
            },
        }
    }

    /// Counts a result while closed. Even a success can complete a window that is bad
    /// enough.
    fn count(
        &mut self,
        health: BreakerSample,
        now: Timestamp,
        at: &BreakerThresholds,
    ) -> Option<BreakerTransition> {
        let BreakerState::Closed {
            consecutive,
            window,
        } = &mut self.mode
        else {
            return None;
        };
        *consecutive = match health {
            BreakerSample::Well => 0,
            BreakerSample::Ill => consecutive.saturating_add(1),
        };
        let consecutive = *consecutive;
        window.push_back(health);
        while window.len() > at.window {
            window.pop_front();
        }
        if health == BreakerSample::Ill && consecutive >= at.consecutive {
            return Some(self.open(now, at, format!("{consecutive} failures in a row")));
        }
        let ill = window
            .iter()
            .filter(|health| **health == BreakerSample::Ill);
        let (ill, all) = (ill.count(), at.window);
        let is_telling = all > 0 && window.len() == all;
        if is_telling && ill as u128 * 100 >= all as u128 * u128::from(at.rate_percent) {
            return Some(self.open(now, at, format!("{ill} of the last {all} calls failed")));
        }
        None
    }

    fn end_probe(
        &mut self,
        verdict: BreakerCallResult,
        now: Timestamp,
        at: &BreakerThresholds,
    ) -> Option<BreakerTransition> {
        let BreakerState::Probing { successes, .. } = &mut self.mode else {
            return None;
        };
        match verdict {
            BreakerCallResult::Abandoned => Some(BreakerTransition::Probed {
                successes: *successes,
            }),
            BreakerCallResult::Failure => Some(self.open(now, at, "the probe failed".to_owned())),
            BreakerCallResult::Success => {
                *successes += 1;
                let successes = *successes;
                if successes < at.successes {
                    return Some(BreakerTransition::Probed { successes });
                }
                self.reset();
                Some(BreakerTransition::Closed)
            }
        }
    }

    fn open(
        &mut self,
        now: Timestamp,
        thresholds: &BreakerThresholds,
        why: String,
    ) -> BreakerTransition {
        let until = now.after(thresholds.cooldown);
        self.mode = BreakerState::Open { until };
        BreakerTransition::Opened { until, why }
    }
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
