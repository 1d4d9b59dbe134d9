//! What somebody with a hand in the folder tried, and what it came to.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, SystemTime};

use artel_journal::{EventFilter, JournalSubscription};

use crate::support::House;

#[test]
fn clean_never_reaches_through_a_link() {
    let house = House::new();
    let theirs = house.home.join("Documents");
    fs::create_dir(&theirs).unwrap();
    let letter = theirs.join("letter.txt");
    fs::write(&letter, "dear ada").unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(90 * 86_400);
    File::options()
        .write(true)
        .open(&letter)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    fs::remove_dir(house.state("logs")).unwrap();
    symlink(&theirs, house.state("logs")).unwrap();
    let seen = house.artel(["clean", "--yes"]).run();
    seen.fails(3, "W007").says("`logs` in it is a link");
    assert!(letter.exists());
}

#[test]
fn copies_of_a_damaged_journal_push_no_intact_one_out() {
    let house = House::with_events(50);
    house.ok(["journal", "backup"]);
    house.tamper("UPDATE event SET payload = '{}' WHERE seq = 20");
    // The damage lies before the last signature, so that writing goes on.
    for _ in 0..12 {
        let seen = house.ok(["journal", "backup"]);
        assert!(
            seen.err.contains("the journal is damaged (event 20"),
            "{seen:?}"
        );
    }
    let seen = house.ok(["journal", "restore", "--yes"]);
    assert!(seen.out.contains("restored 50 events"), "{seen:?}");
    house.ok(["journal", "verify"]);
}

#[test]
fn the_newest_of_many_quick_copies_sorts_last() {
    let house = House::with_events(5);
    for _ in 0..25 {
        house.ok(["journal", "backup"]);
    }
    let newest = artel_journal::backups(&house.journal_home()).remove(0);
    let last = house.kinds().len() as u64 - 1;
    let copy = rusqlite::Connection::open(newest).unwrap();
    let events: i64 = copy
        .query_row("SELECT seq FROM head", [], |row| row.get(0))
        .unwrap();
    assert_eq!(events.cast_unsigned(), last);
}

#[test]
fn a_lost_data_folder_asks_for_trust_and_not_for_a_restore() {
    let house = House::with_events(120);
    fs::remove_dir_all(house.data()).unwrap();
    let seen = house
        .artel(["--workshop", ".", "journal", "verify"])
        .run()
        .expect(1);
    assert!(
        seen.out.contains("unknown key") && seen.out.contains("artel workshop trust"),
        "{seen:?}"
    );
    let seen = house
        .artel(["--workshop", ".", "journal", "restore", "--yes"])
        .run();
    seen.fails(1, "J015").says("workshop trust");
    house.ok(["workshop", "trust", "."]);
    house.ok(["journal", "verify"]);
    assert!(house.kinds().len() > 120, "every event is kept");
}

#[test]
fn a_planted_archive_stops_no_reader_and_costs_no_event() {
    let house = House::with_events(50);
    house.tamper("INSERT INTO archive VALUES ('x', 1, 1, 9, x'00', x'00', x'00')");
    assert_eq!(house.kinds().len(), 50);
    house.artel(["journal", "verify"]).run().expect(1);
    house.ok(["journal", "restore", "--yes"]);
    assert_eq!(house.kinds().len(), 51);
    house.ok(["journal", "verify"]);
}

#[test]
fn whoever_follows_goes_on_after_a_restore() {
    let house = House::with_events(20);
    house.ok(["journal", "backup"]);
    house.append(crate::support::notes("later", 30));
    let reader = artel_journal::JournalReader::open(&house.journal_home()).unwrap();
    let mut following = JournalSubscription::read_only(reader.into(), EventFilter::default(), 51);
    assert!(following.wait(Duration::ZERO).unwrap().is_none());
    house.ok(["journal", "restore", "--take", "backup", "--yes"]);
    house.append(crate::support::notes("again", 1));
    let mut next = || following.wait(Duration::from_secs(60)).unwrap().unwrap();
    let (restored, again) = (next(), next());
    assert_eq!(
        (restored.seq, restored.kind.as_str()),
        (21, "journal.restored")
    );
    assert_eq!((again.seq, again.stream.as_str()), (22, "again"));
}

#[test]
fn a_pipe_in_the_place_of_our_files_keeps_nobody_waiting() {
    let house = House::with_events(5);
    let head = house
        .data()
        .join("heads")
        .join(format!("{}.json", house.id()));
    for file in [house.journal_file(), house.data().join("signing.key"), head] {
        let kept = house.root().join("kept");
        fs::rename(&file, &kept).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(&file)
                .status()
                .unwrap()
                .success()
        );
        for words in [["journal", "verify"], ["journal", "backup"]] {
            let seen = house.artel(words).run();
            assert!(
                seen.code != 0 && seen.code != 70,
                "{}: {seen:?}",
                file.display()
            );
        }
        fs::rename(&kept, &file).unwrap();
    }
    house.ok(["journal", "verify"]);
}
