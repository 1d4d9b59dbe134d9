//! Hooks that came with the work: listed, shown, trusted once as they are.

use std::fs;

use serde_json::{Value, json};

use super::{declare, declare_here, ran};
use crate::omniforge::world::World;

const DONE: &str = "lines:\n  - call: { finish: { answer: done } }\n";

fn world() -> World {
    let world = World::new();
    fs::create_dir_all(world.project.join("ci")).unwrap();
    fs::write(world.project.join("ci/check.sh"), "exit 0\n").unwrap();
    declare_here(
        &world,
        &json!({"hooks": {"Stop": [{"hooks": [
            {"type": "command", "command": "sh ci/check.sh", "timeout": 20},
        ]}]}}),
    );
    declare(
        &world,
        "[[hooks.SessionEnd]]\ncommand = \"true\"\nnetwork = [\"example.org\"]\npriority = 10\n",
    );
    world.skill("look", "", "Look.");
    world
}

fn listed(world: &World) -> Vec<Value> {
    let list = world.ok(["hook", "list", "--json"]).json();
    list["hooks"].as_array().unwrap().clone()
}

#[test]
fn a_list_says_what_runs_from_where_and_how_far_it_reaches() {
    let world = world();
    let rows = listed(&world);
    let [own, theirs] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(own["event"], "SessionEnd");
    assert_eq!((&own["own"], &own["trusted"]), (&json!(true), &json!(true)));
    assert_eq!(own["network"], json!(["example.org"]));
    assert_eq!(own["hash"], Value::Null);
    assert!(
        own["file"]
            .as_str()
            .unwrap()
            .ends_with(".config/artel/artel.toml")
    );
    assert_eq!(theirs["command"], "sh ci/check.sh");
    assert_eq!(
        (&theirs["own"], &theirs["trusted"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(theirs["timeout_ms"], 20_000);
    assert_eq!(theirs["on_failure"], "warn");
    assert!(
        theirs["file"]
            .as_str()
            .unwrap()
            .ends_with(".claude/settings.json")
    );
    let table = world.ok(["hook", "list"]);
    assert!(table.out.contains("network example.org"), "{}", table.out);
    assert!(table.err.contains("artel hook trust"), "{}", table.err);
}

#[test]
fn trust_is_given_once_and_lost_when_a_file_changes() {
    let world = world();
    let run = || world.rehearsed(DONE, ["look"]).run().expect(0);
    let stops = || {
        ran(&world)
            .iter()
            .filter(|(event, _)| event == "Stop")
            .count()
    };
    let seen = run();
    assert!(
        seen.err.contains("`sh ci/check.sh` of") && seen.err.contains("artel hook trust"),
        "{}",
        seen.err
    );
    assert_eq!(stops(), 0);
    // Nobody is there to say yes.
    world.artel(["hook", "trust"]).run().fails(3, "C006");
    world
        .artel(["hook", "trust", "ffff"])
        .run()
        .fails(2, "C004");
    let hash = listed(&world)[1]["hash"].as_str().unwrap()[..8].to_owned();
    let shown = world.ok(["hook", "trust", &hash, "--yes"]);
    for words in [
        "runs      sh ci/check.sh",
        "file      ci/check.sh ",
        "1 of 1 hooks trusted",
    ] {
        assert!(shown.out.contains(words), "{words}\n{}", shown.out);
    }
    world.ok(["hook", "trust"]).says("every hook here is yours");
    assert_eq!(listed(&world)[1]["trusted"], true);
    run();
    assert_eq!(stops(), 1);
    fs::write(world.project.join("ci/check.sh"), "exit 2\n").unwrap();
    assert_eq!(listed(&world)[1]["trusted"], false);
    run();
    assert_eq!(stops(), 1, "what changed does not run");
}
