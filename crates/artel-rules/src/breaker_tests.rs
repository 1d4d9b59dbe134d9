//! Tests of the breaker's rules, step by step.

use proptest::prelude::*;

use super::*;

const MODEL: BreakerThresholds = BreakerThresholds::MODEL;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

/// Reports results one second apart, starting at second 0, and returns the last change.
fn report_all(breaker: &mut CircuitBreaker, results: &str) -> Option<(usize, BreakerTransition)> {
    let mut change = None;
    for (second, result) in results.chars().enumerate() {
        let verdict = match result {
            's' => BreakerCallResult::Success,
            'f' => BreakerCallResult::Failure,
            _ => BreakerCallResult::Abandoned,
        };
        let now = at(i64::try_from(second).unwrap());
        assert_eq!(
            breaker.admit(now, &MODEL),
            BreakerAdmission::Go,
            "{results}"
        );
        let new = breaker.report(verdict, now, &MODEL);
        change = new.map(|change| (second, change)).or(change);
    }
    change
}

#[track_caller]
fn check(results: &str, expected: Option<(usize, &str)>) {
    let mut breaker = CircuitBreaker::default();
    let change = report_all(&mut breaker, results);
    let found = change.map(|(second, change)| match change {
        BreakerTransition::Opened { until, why } => {
            assert_eq!(until, at(i64::try_from(second).unwrap() + 30));
            assert_eq!(breaker.state(), BreakerStatus::Open { until });
            (second, why)
        }
        BreakerTransition::Closed | BreakerTransition::Probed { .. } => {
            panic!("it was closed before")
        }
    });
    let expected = expected.map(|(second, why)| (second, why.to_owned()));
    assert_eq!(found, expected, "{results}");
}

#[test]
fn it_opens_by_failures_in_a_row_or_by_their_share() {
    check("", None);
    check("ffff", None);
    check("fffff", Some((4, "5 failures in a row")));
    check("ffffsffff", None);
    check("ffffsfffff", Some((9, "5 failures in a row")));
    check("ffff----f", Some((8, "5 failures in a row")));
    let half = "fs".repeat(10);
    check(&half, Some((19, "10 of the last 20 calls failed")));
    check(&half[..19], None);
    check(
        &"sf".repeat(10),
        Some((19, "10 of the last 20 calls failed")),
    );
    check(&"ffs-s".repeat(100)[..24], None);
    check(&"fss".repeat(100), None);
    let late = format!("{}{}", "s".repeat(40), &"ffs".repeat(5)[..14]);
    check(&late, Some((53, "10 of the last 20 calls failed")));
}

#[test]
fn odd_thresholds_do_no_harm() {
    let odd = BreakerThresholds {
        consecutive: 0,
        rate_percent: 0,
        window: 0,
        cooldown: Duration::ZERO,
        successes: 0,
    };
    let mut breaker = CircuitBreaker::default();
    assert_eq!(
        breaker.report(BreakerCallResult::Success, at(0), &odd),
        None
    );
    assert!(
        breaker
            .report(BreakerCallResult::Failure, at(0), &odd)
            .is_some()
    );
    assert_eq!(breaker.admit(at(0), &odd), BreakerAdmission::Probe);
    let change = breaker.report(BreakerCallResult::Success, at(0), &odd);
    assert_eq!(change, Some(BreakerTransition::Closed));
}

fn open_at_zero() -> CircuitBreaker {
    let mut breaker = CircuitBreaker::default();
    for _ in 0..5 {
        breaker.report(BreakerCallResult::Failure, at(0), &MODEL);
    }
    assert_eq!(breaker.state(), BreakerStatus::Open { until: at(30) });
    breaker
}

#[track_caller]
fn check_admit(breaker: &mut CircuitBreaker, second: i64, expected: BreakerAdmission) {
    assert_eq!(breaker.admit(at(second), &MODEL), expected, "at {second}");
}

#[track_caller]
fn check_report(
    breaker: &mut CircuitBreaker,
    verdict: BreakerCallResult,
    second: i64,
    expected: Option<BreakerTransition>,
) {
    assert_eq!(breaker.report(verdict, at(second), &MODEL), expected);
}

