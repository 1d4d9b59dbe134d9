//! `journal backup` and `journal restore`: what can be gone on from, and who decides.

use std::fs;

use crate::support::{ADA, House, Tree, notes};

/// A journal of 251 events with a backup of the first 250.
fn backed_up() -> House {
    let house = House::with_events(250);
    house.ok(["journal", "backup"]);
    house
}

#[test]
fn a_backup_says_where_it_is() {
    let house = House::with_events(10);
    insta::assert_snapshot!(house.ok(["journal", "backup"]).text(), @r"
        exit 0
        copied 10 events to HERE/.artel/backups/journal_STAMP.db
        ");
    let second = house.ok(["journal", "backup", "--json"]).json();
    assert_eq!(second["events"], 11);
    let file = second["file"].as_str().unwrap();
    assert_eq!(house.backups().last().unwrap().to_str(), Some(file));
    assert_eq!(
        house.kinds()[10..],
        ["journal.backed_up", "journal.backed_up"]
    );
    let asked = house.ok(["journal", "query", "--kind", "journal.backed_up", "--json"]);
    let asked = asked.json();
    assert_eq!(asked[0]["actor"]["id"], ADA);
    assert_eq!(asked[0]["payload"]["why"], "asked");
}

#[test]
fn after_backup_tampering_and_restore_it_passes() {
    for sql in [
        "UPDATE event SET payload = '{}' WHERE seq = 40",
        "DELETE FROM event WHERE seq = 40",
        "DELETE FROM event WHERE seq > 40",
        "UPDATE event SET seq = -1 WHERE seq = 60; UPDATE event SET seq = 60 WHERE seq = 61; \
         UPDATE event SET seq = 61 WHERE seq = -1;",
    ] {
        let house = backed_up();
        house.tamper(sql);
        house.artel(["journal", "verify"]).run().expect(1);
        house.ok(["journal", "restore", "--yes"]);
        let verified = house.ok(["journal", "verify", "--json"]).json();
        assert_eq!(verified["events"], 251, "250 and the record of the restore");
        assert_eq!(house.kinds().last().unwrap(), "journal.restored");
        house.ok(["journal", "backup"]);
        house.ok(["journal", "verify"]);
    }
}

#[test]
fn it_says_what_it_offers_and_what_it_did() {
    let house = backed_up();
    house.tamper("UPDATE event SET payload = '{}' WHERE seq = 40");
    insta::assert_snapshot!(house.ok(["journal", "restore", "--yes"]).text(), @r"
        exit 0
        → 250 events  the backup HERE/.artel/backups/journal_STAMP.db
          39 events  the intact part of the journal (damaged at event 40: changed: its content does not have its hash)
        restored 250 events, gave up 1
        the old file is kept at HERE/.artel/damaged/journal_STAMP.db
        ");
    let note = house.ok(["journal", "query", "--kind", "journal.restored", "--json"]);
    let note = note.json();
    assert_eq!(note[0]["actor"]["id"], ADA);
    assert_eq!(
        (&note[0]["payload"]["events"], &note[0]["payload"]["lost"]),
        (&250.into(), &1.into())
    );
    let aside = note[0]["payload"]["set_aside"].as_str().unwrap();
    assert!(
        fs::metadata(aside).unwrap().len() > 0,
        "the old file is kept"
    );
    // The act is noted outside of the journal too.
    let head = house.data().join(format!("heads/{}.json", house.id()));
    let head: serde_json::Value = serde_json::from_slice(&fs::read(head).unwrap()).unwrap();
    assert_eq!(head["restored"][0]["by"], format!("human:{ADA}"));
}

#[test]
fn the_longest_intact_part_is_taken_where_it_has_more() {
    let house = backed_up();
    house.append(notes("later", 20));
    house.tamper("UPDATE event SET payload = '{}' WHERE seq = 265");
    let restored = house.ok(["journal", "restore", "--yes", "--json"]).json();
    assert_eq!(restored["restored"]["events"], 264);
    assert_eq!(restored["restored"]["source"], "prefix");
    house.ok(["journal", "verify"]);
}

#[test]
fn without_a_yes_nothing_changes() {
    let house = backed_up();
    house.tamper("UPDATE event SET payload = '{}' WHERE seq = 40");
    let before = Tree::of(&house.root());
    let seen = house.artel(["journal", "restore"]).run().expect(3);
    assert!(seen.err.starts_with("error[C006]"), "{}", seen.err);
    house
        .artel(["journal", "restore", "--json"])
        .run()
        .expect(3);
    before.unchanged(&house.root());
}

#[test]
fn an_intact_journal_is_left_alone_unless_the_person_insists() {
    let house = backed_up();
    let before = Tree::of(&house.root());
    insta::assert_snapshot!(house.ok(["journal", "restore", "--yes"]).text(), @r"
        exit 0
        the journal is intact; nothing to restore
        ");
    let backup = house.backups().remove(0);
    let name = backup.to_str().unwrap();
    house
        .ok(["journal", "restore", name, "--yes"])
        .says("--take backup");
    assert_eq!(
        house.ok(["journal", "restore", "--json"]).json()["intact"],
        true
    );
    before.unchanged(&house.root());
    house.ok(["journal", "restore", name, "--take", "backup", "--yes"]);
    assert_eq!(
        house.ok(["journal", "verify", "--json"]).json()["events"],
        251
    );
}

#[test]
fn a_file_that_is_of_no_use_is_refused_and_not_replaced_by_another() {
    let house = backed_up();
    house.tamper("UPDATE event SET payload = '{}' WHERE seq = 40");
    let other = House::with_events(20);
    other.ok(["journal", "backup"]);
    let foreign = other.backups().remove(0);
    let text = house.root().join("text.db");
    fs::write(
        &text,
        "no database at all, but long enough to be looked at\n".repeat(100),
    )
    .unwrap();
    let empty = house.root().join("empty.db");
    fs::write(&empty, "").unwrap();
    let cut = house.root().join("cut.db");
    fs::write(&cut, &fs::read(house.backups().remove(0)).unwrap()[..4096]).unwrap();
    let before = Tree::of(&house.root());
    let restore = |file: &str| house.artel(["journal", "restore", file, "--yes"]).run();
    restore(foreign.to_str().unwrap())
        .fails(1, "J016")
        .says("another workshop");
    restore(text.to_str().unwrap()).fails(1, "J016");
    restore(empty.to_str().unwrap()).fails(1, "J016");
    restore(cut.to_str().unwrap()).expect(1);
    restore("nowhere.db")
        .fails(4, "W010")
        .says(".artel/backups");
    before.unchanged(&house.root());
}

#[test]
fn a_damaged_backup_is_passed_over_for_an_older_one() {
    let house = House::with_events(100);
    house.ok(["journal", "backup"]);
    house.append(notes("later", 20));
    house.ok(["journal", "backup"]);
    let newest = house.backups().pop().unwrap();
    let mut bytes = fs::read(&newest).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0);
    fs::write(&newest, bytes).unwrap();
    fs::write(house.journal_file(), "gone").unwrap();
    let restored = house.ok(["journal", "restore", "--yes", "--json"]).json();
    assert_eq!(restored["restored"]["events"], 100);
    house.ok(["journal", "verify"]);
}

#[test]
fn taking_what_is_not_there_says_what_is() {
    let house = House::with_events(30);
    house.tamper("UPDATE event SET payload = '{}' WHERE seq = 9");
    let take = |what: &str| {
        house
            .artel(["journal", "restore", "--take", what, "--yes"])
            .run()
    };
    take("backup").fails(1, "J012").says("no intact backup");
    take("prefix").expect(0);
    assert_eq!(
        house.ok(["journal", "verify", "--json"]).json()["events"],
        9
    );
}
