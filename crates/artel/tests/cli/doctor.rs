//! `artel doctor`: each line ok, a warning or a problem, with its remedy.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::support::{House, Seen};

/// Puts a program of that name into a folder of its own.
fn program(house: &House, folder: &str, script: &str, mode: u32) -> PathBuf {
    let folder = house.folder(folder);
    let path = folder.join("git");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    folder
}

/// Runs it with these folders on the path, and returns the line about git.
fn about_git(house: &House, folders: &[PathBuf], code: i32) -> String {
    let path = std::env::join_paths(folders).unwrap();
    let seen = house.artel(["doctor"]).env("PATH", path).run().expect(code);
    let root = house.root().display().to_string();
    line(&seen, "git").replace(&root, "ROOT")
}

fn line(seen: &Seen, area: &str) -> String {
    let is_it = |line: &&str| line.split_whitespace().nth(1) == Some(area);
    seen.out.lines().find(is_it).unwrap().to_owned()
}

#[test]
fn git_is_found_and_judged() {
    let house = House::new();
    let good = program(
        &house,
        "good",
        "echo git version 2.47.1 '(of somebody)'",
        0o755,
    );
    let old = program(&house, "old", "echo git version 2.30.2", 0o755);
    let odd = program(&house, "odd", "echo I am not git", 0o755);
    let hidden = program(&house, "hidden", "echo git version 9.9", 0o644);
    let hanging = program(&house, "hanging", "exec tail -f /dev/null", 0o755);
    let lines = [
        about_git(&house, &[hidden, good.clone(), old.clone()], 0),
        about_git(&house, &[old], 1),
        about_git(&house, &[odd], 1),
        about_git(&house, &[hanging], 1),
        about_git(&house, &[house.folder("nothing"), PathBuf::from("good")], 1),
    ]
    .join("\n");
    insta::assert_snapshot!(lines, @r"
        ok       git       2.47.1 (ROOT/good/git)
        problem  git       2.30.2 is too old  → install git 2.38 or newer
        problem  git       `ROOT/odd/git` does not answer  → `git --version` shows why
        problem  git       `ROOT/hanging/git` does not answer  → `git --version` shows why
        problem  git       not found on PATH  → install git 2.38 or newer
        ");
}

#[test]
fn the_journal_its_durability_and_its_backups_are_shown() {
    let house = House::with_events(10);
    let seen = house.ok(["doctor"]);
    let shown = [line(&seen, "journal"), line(&seen, "backup")].join("\n");
    insta::assert_snapshot!(shown, @r"
        ok       journal   10 events, chain and 2 signatures verified, durability full
        warning  backup    none yet  → `artel journal backup`
        ");
    let normal = house.ok(["doctor", "--set", "journal.durability=normal"]);
    assert!(line(&normal, "journal").contains("durability normal: a power cut may lose"));
    house.ok(["journal", "backup"]);
    assert!(line(&house.ok(["doctor"]), "backup").starts_with("ok "));
    let newest = house.backups().pop().unwrap();
    fs::rename(&newest, newest.with_file_name("journal_20200101_000000.db")).unwrap();
    let old = line(&house.ok(["doctor"]), "backup");
    assert!(
        old.starts_with("warning") && old.contains(" days ago, 1 kept"),
        "{old}"
    );
}

#[test]
fn json_has_the_same_lines() {
    let house = House::new();
    let seen = house.ok(["doctor", "--json"]).json();
    assert_eq!(seen["ok"], true);
    let checks = seen["checks"].as_array().unwrap();
    let areas: Vec<&str> = checks.iter().map(|c| c["area"].as_str().unwrap()).collect();
    assert_eq!(
        areas,
        [
            "sandbox", "path", "git", "models", "workshop", "settings", "journal", "privacy",
            "backup", "disk"
        ]
    );
    for check in checks {
        let is_fine = check["health"] == "ok";
        assert_eq!(check["remedy"].is_null(), is_fine, "{check}");
    }
}

#[test]
fn it_says_how_the_workshop_was_found() {
    let house = House::new();
    let found = |seen: Seen| line(&seen, "workshop");
    assert!(found(house.ok(["doctor"])).ends_with("(around this folder)"));
    assert!(found(house.ok(["doctor", "--workshop", "."])).ends_with("(named by --workshop)"));
    let named = house
        .artel(["doctor"])
        .env("ARTEL_WORKSHOP", &house.workshop);
    assert!(found(named.run()).ends_with("(named by ARTEL_WORKSHOP)"));
}

#[test]
fn the_sandbox_is_tried_and_its_walls_are_named() {
    let house = House::new();
    let seen = line(&house.ok(["doctor"]), "sandbox");
    assert!(seen.starts_with("ok       sandbox   full: "), "{seen}");
    for wall in ["Landlock", "seccomp", "namespaces", "no new privileges"] {
        assert!(seen.contains(wall), "{seen}");
    }
}

#[test]
fn the_list_of_a_profile_is_gone_through_item_by_item() {
    let house = House::new();
    let local = ["doctor", "--profile", "production", "--json"];
    let seen = house.artel(local).run().expect(1).json();
    assert_eq!(seen["ok"], false);
    let checks = seen["checks"].as_array().unwrap();
    let health = |checks: &[serde_json::Value], area: &str| {
        let check = checks.iter().find(|check| check["area"] == area);
        check.unwrap_or_else(|| panic!("{area}"))["health"].clone()
    };
    assert_eq!(health(checks, "profile"), "problem", "local is set");
    for area in [
        "sandbox",
        "network",
        "limits",
        "leftovers",
        "audit",
        "policy",
    ] {
        assert_eq!(health(checks, area), "ok", "{area}: {checks:?}");
    }
    let set = house
        .artel(local)
        .words(["--set", "profile=production"])
        .run();
    assert_eq!(
        health(set.json()["checks"].as_array().unwrap(), "profile"),
        "ok"
    );
    house
        .artel(["doctor", "--profile", "holiday"])
        .run()
        .fails(2, "C004");
}

#[test]
fn a_profile_looks_at_the_skills_that_are_here() {
    let house = House::new();
    let line = |words: &[&str], area: &str| {
        let list = ["doctor", "--profile", "production"];
        let seen = house.artel(list).words(words).run();
        line(&seen, area)
    };
    let fits = [
        "--set",
        "profile=production",
        "--set",
        "skills.size_limit=enforce",
    ];
    assert!(line(&fits[..2], "size").starts_with("problem"));
    assert!(line(&fits, "size").starts_with("ok"));
    assert!(line(&fits, "context").contains("no skill brings files"));
    assert!(line(&fits, "depth").starts_with("ok") && line(&fits, "turns").starts_with("ok"));
    house
        .artel(["doctor", "--profile", "production"])
        .words(fits)
        .run()
        .expect(0);

    let skill = house.workshop.join("Skills/alpha");
    fs::create_dir_all(&skill).unwrap();
    let write = |front: &str, lines: usize| {
        let head = format!("---\nname: alpha\ndescription: Does alpha.\n{front}---\n");
        fs::write(skill.join("SKILL.md"), head + &"Do it.\n".repeat(lines)).unwrap();
    };
    write("", 100);
    fs::write(skill.join("a.md"), "a".repeat(700)).unwrap();
    fs::write(skill.join("b.md"), "b".repeat(700)).unwrap();
    let saving = line(&fits, "context");
    assert!(
        saving.starts_with("ok") && saving.contains("saves 4"),
        "{saving}"
    );
    fs::remove_file(skill.join("b.md")).unwrap();
    let saving = line(&fits, "context");
    assert!(
        saving.starts_with("problem") && saving.contains("`alpha` saves least"),
        "{saving}"
    );
    write("legacy_large_file: true\n", 600);
    let size = line(&fits, "size");
    assert!(
        size.starts_with("problem") && size.contains("alpha"),
        "{size}"
    );
}
