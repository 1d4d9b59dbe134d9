//! Tests of the limiter's waits, its probing call, and bursts.

use proptest::prelude::*;

use super::*;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_micros(millis * 1000)
}

/// A limiter with its probing call, if one is out: then each report is about that call.
#[derive(Debug, Clone, PartialEq)]
struct Scene {
    limiter: ProviderRateLimiter,
    heard: RateLimitReporter,
}

impl Scene {
    fn new() -> Self {
        Self {
            limiter: ProviderRateLimiter::default(),
            heard: RateLimitReporter::OfAnother,
        }
    }

    fn gate(&mut self, now: Timestamp) -> RateLimiterGate {
        self.limiter.gate(now)
    }

    fn slowed(&mut self, now: Timestamp, named: Option<Duration>, jitter: u32) -> RateLimitPause {
        let heard = self.take();
        self.limiter.slowed(now, heard, named, jitter)
    }

    fn succeeded(&mut self) -> Option<RateLimitLifted> {
        let heard = self.take();
        self.limiter.succeeded(heard)
    }

    fn one_sent(&mut self) {
        self.heard = self.limiter.sent();
    }

    fn one_abandoned(&mut self) {
        self.heard = RateLimitReporter::OfAnother;
        self.limiter.one_abandoned();
    }

    fn paused_elsewhere(&mut self, until: Timestamp, attempt: u32) {
        self.limiter.paused_elsewhere(at(0), until, attempt);
    }

    fn resumed_elsewhere(&mut self) {
        self.limiter.resumed_elsewhere();
    }

    fn paused_until(&self) -> Option<Timestamp> {
        self.limiter.paused_until()
    }

    fn take(&mut self) -> RateLimitReporter {
        std::mem::replace(&mut self.heard, RateLimitReporter::OfAnother)
    }
}

fn paused(until: i64, attempt: u32) -> RateLimitPause {
    RateLimitPause::For {
        until: at(until),
        attempt,
    }
}

fn shut(until: i64) -> RateLimiterGate {
    RateLimiterGate::Shut { until: at(until) }
}

fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

/// Is refused `times` times, each time by the probing call, and returns the waits.
fn waits(times: usize, named: Option<Duration>, jitter: u32) -> Vec<u64> {
    let (mut limiter, mut now) = (Scene::new(), at(0));
    let refusals = (1..).take(times).map(|attempt| {
        let until = match limiter.slowed(now, named, jitter) {
            RateLimitPause::For {
                until,
                attempt: counted,
            } => {
                assert_eq!(counted, attempt);
                until
            }
            RateLimitPause::Park { until } => until,
        };
        let wait = until.since(now);
        now = until;
        assert_eq!(limiter.gate(now), RateLimiterGate::One);
        limiter.one_sent();
        u64::try_from(wait.as_millis()).unwrap()
    });
    refusals.collect()
}

#[test]
fn waits_double_up_to_a_minute() {
    let whole = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60].map(|wait| wait * 1000);
    assert_eq!(waits(12, None, 1000), whole);
    assert_eq!(waits(12, None, 0), whole.map(|wait| wait / 2));
    assert_eq!(waits(3, None, 500), [750, 1500, 3000]);
    assert_eq!(waits(3, None, u32::MAX), [1000, 2000, 4000]);
}

#[test]
fn a_named_wait_wins_but_no_time_at_all_names_nothing() {
    assert_eq!(waits(3, seconds(7), 0), [7000; 3]);
    assert_eq!(waits(3, seconds(1), 0), [1000; 3]);
    assert_eq!(waits(3, seconds(0), 1000), [1000, 2000, 4000]);
    assert_eq!(waits(2, seconds(3600), 0), [3_600_000; 2]);
}

#[test]
fn a_long_wait_parks() {
    let mut limiter = Scene::new();
    assert_eq!(limiter.slowed(at(0), seconds(600), 0), paused(600_000, 1));
    let mut limiter = Scene::new();
    let until = at(601_000);
    let park = RateLimitPause::Park { until };
    assert_eq!(limiter.slowed(at(0), seconds(601), 0), park);
    assert_eq!(limiter.slowed(at(500), None, 0), park, "one of the burst");
    assert_eq!(limiter.gate(at(600_999)), RateLimiterGate::Shut { until });
    assert_eq!(limiter.gate(until), RateLimiterGate::One);
    let mut limiter = Scene::new();
    let forever = Some(Duration::MAX);
    let until = Timestamp::from_micros(i64::MAX);
    assert_eq!(
        limiter.slowed(at(0), forever, 0),
        RateLimitPause::Park { until }
    );
}

