//! Random runs: whether live or taken twice, the index says the same of each as a plain
//! reading.

use artel_types::plan::{PlanState, Urgency};
use artel_types::{
    Fact, RunAnswered, RunApplied, RunAsked, RunContinued, RunId, RunSaid, RunSteered, ToolAnswered,
};
use proptest::prelude::*;

use super::facts::*;
use super::*;
use crate::board::{ChildRunFilter, PagedRows, RunCompletionFilter, RunIndexQuery, WorkIndexQuery};
use crate::runs::{RunRow, RunStatus};

/// One thing that happens to one of a few runs.
#[derive(Debug, Clone)]
struct Act {
    run: u8,
    what: u8,
    number: u8,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = (1..6_u8, 0..16_u8, 1..4_u8);
    let act = act.prop_map(|(run, what, number)| Act { run, what, number });
    proptest::collection::vec(act, 0..120)
}

/// Records the acts. Run 2 is called by run 1, and run 3 carries out a plan.
fn tape(acts: &[Act]) -> Tape {
    let mut tape = Tape::default();
    tape.work(trace_id(3), request("Plan it", Urgency::High));
    let (mut begun, mut over) = (Vec::new(), Vec::new());
    for act in acts {
        let (run, trace) = (run_id(act.run), trace_id(act.run));
        if !begun.contains(&run) {
            begun.push(run);
            let mut started = started(run, &format!("Run {}", act.run));
            started.parent = (act.run == 2).then(|| run_id(1));
            started.plan = (act.run == 3).then_some(1);
            tape.run(run, trace, started);
        }
        let Some(fact) = fact(act, run) else { continue };
        let is_late = matches!(
            fact,
            Fact::RunApplied(_) | Fact::ModelReplied(_) | Fact::ModelFailed(_)
        );
        if !over.contains(&run) || is_late {
            if matches!(fact, Fact::RunFinished(_)) {
                over.push(run);
            }
            tape.run(run, trace, fact);
        }
    }
    tape
}

fn fact(act: &Act, run: RunId) -> Option<Fact> {
    let number = u32::from(act.number);
    let (call, question) = (format!("{number}.1"), format!("q{number}"));
    let steered = |act: &str| RunSteered {
        act: act.to_owned(),
        text: String::new(),
    };
    let states = ["complete", "partial", "failed", "cancelled"];
    Some(match act.what {
        0 => prepared("engineer").into(),
        1 => requested(&call, 1).into(),
        2 => replied(&call, 1, Some(u64::from(number))).into(),
        3 => replied(&call, 1, None).into(),
        4 => failed(&call, 1).into(),
        5 => tool_requested(&call, "read", "allow").into(),
        6 => tool_requested(&call, "shell", "ask").into(),
        7 => tool_finished(&call, "shell", Some(i64::from(number) - 1)).into(),
        8 => ToolAnswered {
            call,
            record: "r".to_owned(),
            answer: "once".to_owned(),
            reason: String::new(),
            granted: None,
            offered: None,
        }
        .into(),
        9 => RunAsked {
            text: format!("Which one, {question}?"),
            question,
            choices: Vec::new(),
            call: None,
            suggested: None,
        }
        .into(),
        10 => RunAnswered {
            question,
            answer: "this".to_owned(),
        }
        .into(),
        11 => steered(["pause", "resume", "hint"][usize::from(act.number) - 1]).into(),
        12 => RunContinued {
            after: 4_321,
            settled: Vec::new(),
        }
        .into(),
        13 => RunSaid {
            text: "Now end.".into(),
            why: "closing".to_owned(),
        }
        .into(),
        14 => {
            let mut finished = finished(run, states[usize::from(act.number)]);
            finished.changed = Some(Vec::new());
            finished.into()
        }
        _ => RunApplied {
            id: run,
            folder: "/src/web".to_owned(),
            files: Vec::new(),
        }
        .into(),
    })
}

