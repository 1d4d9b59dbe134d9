//! Files that were damaged, emptied, replaced or lost: a clear failure, and a way back.

use std::fs;
use std::path::Path;

use crate::support::{House, Seen, Tree, notes};

/// Overwrites some pages of the journal with zeros.
fn zero(house: &House, pages: std::ops::Range<usize>) {
    let path = house.journal_file();
    let mut bytes = fs::read(&path).unwrap();
    let end = (pages.end * 4096).min(bytes.len());
    bytes[pages.start * 4096..end].fill(0);
    fs::write(path, bytes).unwrap();
}

/// Every command that reads or writes; none may panic, whatever it finds.
fn try_everything(house: &House) -> Vec<(String, Seen)> {
    let commands: [&[&str]; 15] = [
        &["journal", "tail"],
        &["journal", "query", "--json"],
        &["journal", "query", "--format", "csv", "--kind", "note."],
        &["journal", "export"],
        &["journal", "stats"],
        &["journal", "verify"],
        &["trace", "07"],
        &["doctor"],
        &["config", "show"],
        &["workshop", "show"],
        &["clean", "--dry-run"],
        &["journal", "prune", "--before", "1d", "--yes"],
        &["journal", "backup"],
        &["workshop", "trust", "."],
        &["init"],
    ];
    let run = |words: &&[&str]| (words.join(" "), house.artel([]).words(*words).run());
    commands.iter().map(run).collect()
}

#[test]
fn zeroed_pages_are_reported_and_restored_from_the_newest_good_backup() {
    for pages in [1..2, 2..3, 3..5, 5..9, 9..20] {
        let house = House::with_events(400);
        house.ok(["journal", "backup"]);
        zero(&house, pages.clone());
        let seen = house.artel(["journal", "verify", "--json"]).run();
        let seen = seen.expect(1);
        let says_where = seen.out.contains("\"seq\":") || seen.err.contains("J0");
        assert!(says_where, "{pages:?}: {seen:?}");
        for (words, seen) in try_everything(&house) {
            assert!(seen.code <= 4, "{pages:?}, {words}: {seen:?}");
        }
        house.ok(["journal", "restore", "--yes"]);
        house.ok(["journal", "verify"]);
        let restored = house.ok(["journal", "export", "--kind", "note."]).out;
        assert_eq!(restored.lines().count(), 398, "{pages:?}");
        house.ok(["journal", "backup"]);
    }
}

