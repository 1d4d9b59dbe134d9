//! Hooks around calls, and three strikes.

use std::fs;

use serde_json::json;

use super::world::{World, calls, conversations, finish, speaks};

/// Declares hooks in the person's own settings, where they may write what they are given.
fn declare(world: &World, hooks: &str) {
    let settings = world.house.home.join(".config/artel");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("artel.toml"), hooks).unwrap();
}

#[test]
fn hooks_run_by_priority_before_and_after_a_call() {
    let world = World::new();
    let mut hooks = String::new();
    for event in ["PreToolUse", "PostToolUse"] {
        for (priority, name) in [
            (100, "e"),
            (0, "a"),
            (50, "c"),
            (25, "b"),
            (75, "d"),
            (50, "cc"),
        ] {
            hooks.push_str(&format!(
                "[[hooks.{event}]]\nmatcher = \"Read|read\"\npriority = {priority}\n\
                 command = \"true {name}\"\n"
            ));
        }
    }
    declare(&world, &hooks);
    let script = "lines:\n  - call: { read: { path: sales.csv } }\n  \
                  - call: { finish: { answer: done } }\n";
    world.skill("look", "", "Look.");
    world.rehearsed(script, ["look"]).run().expect(0);
    let ran = world.events("hook.");
    let ran = ran.iter().map(|event| {
        let name = event["payload"]["hook"].as_str().unwrap();
        let name = name.strip_prefix("true ").unwrap_or(name);
        (event["payload"]["event"].as_str().unwrap(), name)
    });
    let ran: Vec<_> = ran.collect();
    let names = ["a", "b", "c", "cc", "d", "e"];
    let expected = ["PreToolUse", "PostToolUse"].map(|event| names.map(|name| (event, name)));
    assert_eq!(ran, expected.concat());
}

#[test]
fn a_hook_that_says_no_keeps_the_call_from_happening() {
    let world = World::new();
    declare(
        &world,
        "[[hooks.PreToolUse]]\nmatcher = \"Write|write\"\n\
         command = \"echo 'HOOK-MARK: not here' >&2; exit 2\"\n",
    );
    let model = speaks([
        calls("write", json!({"path": "sales.csv", "content": "gone\n"})),
        calls("write", json!({"path": "new.txt", "content": "new\n"})),
        finish("could not"),
    ]);
    world.listens_to(&model);
    world.skill("change", "", "Change it.");
    world.artel(["run", "change", "--apply"]).run().expect(0);
    let table = fs::read_to_string(world.project.join("sales.csv")).unwrap();
    assert_eq!(table, "month,sum\njan,1\nfeb,2\n");
    assert!(!world.project.join("new.txt").exists());
    let told = conversations(&model);
    assert!(told[1].contains("HOOK-MARK: not here"), "{}", told[1]);
    let writes: Vec<_> = world
        .calls()
        .into_iter()
        .filter(|it| it.0 == "write")
        .collect();
    assert_eq!(writes.len(), 2, "the attempts are on record");
    assert!(
        writes.iter().all(|(_, trouble, _)| trouble.is_some()),
        "{writes:?}"
    );
}

#[test]
fn three_failed_edits_put_the_files_back_and_end_the_edits() {
    let world = World::new();
    fs::write(world.project.join("a.txt"), "one\n").unwrap();
    let edit =
        |old: &str, new: &str| calls("edit", json!({"path": "a.txt", "old": old, "new": new}));
    let model = speaks([
        edit("one", "two"),
        edit("nowhere 1", "x"),
        // A success in between begins anew.
        edit("two", "two and a half"),
        edit("nowhere 2", "x"),
        calls(
            "bash",
            json!({"command": "echo broken >> a.txt; echo broken > b.txt"}),
        ),
        calls("read", json!({"path": "no such file"})),
        edit("nowhere 3", "x"),
        edit("nowhere 4", "x"),
        edit("two", "three"),
        finish("it did not work"),
    ]);
    world.listens_to(&model);
    world.skill("change", "", "Change it.");
    world.artel(["run", "change"]).run().expect(1);
    let told = conversations(&model);
    let warned: Vec<bool> = told
        .iter()
        .map(|it| it.contains("FAILURE_WARNING"))
        .collect();
    assert_eq!(warned.iter().position(|it| *it), Some(7), "{warned:?}");
    let escalated = world.events("run.escalated");
    assert_eq!(escalated.len(), 1);
    let failures = escalated[0]["payload"]["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 3, "{failures:?}");
    let edits: Vec<_> = world
        .calls()
        .into_iter()
        .filter(|it| it.0 == "edit")
        .collect();
    assert_eq!(
        edits.last().unwrap().1.as_deref(),
        Some("refused"),
        "{edits:?}"
    );
    let finished = world.finished();
    assert_eq!(finished["state"], "partial");
    let changed = finished["changed"].as_array().unwrap();
    let changed: Vec<_> = changed.iter().map(|file| &file["path"]).collect();
    assert_eq!(changed, [&json!("a.txt")], "b.txt is gone: {finished}");
    let run = finished["id"].as_str().unwrap();
    let tree = world.house.state("worktrees").join(run).join("tree");
    let text = fs::read_to_string(tree.join("a.txt")).unwrap();
    assert_eq!(
        text, "two and a half\n",
        "as it was before the first failure"
    );
    assert!(!tree.join("b.txt").exists());
    // A new run begins at nothing.
    let again = speaks([edit("nowhere 5", "x"), finish("no")]);
    world.listens_to(&again);
    world.artel(["run", "change"]).run().expect(0);
    assert_eq!(world.events("run.escalated").len(), 1);
    assert!(!conversations(&again)[1].contains("FAILURE_WARNING"));
}