#[test]
fn one_goes_first_and_the_others_follow() {
    let mut limiter = Scene::new();
    assert_eq!(limiter.gate(at(0)), RateLimiterGate::Open);
    assert_eq!(limiter.succeeded(), None);
    limiter.slowed(at(0), None, 1000);
    assert_eq!(limiter.paused_until(), Some(at(1000)));
    assert_eq!(limiter.gate(at(999)), shut(1000));
    assert_eq!(limiter.gate(at(1000)), RateLimiterGate::One);
    limiter.one_sent();
    assert_eq!(limiter.gate(at(5000)), RateLimiterGate::One);
    assert_eq!(limiter.succeeded(), Some(RateLimitLifted));
    assert_eq!(limiter.gate(at(5000)), RateLimiterGate::Open);
    assert_eq!((limiter.succeeded(), limiter.paused_until()), (None, None));
    assert_eq!(limiter.slowed(at(6000), None, 1000), paused(7000, 1));
}

#[test]
fn the_one_may_fail_or_be_called_off() {
    let mut limiter = Scene::new();
    limiter.slowed(at(0), None, 1000);
    limiter.gate(at(1000));
    limiter.one_sent();
    assert_eq!(limiter.slowed(at(1000), None, 1000), paused(3000, 2));
    assert_eq!(limiter.gate(at(1000)), shut(3000));
    limiter.gate(at(3000));
    limiter.one_sent();
    limiter.one_abandoned();
    assert_eq!(limiter.gate(at(3000)), RateLimiterGate::One);
    assert_eq!(limiter.succeeded(), None, "nobody is out");
    limiter.one_sent();
    assert_eq!(limiter.slowed(at(4000), None, 1000), paused(8000, 3));
}

#[test]
fn a_burst_is_one_refusal() {
    let mut limiter = Scene::new();
    assert_eq!(limiter.slowed(at(0), None, 1000), paused(1000, 1));
    assert_eq!(limiter.slowed(at(100), None, 1000), paused(1000, 1));
    assert_eq!(limiter.slowed(at(100), seconds(5), 1000), paused(5100, 1));
    assert_eq!(limiter.slowed(at(200), seconds(1), 1000), paused(5100, 1));
    assert_eq!(limiter.succeeded(), None, "it was sent before the pause");
    assert_eq!(limiter.gate(at(5099)), shut(5100));
    assert_eq!(limiter.gate(at(5100)), RateLimiterGate::One);
    assert_eq!(limiter.slowed(at(5200), None, 1000), paused(5100, 1));
    assert_eq!(limiter.gate(at(5200)), RateLimiterGate::One);
    assert_eq!(limiter.slowed(at(5300), seconds(2), 1000), paused(7300, 1));
    assert_eq!(limiter.gate(at(5300)), shut(7300));
    limiter.one_sent();
    assert_eq!(limiter.succeeded(), None, "nobody may go yet");
}

#[test]
fn a_call_sent_before_the_pause_does_not_pass_for_the_one() {
    let mut limiter = ProviderRateLimiter::default();
    limiter.slowed(at(0), RateLimitReporter::OfAnother, None, 1000);
    limiter.gate(at(1000));
    assert_eq!(limiter.sent(), RateLimitReporter::OfTheOne);
    assert_eq!(
        limiter.sent(),
        RateLimitReporter::OfAnother,
        "there is only one"
    );
    assert_eq!(limiter.succeeded(RateLimitReporter::OfAnother), None);
    let again = limiter.slowed(at(1500), RateLimitReporter::OfAnother, None, 1000);
    assert_eq!(again, paused(1000, 1), "no further step");
    assert_eq!(
        limiter.succeeded(RateLimitReporter::OfTheOne),
        Some(RateLimitLifted)
    );
}

#[test]
fn a_clock_that_is_set_back_does_not_make_a_pause_longer() {
    let hours = 2 * 3_600_000;
    let mut limiter = ProviderRateLimiter::default();
    limiter.slowed(at(hours), RateLimitReporter::OfAnother, seconds(3), 0);
    assert_eq!(limiter.gate(at(0)), shut(3000));
    let mut limiter = ProviderRateLimiter::default();
    limiter.paused_elsewhere(at(hours), at(hours + 5000), 1);
    assert_eq!(limiter.gate(at(1000)), shut(6000));
}

