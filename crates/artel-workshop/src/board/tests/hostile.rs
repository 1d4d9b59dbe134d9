//! Records of newer builds, and records that somebody damaged.

use artel_types::NoteAdded;

use super::facts::*;
use super::*;
use crate::board::RunIndexQuery;

fn one_run() -> Tape {
    let mut tape = Tape::default();
    tape.run(run_id(1), trace_id(1), started(run_id(1), "One"));
    tape.run(run_id(1), trace_id(1), NoteAdded { text: "hm".into() });
    tape.run(run_id(1), trace_id(1), finished(run_id(1), "complete"));
    tape
}

fn titles(board: &WorkshopIndex) -> Vec<String> {
    let wanted = RunIndexQuery {
        limit: 9,
        ..RunIndexQuery::default()
    };
    let rows = board.runs(&wanted, &nobody()).rows;
    rows.into_iter().map(|row| row.title).collect()
}

#[test]
fn kinds_of_a_newer_build_are_passed_over_and_no_damage() {
    for kind in [
        "note.seen",
        "plan.praised",
        "changeset.polished",
        "budget.doubled",
        "",
        "💥",
    ] {
        let mut tape = one_run();
        tape.records[1].kind = kind.to_owned();
        tape.records[1].payload = "not even JSON".to_owned();
        let board = tape.board();
        assert_eq!(
            (titles(&board), board.position()),
            (vec!["One".to_owned()], 3),
            "{kind}"
        );
        assert_eq!(board.damage(), None, "{kind}");
    }
}

#[test]
fn a_damaged_record_is_named_and_the_rest_is_shown() {
    type Harm = fn(&mut JournalRecord);
    let harms: [(&str, Harm); 6] = [
        ("payload", |record| record.payload = "{".to_owned()),
        ("shape", |record| record.payload = r#"{"id":7}"#.to_owned()),
        ("schema", |record| record.schema = 99),
        ("trace", |record| record.trace = "nobody".to_owned()),
        ("run", |record| record.run = Some("nobody".to_owned())),
        ("actor", |record| record.actor = "nobody".to_owned()),
    ];
    for (what, harm) in harms {
        let mut tape = one_run();
        tape.run(run_id(2), trace_id(2), started(run_id(2), "Two"));
        harm(&mut tape.records[2]);
        let board = tape.board();
        assert_eq!(titles(&board), ["Two", "One"], "{what}");
        let damage = board.damage().unwrap();
        assert_eq!((damage.first, damage.records), (3, 1), "{what}");
        assert!(board.undamaged().is_err(), "{what}");
    }
}

#[test]
fn numbers_beyond_all_bounds_do_no_harm() {
    let mut tape = Tape::default();
    let (run, trace) = (run_id(1), trace_id(1));
    for call in ["1.1", "2.1"] {
        let mut reply = replied(call, u32::MAX, Some(u64::MAX));
        reply.total_ms = u64::MAX;
        reply.charged.tokens.0 = u64::MAX;
        tape.run(run, trace, reply);
        let mut tool = tool_finished(call, "read", None);
        tool.millis = u64::MAX;
        tape.run(run, trace, tool);
    }
    for record in &mut tape.records {
        record.at = artel_types::Timestamp::from_micros(i64::MAX);
    }
    let board = tape.board();
    let times = &board.meter().tool_times["read"];
    assert_eq!((times.count(), times.sum), (2, u64::MAX));
    let last = artel_types::Timestamp::from_micros(i64::MAX);
    assert_eq!(board.usage(&[], u32::MAX, last).by, []);
}
