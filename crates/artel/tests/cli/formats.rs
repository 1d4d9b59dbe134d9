//! Journals of other formats: an older one is brought up with a backup, a newer one is refused.

use std::fs;
use std::path::Path;

use crate::support::{House, Tree};

/// How many events the fixture has.
const EVENTS: usize = 104;

/// A workshop whose journal was written when format 1 was the newest.
fn of_format_1() -> House {
    let house = House::new();
    let name = "../artel-journal/tests/fixtures/format1";
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let id = artel_types::WorkshopId::from_random([9; 16]).to_string();
    let old = house.id().to_string();
    for file in [
        house.state("workshop.json"),
        house.data().join("workshops.json"),
    ] {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(file, text.replace(&old, &id)).unwrap();
    }
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(house.state(&format!("journal.db{suffix}"))).unwrap();
    }
    fs::copy(fixture.with_extension("db"), house.journal_file()).unwrap();
    let key = fs::read(fixture.with_extension("key")).unwrap();
    // Written into the file that is there, which has the right mode already.
    fs::write(house.data().join("signing.key"), key).unwrap();
    fs::remove_dir_all(house.data().join("heads")).unwrap();
    house
}

fn format(house: &House) -> i64 {
    rusqlite::Connection::open(house.journal_file())
        .unwrap()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

/// Verifies: nothing is wrong but that the value is not there which the samples of every event made
/// up, and values are looked at last.
#[track_caller]
fn is_whole(house: &House) {
    let found = house.artel(["journal", "verify", "--json"]).run();
    assert_eq!(found.expect(1).json()["bad_value"], "ab".repeat(32));
}

#[test]
fn an_older_format_is_read_as_it_is() {
    let house = of_format_1();
    let before = Tree::of(&house.root());
    is_whole(&house);
    house.ok(["journal", "tail"]);
    house.ok(["journal", "stats"]);
    house.ok(["doctor"]);
    before.unchanged(&house.root());
    assert_eq!(format(&house), 1);
}

#[test]
fn a_command_that_writes_brings_it_up_without_loss() {
    let house = of_format_1();
    let before = house.ok(["journal", "export"]).out;
    insta::assert_snapshot!(house.ok(["journal", "backup"]).text(), @r"
        exit 0
        copied 106 events to HERE/.artel/backups/journal_STAMP.db
        note: journal brought from format 1 to 2 (backup: HERE/.artel/backups/journal_STAMP.db)
        ");
    assert_eq!(format(&house), 2);
    let after = house.ok(["journal", "export"]).out;
    assert!(after.starts_with(&before));
    assert_eq!(
        house.kinds()[EVENTS..],
        ["journal.migrated", "config.loaded", "journal.backed_up"]
    );
    let last = ["--newest-first", "--limit", "1", "--json"];
    let event = house.artel(["journal", "query", "--kind", "journal.migrated"]);
    let event = event.words(last).run().json();
    assert_eq!(
        (&event[0]["payload"]["from"], &event[0]["payload"]["to"]),
        (&1.into(), &2.into())
    );
    is_whole(&house);
    // The copy from before is a whole journal of the older format.
    let oldest = house.backups().remove(0);
    assert!(oldest.ends_with(event[0]["payload"]["backup"].as_str().unwrap()));
    let copy = rusqlite::Connection::open(&oldest).unwrap();
    let version: i64 = copy
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 1);
    house.ok([
        "journal",
        "restore",
        oldest.to_str().unwrap(),
        "--take",
        "backup",
        "--yes",
    ]);
    is_whole(&house);
    assert_eq!(format(&house), 2);
}

#[test]
fn only_the_newest_ten_backups_stay() {
    let house = of_format_1();
    let backups = house.state("backups");
    fs::create_dir_all(&backups).unwrap();
    for day in 1..=12 {
        let name = format!("journal_202001{day:02}_000000.db");
        fs::copy(house.journal_file(), backups.join(name)).unwrap();
    }
    house.ok(["journal", "backup"]);
    let kept = house.backups();
    assert_eq!(kept.len(), 10);
    assert!(kept[0].ends_with("journal_20200105_000000.db"), "{kept:?}");
    house.ok(["journal", "backup", "--set", "journal.backups_kept=3"]);
    assert_eq!(house.backups().len(), 3);
}

#[test]
fn a_newer_format_is_refused_and_left_as_it_is() {
    let house = House::with_events(20);
    house.tamper("PRAGMA user_version = 99");
    house.tamper("PRAGMA wal_checkpoint(TRUNCATE)");
    let before = Tree::of(&house.root());
    insta::assert_snapshot!(house.artel(["journal", "tail"]).run().text(), @r"
        exit 1
        error[J002]: the journal `HERE/.artel/journal.db` has format 99; this build reads up to 2
          try: install the Artel that wrote it, or a newer one
        ");
    for words in [
        &["journal", "verify"][..],
        &["journal", "backup"],
        &["journal", "restore", "--yes"],
        &["journal", "prune", "--before", "1d", "--yes"],
        &["clean", "--yes"],
        &["trace", "ffffffffffffffff"],
        &["init"],
    ] {
        let seen = house.artel([]).words(words).run();
        seen.fails(1, "J002").says("format 99");
    }
    house.artel(["doctor"]).run().expect(1).says("format 99");
    before.unchanged(&house.root());
}

#[test]
fn a_newer_format_in_another_mode_is_not_even_touched() {
    let house = House::with_events(20);
    house.tamper("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;");
    let before = Tree::of(&house.root());
    house.artel(["journal", "backup"]).run().fails(1, "J002");
    before.unchanged(&house.root());
}

#[test]
fn a_migration_that_fails_leaves_journal_and_format_and_a_backup() {
    let house = House::with_events(20);
    // A table in the way of the step to format 2.
    house.tamper("DROP TABLE archived_stream; PRAGMA user_version = 1;");
    let before = house.ok(["journal", "export"]).out;
    house.artel(["journal", "backup"]).run().fails(1, "J014");
    assert_eq!(format(&house), 1);
    assert_eq!(house.ok(["journal", "export"]).out, before);
    assert_eq!(house.backups().len(), 1);
}
