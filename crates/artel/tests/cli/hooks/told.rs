//! What hooks are told, and when.

use std::fs;

use serde_json::{Value, json};

use super::{declare, log};
use crate::omniforge::world::{World, calls, finish, speaks};

const EVENTS: [&str; 12] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreModel",
    "PostModel",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionEnd",
];

/// Runs a skill that calls another with hooks for all events, and returns what they were told.
fn story() -> (World, Vec<Value>) {
    let world = World::new();
    let log = log(&world);
    let file = log.join("told.jsonl");
    let mut hooks = String::new();
    for event in EVENTS {
        hooks.push_str(&format!(
            "[[hooks.{event}]]\ncommand = \"cat >> {file}; echo >> {file}\"\nwrite = [\"{log}\"]\n",
            file = file.display(),
            log = log.display()
        ));
    }
    declare(&world, &hooks);
    world.skill("outer", "", "Look, then count.");
    world.skill("counting", "context: fork\n", "Count the rows.");
    let model = speaks([
        calls("read", json!({"path": "sales.csv"})).calls("read", json!({"path": "nowhere"})),
        calls("bash", json!({"command": "ls"})),
        calls(
            "skill",
            json!({"skill": "counting", "arguments": "sales.csv"}),
        ),
        finish("two rows"),
        finish("all is well"),
    ]);
    world.listens_to(&model);
    let run = world.artel(["run", "outer", "a table", "--set", "policy.commands=ask"]);
    run.run().expect(0);
    let told = fs::read_to_string(file).unwrap();
    let told = told.lines().map(|line| serde_json::from_str(line).unwrap());
    let told = told.collect();
    (world, told)
}

#[test]
fn every_event_comes_in_its_order_with_what_it_is_about() {
    let (world, told) = story();
    let names: Vec<_> = told
        .iter()
        .map(|it| it["hook_event_name"].as_str().unwrap())
        .collect();
    let model = ["PreModel", "PostModel"];
    let expected: Vec<&str> = [
        &["SessionStart", "UserPromptSubmit"][..],
        &model,
        &[
            "PreToolUse",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
        ],
        &model,
        &["PreToolUse", "PermissionRequest", "PostToolUseFailure"],
        &model,
        &["PreToolUse", "SubagentStart"],
        &model,
        // To end is a call, too.
        &["PreToolUse", "PostToolUse", "SubagentStop", "PostToolUse"],
        &model,
        &["PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
    ]
    .concat();
    assert_eq!(names, expected);
    let find = |name: &str| {
        told.iter()
            .find(|it| it["hook_event_name"] == name)
            .unwrap()
    };
    let started = world.events("run.started");
    let (run, child) = (&started[0]["payload"]["id"], &started[1]["payload"]["id"]);
    for (event, field, value) in [
        ("SessionStart", "source", json!("startup")),
        ("SessionStart", "permission_mode", json!("dontAsk")),
        ("SessionStart", "session_id", run.clone()),
        ("UserPromptSubmit", "prompt", json!("a table")),
        ("PreModel", "model", json!("tiny")),
        ("PreModel", "turn", json!(0)),
        ("PostModel", "last_assistant_message", json!("")),
        ("PreToolUse", "tool_name", json!("Read")),
        ("PermissionRequest", "tool_name", json!("Bash")),
        ("PermissionRequest", "tool_input", json!({"command": "ls"})),
        ("SubagentStart", "agent_type", json!("general")),
        ("SubagentStart", "agent_id", child.clone()),
        ("SubagentStop", "last_assistant_message", json!("two rows")),
        ("Stop", "stop_hook_active", json!(false)),
        ("Stop", "last_assistant_message", json!("all is well")),
        ("SessionEnd", "reason", json!("complete")),
    ] {
        assert_eq!(find(event)[field], value, "{event} {field}");
    }
    let failure = find("PostToolUseFailure");
    assert!(
        failure["error"].as_str().unwrap().contains("nowhere"),
        "{failure}"
    );
    let response = &find("PostToolUse")["tool_response"]["content"];
    assert!(response.as_str().unwrap().contains("jan"), "{response}");
}

#[test]
fn the_transcript_is_a_file_that_hooks_can_read() {
    let world = World::new();
    let log = log(&world);
    let copy = log.join("transcript.jsonl");
    declare(
        &world,
        &format!(
            "[[hooks.Stop]]\nwrite = [\"{}\"]\ncommand = '''\
             path=$(sed 's/.*\"transcript_path\":\"//;s/\".*//'); cp \"$path\" {}'''\n",
            log.display(),
            copy.display()
        ),
    );
    let secret = "abcdef0123456789abcdef0123456789";
    fs::write(
        world.project.join("keys.txt"),
        format!("api_key={secret}\n"),
    )
    .unwrap();
    let model = speaks([calls("read", json!({"path": "keys.txt"})), finish("done")]);
    world.listens_to(&model);
    world.skill("look", "", "Look.");
    world.artel(["run", "look"]).run().expect(0);
    let text = fs::read_to_string(&copy).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<_> = lines
        .iter()
        .map(|line| (line["type"].as_str().unwrap(), &line["message"]["content"]))
        .map(|(who, content)| (who, content[0]["type"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("user", "text"),
            ("assistant", "tool_use"),
            ("user", "tool_result"),
            ("assistant", "tool_use"),
            ("user", "tool_result"),
        ]
    );
    assert!(
        text.contains("api_key=") && !text.contains(secret),
        "{text}"
    );
    let worktrees = world.house.state("worktrees");
    let left = fs::read_dir(worktrees).map_or(0, Iterator::count);
    assert_eq!(left, 0, "it is gone with the run's folder");
}
