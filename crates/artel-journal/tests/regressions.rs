//! Mistakes that were made once.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

use std::fs::{File, TryLockError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use artel_journal::{
    EventBatch, EventFilter, EventQuery, JournalAnchor, JournalSigningKeys, LeaseOwner,
    RestoreCandidate,
};
use artel_testkit::{ManualClock, Scratch, note, run_events};
use artel_types::{Actor, ActorSurface, Fact, RunId, TraceId};
use rusqlite::Connection;

fn outside(scratch: &Scratch, sql: &str) -> Connection {
    let connection = Connection::open(scratch.home.journal()).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

#[test]
fn a_head_that_was_signed_in_a_failed_turn_is_not_kept_as_the_newest() {
    let clock = ManualClock::at("2026-11-15T08:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    let journal = scratch.create();
    let notes = (0..98).map(|number| note("a", &number.to_string()));
    journal.append(EventBatch::of(notes)).wait().unwrap();
    let definition: String = outside(&scratch, "")
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = 'lease'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    drop(outside(&scratch, "DROP TABLE lease"));
    // The writer is held up in a turn of its own, so that what follows shares the next one.
    let holder = outside(&scratch, "BEGIN IMMEDIATE");
    let first = journal.append(note("a", "99"));
    let turn = File::open(scratch.home.state().join("run/journal-turn.lock")).unwrap();
    while !matches!(turn.try_lock(), Err(TryLockError::WouldBlock)) {
        turn.unlock().unwrap();
        std::thread::yield_now();
    }
    let hundredth = journal.append(note("a", "100"));
    let second = journal.clone();
    let owner = LeaseOwner::this_process("me");
    let mut kept = Box::pin(second.take_lease("run/1", owner, Duration::from_secs(60)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(kept.as_mut().poll(&mut context).is_pending());
    clock.pass(Duration::from_secs(1));
    holder.execute_batch("ROLLBACK").unwrap();
    first.wait().unwrap();
    assert!(hundredth.wait().is_err(), "the lease failed its turn");
    while kept.as_mut().poll(&mut context).is_pending() {
        std::thread::yield_now();
    }
    drop(kept);
    drop(second);
    drop(outside(&scratch, &definition));

    journal.append(note("a", "another 100")).wait().unwrap();
    drop(journal);
    let anchor = JournalAnchor::load(scratch.home.data(), scratch.workshop).unwrap();
    assert_eq!(anchor.unwrap().seq, 100);
    let verified = scratch.verify();
    assert!(verified.ok, "{verified:?}");
    drop(scratch.open());
}

#[test]
fn a_missing_checkpoint_is_not_made_up_for_by_one_before_the_first_event() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let notes = (0..250).map(|number| note("a", &number.to_string()));
    journal.append(EventBatch::of(notes)).wait().unwrap();
    drop(journal);
    drop(outside(
        &scratch,
        "UPDATE checkpoint SET seq = -100 WHERE seq = 200",
    ));
    assert_eq!(scratch.verify().first_bad.unwrap().seq, 200);
}

/// A journal with one archive, and the archive's file.
fn pruned() -> (Scratch, std::path::PathBuf) {
    let clock = ManualClock::at("2026-01-01T00:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    let journal = scratch.create();
    let run = RunId::from_random([3; 16]);
    let drafts = run_events(run, TraceId::from_random([4; 16]), 20);
    journal.append(EventBatch::of(drafts)).wait().unwrap();
    clock.pass(Duration::from_secs(60));
    let now = scratch.options.clock.now();
    let pruned = journal.prune(now, Fact::ends_stream, &Actor::system("test"));
    let archive = pruned.unwrap().unwrap().archive;
    drop(journal);
    assert!(scratch.verify().ok);
    (scratch, archive)
}

#[test]
fn an_archive_with_a_wrong_index_is_found() {
    let (scratch, archive) = pruned();
    for sql in [
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema \
         SET sql = 'CREATE INDEX event_kind ON event (kind) WHERE seq <> 7' \
         WHERE name = 'event_kind'",
        "REINDEX event_kind",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema \
         SET sql = 'CREATE INDEX event_kind ON event (kind)' WHERE name = 'event_kind'",
    ] {
        let connection = Connection::open(&archive).unwrap();
        connection.execute_batch(sql).unwrap();
    }
    let what = scratch.verify().first_bad.unwrap().what;
    assert!(what.contains("event_kind"), "{what}");
}

#[test]
fn changed_positions_of_archived_streams_are_found() {
    for sql in [
        "UPDATE archived_stream SET stream_seq = 3",
        "DELETE FROM archived_stream",
        "UPDATE archived_stream SET file = 'another.db', stream_seq = 99",
        "INSERT INTO archived_stream SELECT 'more', 5, file FROM archive",
        "INSERT INTO archived_stream VALUES ('more', 5, 'another.db')",
    ] {
        let (scratch, _) = pruned();
        drop(outside(&scratch, sql));
        let what = scratch.verify().first_bad.unwrap().what;
        assert!(what.starts_with("bad archive"), "{sql}: {what}");
    }
}

#[test]
fn the_same_blob_can_be_stored_by_many_threads_at_once() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    for round in 0..50_u64 {
        let bytes = round.to_le_bytes().repeat(1_000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let kept = journal.blobs().put(&bytes).unwrap();
                    assert_eq!(journal.blobs().get(&kept.blob).unwrap(), bytes);
                });
            }
        });
    }
}

