//! What bounds a run bounds all that it begins: called skills, forks, plan agents, whoever takes
//! over or up again. None of them touches, reaches or spends more than whoever began it.

mod money;
pub(super) mod named_model;
mod plans;
mod runs;
mod urgency;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, end};
use super::town::payload;

/// Writes a skill of the workshop's own.
fn skill(stage: &Stage, name: &str, front: &str) {
    skill_saying(stage, name, front, "Help.");
}

/// The same with a text of its own.
fn skill_saying(stage: &Stage, name: &str, front: &str, text: &str) {
    write_skill(&stage.town.house.workshop.join("Skills"), name, front, text);
}

fn write_skill(skills: &Path, name: &str, front: &str, text: &str) {
    let folder = skills.join(name);
    fs::create_dir_all(&folder).unwrap();
    let text = format!("---\nname: {name}\ndescription: Helps with {name}.\n{front}---\n{text}\n");
    fs::write(folder.join("SKILL.md"), text).unwrap();
}

/// Gives a skill of the workshop's own a script.
fn give_script(stage: &Stage, skill: &str, script: &str) {
    let folder = stage.town.house.workshop.join("Skills").join(skill);
    let path = folder.join("scripts").join(script);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "echo ran \"$@\"\n").unwrap();
}

fn runs_script(name: &str) -> (&'static str, Value) {
    let path = format!("scripts/{name}");
    ("script", json!({ "path": path, "args": ["whatever"] }))
}

/// Tells whether the skill of this name asks.
fn is(asked: &Asked, skill: &str) -> bool {
    asked
        .text
        .contains(&format!("executing the '{skill}' skill"))
}

fn calls_skill(name: &str, arguments: &str) -> (&'static str, Value) {
    ("skill", json!({ "skill": name, "arguments": arguments }))
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command }))
}

fn write(path: &str) -> (&'static str, Value) {
    ("write", json!({ "path": path, "content": "planted\n" }))
}

/// Tries these, then ends.
fn tries(asked: &Asked, calls: Calls) -> Calls {
    match asked.turn {
        0 => calls,
        _ => vec![end("tried")],
    }
}

/// What policy said to a call of a skill's run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Judged {
    /// The run, as its chain of skills and the part of the plan above it.
    whose: String,
    tool: String,
    decision: String,
    rule: String,
}

/// Returns what policy said to all that skills tried, but for the call that ends them.
fn judged(stage: &Stage) -> Vec<Judged> {
    let events = stage.town.events();
    let started = events.iter().filter(|it| it["kind"] == "run.started");
    let started: BTreeMap<String, Value> = started
        .map(|it| (it["run"].as_str().unwrap().to_owned(), payload(it)))
        .collect();
    let requested = events.iter().filter(|it| it["kind"] == "tool.requested");
    let mut all = Vec::new();
    for event in requested {
        let run = &started[event["run"].as_str().unwrap()];
        let asked = payload(event);
        let word = |name: &str| asked[name].as_str().unwrap().to_owned();
        if run["skill"].is_null() || word("tool") == "finish" {
            continue;
        }
        let parent = run["parent"].as_str().and_then(|it| started.get(it));
        let call = parent
            .and_then(|it| it["call"].as_str())
            .unwrap_or("nobody");
        all.push(Judged {
            whose: format!("{} of {call}", run["skill"].as_str().unwrap()),
            tool: word("tool"),
            decision: word("decision"),
            rule: word("rule"),
        });
    }
    all
}

/// Fails unless something was tried, and every try of it was denied by a bound.
#[track_caller]
fn all_denied(judged: &[Judged], wanted: &[(&str, &str)]) {
    for (whose, tool) in wanted {
        let found = judged
            .iter()
            .any(|it| it.whose == *whose && it.tool == *tool);
        assert!(found, "{whose} did not try {tool}: {judged:#?}");
    }
    let others: Vec<_> = judged
        .iter()
        .filter(|it| {
            it.tool != "skill" && (it.decision != "deny" || !it.rule.starts_with("bound."))
        })
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}
