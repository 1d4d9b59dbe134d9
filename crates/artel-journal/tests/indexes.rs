//! An index that hides, moves or misnames events is found, also while others write.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use artel_journal::{EventBatch, EventFilter, EventQuery};
use artel_testkit::{ManualClock, Random, Scratch, note, run_events};
use artel_types::{Actor, EventDraft, Fact, RunId, SessionId, TraceId};
use rusqlite::Connection;

/// A closed journal in which every index has entries.
fn filled() -> Scratch {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let mut random = Random::of_seed(1);
    for _ in 0..20 {
        let (run, trace) = (RunId::from_random(random.bytes()), random.bytes());
        let session = SessionId::from_random(random.bytes());
        let drafts = run_events(run, TraceId::from_random(trace), 5);
        let drafts = drafts.into_iter().map(|draft| draft.in_session(session));
        journal.append(EventBatch::of(drafts)).wait().unwrap();
    }
    drop(journal);
    assert!(scratch.verify().ok);
    scratch
}

/// Fills an index as if it were defined otherwise, and leaves no trace of that in the schema.
fn refill(scratch: &Scratch, name: &str, definition: &str) {
    let set = |sql: &str| {
        let connection = Connection::open(scratch.home.journal()).unwrap();
        connection
            .execute_batch("PRAGMA writable_schema = ON")
            .unwrap();
        connection
            .execute(
                "UPDATE sqlite_schema SET sql = ? WHERE name = ?",
                [sql, name],
            )
            .unwrap();
    };
    let honest: String = Connection::open(scratch.home.journal())
        .unwrap()
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = ?",
            [name],
            |row| row.get(0),
        )
        .unwrap();
    set(&format!("CREATE INDEX {name} ON event {definition}"));
    Connection::open(scratch.home.journal())
        .unwrap()
        .execute_batch(&format!("REINDEX {name}"))
        .unwrap();
    set(&honest);
}

fn indexes(scratch: &Scratch) -> Vec<(String, String)> {
    let connection = Connection::open(scratch.home.journal()).unwrap();
    let mut statement = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'event'")
        .unwrap();
    let rows = statement
        .query_map([], |row| {
            let (name, sql): (String, String) = (row.get(0)?, row.get(1)?);
            let (_, rest) = sql.split_once('(').unwrap();
            let (columns, _) = rest.split_once(')').unwrap();
            Ok((name, columns.to_owned()))
        })
        .unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn an_index_that_does_not_say_what_the_events_say_is_found() {
    let scratch = filled();
    let found = indexes(&scratch);
    assert_eq!(found.len(), 5);
    for (name, columns) in found {
        let first = columns.split(", ").next().unwrap();
        for wrong in [
            format!("({columns}) WHERE seq <> 79"),
            format!("({columns}) WHERE seq < 100"),
            columns.replacen(first, &format!("({first} DESC"), 1) + ")",
            columns.replacen(first, "(prev", 1) + ")",
        ] {
            refill(&scratch, &name, &wrong);
            let verified = scratch.verify();
            let what = verified.first_bad.unwrap().what;
            assert!(
                what.starts_with("damaged file: ") && what.contains(&name),
                "{wrong}: {what}"
            );
        }
        Connection::open(scratch.home.journal())
            .unwrap()
            .execute_batch(&format!("REINDEX {name}"))
            .unwrap();
        assert!(scratch.verify().ok, "filled from the events, it fits again");
    }
}

#[test]
fn an_event_hidden_by_an_index_is_missing_from_answers() {
    // Why it matters: the chain is whole, and still a question gets a wrong answer.
    let scratch = filled();
    refill(&scratch, "event_kind", "(kind) WHERE seq <> 79");
    let filter = EventFilter {
        kind: Some("note.".into()),
        ..EventFilter::default()
    };
    // A bounded question is the one that an index answers.
    let query = EventQuery::of(filter).limit(1_000);
    let notes = scratch.reader().records(&query).unwrap();
    assert_eq!(notes.len(), 99);
    assert!(!scratch.verify().ok);
}

#[test]
fn a_journal_fits_at_every_moment_while_it_is_written_and_pruned() {
    let clock = ManualClock::at("2026-01-01T00:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    let journal = scratch.create();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let verifier = scope.spawn(|| {
            let mut looks = 0;
            while !is_done.load(Ordering::SeqCst) || looks == 0 {
                let verified = scratch.verify();
                assert!(verified.ok, "{verified:?}");
                looks += 1;
            }
        });
        let mut random = Random::of_seed(2);
        for round in 0..60 {
            let run = RunId::from_random(random.bytes());
            let drafts: Vec<EventDraft> = run_events(run, TraceId::from_random([4; 16]), 3);
            journal.append(EventBatch::of(drafts)).wait().unwrap();
            journal.append(note("a", "between")).wait().unwrap();
            clock.pass(Duration::from_secs(60));
            if round % 20 == 19 {
                let before = scratch.options.clock.now();
                let by = Actor::system("test");
                journal.prune(before, Fact::ends_stream, &by).unwrap();
            }
        }
        is_done.store(true, Ordering::SeqCst);
        verifier.join().unwrap();
    });
}