/// Events and the head that names the last of them were read in an order in which a writer could
/// make a whole journal seem cut off.
#[test]
fn a_journal_that_is_written_never_seems_cut_off() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    journal.append(note("a", "first")).wait().unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let reader = scratch.reader();
                    let mut looks = 0_u32;
                    while !is_done.load(Ordering::SeqCst) || looks == 0 {
                        reader.refuse_cut(scratch.workshop).unwrap();
                        looks += 1;
                    }
                    looks
                })
            })
            .collect();
        for number in 0..400 {
            let text = format!("note {number}");
            journal.append(note("a", &text)).wait().unwrap();
        }
        is_done.store(true, Ordering::SeqCst);
        let looks: Vec<_> = readers.into_iter().map(|it| it.join().unwrap()).collect();
        assert!(looks.iter().all(|looks| *looks > 10), "{looks:?}");
    });
}

fn restore(scratch: &Scratch) -> u64 {
    let keys = JournalSigningKeys::load(scratch.home.data(), scratch.workshop).unwrap();
    let by = Actor::human("ada@example.org", ActorSurface::Cli);
    let best = RestoreCandidate::all(&scratch.home, scratch.workshop, &keys, None)
        .unwrap()
        .remove(0);
    best.restore(&scratch.home, scratch.workshop, &scratch.options, &by)
        .unwrap();
    let verified = scratch.verify();
    assert!(verified.ok, "{verified:?}");
    drop(scratch.open());
    best.events
}

#[test]
fn a_restore_takes_back_what_a_damaged_archive_still_holds() {
    let (scratch, archive) = pruned();
    let damage = "UPDATE event SET payload = '{}' WHERE seq = 15";
    Connection::open(archive)
        .unwrap()
        .execute_batch(damage)
        .unwrap();
    assert_eq!(restore(&scratch), 14);
    let run = EventFilter {
        run: Some(RunId::from_random([3; 16]).to_string()),
        ..EventFilter::default()
    };
    let records = scratch.reader().records(&EventQuery::of(run)).unwrap();
    assert_eq!(records.len(), 14);
    let journal = scratch.open();
    let late = run_events(
        RunId::from_random([3; 16]),
        TraceId::from_random([4; 16]),
        0,
    );
    let receipt = journal.append(EventBatch::of(late)).wait().unwrap();
    assert_eq!(receipt.stream_seqs, [15, 16]);
}

#[test]
fn a_restore_mends_what_the_journal_knows_of_an_archive() {
    for sql in [
        "UPDATE archived_stream SET stream_seq = 3",
        "UPDATE archive SET signature = zeroblob(64)",
    ] {
        let (scratch, _) = pruned();
        let before = scratch.reader().records(&EventQuery::all()).unwrap();
        drop(outside(&scratch, sql));
        restore(&scratch);
        let after = scratch.reader().records(&EventQuery::all()).unwrap();
        assert_eq!(after[..before.len()], before[..], "{sql}");
    }
}
