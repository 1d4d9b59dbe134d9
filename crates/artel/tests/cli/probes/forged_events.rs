//! Events that say of a run what cannot be: whoever lists, shows or takes up runs comes to an end,
//! and nothing is taken up by them.

use artel_testkit::run_events;
use artel_types::{Actor, EventDraft, RunId, RunStarted, StreamName, TraceId};

use crate::support::House;

fn run(seed: u8) -> RunId {
    RunId::from_random([seed; 16])
}

/// Says that a run began, called by another one.
fn began(id: u8, parent: Option<u8>, trace: u8) -> EventDraft {
    let started = RunStarted {
        parent: parent.map(run),
        call: parent.map(|parent| format!("call-of-{parent}")),
        folder: Some("/".to_owned()),
        task: Some("begin the work".into()),
        ..RunStarted::new(run(id), "forged")
    };
    let (stream, trace) = (StreamName::run(run(id)), TraceId::from_random([trace; 16]));
    EventDraft::new(stream, trace, Actor::agent("engineer"), started).in_run(run(id))
}

/// Looks at everything, and tries to take the runs up.
#[track_caller]
fn nothing_hangs_and_nothing_is_taken_up(house: &House, runs: &[u8]) {
    for words in [
        &["runs", "--json"][..],
        &["usage"],
        &["waiting"],
        &["clean"],
    ] {
        house.artel([]).words(words).run().expect(0);
    }
    for id in runs {
        let id = run(*id).to_string();
        house.artel(["trace", &id]).run();
        house.artel(["runs", &id]).run();
        let seen = house.artel(["resume", &id]).run();
        assert_ne!(seen.code, 0, "{seen:?}");
    }
    house.artel(["doctor"]).run();
    let prepared = house.ok(["journal", "export", "--kind", "run.prepared"]);
    assert_eq!(prepared.out, "");
    house.ok(["journal", "verify"]);
}

#[test]
fn a_run_that_is_its_own_parent_is_never_taken_up() {
    let house = House::new();
    house.append([began(1, Some(1), 9)]);
    nothing_hangs_and_nothing_is_taken_up(&house, &[1]);
}

#[test]
fn runs_that_are_each_others_parents_are_never_taken_up() {
    let house = House::new();
    house.append([
        began(1, Some(3), 9),
        began(2, Some(1), 9),
        began(3, Some(2), 9),
    ]);
    nothing_hangs_and_nothing_is_taken_up(&house, &[1, 2, 3]);
}

#[test]
fn a_run_that_names_itself_as_the_child_of_another_trace_is_not_of_it() {
    let house = House::new();
    let trace = TraceId::from_random([4; 16]);
    house.append(run_events(run(1), trace, 3));
    house.append([began(2, Some(1), 9)]);
    nothing_hangs_and_nothing_is_taken_up(&house, &[2]);
    let shown = house.ok(["trace", &trace.to_string()]);
    let other = run(2).to_string();
    assert!(!shown.out.contains(&other[..13]), "{}", shown.out);
}

#[test]
fn an_id_that_was_used_by_two_runs_begins_nothing() {
    let house = House::new();
    house.append(run_events(run(1), TraceId::from_random([4; 16]), 3));
    // Once more under the same id, in its stream and in another, in its trace and in another.
    let mut elsewhere = began(1, None, 5);
    elsewhere.stream = StreamName::run(run(7));
    house.append([began(1, None, 4), began(1, Some(6), 5), elsewhere]);
    let rows = house.ok(["runs", "--json"]).json();
    let same = rows.as_array().unwrap().iter();
    let same = same.filter(|row| row["run"] == run(1).to_string());
    assert_eq!(same.count(), 1, "{rows:#}");
    nothing_hangs_and_nothing_is_taken_up(&house, &[1, 7]);
}