fn probed(successes: u32) -> Option<BreakerTransition> {
    Some(BreakerTransition::Probed { successes })
}

fn refused(second: i64) -> BreakerAdmission {
    BreakerAdmission::Refused { until: at(second) }
}

#[test]
fn three_good_probes_one_after_the_other_close_it() {
    let mut breaker = open_at_zero();
    check_admit(&mut breaker, 29, refused(30));
    for (second, successes) in [(30, 1), (31, 2)] {
        check_admit(&mut breaker, second, BreakerAdmission::Probe);
        check_admit(&mut breaker, second, refused(second + 30));
        check_report(
            &mut breaker,
            BreakerCallResult::Success,
            second,
            probed(successes),
        );
    }
    let (successes, until) = (2, None);
    assert_eq!(breaker.state(), BreakerStatus::Probing { successes, until });
    check_admit(&mut breaker, 32, BreakerAdmission::Probe);
    check_report(
        &mut breaker,
        BreakerCallResult::Success,
        32,
        Some(BreakerTransition::Closed),
    );
    assert_eq!(
        breaker,
        CircuitBreaker::default(),
        "old results are forgotten"
    );
    check_admit(&mut breaker, 32, BreakerAdmission::Go);
}

#[test]
fn a_failed_probe_opens_it_anew() {
    let mut breaker = open_at_zero();
    check_admit(&mut breaker, 30, BreakerAdmission::Probe);
    check_report(&mut breaker, BreakerCallResult::Success, 31, probed(1));
    check_admit(&mut breaker, 32, BreakerAdmission::Probe);
    let opened = BreakerTransition::Opened {
        until: at(65),
        why: "the probe failed".into(),
    };
    check_report(&mut breaker, BreakerCallResult::Failure, 35, Some(opened));
    check_admit(&mut breaker, 64, refused(65));
    check_admit(&mut breaker, 65, BreakerAdmission::Probe);
    let (successes, until) = (0, Some(at(95)));
    assert_eq!(breaker.state(), BreakerStatus::Probing { successes, until });
}

#[test]
fn a_probe_that_says_nothing_is_given_back_or_replaced() {
    let mut breaker = open_at_zero();
    check_admit(&mut breaker, 30, BreakerAdmission::Probe);
    check_report(&mut breaker, BreakerCallResult::Abandoned, 31, probed(0));
    check_admit(&mut breaker, 31, BreakerAdmission::Probe);
    check_admit(&mut breaker, 60, refused(61));
    check_admit(&mut breaker, 61, BreakerAdmission::Probe);
    check_admit(&mut breaker, 62, refused(91));
}

#[test]
fn late_results_are_no_news() {
    for verdict in [
        BreakerCallResult::Success,
        BreakerCallResult::Failure,
        BreakerCallResult::Abandoned,
    ] {
        let mut breaker = open_at_zero();
        let before = breaker.clone();
        check_report(&mut breaker, verdict, 10, None);
        assert_eq!(breaker, before);
        check_admit(&mut breaker, 30, BreakerAdmission::Probe);
        check_report(&mut breaker, BreakerCallResult::Abandoned, 30, probed(0));
        let before = breaker.clone();
        check_report(&mut breaker, verdict, 31, None);
        assert_eq!(breaker, before, "no probe of ours is out");
    }
}

#[test]
fn other_processes_are_minded() {
    let mut breaker = CircuitBreaker::default();
    breaker.opened_elsewhere(at(30));
    check_admit(&mut breaker, 20, refused(30));
    breaker.opened_elsewhere(at(25));
    check_admit(&mut breaker, 26, refused(30));
    breaker.probed_elsewhere(at(60), 0);
    check_admit(&mut breaker, 59, refused(60));
    check_report(&mut breaker, BreakerCallResult::Failure, 59, None);
    check_admit(&mut breaker, 60, BreakerAdmission::Probe);
    breaker.probed_elsewhere(at(95), 0);
    check_report(&mut breaker, BreakerCallResult::Success, 61, probed(1));
    check_admit(&mut breaker, 94, refused(95));
    let (successes, until) = (1, Some(at(95)));
    assert_eq!(breaker.state(), BreakerStatus::Probing { successes, until });
    breaker.opened_elsewhere(at(120));
    check_admit(&mut breaker, 100, refused(120));
    breaker.reset();
    assert_eq!(breaker, CircuitBreaker::default());
}

