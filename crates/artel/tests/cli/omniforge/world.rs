//! A project, skills, and models that are scripted or listened to.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::{Value, json};

use crate::support::{Artel, House, KEY, Seen, entry};

/// Where programs are on every machine.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A workshop with a folder to work on.
pub(crate) struct World {
    pub(crate) house: House,
    pub(crate) project: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let house = House::new();
        let project = house.folder("project");
        fs::write(project.join("sales.csv"), "month,sum\njan,1\nfeb,2\n").unwrap();
        Self { house, project }
    }

    /// Makes a skill of the workshop's own. `front` holds whole lines.
    pub(crate) fn skill(&self, name: &str, front: &str, body: &str) -> PathBuf {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{front}---\n{body}\n");
        let folder = self.house.workshop.join("Skills").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), text).unwrap();
        folder
    }

    /// Puts a script beside a skill.
    pub(crate) fn script(&self, skill: &str, name: &str, text: &str) {
        let folder = self.house.workshop.join("Skills").join(skill);
        let scripts = folder.join("scripts");
        fs::create_dir_all(&scripts).unwrap();
        let file = scripts.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Prepares a command, standing in the project.
    pub(crate) fn artel<const N: usize>(&self, words: [&str; N]) -> Artel {
        self.house
            .artel(words)
            .standing_in(&self.project)
            .env("PATH", PATH)
            .env("USER", "ada")
            .env("MY_KEY", KEY)
            .env("ARTEL_WORKSHOP", &self.house.workshop)
    }

    /// Prepares a run whose model is a script.
    pub(crate) fn rehearsed<const N: usize>(&self, script: &str, words: [&str; N]) -> Artel {
        let file = self.house.root().join("script.yaml");
        fs::write(&file, script).unwrap();
        let model = format!("rehearsal:{}", file.display());
        self.artel(["run"]).words(words).env("ARTEL_MODEL", model)
    }

    /// Has a stand-in answer as the default model from here on.
    pub(crate) fn listens_to(&self, stand_in: &StandIn) {
        self.house
            .settings(&entry("default", Format::Anthropic, stand_in));
    }

    pub(crate) fn ok<const N: usize>(&self, words: [&str; N]) -> Seen {
        self.artel(words).run().expect(0)
    }

    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        let out = self.ok(["journal", "export", "--kind", kind]).out;
        let events = out.lines().map(|line| serde_json::from_str(line).unwrap());
        events.collect()
    }

    /// Returns what was said of the run that ended last.
    pub(crate) fn finished(&self) -> Value {
        let events = self.events("run.finished");
        events.last().unwrap()["payload"].clone()
    }

    /// Returns every call that came to its end, with its tool, its trouble and what was seen.
    pub(crate) fn calls(&self) -> Vec<(String, Option<String>, String)> {
        let events = self.events("tool.finished");
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let of = |event: &Value| {
            let fact = &event["payload"];
            (
                text(&fact["tool"]).unwrap(),
                text(&fact["trouble"]),
                text(&fact["observation"]).unwrap_or_else(|| fact["observation"].to_string()),
            )
        };
        events.iter().map(of).collect()
    }
}

/// Runs a program of the test's own in a folder.
pub(crate) fn command(folder: &std::path::Path, words: &[&str]) {
    let done = std::process::Command::new(words[0])
        .args(&words[1..])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{words:?}: {done:?}");
}

/// A model that answers in this order.
pub(crate) fn speaks(plan: impl IntoIterator<Item = Answer>) -> StandIn {
    StandIn::start(Format::Anthropic, plan)
}

pub(crate) fn calls(tool: &str, input: Value) -> Answer {
    Answer::default().calls(tool, input)
}

pub(crate) fn finish(answer: &str) -> Answer {
    calls("finish", json!({ "answer": answer }))
}

/// Returns every text of a request, one after the other, as the model reads it.
pub(crate) fn words_of(body: &Value) -> String {
    match body {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(words_of).collect(),
        Value::Object(fields) => fields.values().map(words_of).collect(),
        _ => String::new(),
    }
}

/// Returns the standing instructions of every request so far.
pub(crate) fn instructions(stand_in: &StandIn) -> Vec<String> {
    let seen = stand_in.seen();
    seen.iter()
        .map(|seen| words_of(&seen.body["system"]))
        .collect()
}

/// Returns the conversation of every request so far.
pub(crate) fn conversations(stand_in: &StandIn) -> Vec<String> {
    let seen = stand_in.seen();
    seen.iter()
        .map(|seen| words_of(&seen.body["messages"]))
        .collect()
}
