//! `artel init` in a folder that is no workshop yet.

use std::fs;
use std::path::Path;

use crate::support::{ADA, House, Tree};

#[test]
fn a_fresh_workshop_says_where_things_are() {
    let house = House::empty();
    insta::assert_snapshot!(house.artel(["init"]).run().text(), @r"
        exit 0
        made workshop HERE
          settings   artel.toml (every line is commented out: the defaults hold)
          requests   Inbox/Requests     plans   Inbox/Plans     reports   Knowledge/Reports
        Next: `artel doctor` looks whether all is well
        ");
    let folders = [
        "Inbox/Requests",
        "Inbox/Plans",
        "Inbox/Active",
        "Inbox/Rejected",
        "Inbox/Archive",
        "Knowledge/Context",
        "Knowledge/Reports",
        "Knowledge/Research",
        "Knowledge/Portals",
        "Agents",
        "Skills",
        "Tools",
        "Policy",
        ".artel/blobs",
        ".artel/worktrees",
        ".artel/logs",
        ".artel/run",
    ];
    for folder in folders {
        assert!(house.workshop.join(folder).is_dir(), "{folder}");
    }
    for file in ["artel.toml", "Knowledge/Dashboard.md", ".artel/journal.db"] {
        assert!(house.workshop.join(file).is_file(), "{file}");
    }
    assert!(!house.workshop.join("Flows").exists(), "nothing reads it");
}

#[test]
fn every_line_of_the_template_is_commented_out() {
    let house = House::new();
    let text = fs::read_to_string(house.workshop.join("artel.toml")).unwrap();
    let is_quiet = |line: &str| line.is_empty() || line.starts_with('#');
    assert!(text.lines().all(is_quiet), "{text}");
    // Without the marks every setting is there, and says what holds anyway, or is an example.
    let spoken: String = text
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
            _ => String::new(),
        })
        .collect();
    let rows = || house.ok(["config", "show", "--json"]).json();
    let before = rows();
    fs::write(house.workshop.join("artel.toml"), spoken).unwrap();
    let after = rows();
    for row in before.as_array().unwrap() {
        let mut same = after.as_array().unwrap().iter();
        let found = same.find(|other| other["key"] == row["key"]).unwrap();
        assert_eq!(found["value"], row["value"], "{}", row["key"]);
    }
    let origins = house.ok(["config", "show", "--origin"]).out;
    assert!(!origins.contains("default\n"), "{origins}");
}

#[test]
fn the_beginning_is_recorded_and_nothing_else() {
    let house = House::new();
    let events = house.ok(["journal", "query", "--json"]).json();
    let events = events.as_array().unwrap();
    let kinds: Vec<&str> = events.iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["workshop.created", "config.loaded"]);
    for event in events {
        assert_eq!(event["actor"]["kind"], "human");
        assert_eq!(event["actor"]["id"], ADA);
        assert_eq!(event["actor"]["via"], "cli");
        assert_eq!(event["stream"], "workshop");
    }
    assert_eq!(events[0]["payload"]["id"], house.id().to_string());
    assert_eq!(events[0]["target"], house.workshop.display().to_string());
    let checksum = events[1]["payload"]["checksum"].as_str().unwrap();
    assert!(checksum.len() == 64 && checksum.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let file = house.workshop.join("artel.toml");
    assert_eq!(events[1]["payload"]["files"][0], file.display().to_string());
    assert_eq!(events[0]["trace"], events[1]["trace"]);
}

#[test]
fn a_repository_gets_a_workshop_that_keeps_out_of_it() {
    let house = House::empty();
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(words).current_dir(&house.workshop).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        let output = command.env("HOME", &house.home).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    house.ok(["init"]);
    let seen = git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(
        seen.contains("artel.toml") && !seen.contains(".artel/"),
        "{seen}"
    );
}

#[test]
fn a_file_in_the_way_is_refused() {
    let house = House::empty();
    let file = house.root().join("file");
    fs::write(&file, "mine").unwrap();
    let seen = house.artel(["init", file.to_str().unwrap()]).run();
    insta::assert_snapshot!(seen.text().replace(&house.root().display().to_string(), "ROOT"), @r"
        exit 1
        error[W004]: `ROOT/file` is a file; a folder was expected
          try: move away what stands there, or name another place
        ");
    let below = file.join("below");
    let below = house.artel(["init", below.to_str().unwrap()]).run();
    below.fails(1, "W004");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");

    fs::write(house.workshop.join("Inbox"), "mine").unwrap();
    house.artel(["init"]).run().fails(1, "W004").says("Inbox");
    assert_eq!(
        fs::read_to_string(house.workshop.join("Inbox")).unwrap(),
        "mine"
    );
}

#[test]
fn folders_are_made_and_links_to_folders_followed() {
    let house = House::empty();
    house.ok(["init", "a/b/c"]);
    assert!(house.workshop.join("a/b/c/.artel/journal.db").is_file());
    let real = house.folder("real");
    let link = house.root().join("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    house.ok(["init", link.to_str().unwrap()]);
    let shown = house
        .artel(["workshop", "show", "--json"])
        .standing_in(&real);
    assert_eq!(shown.run().json()["path"], real.display().to_string());
}

#[test]
fn the_place_may_be_named_by_flag_or_variable() {
    let house = House::empty();
    house.ok(["init", "--workshop", "by-flag"]);
    house
        .artel(["init"])
        .env("ARTEL_WORKSHOP", "by-variable")
        .run()
        .expect(0);
    for name in ["by-flag", "by-variable"] {
        assert!(
            house
                .workshop
                .join(name)
                .join(".artel/journal.db")
                .is_file()
        );
    }
    assert!(!house.workshop.join(".artel").exists());
}

#[test]
fn bad_settings_stop_it_before_anything_is_made() {
    let house = House::empty();
    let before = Tree::of(&house.root());
    let seen = house
        .artel(["--set", "journal.durability=ful", "init", "new"])
        .run();
    seen.fails(2, "S005");
    house
        .artel(["init"])
        .env("ARTEL_OUTPUT_COLOR", "pink")
        .run()
        .fails(2, "S005");
    before.unchanged(&house.root());
    fs::write(house.workshop.join("artel.toml"), "durabilty = 1\n").unwrap();
    let before = Tree::of(&house.root());
    house.artel(["init"]).run().fails(2, "S003");
    before.unchanged(&house.root());
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let house = House::empty();
    let seen = house.artel(["init", "/proc/artel"]).run().fails(1, "W004");
    assert!(seen.err.matches("os error").count() == 1, "{}", seen.err);
    assert!(!Path::new("/proc/artel").exists());
}
