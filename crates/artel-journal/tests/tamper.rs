//! Whatever is done to the file behind our back is found, named, and can be recovered from.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

use artel_journal::{
    EventBatch, EventQuery, Journal, JournalBackup, JournalError, JournalSigningKeys,
    RestoreCandidate, RestoreSource, backups,
};
use artel_testkit::{Random, Scratch, note, run_events, scaled};
use artel_types::{Actor, ActorSurface, Fact, RunId, TraceId};
use rusqlite::Connection;
use rusqlite::types::Value;

const EVENTS: u64 = 250;

/// A closed journal with a few hundred events of several kinds.
fn filled() -> Scratch {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let run = RunId::from_random([3; 16]);
    journal
        .append(EventBatch::of(run_events(
            run,
            TraceId::from_random([4; 16]),
            48,
        )))
        .wait()
        .unwrap();
    let notes = (0..EVENTS - 50).map(|number| note("notes", &format!("remark {number}")));
    journal.append(EventBatch::of(notes)).wait().unwrap();
    drop(journal);
    let verified = scratch.verify();
    assert!(verified.ok, "{verified:?}");
    assert_eq!(verified.events, EVENTS);
    assert!(
        verified.signatures >= 3,
        "100, 200 and the end are signed: {verified:?}"
    );
    scratch
}

fn tamper(scratch: &Scratch, sql: &str) {
    let connection = Connection::open(scratch.home.journal()).unwrap();
    connection.execute_batch(sql).unwrap();
}

/// Verifies and returns the first bad event with what is wrong.
fn first_bad(scratch: &Scratch) -> (u64, String) {
    let verified = scratch.verify();
    assert!(!verified.ok, "the change was not found");
    let bad = verified.first_bad.unwrap();
    (bad.seq, bad.what)
}

fn check(sql: &str, seq: u64, what: &str) {
    let scratch = filled();
    tamper(&scratch, sql);
    let found = first_bad(&scratch);
    assert_eq!(found.0, seq, "{sql}: {}", found.1);
    assert!(found.1.starts_with(what), "{sql}: {}", found.1);
}