#[test]
fn the_successes_of_all_processes_count() {
    let mut breaker = CircuitBreaker::default();
    breaker.opened_elsewhere(at(30));
    // Two probes of other processes succeeded, one after the other.
    breaker.probed_elsewhere(at(31), 1);
    breaker.probed_elsewhere(at(32), 2);
    check_admit(&mut breaker, 33, BreakerAdmission::Probe);
    check_report(
        &mut breaker,
        BreakerCallResult::Success,
        33,
        Some(BreakerTransition::Closed),
    );
}

#[test]
fn a_clock_set_back_shuts_nobody_out() {
    let mut breaker = open_at_zero();
    check_admit(&mut breaker, -1_000_000, refused(-999_970));
    check_admit(&mut breaker, -999_970, BreakerAdmission::Probe);
    check_admit(&mut breaker, -2_000_000, refused(-1_999_970));
    check_admit(&mut breaker, -1_999_970, BreakerAdmission::Probe);
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Admit,
    Report(BreakerCallResult),
    OpenedElsewhere(i64),
    ProbedElsewhere(i64),
    Reset,
    Wait(i64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let verdict = prop_oneof![
        Just(BreakerCallResult::Success),
        Just(BreakerCallResult::Failure),
        Just(BreakerCallResult::Abandoned)
    ];
    let act = prop_oneof![
        6 => Just(Act::Admit),
        6 => verdict.prop_map(Act::Report),
        1 => (-10_i64..60).prop_map(Act::OpenedElsewhere),
        1 => (-10_i64..60).prop_map(Act::ProbedElsewhere),
        1 => Just(Act::Reset),
        3 => (0_i64..40).prop_map(Act::Wait),
    ];
    proptest::collection::vec(act, 0..200)
}

proptest! {
    #[test]
    fn never_two_probes_at_a_time_nor_one_before_its_time(acts in acts()) {
        let (mut breaker, mut now) = (CircuitBreaker::default(), 0);
        // When our own probe may be replaced, tracked independently.
        let mut probe: Option<i64> = None;
        for act in acts {
            match act {
                Act::Admit => match breaker.admit(at(now), &MODEL) {
                    BreakerAdmission::Go => prop_assert_eq!(breaker.state(), BreakerStatus::Closed),
                    BreakerAdmission::Refused { until } => {
                        prop_assert!(at(now) < until && until <= at(now + 30));
                    }
                    BreakerAdmission::Probe => {
                        prop_assert!(probe.is_none_or(|until| until <= now));
                        probe = Some(now + 30);
                    }
                },
                Act::Report(verdict) => {
                    let was_out = probe.is_some();
                    let before = breaker.state();
                    let change = breaker.report(verdict, at(now), &MODEL);
                    match (&before, &change) {
                        (BreakerStatus::Probing { .. }, Some(_)) => prop_assert!(was_out),
                        (BreakerStatus::Open { .. }, change) => prop_assert!(change.is_none()),
                        (_, Some(BreakerTransition::Closed)) => prop_assert!(false, "closed twice"),
                        _ => {}
                    }
                    if let Some(BreakerTransition::Opened { until, .. }) = change {
                        prop_assert_eq!(until, at(now + 30));
                    }
                    probe = None;
                }
                Act::OpenedElsewhere(span) => {
                    breaker.opened_elsewhere(at(now + span));
                    probe = None;
                }
                Act::ProbedElsewhere(span) => breaker.probed_elsewhere(at(now + span), 0),
                Act::Reset => {
                    breaker.reset();
                    probe = None;
                    prop_assert_eq!(breaker.admit(at(now), &MODEL), BreakerAdmission::Go);
                }
                Act::Wait(seconds) => now += seconds,
            }
        }
    }
}
