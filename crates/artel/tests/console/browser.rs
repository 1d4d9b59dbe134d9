//! Scenes at a browser, and what they leave in git and the journal.

use crate::bench::git;
use crate::scripts::{CALL, THOUGHT, asking, busy, hostile_script, risky, talkative};
use crate::stage::Stage;
use crate::town::Town;

/// A town where commands of agents need a yes, but for tests.
fn careful() -> Stage {
    let stage = Stage::with(&busy(), "[policy]\ncommands = \"ask\"\n");
    let grant = ["policy", "grant", "run_tests", "--reason", "they are ours"];
    stage.town.artel(grant).run().expect(0);
    stage
}

#[test]
fn a_walk_from_the_ask_to_the_merge() {
    let stage = Stage::new(&talkative());
    stage.play("walk.mjs");
    let left = stage.town.left();
    assert_eq!(left.files["NOTES.md"], b"add adds\n");
    assert_eq!(left.status, "");
    let log = git(&stage.town.project, &["log", "--format=%s", "main"]);
    assert!(log.lines().next().unwrap().starts_with("Merge "), "{log}");
    for (kind, count) in [
        ("request.created", 1),
        ("plan.drafted", 2),
        ("plan.approved", 1),
        ("run.answered", 1),
        ("step.passed", 2),
        ("changeset.created", 1),
        ("changeset.merged", 1),
    ] {
        assert_eq!(stage.town.count(kind), count, "{kind}");
    }
    let events = stage.town.events();
    for kind in [
        "request.created",
        "plan.approved",
        "run.answered",
        "changeset.merged",
    ] {
        let event = events.iter().find(|it| it["kind"] == kind).unwrap();
        assert_eq!(event["actor"]["via"], "web", "{event}");
    }
}

#[test]
fn what_is_decided_about_is_what_was_seen() {
    Stage::new(&risky()).play("decide.mjs");
}

#[test]
fn many_tabs_of_one_browser_go_on() {
    Stage::new(&talkative()).play("tabs.mjs");
}

#[test]
fn what_is_typed_stays_where_it_was_typed() {
    Stage::new(&asking()).play("typed.mjs");
}

/// What pages press is on record as done by a person at the console.
#[test]
fn every_act_that_a_page_offers_is_done() {
    let stage = careful();
    stage.town.house.folder("other");
    stage.play("acts.mjs");
    let left = stage.town.left();
    assert_eq!(left.files["NOTES.md"], b"add adds\n");
    assert_eq!(left.files.get("BROKEN.md"), None);
    let note = stage.town.project.join("note.txt");
    assert_eq!(std::fs::read_to_string(note).unwrap(), "a note\n");
}

/// What a user must not see is on record, so that its absence says something.
#[test]
fn a_user_sees_what_came_of_it_and_no_more() {
    let stage = Stage::new(&talkative());
    stage.play("user.mjs");
    for word in [THOUGHT, CALL] {
        let events = serde_json::to_string(&stage.town.events()).unwrap();
        assert!(events.contains(word), "{word}");
    }
}

#[test]
fn pages_read_without_javascript() {
    Stage::new(&talkative()).play("plain.mjs");
}

#[test]
fn pages_go_on_when_the_daemon_is_restarted() {
    Stage::new(&talkative()).play("restart.mjs");
}

#[test]
fn pages_are_accessible() {
    careful().play("axe.mjs");
}

/// The branch that is checked out has a name like that as well.
#[test]
fn pages_from_elsewhere_and_hostile_text_get_nowhere() {
    let town = Town::saying(&hostile_script());
    let branch = "main\"><svg/onload=window.__xss=1>";
    git(&town.project, &["checkout", "-q", "-b", branch]);
    Stage::of(town).play("attack.mjs");
}
