//! Garbage in the small files around the journal: said clearly, never a panic, never a new start.

use std::fs;
use std::path::PathBuf;

use crate::support::{House, Seen};

const GARBAGE: [&str; 5] = ["empty", "bytes", "large", "json", "folder"];

/// Puts garbage in the place of a file.
fn spoil(path: &PathBuf, sort: &str) {
    match sort {
        "empty" => fs::write(path, "").unwrap(),
        "bytes" => fs::write(path, [0xff; 100]).unwrap(),
        "large" => fs::write(path, vec![b'['; 2 << 20]).unwrap(),
        "json" => fs::write(path, r#"{"seq": "no", "id": 7}"#).unwrap(),
        _ => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
    }
}

const COMMANDS: [&[&str]; 10] = [
    &["journal", "tail"],
    &["journal", "verify"],
    &["journal", "backup"],
    &["journal", "stats"],
    &["journal", "restore", "--yes"],
    &["doctor"],
    &["clean", "--yes"],
    &["workshop", "show"],
    &["workshop", "trust", "."],
    &["init"],
];

/// Runs everything over each sort of garbage, each in a house of its own.
fn over_garbage(file: impl Fn(&House) -> PathBuf, check: impl Fn(&str, &[&str], &House, Seen)) {
    for sort in GARBAGE {
        let house = House::with_events(30);
        house.ok(["journal", "backup"]);
        let id = house.id();
        spoil(&file(&house), sort);
        for words in COMMANDS {
            let seen = house.artel([]).words(words).run();
            assert!(seen.code <= 4, "{sort}, {words:?}: {seen:?}");
            check(sort, words, &house, seen);
        }
        let kinds = house.kinds();
        assert_eq!(kinds[..2], ["workshop.created", "config.loaded"], "{sort}");
        assert!(kinds.len() >= 31, "{sort}: nothing was lost");
        let reader = artel_journal::JournalReader::open(&house.journal_home()).unwrap();
        reader.refuse_foreign(id).unwrap();
    }
}

#[test]
fn a_damaged_marker_stops_everything_and_is_not_replaced() {
    over_garbage(
        |house| house.state("workshop.json"),
        |sort, words, house, seen| {
            assert_eq!(seen.code, 1, "{sort}, {words:?}: {seen:?}");
            assert!(seen.out.contains("workshop.json") || seen.err.contains("workshop.json"));
            let outside = house.folder("outside");
            let named = house.artel(["--workshop", house.workshop.to_str().unwrap()]);
            let named = named.words(["journal", "tail"]).standing_in(&outside).run();
            assert_eq!(named.code, 1, "{sort}: {named:?}");
        },
    );
}

#[test]
fn a_damaged_key_stops_writers() {
    over_garbage(
        |house| house.data().join("signing.key"),
        |sort, words, _, seen| {
            let reads_only = [
                ["journal", "tail"],
                ["journal", "stats"],
                ["workshop", "show"],
            ];
            if reads_only.iter().any(|known| known == words) {
                assert_eq!(seen.code, 0, "{sort}, {words:?}: {seen:?}");
            }
            if words == ["journal", "backup"] || words == ["journal", "verify"] {
                assert_eq!(seen.code, 1, "{sort}, {words:?}: {seen:?}");
                assert!(seen.err.contains("signing.key"), "{sort}: {seen:?}");
            }
        },
    );
}

#[test]
fn damaged_lists_of_signers_and_workshops_are_named() {
    over_garbage(
        |house| {
            let path = house.data().join("signers").join(house.id().to_string());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        },
        |sort, words, _, seen| {
            // Nobody else's signatures are in this journal, so nothing depends on the list.
            if words != ["workshop", "trust", "."] {
                assert_eq!(seen.code, 0, "{sort}, {words:?}: {seen:?}");
            }
        },
    );
    over_garbage(
        |house| house.data().join("workshops.json"),
        |sort, words, _, seen| {
            let is_named = words == ["workshop", "trust", "."];
            assert!(is_named || seen.code == 1, "{sort}, {words:?}: {seen:?}");
            let all = format!("{}{}", seen.out, seen.err);
            assert!(
                all.contains("workshops.json"),
                "{sort}, {words:?}: {seen:?}"
            );
        },
    );
}

#[test]
fn a_damaged_anchor_is_named_and_restored_from() {
    over_garbage(
        |house| house.data().join(format!("heads/{}.json", house.id())),
        |sort, words, house, seen| match words {
            ["journal", "verify" | "backup"] => {
                assert_eq!(seen.code, 1, "{sort}, {words:?}: {seen:?}");
                let all = format!("{}{}", seen.out, seen.err);
                assert!(all.contains("heads/"), "{sort}: {seen:?}");
            }
            ["journal", "restore", ..] if sort != "folder" => {
                assert_eq!(seen.code, 0, "{sort}: {seen:?}");
                house.ok(["journal", "verify"]);
            }
            _ => {}
        },
    );
}

#[test]
fn what_is_said_about_each_of_them() {
    type File = fn(&House) -> PathBuf;
    let files: [(&str, File); 4] = [
        ("marker", |house| house.state("workshop.json")),
        ("key", |house| house.data().join("signing.key")),
        ("registry", |house| house.data().join("workshops.json")),
        ("anchor", |house| {
            house.data().join(format!("heads/{}.json", house.id()))
        }),
    ];
    let mut all = String::new();
    for (name, file) in files {
        let house = House::with_events(10);
        spoil(&file(&house), "empty");
        let seen = house.artel(["journal", "backup"]).run();
        all.push_str(&format!("{name}: {}", seen.text()));
    }
    insta::assert_snapshot!(all, @r"
        marker: exit 1
        error[W008]: `HERE/.artel/workshop.json` is damaged
          why: EOF while parsing a value at line 1 column 0
          try: put it back from a copy; it holds the id that the journal names
        key: exit 1
        error[J015]: the signing key `HOME/.local/share/artel/signing.key` cannot be used: it is damaged
          try: put the key back from a copy of your data folder, with mode 0600; if it is lost for good, remove the file and run `artel workshop trust DIR`, which accepts what it signed
        registry: exit 1
        error[W008]: `HOME/.local/share/artel/workshops.json` is damaged
          why: EOF while parsing a value at line 1 column 0
          try: remove it, then `artel workshop trust DIR` for each workshop of yours
        anchor: exit 1
        error[J003]: the signed head `HOME/.local/share/artel/heads/ID.json` cannot be read
          why: EOF while parsing a value at line 1 column 0
          try: `artel journal restore` goes on from the journal as far as it is intact, and signs a new head
        ");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = House::with_events(10);
    let key = house.data().join("signing.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let seen = house.artel(["journal", "backup"]).run();
    insta::assert_snapshot!(seen.text(), @r"
        exit 1
        error[J015]: the signing key `HOME/.local/share/artel/signing.key` cannot be used: others can read it; its mode must be 0600
          try: take the others' rights away with `chmod 600`
        ");
}

#[test]
fn a_lost_key_is_not_replaced_behind_the_person_s_back() {
    let house = House::with_events(150);
    let key = house.data().join("signing.key");
    let whole = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    let seen = house.artel(["journal", "backup"]).run();
    insta::assert_snapshot!(seen.text(), @r"
        exit 1
        error[J015]: the signing key `HOME/.local/share/artel/signing.key` cannot be used: it is gone, and journals were signed with it
          try: put the key back from a copy of your data folder, with mode 0600; if it is lost for good, remove the file and run `artel workshop trust DIR`, which accepts what it signed
        ");
    house.artel(["journal", "verify"]).run().fails(1, "J015");
    assert!(!key.exists());
    assert_eq!(house.ok(["journal", "export"]).out.lines().count(), 150);
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(&key, whole).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    house.ok(["journal", "verify"]);
    house.ok(["journal", "backup"]);
    // Where there is no copy, the person says that the old signatures count.
    fs::remove_file(&key).unwrap();
    house.ok(["workshop", "trust", "."]);
    assert!(key.exists());
    house.ok(["journal", "verify"]);
    house.ok(["journal", "backup"]);
}