#[test]
fn damage_in_the_tail_stops_writers_and_not_readers() {
    let house = House::with_events(250);
    house.tamper(
        "UPDATE event SET payload = '{}' WHERE seq = 250; DELETE FROM checkpoint WHERE seq > 200",
    );
    let before = Tree::of(&house.workshop);
    insta::assert_snapshot!(house.artel(["journal", "backup"]).run().text(), @r"
        exit 1
        error[J003]: the journal is damaged at event 250: it does not fit the chain
          try: `artel journal verify` names the first bad event; `artel journal restore` goes on from the longest intact part or a backup
        ");
    let prune = house.artel(["journal", "prune", "--before", "1d", "--yes"]);
    prune.run().expect(0).says("nothing to prune");
    before.unchanged(&house.workshop);
    assert_eq!(house.ok(["journal", "export"]).out.lines().count(), 250);
    house.ok(["journal", "restore", "--yes"]);
    assert_eq!(
        house.ok(["journal", "verify", "--json"]).json()["events"],
        250
    );
}

#[test]
fn with_nothing_intact_it_says_so_and_leaves_the_file() {
    let house = House::with_events(100);
    let bytes = fs::read(house.journal_file()).unwrap();
    for garbage in [vec![0xff; 100_000], vec![0; 8192], bytes[..4096].to_vec()] {
        fs::write(house.journal_file(), &garbage).unwrap();
        let before = Tree::of(&house.root());
        let seen = house.artel(["journal", "restore", "--yes"]).run();
        seen.fails(1, "J012").says("cannot recover");
        before.unchanged(&house.root());
    }
    insta::assert_snapshot!(house.artel(["journal", "restore", "--yes"]).run().text(), @r"
        exit 1
        error[J012]: cannot recover `HERE/.artel/journal.db`: no intact event in it and no intact backup
          try: copy a journal from elsewhere and name it: `artel journal restore FILE`
        ");
}

/// What may stand in the journal's place, and the code that readers and writers answer with.
fn replaced(name: &str, put: impl Fn(&Path), codes: [&str; 2]) -> String {
    let house = House::with_events(20);
    house.ok(["journal", "backup"]);
    fs::remove_file(house.state("journal.db-wal")).unwrap();
    put(&house.journal_file());
    let before = Tree::of(&house.root());
    let tail = house.artel(["journal", "tail"]).run();
    let shown = tail.text();
    tail.fails(1, codes[0]);
    house.artel(["journal", "verify"]).run().fails(1, codes[0]);
    house.artel(["journal", "backup"]).run().fails(1, codes[0]);
    house.artel(["init"]).run().fails(1, codes[1]);
    house.artel(["doctor"]).run().expect(1);
    for (words, seen) in try_everything(&house) {
        assert!(seen.code <= 4, "{name}, {words}: {seen:?}");
    }
    before.unchanged(&house.root());
    house.ok(["journal", "restore", "--yes"]);
    house.ok(["journal", "verify"]);
    assert_eq!(house.kinds().last().unwrap(), "journal.restored");
    format!("{name}: {shown}")
}

#[test]
fn a_journal_that_is_gone_or_something_else_is_never_replaced_by_an_empty_one() {
    let other = House::with_events(20);
    let foreign = other.journal_file();
    let all = [
        replaced(
            "gone",
            |path| fs::remove_file(path).unwrap(),
            ["J001", "J004"],
        ),
        replaced(
            "empty",
            |path| fs::write(path, "").unwrap(),
            ["J016", "J004"],
        ),
        replaced(
            "text",
            |path| fs::write(path, "just some text\n".repeat(1000)).unwrap(),
            ["J016", "J016"],
        ),
        replaced(
            "another workshop's",
            |path| {
                fs::copy(&foreign, path).unwrap();
            },
            ["J016", "J016"],
        ),
        replaced(
            "another program's",
            |path| {
                fs::remove_file(path).unwrap();
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.execute_batch("CREATE TABLE mine (a)").unwrap();
            },
            ["J016", "J016"],
        ),
    ]
    .join("");
    insta::assert_snapshot!(all, @r"
        gone: exit 1
        error[J001]: there is no journal at `HERE/.artel/journal.db`
          try: `artel journal restore` to go on from a backup, or `artel init DIR` for a new workshop
        empty: exit 1
        error[J016]: `HERE/.artel/journal.db` is not a journal of Artel
          why: its application id is 0x0, not 0x4172746c
          try: `artel journal restore` goes on from a backup; the file itself is kept
        text: exit 1
        error[J016]: `HERE/.artel/journal.db` is not a journal of Artel
          why: file is not a database
          try: `artel journal restore` goes on from a backup; the file itself is kept
        another workshop's: exit 1
        error[J016]: the journal `HERE/.artel/journal.db` belongs to another workshop
          why: it names the workshop ID, this folder is ID
          try: `artel journal restore` goes on from a backup of this workshop; the file is kept
        another program's: exit 1
        error[J016]: `HERE/.artel/journal.db` is not a journal of Artel
          why: its application id is 0x0, not 0x4172746c
          try: `artel journal restore` goes on from a backup; the file itself is kept
        ");
}

#[test]
fn a_folder_or_a_link_in_the_journal_s_place_is_survived() {
    let house = House::with_events(20);
    house.ok(["journal", "backup"]);
    let whole = house.root().join("whole.db");
    fs::rename(house.journal_file(), &whole).unwrap();
    fs::create_dir(house.journal_file()).unwrap();
    for (words, seen) in try_everything(&house) {
        assert!(seen.code <= 4, "{words}: {seen:?}");
    }
    house.artel(["journal", "tail"]).run().expect(1);
    fs::remove_dir(house.journal_file()).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", house.journal_file()).unwrap();
    for (words, seen) in try_everything(&house) {
        assert!(seen.code <= 4, "{words}: {seen:?}");
    }
    fs::remove_file(house.journal_file()).unwrap();
    fs::rename(whole, house.journal_file()).unwrap();
    house.ok(["journal", "verify"]);
}

#[test]
fn any_page_of_a_damaged_journal_can_be_looked_at() {
    let house = House::with_events(300);
    house.append(notes("more", 100));
    let path = house.journal_file();
    let whole = fs::read(&path).unwrap();
    let mut random = artel_testkit::Random::for_test("damaged journal");
    for _ in 0..20 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(8) {
            let (at, value) = (random.below(bytes.len() as u64), random.below(256));
            bytes[at as usize] = value as u8;
        }
        bytes.truncate(bytes.len() - random.below(3) as usize * 1000);
        fs::write(&path, &bytes).unwrap();
        for words in [
            ["journal", "verify"],
            ["journal", "export"],
            ["journal", "stats"],
        ] {
            let seen = house.artel(words).run();
            assert!(seen.code <= 1, "{words:?}: {seen:?}");
        }
    }
}
