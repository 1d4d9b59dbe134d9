//! `artel trace`: one piece of work, by any id that begins like this.

use artel_testkit::{note, run_events};
use artel_types::{EventDraft, EventVisibility, RunId, SessionId, TraceId};

use crate::support::House;

/// Two traces that begin alike, one with a run, one with a session.
fn filled() -> House {
    let house = House::new();
    let mut alike = [0xcd; 16];
    let one = TraceId::from_random(alike);
    alike[15] = 0;
    let other = TraceId::from_random(alike);
    let mut drafts = run_events(RunId::from_random([0xab; 16]), one, 1);
    let in_trace = |draft: EventDraft| EventDraft {
        trace: one,
        ..draft
    };
    drafts.push(in_trace(note("talk", "a detail")).shown(EventVisibility::Full));
    drafts.push(in_trace(note("talk", "for audit")).shown(EventVisibility::Hidden));
    drafts.push(EventDraft {
        trace: other,
        ..note("talk", "another").in_session(SessionId::from_random([0xef; 16]))
    });
    house.append(drafts);
    house
}

const ONE: &str = "cdcdcdcd-cdcd-4dcd-8dcd-cdcdcdcdcdcd";

#[test]
fn a_trace_is_told_in_order_and_in_full_when_asked() {
    let house = filled();
    insta::assert_snapshot!(house.ok(["trace", "--events", ONE]).text(), @r#"
        exit 0
        trace ID
        SEQ  AT                   TRACE     ACTOR           KIND          OUTCOME  TARGET / PAYLOAD
        3    2000-01-01 00:00:00  00000000  agent:engineer  run.started            {"id":"ID","title":"a run","skill":null,"task":null,"folder":null…
        4    2000-01-01 00:00:00  00000000  agent:engineer  note.added             src/file0.rs
        5    2000-01-01 00:00:00  00000000  agent:engineer  run.finished  done     {"id":"ID","summary":"done","state":null,"answer":null,"why":null…
        2 more events with --full
        "#);
    insta::assert_snapshot!(house.ok(["trace", "--full", "--events", ONE]).text(), @r#"
        exit 0
        trace ID
        SEQ  AT                   TRACE     ACTOR                        KIND          OUTCOME  TARGET / PAYLOAD
        3    2000-01-01 00:00:00  00000000  agent:engineer               run.started            {"id":"ID","title":"a run","skill":null,"task":null,"folder":null…
        4    2000-01-01 00:00:00  00000000  agent:engineer               note.added             src/file0.rs
        5    2000-01-01 00:00:00  00000000  agent:engineer               run.finished  done     {"id":"ID","summary":"done","state":null,"answer":null,"why":null…
        6    2000-01-01 00:00:00  00000000  human:ada@example.org (cli)  note.added             {"text":"a detail"}
        7    2000-01-01 00:00:00  00000000  human:ada@example.org (cli)  note.added             {"text":"for audit"}
        "#);
}

#[test]
fn it_is_found_by_the_id_of_trace_run_or_session_and_how_they_begin() {
    let house = filled();
    let trace = |id: &str| house.ok(["trace", id, "--json"]).json()["trace"].clone();
    let other = "cdcdcdcd-cdcd-4dcd-8dcd-cdcdcdcdcd00";
    assert_eq!(trace(ONE), ONE);
    assert_eq!(trace(&ONE.to_uppercase()), ONE);
    assert_eq!(trace("cdcdcdcd-cdcd-4dcd-8dcd-cdcdcdcdcdc"), ONE);
    assert_eq!(trace("abababab"), ONE);
    assert_eq!(trace("abababab-abab-4bab-abab-abababababab"), ONE);
    assert_eq!(trace("efefefef"), other);
    let story = house.ok(["trace", "abababab", "--json"]).json();
    assert_eq!(story["events"].as_array().unwrap().len(), 3);
    assert_eq!(story["hidden"], 2);
    let story = house.ok(["trace", "abababab", "--json", "--full"]).json();
    assert_eq!(story["events"].as_array().unwrap().len(), 5);
}

#[test]
fn several_or_none_is_said_with_what_to_do() {
    let house = filled();
    let all = [
        "cdcdcdcd",
        "0123456789",
        "xyz",
        "",
        "abababab-abab-4bab-abab-abababababab-",
    ]
    .map(|id| house.artel(["trace", id]).run().text())
    .concat();
    insta::assert_snapshot!(all, @r"
        exit 2
        error[W006]: `cdcdcdcd` is not unique
          why: it could be `ID`, `ID`
          try: type more characters
        exit 4
        error[W005]: no trace, run or session has an id that begins with `0123456789`
          try: `artel journal tail` shows the ids of recent events
        exit 4
        error[W005]: no trace, run or session has an id that begins with `xyz`
          why: ids are made of 0-9, a-f and `-`
          try: `artel journal tail` shows the ids of recent events
        exit 4
        error[W005]: no trace, run or session has an id that begins with ``
          why: ids are made of 0-9, a-f and `-`
          try: `artel journal tail` shows the ids of recent events
        exit 4
        error[W005]: no trace, run or session has an id that begins with `ID-`
          try: `artel journal tail` shows the ids of recent events
        ");
}
