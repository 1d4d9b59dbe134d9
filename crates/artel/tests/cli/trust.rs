//! Workshops that came from elsewhere: refused until the person trusts them.

use std::fs;
use std::path::PathBuf;

use crate::support::{ADA, House, Tree};

/// A workshop made under another home folder, copied into ours.
fn foreign() -> (House, PathBuf) {
    let stranger = House::with_events(120);
    let house = House::empty();
    fs::remove_dir(&house.workshop).unwrap();
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([&stranger.workshop, &house.workshop])
        .status()
        .unwrap();
    assert!(copied.success());
    let workshop = house.workshop.clone();
    (house, workshop)
}

#[test]
fn init_refuses_it_and_changes_nothing() {
    let (house, _) = foreign();
    let before = Tree::of(&house.root());
    insta::assert_snapshot!(house.artel(["init"]).run().text(), @r"
        exit 3
        error[W009]: `HERE` holds a workshop that you did not make
          why: its id and place are not noted in your data folder
          try: look at its `artel.toml`, then `artel workshop trust HERE`
        ");
    house.artel(["init", "--force"]).run().fails(3, "W009");
    house.artel(["journal", "tail"]).run().fails(4, "W001");
    before.unchanged(&house.root());
}

#[test]
fn trust_makes_it_usable_and_is_recorded() {
    let (house, workshop) = foreign();
    insta::assert_snapshot!(house.ok(["workshop", "trust"]).text(), @r"
        exit 0
        trusted HERE (ID)
        ");
    let last = house
        .ok(["journal", "query", "--kind", "workshop.trusted", "--json"])
        .json();
    assert_eq!(last[0]["payload"]["path"], workshop.display().to_string());
    assert_eq!(last[0]["actor"]["id"], ADA);
    assert_eq!(last[0]["actor"]["via"], "cli");
    // The stranger's signatures are accepted, and so are ours.
    house.ok(["journal", "verify"]);
    house.ok(["journal", "backup"]);
    house.ok(["journal", "verify"]);
    house.ok(["init"]);
    house.ok(["doctor"]);
}

#[test]
fn a_named_folder_can_be_trusted_from_anywhere() {
    let (house, workshop) = foreign();
    let elsewhere = house.folder("elsewhere");
    let name = workshop.to_str().unwrap();
    let trust = house.artel(["workshop", "trust", name, "--json"]);
    let seen = trust.standing_in(&elsewhere).run().expect(0);
    assert_eq!(seen.json()["path"], name);
    house.ok(["journal", "verify"]);
}

#[test]
fn what_is_no_workshop_cannot_be_trusted() {
    let house = House::empty();
    let all = [
        house.artel(["workshop", "trust"]),
        house.artel(["workshop", "trust", "."]),
        house.artel(["workshop", "trust", "nowhere"]),
    ]
    .map(|artel| artel.run().text())
    .concat();
    insta::assert_snapshot!(all, @r"
        exit 4
        error[W001]: there is no workshop here
          why: none around this folder that you made or trusted, and none at `HOME/Artel`
          try: `artel init` makes one in this folder, `artel init DIR` in another
        exit 4
        error[W003]: `HERE` is not a workshop
          why: the command line names it, and it has no `.artel/workshop.json`
          try: `artel init HERE` turns it into one
        exit 4
        error[W002]: there is no folder `HERE/nowhere`
          why: the command line names it
          try: `artel init HERE/nowhere` makes a workshop there
        ");
}

#[test]
fn a_workshop_that_cannot_be_opened_is_not_trusted() {
    let (house, workshop) = foreign();
    house.tamper("PRAGMA user_version = 99");
    house.artel(["workshop", "trust"]).run().fails(1, "J002");
    fs::remove_file(workshop.join(".artel/journal.db")).unwrap();
    house.artel(["workshop", "trust"]).run().fails(1, "J001");
    assert!(!house.data().join("workshops.json").exists());
}

#[test]
fn bad_settings_in_it_are_shown_before_it_is_trusted() {
    let (house, workshop) = foreign();
    fs::write(workshop.join("artel.toml"), "[journal]\nkeep = 3\n").unwrap();
    let before = Tree::of(&house.root());
    house.artel(["workshop", "trust"]).run().fails(2, "S003");
    before.unchanged(&house.root());
}
