//! A state folder that somebody else could change, and under whose name a person acts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use artel_testkit::note;

use crate::support::{ADA, House};

fn refused(house: &House) -> String {
    for words in [
        &["journal", "tail"][..],
        &["journal", "backup"],
        &["clean", "--yes"],
        &["workshop", "show"],
        &["workshop", "trust", "."],
        &["init"],
    ] {
        house.artel([]).words(words).run().fails(3, "W007");
    }
    house
        .artel(["doctor"])
        .run()
        .expect(3)
        .says("not safe to use");
    house.artel(["journal", "tail"]).run().text()
}

#[test]
fn a_state_folder_that_others_can_write_is_refused() {
    let house = House::with_events(10);
    let state = house.workshop.join(".artel");
    let mut all = String::new();
    for mode in [0o777, 0o770, 0o702] {
        fs::set_permissions(&state, fs::Permissions::from_mode(mode)).unwrap();
        all.push_str(&refused(&house));
    }
    insta::assert_snapshot!(all, @r"
        exit 3
        error[W007]: `HERE/.artel` is not safe to use
          why: others can write it (mode 0777)
          try: `chmod 700 HERE/.artel`
        exit 3
        error[W007]: `HERE/.artel` is not safe to use
          why: others can write it (mode 0770)
          try: `chmod 700 HERE/.artel`
        exit 3
        error[W007]: `HERE/.artel` is not safe to use
          why: others can write it (mode 0702)
          try: `chmod 700 HERE/.artel`
        ");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    house.ok(["journal", "verify"]);
}

#[test]
fn a_link_or_a_file_in_its_place_is_refused() {
    let house = House::with_events(10);
    let state = house.workshop.join(".artel");
    let elsewhere = house.root().join("elsewhere");
    fs::rename(&state, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &state).unwrap();
    insta::assert_snapshot!(refused(&house), @r"
        exit 3
        error[W007]: `HERE/.artel` is not safe to use
          why: it is a link
          try: replace the link by the folder it names
        ");
    fs::remove_file(&state).unwrap();
    fs::write(&state, "").unwrap();
    house.artel(["init"]).run().fails(3, "W007");
}

#[test]
fn a_state_folder_of_another_user_is_refused() {
    let house = House::with_events(10);
    let state = house.workshop.join(".artel");
    // Only the system's administrator can give a folder away; for others there is nothing to see.
    if std::os::unix::fs::chown(&state, Some(12_345), None).is_err() {
        return;
    }
    insta::assert_snapshot!(refused(&house), @r"
        exit 3
        error[W007]: `HERE/.artel` is not safe to use
          why: it belongs to user 12345
          try: run Artel as that user, or make a workshop of your own
        ");
}

/// Returns who did the last thing in the journal.
fn last_actor(house: &House) -> serde_json::Value {
    let seen = house.ok(["journal", "tail", "-n", "1", "--json"]);
    seen.json()["actor"].clone()
}

#[test]
fn a_person_acts_under_their_own_global_name() {
    let house = House::new();
    let git = house.folder("shop/.git");
    fs::write(
        git.join("config"),
        "[user]\n\temail = mallory@example.org\n",
    )
    .unwrap();
    let act = || house.artel(["journal", "backup"]);
    let ada = serde_json::json!({ "kind": "human", "id": ADA, "via": "cli" });
    act().run().expect(0);
    assert_eq!(last_actor(&house), ada);
    // What a repository or its tools could put into the environment does not count either.
    let variables = act()
        .env("GIT_DIR", &git)
        .env("GIT_AUTHOR_EMAIL", "mallory@example.org");
    let variables = variables
        .env("EMAIL", "mallory@example.org")
        .env("GIT_CONFIG", git.join("config"));
    variables.run().expect(0);
    assert_eq!(last_actor(&house), ada);
    act()
        .env("GIT_CONFIG_GLOBAL", ".git/config")
        .run()
        .expect(0);
    assert_ne!(last_actor(&house)["id"], "mallory@example.org");

    fs::remove_file(house.home.join(".gitconfig")).unwrap();
    act().run().expect(0);
    let actor = last_actor(&house);
    assert_eq!(actor["kind"], "human");
    assert!(!actor["id"].as_str().unwrap().contains('@'), "{actor}");
}

#[test]
fn an_event_of_the_workshop_can_be_told_from_an_agent_s() {
    let house = House::new();
    house.append([note("talk", "said by hand")]);
    let human = house
        .ok(["journal", "query", "--actor", "human", "--json"])
        .json();
    for event in human.as_array().unwrap() {
        assert!(event["actor"]["via"].is_string(), "{event}");
    }
}
