//! What calls of tools are called when people read about them.

use artel_types::{ToolFinished, counted};
use serde_json::Value;

use super::line::first_line;

/// No command or target is shown longer in a summary.
const LONGEST: usize = 70;

/// Longer texts in arguments are shortened.
const LONG: usize = 80;

/// So much of a long text is shown.
const SHOWN: usize = 40;

/// Fields whose values are shown nowhere.
const SECRET: &[&str] = &["password", "api_key", "apikey", "token", "secret"];

/// What a call comes to in a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Milestone {
    /// Nothing that a person wants to know.
    Nothing,
    /// One of several alike.
    Looked(Look, String),
    /// A line of its own.
    Line(String),
    /// How far the run has come: steps done, and steps in all.
    Progress(usize, usize),
}

/// Calls that are counted and told together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Files that were read.
    Read,
    /// Searches.
    Searched,
}

impl Look {
    /// Says how many there were.
    pub(super) fn told(self, targets: &[String]) -> String {
        match (self, targets) {
            (Self::Read, [only]) => format!("read {only}"),
            (Self::Read, several) => format!("read {}", counted(several.len() as u64, "file")),
            (Self::Searched, [only]) => format!("searched for {only}"),
            (Self::Searched, several) => format!("searched {} times", several.len()),
        }
    }
}

/// Says what a call that succeeded came to.
pub(super) fn milestone(input: &Value, finished: &ToolFinished, observation: &str) -> Milestone {
    let text = |key: &str| first_line(input[key].as_str().unwrap_or_default(), LONGEST);
    let line = Milestone::Line;
    match finished.tool.as_str() {
        "finish" | "find_tools" | "remember" | "output" | "job" | "ask_person" | "skill" => {
            Milestone::Nothing
        }
        "read" => Milestone::Looked(Look::Read, text("path")),
        "grep" | "glob" => Milestone::Looked(Look::Searched, text("pattern")),
        "list" => Milestone::Looked(Look::Searched, "files".to_owned()),
        "todo" => progress(input),
        "write" => {
            let lines = input["content"].as_str().unwrap_or_default().lines();
            let lines = counted(lines.count() as u64, "line");
            line(format!("wrote {} ({lines})", text("path")))
        }
        "edit" | "multi_edit" => line(format!("changed {}", text("path"))),
        "batch_write" | "apply_patch" | "format" => line(changed(&finished.changed)),
        "bash" => line(format!("ran {}", text("command"))),
        "script" => line(format!("ran the skill's script {}", text("script"))),
        "run_tests" => line(format!("ran tests: {}", tests(observation))),
        "diagnostics" => line(format!(
            "looked for errors: {}",
            first_line(observation, LONGEST)
        )),
        "fetch" => line(format!("fetched {}", text("url"))),
        other => line(match other.strip_prefix("git_") {
            Some(command) => format!("ran git {}", command.replace('_', " ")),
            None => format!("used {}", spoken(other)),
        }),
    }
}

/// Says what a call is while it goes on.
pub(super) fn doing(tool: &str, input: &Value) -> String {
    let text = |key: &str| first_line(input[key].as_str().unwrap_or_default(), SHOWN);
    match tool {
        "bash" => format!("running {}", text("command")),
        "read" => format!("reading {}", text("path")),
        "write" | "edit" | "multi_edit" => format!("writing {}", text("path")),
        "run_tests" => "running tests".to_owned(),
        "fetch" => format!("fetching {}", text("url")),
        "skill" => format!("skill {}", text("skill")),
        other => spoken(other),
    }
}

/// Says what a call wanted, for one that was not allowed.
pub(super) fn wanted(tool: &str, input: &Value) -> String {
    match input["command"].as_str() {
        Some(command) => first_line(command, LONGEST),
        None => format!("{} {}", spoken(tool), arguments(input)),
    }
}

/// Says that a tool ran, and no more.
pub(super) fn hidden(tool: &str) -> String {
    format!("[{} hidden]", spoken(tool))
}

/// Returns the arguments of a call on one line, long texts cut and secrets left out.
pub(super) fn arguments(input: &Value) -> String {
    serde_json::to_string(&unveiled(input, shortened)).unwrap_or_default()
}

/// Returns the arguments of a call as JSON on as many lines as it takes, with nothing left out but
/// secrets.
pub(super) fn whole(input: &str) -> String {
    let Ok(input) = serde_json::from_str(input) else {
        // What is no JSON is the model's mistake, and shown as it is.
        return input.to_owned();
    };
    serde_json::to_string_pretty(&unveiled(&input, str::to_owned)).unwrap_or_default()
}

fn shortened(text: &str) -> String {
    if text.len() <= LONG {
        return text.to_owned();
    }
    let begins: String = text.chars().take(SHOWN).collect();
    format!("{begins}… [{} bytes]", text.len())
}

/// Returns a value without what is named like a secret, each of its texts as `shown`.
fn unveiled(value: &Value, shown: fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::from(shown(text)),
        Value::Array(items) => items.iter().map(|item| unveiled(item, shown)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                let value = if is_secret(name) && value.is_string() {
                    Value::from("***")
                } else {
                    unveiled(value, shown)
                };
                (name.clone(), value)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

/// Tells whether a field is named like something that nobody is shown.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    SECRET
        .iter()
        .any(|word| name == *word || name.ends_with(&format!("_{word}")))
}

/// `mcp__db__query` is the query of db.
fn spoken(tool: &str) -> String {
    let name = tool.strip_prefix("mcp__").unwrap_or(tool);
    name.replace("__", " ").replace('_', " ")
}

fn progress(input: &Value) -> Milestone {
    let tasks = input["tasks"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let done = tasks.iter().filter(|task| task["state"] == "done");
    match tasks.len() {
        0 => Milestone::Nothing,
        all => Milestone::Progress(done.count(), all),
    }
}

fn changed(files: &[String]) -> String {
    match files {
        [] => "changed nothing".to_owned(),
        [only] => format!("wrote {only}"),
        several => format!("wrote {}", counted(several.len() as u64, "file")),
    }
}

/// The tool says how many passed before it says anything else.
fn tests(observation: &str) -> String {
    let line = first_line(observation, 200);
    let counts = line.split(": ").next().unwrap_or_default();
    let counts = counts.split(',').map(str::trim);
    let told: Vec<&str> = counts.filter(|count| !count.starts_with("0 ")).collect();
    told.join(", ")
}
