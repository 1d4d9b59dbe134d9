//! Scenes at a browser, and what they leave in git and the journal.

use std::fs;
use std::time::Duration;

use artel_testkit::system_clock;
use artel_types::{Actor, DaemonFaltered, EventDraft, Fact, ProviderPaused, StreamName, TraceId};
use serde_json::Value;

use crate::bench::git;
use crate::large::record;
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
    let stage = careful();
    stage.play_with("axe.mjs", &|_| trouble(&stage.town));
}

/// Has something go wrong of every sort that pages tell of: settings that are not in force, a fault
/// of the daemon, a provider that is not asked.
fn trouble(town: &Town) -> Value {
    let trace = TraceId::from_random([3; 16]);
    let draft = |stream, fact: Fact| EventDraft::new(stream, trace, Actor::system("test"), fact);
    let faltered = DaemonFaltered {
        id: Some("7c1e90ab".to_owned()),
        why: "index 6 is out of bounds".to_owned(),
    };
    let paused = ProviderPaused {
        provider: "openai-chat:127.0.0.1:8080".to_owned(),
        until: system_clock().now().after(Duration::from_secs(86_400)),
        attempt: 1,
        why: "asked to slow down: 429".to_owned(),
    };
    let provider = StreamName::provider(&paused.provider).unwrap();
    let told = [
        draft(StreamName::daemon(), faltered.into()),
        draft(provider, paused.into()),
    ];
    record(&town.house, told);
    let agents = town.house.workshop.join("Agents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("broken.md"), "no frontmatter").unwrap();
    Value::Null
}

/// Whoever else listens on this machine, and what a browser keeps of a sign-in.
#[test]
fn the_door_of_the_console_is_its_own() {
    let stage = Stage::new(&talkative());
    let other = Stage::new(&talkative());
    stage.play_with("door.mjs", &|word| match word {
        "other workshop" => {
            let open = ["open", "--json"];
            other.town.artel(open).run().expect(0).json()
        }
        word => panic!("nobody can `{word}` here"),
    });
}

/// The branch that is checked out has a name like that as well.
#[test]
fn pages_from_elsewhere_and_hostile_text_get_nowhere() {
    let town = Town::saying(&hostile_script());
    let branch = "main\"><svg/onload=window.__xss=1>";
    git(&town.project, &["checkout", "-q", "-b", branch]);
    Stage::of(town).play("attack.mjs");
}
