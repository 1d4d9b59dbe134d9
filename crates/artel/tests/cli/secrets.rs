//! A secret in the environment is neither stored nor shown, wherever it turns up.

use std::fs;
use std::path::PathBuf;

use crate::support::{Artel, House, Seen, holding};

const CANARY: &str = "ghp_canary0123456789abcdef";

/// Prepares a command in an environment with secrets.
fn artel(house: &House, words: &[&str]) -> Artel {
    let artel = house.artel([]).words(words).env("GITHUB_TOKEN", CANARY);
    artel.env("OTHER_API_KEY", "sk-other-canary-0123456789")
}

#[track_caller]
fn shows_nothing(seen: Seen) -> Seen {
    assert!(!seen.err.contains(CANARY), "{seen:?}");
    seen
}

#[track_caller]
fn keeps_nothing(house: &House) {
    for needle in [CANARY, "sk-other-canary"] {
        let found = holding(&house.root(), needle.as_bytes());
        assert_eq!(found, Vec::<PathBuf>::new(), "{needle}");
    }
}

#[test]
fn it_is_not_kept_from_paths_and_arguments() {
    let house = House::new();
    artel(&house, &["journal", "backup"]).run().expect(0);
    // What is restored from has the secret in its path.
    let copy = house.folder(CANARY).join("copy.db");
    fs::copy(house.backups().remove(0), &copy).unwrap();
    let restore = ["journal", "restore", copy.to_str().unwrap()];
    let restore = artel(&house, &restore).words(["--take", "backup", "--yes"]);
    restore.run().expect(0);
    // So have the settings that are recorded.
    let user = house.folder(format!("config-{CANARY}/artel"));
    fs::write(user.join("artel.toml"), "journal.backups_kept = 4\n").unwrap();
    let config = user.parent().unwrap();
    let loaded = artel(&house, &["journal", "backup"]).env("XDG_CONFIG_HOME", config);
    loaded.run().expect(0);
    let files = house.ok(["journal", "query", "--kind", "config.loaded", "--json"]);
    assert!(
        files.out.contains("config-[REDACTED]/artel"),
        "{}",
        files.out
    );
    keeps_nothing(&house);
    house.ok(["journal", "verify"]);
}

#[test]
fn it_is_not_kept_from_the_workshop_s_own_path() {
    let house = House::empty();
    let shop = house.folder(CANARY).join("shop");
    let name = shop.to_str().unwrap();
    artel(&house, &["init", name]).run().expect(0);
    for words in [
        &["journal", "backup"][..],
        &["workshop", "trust"],
        &["journal", "verify"],
        &["doctor"],
        &["clean", "--yes"],
        &["init"],
    ] {
        artel(&house, words).standing_in(&shop).run().expect(0);
    }
    // It is found without being written down.
    let shown = artel(&house, &["workshop", "show", "--json"]).standing_in(&shop);
    assert_eq!(shown.run().json()["path"], name);
    keeps_nothing(&house);
}

#[test]
fn it_is_not_shown_in_what_went_wrong() {
    let house = House::new();
    let set = format!("output.color={CANARY}");
    for words in [
        &["--set", &set, "journal", "backup"][..],
        &["trace", CANARY],
        &["explain", CANARY],
        &[CANARY],
        &["journal", "tail", "-n", CANARY],
        &["--json", "journal", CANARY],
        &["--workshop", CANARY, "journal", "tail"],
        &["journal", "restore", CANARY],
        &["journal", "export", "-o", &format!("/nowhere/{CANARY}")],
        &["--json", "trace", CANARY],
    ] {
        let seen = artel(&house, words).run();
        let seen = shows_nothing(seen).says("[REDACTED]");
        assert!((1..=4).contains(&seen.code), "{words:?}: {seen:?}");
    }
    keeps_nothing(&house);
}

#[test]
fn doctor_names_keys_and_shows_none() {
    let house = House::new();
    let key = "sk-ant-0123456789abcdef";
    let seen = house.artel(["doctor"]).env("ANTHROPIC_API_KEY", key).run();
    let seen = seen
        .expect(0)
        .says("key from the variable `ANTHROPIC_API_KEY`");
    assert!(!seen.out.contains(key), "{}", seen.out);
}