#[test]
fn proof_tamper_one_changed_byte_of_any_column_is_found_and_named() {
    let scratch = filled();
    let connection = Connection::open(scratch.home.journal()).unwrap();
    let columns: Vec<String> = {
        let mut statement = connection
            .prepare("SELECT name FROM pragma_table_info('event')")
            .unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(columns.len(), 18);
    // Event 120 has every optional column filled in or empty; 30 is the other way around.
    for seq in [30_u64, 120, 200, EVENTS] {
        for column in columns.iter().filter(|column| *column != "seq") {
            let select = format!("SELECT {column} FROM event WHERE seq = {seq}");
            let old: Value = connection.query_row(&select, [], |row| row.get(0)).unwrap();
            let update = format!("UPDATE event SET {column} = ? WHERE seq = {seq}");
            connection.execute(&update, [changed(&old)]).unwrap();
            let found = first_bad(&scratch);
            assert_eq!(found.0, seq, "column {column}: {}", found.1);
            connection.execute(&update, [old]).unwrap();
        }
    }
    assert!(scratch.verify().ok, "put back as it was, it fits again");
}

fn changed(value: &Value) -> Value {
    match value {
        Value::Null => Value::Text("x".into()),
        Value::Integer(number) => Value::Integer(number ^ 1),
        Value::Real(number) => Value::Real(number + 1.0),
        Value::Text(text) => {
            let mut bytes = text.clone().into_bytes();
            if let Some(last) = bytes.last_mut() {
                *last ^= 1;
            }
            Value::Text(String::from_utf8(bytes).unwrap())
        }
        Value::Blob(bytes) => {
            let mut bytes = bytes.clone();
            bytes[0] ^= 1;
            Value::Blob(bytes)
        }
    }
}

#[test]
fn proof_tamper_missing_swapped_and_cut_events_are_named() {
    check("DELETE FROM event WHERE seq = 77", 77, "missing");
    check("DELETE FROM event WHERE seq = 1", 1, "missing");
    check(
        "UPDATE event SET seq = -1 WHERE seq = 60; UPDATE event SET seq = 60 WHERE seq = 61; \
         UPDATE event SET seq = 61 WHERE seq = -1;",
        60,
        "reordered",
    );
    check("DELETE FROM event WHERE seq > 240", 241, "truncated tail");
    check("DELETE FROM event WHERE seq = 250", 250, "truncated tail");
    check(
        "DELETE FROM event WHERE seq = 90; UPDATE event SET seq = seq - 1 WHERE seq > 90",
        90,
        "changed",
    );
    check(
        "INSERT INTO event SELECT 251, stream, 201, at, trace, session, run, cause, actor, via, \
         kind, target, outcome, visibility, schema, payload, prev, hash FROM event WHERE seq = 250",
        251,
        "changed",
    );
}

#[test]
fn proof_tamper_a_cut_that_hides_its_traces_is_found_by_the_signed_head_outside() {
    check(
        "DELETE FROM event WHERE seq > 240; DELETE FROM checkpoint WHERE seq > 240; \
         UPDATE head SET seq = 240, hash = (SELECT hash FROM event WHERE seq = 240)",
        241,
        "truncated tail",
    );
}

#[test]
fn signatures_are_checked_and_must_be_there() {
    check(
        "UPDATE checkpoint SET signature = zeroblob(64) WHERE seq = 100",
        100,
        "bad checkpoint",
    );
    check(
        "UPDATE checkpoint SET hash = zeroblob(32) WHERE seq = 200",
        200,
        "bad checkpoint",
    );
    check(
        "UPDATE checkpoint SET signer = zeroblob(32) WHERE seq = 200",
        200,
        "bad checkpoint",
    );
    check(
        "DELETE FROM checkpoint WHERE seq = 200",
        200,
        "missing checkpoint",
    );
    check("UPDATE head SET hash = zeroblob(32)", 250, "changed");
    check("DELETE FROM head", 251, "truncated tail");
}

#[test]
fn what_is_planted_beside_the_events_is_found_and_never_written_through() {
    for (sql, seq) in [
        (
            "CREATE TRIGGER t AFTER INSERT ON event BEGIN \
             UPDATE event SET payload = '{}' WHERE seq = NEW.seq; END",
            251,
        ),
        ("CREATE TABLE more (x)", 251),
        ("DROP INDEX event_kind", 251),
        (
            "ALTER TABLE event RENAME TO e; CREATE VIEW event AS \
             WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless) \
             SELECT e.* FROM endless, e",
            1,
        ),
    ] {
        let scratch = filled();
        tamper(&scratch, sql);
        let found = first_bad(&scratch);
        assert_eq!(found.0, seq, "{sql}: {}", found.1);
        assert!(found.1.starts_with("damaged file"), "{sql}: {}", found.1);
        let opened = Journal::open(&scratch.home, scratch.workshop, scratch.options.clone());
        assert!(
            matches!(opened, Err(JournalError::Corrupt { .. })),
            "{sql}: {opened:?}"
        );
        if seq > 1 {
            assert_eq!(restore_best(&scratch).1, 251, "every event is kept");
        }
    }
}

#[test]
fn an_older_copy_in_its_place_is_refused_for_writing_and_readable() {
    let scratch = filled();
    let older = scratch.path().join("older.db");
    std::fs::copy(scratch.home.journal(), &older).unwrap();
    let journal = scratch.open();
    journal.append(note("notes", "later")).wait().unwrap();
    drop(journal);
    std::fs::copy(&older, scratch.home.journal()).unwrap();
    assert_eq!(first_bad(&scratch).0, 251);
    let opened = Journal::open(&scratch.home, scratch.workshop, scratch.options.clone());
    assert!(
        matches!(
            opened,
            Err(JournalError::Shortened {
                found: 250,
                signed: 251
            })
        ),
        "{opened:?}"
    );
    assert_eq!(
        scratch.reader().records(&EventQuery::all()).unwrap().len(),
        250
    );
}

#[test]
fn damage_behind_the_last_checkpoint_stops_the_writer_and_not_the_reader() {
    let scratch = filled();
    tamper(
        &scratch,
        "UPDATE event SET payload = '{}' WHERE seq = 250; DELETE FROM checkpoint WHERE seq > 200",
    );
    let opened = Journal::open(&scratch.home, scratch.workshop, scratch.options.clone());
    assert!(
        matches!(opened, Err(JournalError::Damaged { seq: 250, .. })),
        "{opened:?}"
    );
    assert_eq!(
        scratch
            .reader()
            .records(&EventQuery::all().limit(249))
            .unwrap()
            .len(),
        249
    );
}

#[test]
fn a_bad_newest_checkpoint_is_passed_over_and_reported() {
    let scratch = filled();
    tamper(
        &scratch,
        "UPDATE checkpoint SET signature = zeroblob(64) WHERE seq = 250",
    );
    let opened = Journal::open(&scratch.home, scratch.workshop, scratch.options.clone()).unwrap();
    assert!(
        opened.notes[0].contains("checkpoint 250"),
        "{:?}",
        opened.notes
    );
    assert_eq!(
        opened.journal.reader().head().unwrap(),
        250,
        "no event is lost"
    );
}

#[test]
fn resuming_a_run_looks_at_its_events() {
    let scratch = filled();
    let run = RunId::from_random([3; 16]);
    scratch.reader().check_run(run, scratch.workshop).unwrap();
    tamper(
        &scratch,
        "UPDATE event SET outcome = 'allowed' WHERE seq = 20",
    );
    let refused = scratch.reader().check_run(run, scratch.workshop);
    assert!(
        matches!(refused, Err(JournalError::Damaged { seq: 20, .. })),
        "{refused:?}"
    );
}

fn ada() -> Actor {
    Actor::human("ada@example.org", ActorSurface::Cli)
}

fn candidates(scratch: &Scratch) -> Result<Vec<RestoreCandidate>, JournalError> {
    let keys = JournalSigningKeys::load(scratch.home.data(), scratch.workshop).unwrap();
    RestoreCandidate::all(&scratch.home, scratch.workshop, &keys, None)
}

fn restore_best(scratch: &Scratch) -> (RestoreCandidate, u64) {
    let best = candidates(scratch).unwrap().remove(0);
    let restored = best
        .restore(&scratch.home, scratch.workshop, &scratch.options, &ada())
        .unwrap();
    assert!(restored.set_aside.exists(), "the damaged file is kept");
    let verified = scratch.verify();
    assert!(verified.ok, "{verified:?}");
    (best, verified.events)
}

fn backed_up() -> (Scratch, JournalBackup) {
    let scratch = filled();
    let journal = scratch.open();
    let backup = journal.back_up(ada()).unwrap();
    drop(journal);
    (scratch, backup)
}

#[test]
fn restore_takes_the_backup_where_it_has_more() {
    let (scratch, backup) = backed_up();
    tamper(&scratch, "UPDATE event SET payload = '{}' WHERE seq = 40");
    let (best, events) = restore_best(&scratch);
    assert_eq!(best.source, RestoreSource::Backup(backup.file));
    assert_eq!(events, 251, "250 events and the record of the restore");
    let last = scratch
        .reader()
        .records(&EventQuery::all().newest_first().limit(1))
        .unwrap()
        .remove(0);
    assert_eq!(last.kind, "journal.restored");
    assert_eq!(last.actor, "human:ada@example.org");
    scratch
        .open()
        .append(note("notes", "life goes on"))
        .wait()
        .unwrap();
    assert!(scratch.verify().ok);
}

#[test]
fn restore_takes_the_intact_part_where_it_has_more() {
    let (scratch, _) = backed_up();
    let journal = scratch.open();
    journal
        .append(EventBatch::of(
            (0..20).map(|n| note("notes", &format!("{n}"))),
        ))
        .wait()
        .unwrap();
    drop(journal);
    tamper(&scratch, "UPDATE event SET payload = '{}' WHERE seq = 265");
    let (best, events) = restore_best(&scratch);
    assert_eq!(best.source, RestoreSource::Prefix);
    assert_eq!(best.events, 264);
    assert_eq!(events, 265);
}

#[test]
fn restoring_is_also_recorded_outside() {
    let (scratch, _) = backed_up();
    tamper(&scratch, "DELETE FROM event WHERE seq = 40");
    restore_best(&scratch);
    let anchor = artel_journal::JournalAnchor::load(scratch.home.data(), scratch.workshop)
        .unwrap()
        .unwrap();
    assert_eq!(anchor.restored.len(), 1);
    assert_eq!(anchor.restored[0].by, "human:ada@example.org");
    assert_eq!(
        (anchor.restored[0].had, anchor.restored[0].kept),
        (251, 250)
    );
}

#[test]
fn a_zeroed_page_is_reported_and_recovered_from() {
    let (scratch, _) = backed_up();
    let path = scratch.home.journal();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096 * 3..4096 * 12].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    first_bad(&scratch);
    restore_best(&scratch);
}

