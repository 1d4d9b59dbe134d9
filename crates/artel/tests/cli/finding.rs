//! Which workshop a command means, and which commands need none.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{House, Seen, Tree};

/// Makes one more workshop in the house.
fn another(house: &House, name: &str) -> PathBuf {
    let folder = house.folder(name);
    house.ok(["init", folder.to_str().unwrap()]);
    folder
}

#[track_caller]
fn is_in_use(seen: &Seen, folder: &Path) {
    assert_eq!(
        seen.json()["path"],
        folder.display().to_string(),
        "{seen:?}"
    );
}

#[test]
fn the_flag_counts_before_and_after_the_command() {
    let house = House::new();
    let other = another(&house, "other");
    let name = other.to_str().unwrap();
    for words in [
        ["--workshop", name, "workshop", "show", "--json"],
        ["workshop", "--workshop", name, "show", "--json"],
        ["workshop", "show", "--json", "--workshop", name],
    ] {
        is_in_use(&house.ok(words), &other);
    }
    let equals = format!("--workshop={name}");
    is_in_use(&house.ok(["workshop", "show", "--json", &equals]), &other);
    is_in_use(
        &house.ok(["workshop", "show", "--json", "--workshop", "../other"]),
        &other,
    );
}

#[test]
fn flag_then_variable_then_parent_then_home() {
    let house = House::new();
    let (by_flag, by_variable) = (another(&house, "flag"), another(&house, "variable"));
    let show = || house.artel(["workshop", "show", "--json"]);
    let flag = ["--workshop", by_flag.to_str().unwrap()];
    let both = show().env("ARTEL_WORKSHOP", &by_variable).words(flag);
    is_in_use(&both.run(), &by_flag);
    is_in_use(
        &show().env("ARTEL_WORKSHOP", &by_variable).run(),
        &by_variable,
    );
    is_in_use(&show().env("ARTEL_WORKSHOP", "").run(), &house.workshop);
    let deep = house.workshop.join("Knowledge/Context");
    is_in_use(&show().standing_in(&deep).run(), &house.workshop);

    let outside = house.folder("outside");
    let home = house.home.join("Artel");
    house.ok(["init", home.to_str().unwrap()]);
    is_in_use(&show().standing_in(&outside).run(), &home);
    is_in_use(&show().run(), &house.workshop);
}

#[test]
fn the_nearest_parent_wins() {
    let house = House::new();
    let inner = house.workshop.join("Skills/inner");
    fs::create_dir(&inner).unwrap();
    house.ok(["init", inner.to_str().unwrap()]);
    let show = house.artel(["workshop", "show", "--json"]);
    is_in_use(&show.standing_in(&inner.join("Inbox")).run(), &inner);
}

/// Puts a workshop of somebody else's into a folder.
fn carry_in(folder: &Path) {
    let stranger = House::new();
    let copied = std::process::Command::new("cp")
        .args(["-a", "--no-target-directory"])
        .args([&stranger.workshop, folder])
        .status()
        .unwrap();
    assert!(copied.success());
}

