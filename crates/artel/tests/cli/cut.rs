//! A journal that was cut down: whatever tells how things stand says what is missing, and nothing
//! takes the rest for all there ever was.

use std::fs;

use crate::support::House;

/// What tells how things stand.
const TELLING: &[&[&str]] = &[
    &["plan", "list"],
    &["request", "list"],
    &["changeset", "list"],
    &["report", "list"],
    &["runs"],
    &["waiting"],
    &["usage"],
    &["portal", "list"],
    &["clean", "--dry-run"],
];

/// What shows the events that are left.
const SHOWING: &[&[&str]] = &[
    &["journal", "tail"],
    &["journal", "query", "--json"],
    &["journal", "export"],
    &["journal", "stats"],
];

/// Puts an older copy in the place of the journal.
fn roll_back(house: &House) {
    let old = house.root().join("old.db");
    fs::copy(house.journal_file(), &old).unwrap();
    house.append(crate::support::notes("later", 120));
    remove(house);
    fs::rename(old, house.journal_file()).unwrap();
}

fn remove(house: &House) {
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let removed = fs::remove_file(house.state(name));
        assert!(removed.is_ok() || name != "journal.db");
    }
}

fn empty(house: &House) {
    remove(house);
    fs::write(house.journal_file(), "").unwrap();
}

/// One way to cut a journal down, what `verify` calls it, and whether what is left can be shown.
type Case = (&'static str, fn(&House), &'static str, bool);

const CASES: &[Case] = &[
    (
        "every event deleted",
        |house| house.tamper("DELETE FROM event"),
        "truncated tail",
        true,
    ),
    (
        "every event deleted, with what speaks of them",
        |house| house.tamper("DELETE FROM event; DELETE FROM checkpoint; DELETE FROM head"),
        "truncated tail",
        true,
    ),
    (
        "the end deleted",
        |house| house.tamper("DELETE FROM event WHERE seq > 90"),
        "truncated tail",
        true,
    ),
    (
        "rolled back to an older copy",
        roll_back,
        "truncated tail",
        true,
    ),
    ("truncated to nothing", empty, "J0", false),
    ("removed", remove, "J0", false),
];

#[test]
fn nothing_takes_what_is_left_for_all_there_was() {
    for (name, cut, called, is_shown) in CASES {
        let house = House::with_events(150);
        cut(&house);
        for words in TELLING {
            let seen = house.artel([]).words(*words).run();
            assert_eq!(seen.code, 1, "{name}, {words:?}: {seen:?}");
            assert!(seen.err.contains("error[J0"), "{name}, {words:?}: {seen:?}");
            assert!(
                seen.err.contains("artel journal "),
                "{name}, {words:?}: {seen:?}"
            );
        }
        for words in SHOWING {
            let seen = house.artel([]).words(*words).run();
            assert_eq!(seen.code == 0, *is_shown, "{name}, {words:?}: {seen:?}");
            assert!(
                seen.err.contains("journal"),
                "what is missing is said: {name}, {words:?}: {seen:?}"
            );
        }
        let verified = house.artel(["journal", "verify"]).run();
        assert_eq!(verified.code, 1, "{name}: {verified:?}");
        let said = format!("{}{}", verified.out, verified.err);
        assert!(said.contains(called), "{name}: {said}");
        let again = house.artel(["init"]).run();
        assert_eq!(
            again.code, 1,
            "no new one takes its place: {name}: {again:?}"
        );
    }
}

#[test]
fn a_whole_journal_is_told_from_without_a_word() {
    let house = House::with_events(150);
    for words in TELLING.iter().chain(SHOWING) {
        let seen = house.artel([]).words(*words).run().expect(0);
        assert!(!seen.err.contains("journal"), "{words:?}: {}", seen.err);
    }
}