fn all() -> RunIndexQuery {
    RunIndexQuery {
        kinship: ChildRunFilter::All,
        limit: 100,
        ..RunIndexQuery::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_row_is_what_a_plain_reading_says(acts in acts(), driven in 0..32_u8) {
        let tape = tape(&acts);
        let is_driven = |run: &u8| driven & (1 << (run - 1)) != 0;
        let drivers = (1..6).filter(is_driven).fold(nobody(), |it, run| it.with_run(run_id(run)));
        let board = tape.board();
        prop_assert_eq!(board.runs(&all(), &drivers).rows, oracle::rows(&tape, &drivers));
    }

    #[test]
    fn a_record_counts_once_however_often_it_comes(acts in acts()) {
        let tape = tape(&acts);
        let (once, mut twice) = (tape.board(), WorkshopIndex::default());
        for record in &tape.records {
            twice.take(record);
            twice.take(record);
            twice.take(&tape.records[0]);
        }
        prop_assert_eq!(once.position(), twice.position());
        prop_assert_eq!(once.runs(&all(), &nobody()), twice.runs(&all(), &nobody()));
        prop_assert_eq!(once.waiting(&nobody()), twice.waiting(&nobody()));
        prop_assert_eq!(format!("{:?}", once.meter().tools), format!("{:?}", twice.meter().tools));
        prop_assert_eq!(once.meter().spent(), twice.meter().spent());
    }

    #[test]
    fn pages_together_are_the_list(acts in acts(), limit in 1..4_usize) {
        let board = tape(&acts).board();
        let whole = board.runs(&all(), &nobody());
        let mut found: Vec<RunRow> = Vec::new();
        let mut before = None;
        loop {
            let wanted = RunIndexQuery { before, limit, ..all() };
            let PagedRows { rows, next, total } = board.runs(&wanted, &nobody());
            prop_assert_eq!(total, whole.total);
            prop_assert!(rows.len() == limit || next.is_none());
            found.extend(rows);
            before = next;
            if next.is_none() {
                break;
            }
        }
        prop_assert_eq!(found, whole.rows);
    }

    #[test]
    fn a_list_is_the_same_whether_or_not_each_row_is_looked_at(
        acts in acts(),
        limit in 0..4_usize,
        before in proptest::option::of(0..130_u64),
    ) {
        let board = tape(&acts).board();
        for stage in [RunCompletionFilter::Any, RunCompletionFilter::Open, RunCompletionFilter::Over] {
            for kinship in [ChildRunFilter::TopLevel, ChildRunFilter::All] {
                let plain = RunIndexQuery { stage, kinship, before, limit, ..RunIndexQuery::default() };
                // A blank search text matches every row, yet each row is examined.
                let each = RunIndexQuery { text: Some(" ".to_owned()), ..plain.clone() };
                prop_assert_eq!(board.runs(&plain, &nobody()), board.runs(&each, &nobody()));
            }
        }
        let plain = WorkIndexQuery { before, limit, ..WorkIndexQuery::default() };
        let each = WorkIndexQuery { text: Some(" ".to_owned()), ..plain.clone() };
        prop_assert_eq!(board.works(&plain, &nobody()), board.works(&each, &nobody()));
    }

    #[test]
    fn what_waits_is_the_same_however_often_somebody_looks(acts in acts()) {
        let tape = tape(&acts);
        let mut watched = WorkshopIndex::default();
        for record in &tape.records {
            watched.take(record);
            drop(watched.waiting(&nobody()));
        }
        prop_assert_eq!(watched.waiting(&nobody()), tape.board().waiting(&nobody()));
    }

    #[test]
    fn a_filter_leaves_exactly_what_fits(acts in acts(), state in 0..8_usize) {
        let board = tape(&acts).board();
        let state = RunStatus::ALL[state];
        let rows = board.runs(&all(), &nobody()).rows;
        let expected: Vec<_> = rows.iter().filter(|row| row.state == state).cloned().collect();
        let wanted = RunIndexQuery { state: Some(state), ..all() };
        prop_assert_eq!(board.runs(&wanted, &nobody()).rows, expected);
        for stage in [RunCompletionFilter::Open, RunCompletionFilter::Over] {
            let is_it = |row: &&RunRow| row.state.is_over() == (stage == RunCompletionFilter::Over);
            let expected: Vec<_> = rows.iter().filter(is_it).cloned().collect();
            let wanted = RunIndexQuery { stage, ..all() };
            prop_assert_eq!(board.runs(&wanted, &nobody()).rows, expected);
        }
    }
}

#[test]
fn runs_are_found_by_title_skill_work_and_kinship() {
    let everyone = (1..6).map(|run| Act {
        run,
        what: 0,
        number: 1,
    });
    let board = tape(&everyone.collect::<Vec<_>>()).board();
    let check = |wanted: RunIndexQuery, expected: &[&str]| {
        let wanted = RunIndexQuery { limit: 9, ..wanted };
        let rows = board.runs(&wanted, &nobody()).rows;
        let titles: Vec<&str> = rows.iter().map(|row| row.title.as_str()).collect();
        assert_eq!(titles, expected, "{wanted:?}");
    };
    let none = RunIndexQuery::default;
    check(none(), &["Run 5", "Run 4", "Run 3", "Run 1"]);
    check(
        RunIndexQuery {
            text: Some(" rUN 4 ".to_owned()),
            ..none()
        },
        &["Run 4"],
    );
    check(
        RunIndexQuery {
            trace: Some(trace_id(2)),
            ..all()
        },
        &["Run 2"],
    );
    check(
        RunIndexQuery {
            skill: Some("tid".to_owned()),
            ..all()
        },
        &[],
    );
    check(
        RunIndexQuery {
            skill: Some("tidy".to_owned()),
            trace: Some(trace_id(1)),
            ..none()
        },
        &["Run 1"],
    );
}

#[test]
fn a_piece_of_work_shows_how_far_it_has_come_and_what_it_took() {
    let (trace, run) = (trace_id(1), run_id(1));
    let mut tape = Tape::default();
    tape.work(trace, request("Make it faster", Urgency::High));
    tape.work(trace, drafted(1, "Cache the index"));
    tape.work(trace, approved(1, run));
    tape.run(run, trace, started(run, "Cache the index"));
    tape.work(trace, running(run, 1));
    tape.run(run, trace, replied("1.1", 1, Some(30)));
    let row = tape.board().work(trace, &nobody().with_run(run)).unwrap();
    assert_eq!(
        (row.title.as_str(), row.status),
        ("Cache the index", "active")
    );
    assert_eq!((row.plan, row.version), (Some(PlanState::Running), Some(1)));
    assert_eq!(
        (row.cost.map(|it| it.0), row.tokens, row.runs),
        (Some(30), 790, 1)
    );
    assert_eq!((row.driven, row.waits, row.changeset), (true, None, None));
    tape.run(run, trace, finished(run, "complete"));
    tape.work(trace, ended(run, PlanState::Done));
    tape.work(trace, changeset(run));
    let board = tape.board();
    let row = board.work(trace, &nobody()).unwrap();
    assert_eq!((row.status, row.changeset), ("done", Some("open")));
    assert_eq!(row.waits, Some(crate::AttentionKind::Changeset));
    let check = |wanted: WorkIndexQuery, total: u64| {
        let wanted = WorkIndexQuery { limit: 5, ..wanted };
        assert_eq!(board.works(&wanted, &nobody()).total, total, "{wanted:?}");
    };
    let none = WorkIndexQuery::default;
    check(
        WorkIndexQuery {
            portal: Some("web".to_owned()),
            ..none()
        },
        1,
    );
    check(
        WorkIndexQuery {
            portal: Some("we".to_owned()),
            ..none()
        },
        0,
    );
    check(
        WorkIndexQuery {
            text: Some("FASTER".to_owned()),
            ..none()
        },
        1,
    );
    check(
        WorkIndexQuery {
            text: Some("cache".to_owned()),
            ..none()
        },
        1,
    );
    check(
        WorkIndexQuery {
            status: Some(crate::RequestStatus::Pending),
            ..none()
        },
        0,
    );
    check(
        WorkIndexQuery {
            state: Some(PlanState::Done),
            ..none()
        },
        1,
    );
    assert_eq!(board.changesets()[0].title, "Cache the index");
}

#[test]
fn what_was_handed_over_counts_for_the_run_that_began() {
    let (first, heir, last) = (run_id(1), run_id(2), run_id(3));
    let mut tape = Tape::default();
    for (run, parent, cost) in [
        (first, None, 5),
        (heir, Some(first), 7),
        (last, Some(heir), 11),
    ] {
        let mut started = started(run, "Tidy");
        started.parent = parent;
        started.call = parent.map(|_| artel_types::RunStarted::HANDOVER.to_owned());
        tape.run(run, trace_id(1), started);
        tape.run(run, trace_id(1), requested("m1", 1));
        tape.run(run, trace_id(1), replied("m1", 1, Some(cost)));
        tape.run(run, trace_id(1), tool_requested("1.1", "read", "allow"));
        tape.run(run, trace_id(1), tool_finished("1.1", "read", None));
    }
    let board = tape.board();
    let row = |run| board.run(run, &nobody()).unwrap();
    let money = |cost| Some(artel_types::Money(cost));
    assert_eq!(row(last).cost, money(11));
    assert_eq!(row(heir).cost, money(18));
    assert_eq!(row(first).cost, money(23));
    let one = row(last).turns;
    assert!(one > 0);
    assert_eq!((row(heir).turns, row(first).turns), (2 * one, 3 * one));
}