#[test]
fn a_parent_that_this_user_did_not_make_is_passed_over() {
    let house = House::new();
    let inside = house.workshop.join("Skills/foreign");
    carry_in(&inside);
    // Its settings would be refused if they were read.
    fs::write(inside.join("artel.toml"), "nonsense = 1\n").unwrap();
    let show = house.artel(["workshop", "show", "--json"]);
    is_in_use(
        &show.standing_in(&inside.join("Inbox")).run(),
        &house.workshop,
    );

    let alone = house.root().join("alone");
    carry_in(&alone);
    let seen = house.artel(["journal", "tail"]).standing_in(&alone).run();
    let text = seen.text().replace(alone.to_str().unwrap(), "ALONE");
    insta::assert_snapshot!(text, @r"
        exit 4
        error[W001]: there is no workshop here
          why: none around this folder that you made or trusted, and none at `HOME/Artel`
          try: `artel workshop trust ALONE` to use the one found there, or `artel init` to make one
        ");
}

#[test]
fn damage_to_a_stranger_s_marker_on_the_way_up_does_not_matter() {
    let house = House::new();
    let inside = house.workshop.join("Skills/foreign");
    carry_in(&inside);
    fs::write(inside.join(".artel/workshop.json"), "{").unwrap();
    let show = house.artel(["workshop", "show", "--json"]);
    is_in_use(&show.standing_in(&inside).run(), &house.workshop);
}

#[test]
fn a_copy_or_a_moved_workshop_has_to_be_trusted_anew() {
    let house = House::new();
    let moved = house.root().join("moved");
    fs::rename(&house.workshop, &moved).unwrap();
    let tail = || house.artel(["journal", "tail"]).standing_in(&moved);
    // The house stands elsewhere now; only the path matters here.
    fs::create_dir(&house.workshop).unwrap();
    tail().run().fails(4, "W001").says("artel workshop trust");
    let trust = house.artel(["workshop", "trust"]).standing_in(&moved);
    trust.run().expect(0);
    tail().run().expect(0);
}

#[test]
fn nowhere_named_and_absent_and_no_workshop() {
    let house = House::empty();
    let before = Tree::of(&house.root());
    let all: String = [
        house.artel(["journal", "tail"]),
        house.artel(["journal", "backup"]),
        house.artel(["--workshop", "nowhere", "journal", "tail"]),
        house
            .artel(["journal", "tail"])
            .env("ARTEL_WORKSHOP", "/nowhere"),
        house.artel(["--workshop", ".", "doctor"]),
        house.artel(["--workshop", "../home/.gitconfig", "clean"]),
    ]
    .map(|artel| {
        let text = artel.run().text();
        let areas = [" sandbox ", " path ", " git ", " models "];
        let is_about_the_machine = |line: &&str| areas.iter().any(|area| line.contains(area));
        let kept = text.lines().filter(|line| !is_about_the_machine(line));
        kept.collect::<Vec<_>>().join("\n")
    })
    .join("\n");
    insta::assert_snapshot!(all, @r"
        exit 4
        error[W001]: there is no workshop here
          why: none around this folder that you made or trusted, and none at `HOME/Artel`
          try: `artel init` makes one in this folder, `artel init DIR` in another
        exit 4
        error[W001]: there is no workshop here
          why: none around this folder that you made or trusted, and none at `HOME/Artel`
          try: `artel init` makes one in this folder, `artel init DIR` in another
        exit 4
        error[W002]: there is no folder `HERE/nowhere`
          why: `--workshop` names it
          try: `artel init HERE/nowhere` makes a workshop there
        exit 4
        error[W002]: there is no folder `/nowhere`
          why: `ARTEL_WORKSHOP` names it
          try: `artel init /nowhere` makes a workshop there
        exit 4
        problem  workshop  `HERE` is not a workshop (`--workshop` names it, and it has no `.artel/workshop.json`)  → `artel init HERE` turns it into one
        exit 4
        error[W003]: `HOME/.gitconfig` is not a folder
          why: `--workshop` names it
          try: name the workshop's folder; `artel init DIR` makes one
        ");
    before.unchanged(&house.root());
}

#[test]
fn every_command_that_needs_a_workshop_says_so() {
    let house = House::empty();
    let before = Tree::of(&house.root());
    let commands: [&[&str]; 12] = [
        &["doctor"],
        &["trace", "abc"],
        &["clean"],
        &["workshop", "show"],
        &["workshop", "trust"],
        &["journal", "tail"],
        &["journal", "query"],
        &["journal", "export"],
        &["journal", "stats"],
        &["journal", "verify"],
        &["journal", "restore"],
        &["journal", "prune", "--before", "90d"],
    ];
    for words in commands {
        assert_eq!(house.artel([]).words(words).run().code, 4, "{words:?}");
        let named = house.artel(["--workshop", "absent"]).words(words).run();
        let is_trust_itself = words == ["workshop", "trust"];
        assert!(is_trust_itself || named.code == 4, "{words:?}: {named:?}");
    }
    before.unchanged(&house.root());
}

#[test]
fn commands_that_need_no_workshop_touch_nothing() {
    let house = House::empty();
    let before = Tree::of(&house.root());
    let commands: [&[&str]; 6] = [
        &["--help"],
        &["-h"],
        &["--version"],
        &["journal", "prune", "--help"],
        &["explain"],
        &["explain", "J003"],
    ];
    for words in commands {
        house.artel([]).words(words).run().expect(0);
        // Not even a home folder is needed, nor settings that are right.
        let bare = house
            .artel([])
            .words(words)
            .without("HOME")
            .env("ARTEL_OUTPUT_COLOR", "pink");
        bare.run().expect(0);
        house
            .artel(["--workshop", "nowhere"])
            .words(words)
            .run()
            .expect(0);
    }
    house.ok(["config", "show"]);
    before.unchanged(&house.root());
}

#[test]
fn a_home_that_cannot_be_told_is_an_error_in_the_settings() {
    let house = House::new();
    insta::assert_snapshot!(house.artel(["journal", "tail"]).without("HOME").run().text(), @r"
        exit 2
        error[S005]: cannot tell where your home folder is
          why: `HOME` is not set
          try: set `HOME` to the absolute path of your home folder
        ");
    let relative = house.artel(["doctor"]).env("HOME", "ada");
    relative.run().fails(2, "S005");
}

#[test]
fn a_folder_that_is_gone_from_under_the_process_is_survived() {
    let house = House::new();
    let gone = house.folder("gone");
    // The shell stands in the folder, removes it, and then runs the binary.
    let binary = env!("CARGO_BIN_EXE_artel");
    let script = format!("rmdir {} && {binary} journal tail; echo $?", gone.display());
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(&gone)
        .env("HOME", &house.home)
        .output()
        .unwrap();
    assert!(output.stdout.ends_with(b"4\n"), "{output:?}");
}
