//! Tests the sums: each thing is counted once, under its own name.

use artel_rules::usage::UsageDimension;
use artel_types::plan::Urgency;
use artel_types::{
    BudgetLevel, BudgetReserved, BudgetSettled, ConfiguredSpendLimits, Money, PlanCommented,
    SpendAmount, SpendLimit, Tokens,
};

use super::facts::*;
use super::*;
use crate::board::{BUCKETS, DurationHistogram};

#[test]
fn everything_is_counted_under_what_it_is() {
    let (trace, run) = (trace_id(1), run_id(1));
    let mut tape = Tape::default();
    tape.work(trace, request("Make it faster", Urgency::Normal));
    tape.work(
        trace,
        PlanCommented {
            version: 1,
            comments: Vec::new(),
            model: None,
        },
    );
    tape.work(trace, approved(1, run));
    // The approval event in the run's own stream is not a second decision.
    tape.run(run, trace, approved(1, run));
    tape.run(run, trace, started(run, "Cache"));
    tape.run(run, trace, prepared("engineer"));
    tape.run(run, trace, requested("1", 1));
    tape.run(run, trace, replied("1", 1, Some(30)));
    tape.run(run, trace, tool_requested("1.1", "shell", "allow"));
    tape.run(run, trace, tool_finished("1.1", "shell", Some(3)));
    tape.run(run, trace, tool_finished("1.2", "shell", Some(0)));
    tape.run(run, trace, finished(run, "partial"));
    let board = tape.board();
    let meter = board.meter();
    assert_eq!((meter.started, meter.turns), (1, 1));
    assert_eq!(meter.ended, [("partial", 1)].into());
    assert_eq!(meter.recoveries, [("exit".to_owned(), 1)].into());
    assert_eq!(meter.tools["shell"], [("done", 1), ("failed", 1)].into());
    assert_eq!(meter.requests, [("file".to_owned(), 1)].into());
    assert_eq!(meter.plans, [("approved", 1), ("revised", 1)].into());
    let times = &meter.models[&("anthropic".to_owned(), "sonnet".to_owned())];
    assert_eq!((times.first.sum, times.total.sum), (40, 1_200));
    for stats in [&meter.skills["tidy"], &meter.roles["engineer"]] {
        assert_eq!((stats.runs, stats.partial, stats.turns), (1, 1, 2));
        assert_eq!(stats.common_recovery(), Some(("exit", 1.0)));
    }
    let spent = meter.spent();
    assert_eq!((spent[0].sum.input, spent[0].sum.cost.0), (700, 30));
}

#[test]
fn names_that_models_make_up_do_not_grow_without_end() {
    let mut tape = Tape::default();
    for number in 0..1_000 {
        let tool = format!("tool-{number}");
        tape.run(run_id(1), trace_id(1), tool_finished("1.1", &tool, None));
    }
    let board = tape.board();
    let tools = &board.meter().tools;
    assert_eq!(tools.len(), 201);
    assert_eq!(tools["other"], [("done", 800)].into());
}

#[test]
fn a_time_is_in_the_bucket_that_ends_where_it_does() {
    let mut histogram = DurationHistogram::default();
    for end in BUCKETS {
        histogram.add(end);
    }
    histogram.add(BUCKETS[BUCKETS.len() - 1] + 1);
    assert_eq!(histogram.counts, [1; BUCKETS.len() + 1]);
    assert_eq!(histogram.count(), BUCKETS.len() as u64 + 1);
}

#[test]
fn usage_over_time_is_by_the_day_of_the_answer() {
    let mut tape = Tape::default();
    let (run, trace) = (run_id(1), trace_id(1));
    for call in ["1", "2", "3"] {
        tape.run(run, trace, requested(call, 1));
        tape.run(run, trace, replied(call, 1, Some(10)));
    }
    // The last call spans midnight.
    let days = [
        "2026-11-13",
        "2026-11-13",
        "2026-11-14",
        "2026-11-14",
        "2026-11-14",
        "2026-11-15",
    ];
    for (record, day) in tape.records.iter_mut().zip(days) {
        record.at = day.parse().unwrap();
    }
    tape.run(run, trace, requested("4", 1));
    tape.records[6].at = "2026-11-15T10:00:00Z".parse().unwrap();
    let board = tape.board();
    let now = "2026-11-15T12:00:00Z".parse().unwrap();
    let of = |days: u32| {
        let report = board.usage(&[UsageDimension::Day], days, now);
        let rows = report.rows.into_iter();
        let mut rows: Vec<_> = rows
            .map(|row| {
                (
                    row.group[0].clone().unwrap(),
                    row.sum.answered,
                    row.sum.unknown,
                )
            })
            .collect();
        rows.sort();
        rows
    };
    let (second, third) = ("2026-11-14".to_owned(), "2026-11-15".to_owned());
    assert_eq!(of(1), [(third.clone(), 1, 1)]);
    assert_eq!(of(2), [(second, 1, 0), (third, 1, 1)]);
    assert_eq!(of(30).len(), 3);
    let by_portal = board.usage(&[UsageDimension::Portal, UsageDimension::Role], 30, now);
    assert_eq!(
        by_portal.rows[0].group,
        [Some("web".to_owned()), Some("engineer".to_owned())]
    );
    assert_eq!(by_portal.total.attempts, 4);
    assert_eq!(
        board.meter().spent()[0].sum.attempts,
        3,
        "what is under way is not spent yet"
    );
}

#[test]
fn what_is_left_of_a_budget_is_what_calls_did_not_take() {
    let mut tape = Tape::default();
    let (run, trace) = (run_id(1), trace_id(1));
    let level = BudgetLevel::Run(run.to_string());
    let reserved = BudgetReserved {
        step: None,
        key: "k".to_owned(),
        levels: vec![level.clone()],
        amount: SpendAmount::new(400, 40),
    };
    tape.run(run, trace, reserved);
    let limits = ConfiguredSpendLimits {
        global: Some(SpendLimit {
            money: Some(Money(100)),
            ..SpendLimit::default()
        }),
        run: Some(SpendLimit {
            tokens: Some(Tokens(1_000)),
            ..SpendLimit::default()
        }),
        ..ConfiguredSpendLimits::default()
    };
    let left = |tape: &Tape| {
        let left = tape.board().budgets(&limits, moment(1));
        let shown = left.into_iter();
        shown
            .map(|it| (it.level.clone(), it.tokens_left(), it.money_left()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        left(&tape),
        [
            (BudgetLevel::Global, None, Some(60)),
            (level.clone(), Some(600), None)
        ]
    );
    let settled = BudgetSettled {
        key: "k".to_owned(),
        amount: SpendAmount::new(100, 10),
    };
    tape.run(run, trace, settled);
    assert_eq!(
        left(&tape),
        [
            (BudgetLevel::Global, None, Some(90)),
            (level, Some(900), None)
        ]
    );
    tape.run(run, trace, finished(run, "complete"));
    assert_eq!(left(&tape), [(BudgetLevel::Global, None, Some(90))]);
}
