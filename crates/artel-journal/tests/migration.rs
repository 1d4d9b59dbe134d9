//! A journal of every older format opens, loses nothing, and says that it was brought up.
//!
//! `fixtures/format1.db` was written when format 1 was the newest: the tables of `FORMAT_1`, the
//! golden facts of `artel-types` followed by remarks up to event 104, checkpoints at 100 and at the
//! end, a lease that was given back with number 3, and a snapshot. `fixtures/format1.key` signed it.
//! Neither is ever made anew; a new format adds a pair of its own.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use artel_journal::{
    EventQuery, Journal, JournalRecord, JournalSigningKeys, LeaseOwner, backups, verify_file,
};
use artel_testkit::{ManualClock, Scratch, block_on};
use artel_types::{Fact, JournalMigrated};
use rusqlite::Connection;

const EVENTS: u64 = 104;

/// A workshop whose journal is the fixture.
fn of_fixture(name: &str) -> Scratch {
    let clock = ManualClock::at("2026-11-16T08:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::create_dir_all(scratch.home.state()).unwrap();
    fs::create_dir_all(scratch.home.data()).unwrap();
    let fixture = fixtures.join(name);
    fs::copy(fixture.with_extension("db"), scratch.home.journal()).unwrap();
    let key = scratch.home.data().join("signing.key");
    fs::copy(fixture.with_extension("key"), &key).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    scratch
}

fn records(scratch: &Scratch) -> Vec<JournalRecord> {
    scratch.reader().records(&EventQuery::all()).unwrap()
}

fn format(file: &Path) -> u32 {
    let connection = Connection::open(file).unwrap();
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

#[test]
fn an_older_journal_is_read_and_verified_without_being_changed() {
    let scratch = of_fixture("format1");
    let before = fs::read(scratch.home.journal()).unwrap();
    let verified = scratch.verify();
    assert!(verified.ok, "{verified:?}");
    assert_eq!((verified.events, verified.signatures), (EVENTS, 2));
    for record in records(&scratch) {
        record.event().unwrap();
    }
    // The one lease in it was given back.
    assert_eq!(scratch.reader().leases().unwrap().len(), 0);
    assert!(fs::read(scratch.home.journal()).unwrap() == before);
}

#[test]
fn opening_it_for_writing_brings_it_up_behind_a_backup_and_loses_nothing() {
    let scratch = of_fixture("format1");
    let before = records(&scratch);
    let opened = Journal::open(&scratch.home, scratch.workshop, scratch.options.clone()).unwrap();
    assert!(
        opened.notes[0].contains("from format 1 to "),
        "{:?}",
        opened.notes
    );

    let [backup] = &backups(&scratch.home)[..] else {
        panic!("one copy was taken first");
    };
    assert_eq!(format(backup), 1, "it was taken before the change");
    let keys = JournalSigningKeys::load(scratch.home.data(), scratch.workshop).unwrap();
    let copy = verify_file(backup, &scratch.home, scratch.workshop, &keys).unwrap();
    assert!(copy.ok && copy.events == EVENTS, "{copy:?}");

    let after = records(&scratch);
    assert_eq!(after[..before.len()], before[..], "no event is changed");
    let [migrated] = &after[before.len()..] else {
        panic!("one event was added");
    };
    let Fact::JournalMigrated(JournalMigrated {
        from,
        to,
        backup: named,
    }) = migrated.event().unwrap().fact
    else {
        panic!("{migrated:?}");
    };
    assert_eq!((from, to), (1, format(&scratch.home.journal())));
    assert_eq!(named, backup.file_name().unwrap().to_str().unwrap());

    let taken = opened.journal.take_lease(
        "run/7",
        LeaseOwner::this_process("me"),
        Duration::from_secs(60),
    );
    let lease = block_on(taken).unwrap();
    assert_eq!(lease.fence.token(), 4, "numbers go on where they were");
    drop(opened);
    let verified = scratch.verify();
    assert!(verified.ok, "{verified:?}");
    assert_eq!(verified.events, EVENTS + 1);
}

#[test]
fn a_journal_is_brought_up_once() {
    let scratch = of_fixture("format1");
    drop(scratch.open());
    let opened = Journal::open(&scratch.home, scratch.workshop, scratch.options.clone()).unwrap();
    assert_eq!(opened.notes, Vec::<String>::new());
    assert_eq!(opened.journal.reader().head().unwrap(), EVENTS + 1);
    assert_eq!(backups(&scratch.home).len(), 1);
}
