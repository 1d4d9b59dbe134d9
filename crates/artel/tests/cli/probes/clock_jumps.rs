//! Clocks that were wrong: what is on record from 1970 or from the last day of the calendar.

use std::time::Duration;

use artel_journal::EventBatch;
use artel_testkit::{ManualClock, note, run_events};
use artel_types::{RunId, TraceId};

use crate::support::House;

const ENDS: [&str; 3] = [
    "1970-01-01T00:00:00Z",
    "2001-01-01T00:00:00Z",
    "9999-12-30T00:00:00Z",
];

#[test]
fn events_from_either_end_of_time_stop_nothing_and_verify() {
    for moment in ENDS {
        let house = House::new();
        let journal = house.journal(ManualClock::at(moment).clock());
        let run = RunId::from_random([3; 16]);
        let mut events = run_events(run, TraceId::from_random([4; 16]), 3);
        events.push(note("notes", "the clock is wrong"));
        journal.append(EventBatch::of(events)).wait().unwrap();
        drop(journal);
        house.append([note("notes", "the clock is right again")]);
        house.ok(["journal", "verify"]);
        let tail = house.ok(["journal", "tail", "-n", "9"]);
        tail.says("the clock is right again");
        let rows = house.ok(["runs", "--json"]).json();
        assert_eq!(rows[0]["run"], run.to_string(), "{moment}");
        let run = run.to_string();
        for words in [
            &["usage"][..],
            &["waiting"],
            &["clean"],
            &["trace", &run],
            &["journal", "backup"],
            &["journal", "query", "--kind", "run.started"],
        ] {
            house.artel([]).words(words).run().expect(0);
        }
        house.artel(["doctor"]).run();
        house.ok(["journal", "verify"]);
    }
}

/// Nothing on record is taken for old or for new because a clock was set.
#[test]
fn a_jump_of_the_clock_prunes_nothing_and_leaves_the_order() {
    let house = House::new();
    let clock = ManualClock::at("2026-11-18T12:00:00Z");
    let journal = house.journal(clock.clock());
    for (number, jump) in [86_400_000_000, -400 * 86_400_000_000_i64, 86_400_000_000]
        .into_iter()
        .enumerate()
    {
        clock.jump(jump);
        clock.pass(Duration::from_millis(1));
        let said = note("notes", &format!("remark {number}"));
        journal.append(EventBatch::of([said])).wait().unwrap();
    }
    drop(journal);
    let tail = house.ok(["journal", "tail", "-n", "3"]).out;
    let places: Vec<_> = (0..3)
        .map(|number| tail.find(&format!("remark {number}")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{tail}");
    house.ok(["journal", "verify"]);
}