#[test]
fn other_processes_are_minded() {
    let mut limiter = Scene::new();
    limiter.paused_elsewhere(at(4000), 3);
    assert_eq!(limiter.gate(at(0)), shut(4000));
    limiter.paused_elsewhere(at(2000), 1);
    assert_eq!(limiter.gate(at(3000)), shut(4000));
    assert_eq!(limiter.gate(at(4000)), RateLimiterGate::One);
    limiter.one_sent();
    assert_eq!(limiter.slowed(at(4000), None, 1000), paused(12_000, 4));
    limiter.gate(at(12_000));
    limiter.one_sent();
    limiter.paused_elsewhere(at(12_000), 4);
    assert_eq!(
        limiter.clone().succeeded(),
        Some(RateLimitLifted),
        "no news"
    );
    limiter.paused_elsewhere(at(28_000), 5);
    assert_eq!(limiter.clone().succeeded(), None);
    assert_eq!(limiter.slowed(at(12_000), None, 1000), paused(28_000, 5));
    limiter.resumed_elsewhere();
    assert_eq!(limiter.limiter, ProviderRateLimiter::default());
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Gate,
    Slowed(Option<u64>, u32),
    Succeeded,
    Sent,
    Abandoned,
    PausedElsewhere(i64, u32),
    ResumedElsewhere,
    Wait(i64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let named = proptest::option::of(0_u64..2000);
    let act = prop_oneof![
        4 => Just(Act::Gate),
        3 => (named, 0_u32..=1000).prop_map(|(named, jitter)| Act::Slowed(named, jitter)),
        2 => Just(Act::Succeeded),
        3 => Just(Act::Sent),
        1 => Just(Act::Abandoned),
        1 => (0_i64..100_000, 1_u32..12).prop_map(|(span, tries)| Act::PausedElsewhere(span, tries)),
        1 => Just(Act::ResumedElsewhere),
        3 => (0_i64..100_000).prop_map(Act::Wait),
    ];
    proptest::collection::vec(act, 0..100)
}

proptest! {
    #[test]
    fn a_pause_never_shrinks_and_steps_by_one(acts in acts()) {
        let (mut limiter, mut now) = (Scene::new(), 0);
        let mut last = None;
        for act in acts {
            let before = limiter.paused_until();
            match act {
                Act::Gate => match limiter.gate(at(now)) {
                    RateLimiterGate::Open => prop_assert_eq!(before, None),
                    RateLimiterGate::One => prop_assert!(before.unwrap() <= at(now)),
                    RateLimiterGate::Shut { until } => prop_assert!(before == Some(until) && at(now) < until),
                },
                Act::Slowed(named, jitter) => {
                    let named = named.map(Duration::from_secs);
                    let (until, attempt) = match limiter.slowed(at(now), named, jitter) {
                        RateLimitPause::For { until, attempt } => (until, Some(attempt)),
                        RateLimitPause::Park { until } => (until, None),
                    };
                    prop_assert_eq!(attempt.is_none(), until.since(at(now)) > PARK_ABOVE);
                    prop_assert_eq!(limiter.paused_until(), Some(until));
                    prop_assert!(before.is_none_or(|before| before <= until));
                    if let (Some(last), Some(attempt), true) = (last, attempt, before.is_some()) {
                        prop_assert!(attempt >= last && attempt <= last + 1);
                    }
                    last = attempt;
                }
                Act::Succeeded => {
                    let resumed = limiter.succeeded();
                    prop_assert!(resumed.is_none() || before.is_some_and(|until| until <= at(now)));
                    prop_assert_eq!(resumed.is_some(), before != limiter.paused_until());
                }
                Act::Sent => limiter.one_sent(),
                Act::Abandoned => limiter.one_abandoned(),
                Act::PausedElsewhere(span, attempt) => {
                    limiter.paused_elsewhere(at(now + span), attempt);
                    last = None;
                }
                Act::ResumedElsewhere => {
                    limiter.resumed_elsewhere();
                    prop_assert_eq!(limiter.gate(at(now)), RateLimiterGate::Open);
                }
                Act::Wait(millis) => now += millis,
            }
        }
    }
}
