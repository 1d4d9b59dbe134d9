//! Handlers that are not run: each is said once, with its place.

use serde_json::json;

use super::{declare_here, ran};
use crate::omniforge::world::World;

const DONE: &str = "lines:\n  - call: { finish: { answer: done } }\n";

#[test]
fn what_is_declared_and_not_run_is_said_with_its_place() {
    let world = World::new();
    declare_here(
        &world,
        &json!({"hooks": {
            "Notification": [{"hooks": [{"type": "command", "command": "true"}]}],
            "Stop": [{"hooks": [
                {"type": "http", "url": "http://127.0.0.1:1/"},
                {"type": "prompt", "prompt": "Is it done?"},
                {"type": "agent", "prompt": "Look."},
                {"type": "command", "command": "true"},
            ]}],
        }}),
    );
    world.skill("look", "", "Look.");
    let run = world.rehearsed(DONE, ["look", "--yes"]).run().expect(0);
    let listed = world.ok(["hook", "list"]);
    for words in [
        "settings.json`: nothing here is called `Notification`; its hooks are not run",
        "settings.json`: a hook of `Stop` is not run: its type is `http`, and only commands are run",
        "its type is `prompt`",
        "its type is `agent`",
    ] {
        assert_eq!(run.err.matches(words).count(), 1, "{words}\n{}", run.err);
        assert_eq!(
            listed.out.matches(words).count(),
            1,
            "{words}\n{}",
            listed.out
        );
    }
    assert_eq!(ran(&world), [("Stop".to_owned(), "none".to_owned())]);
    let notes = world.ok(["hook", "list", "--json"]).json()["notes"].clone();
    assert_eq!(notes.as_array().unwrap().len(), 4);
}

#[test]
fn a_file_that_cannot_be_read_is_said_too() {
    let world = World::new();
    let folder = world.project.join(".claude");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), "{ not json").unwrap();
    world.skill("look", "", "Look.");
    let run = world.rehearsed(DONE, ["look"]).run().expect(0);
    assert!(
        run.err.contains("settings.json` is not read: "),
        "{}",
        run.err
    );
}