#[test]
fn without_anything_intact_it_says_so_and_leaves_the_file() {
    let scratch = filled();
    let path = scratch.home.journal();
    std::fs::write(&path, vec![0xff; 100_000]).unwrap();
    let refused = candidates(&scratch).unwrap_err();
    assert!(
        refused.to_string().starts_with("cannot recover"),
        "{refused}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), vec![0xff; 100_000]);
}

#[test]
fn proof_tamper_flipped_bits_anywhere_in_the_file_are_found_or_harmless() {
    let scratch = filled();
    let path = scratch.home.journal();
    let good = std::fs::read(&path).unwrap();
    let before = scratch.reader().records(&EventQuery::all()).unwrap();
    let mut random = Random::for_test("flipped bits");
    let rounds = scaled(5_000);
    let mut found = 0;
    for _ in 0..rounds {
        let mut bytes = good.clone();
        let (byte, bit) = (random.below(bytes.len() as u64) as usize, random.below(8));
        bytes[byte] ^= 1 << bit;
        std::fs::write(&path, &bytes).unwrap();
        let keys = JournalSigningKeys::load(scratch.home.data(), scratch.workshop).unwrap();
        let verified = artel_journal::verify(&scratch.home, scratch.workshop, &keys);
        if !verified.is_ok_and(|verified| verified.ok) {
            found += 1;
            continue;
        }
        // Free space and counters may differ; then every answer must still be right.
        let after = scratch.reader().records(&EventQuery::all()).unwrap();
        assert_eq!(
            after, before,
            "byte {byte} bit {bit}: a wrong answer passed verify"
        );
    }
    std::fs::write(&path, &good).unwrap();
    artel_testkit::figure(&format!(
        "flipped bits: {found} of {rounds} found, the rest harmless"
    ));
}

#[test]
fn ten_backups_are_kept_and_the_newest_first() {
    let clock = artel_testkit::ManualClock::at("2026-11-15T08:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    let journal = scratch.create();
    for number in 0..13 {
        journal
            .append(note("a", &format!("{number}")))
            .wait()
            .unwrap();
        journal.back_up(ada()).unwrap();
        clock.pass(std::time::Duration::from_secs(5));
    }
    let kept = backups(&scratch.home);
    assert_eq!(kept.len(), 10);
    assert!(kept[0].ends_with("journal_20261115_080100.db"), "{kept:?}");
}

#[test]
fn pruned_streams_stay_part_of_the_chain_and_of_answers() {
    let clock = artel_testkit::ManualClock::at("2026-01-01T00:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    let journal = scratch.create();
    let old: RunId = RunId::from_random([3; 16]);
    let young: RunId = RunId::from_random([5; 16]);
    let trace = TraceId::from_random([4; 16]);
    journal
        .append(EventBatch::of(run_events(old, trace, 150)))
        .wait()
        .unwrap();
    clock.pass(std::time::Duration::from_secs(100 * 86_400));
    journal
        .append(EventBatch::of(run_events(young, trace, 10)))
        .wait()
        .unwrap();
    let before_prune = journal.reader().records(&EventQuery::all()).unwrap();
    let before = scratch
        .options
        .clock
        .now()
        .before(std::time::Duration::from_secs(90 * 86_400));
    let pruned = journal
        .prune(before, Fact::ends_stream, &ada())
        .unwrap()
        .unwrap();
    assert_eq!((pruned.streams, pruned.events), (1, 152));
    assert_eq!(
        journal.prune(before, Fact::ends_stream, &ada()).unwrap(),
        None
    );
    journal.append(note("a", "afterwards")).wait().unwrap();
    let late = journal
        .append(run_events(old, trace, 0).remove(0))
        .wait()
        .unwrap();
    assert_eq!(
        late.stream_seqs,
        [153],
        "an archived stream goes on where it ended"
    );
    drop(journal);

    let rows: i64 = Connection::open(scratch.home.journal())
        .unwrap()
        .query_row("SELECT count(*) FROM event", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 12 + 3, "the old run is out of the file");
    let verified = scratch.verify();
    assert!(verified.ok, "{verified:?}");
    let after = scratch.reader().records(&EventQuery::all()).unwrap();
    assert_eq!(after[..before_prune.len()], before_prune[..]);
    let last = scratch
        .reader()
        .records(&EventQuery::all().newest_first().limit(200))
        .unwrap();
    assert!(last.windows(2).all(|pair| pair[0].seq == pair[1].seq + 1));

    let archive = Connection::open(&pruned.archive).unwrap();
    archive
        .execute("UPDATE event SET payload = '{}' WHERE seq = 7", [])
        .unwrap();
    drop(archive);
    assert_eq!(first_bad(&scratch).0, 7);
    std::fs::remove_file(&pruned.archive).unwrap();
    assert!(first_bad(&scratch).1.contains("missing"));
}
