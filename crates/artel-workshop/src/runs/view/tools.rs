//! Names and descriptions of tool calls for people.

use artel_types::{ToolFinished, counted};
use serde_json::Value;

use super::line::first_line;

/// Longest command or target shown in a summary, in characters.
const LONGEST: usize = 70;

/// Longest text shown whole among a call's arguments, in bytes. Longer texts are
/// shortened.
const LONG: usize = 80;

/// Number of characters kept of a shortened text.
const SHOWN: usize = 40;

/// Fields whose values are never shown.
const SECRET: &[&str] = &["password", "api_key", "apikey", "token", "secret"];

/// The contribution of a successful call to a summary timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallSummary {
    /// Of no interest to a person.
    Nothing,
    /// One of several similar calls, which are counted together.
    Looked(LookupCallKind, String),
    /// A line of its own.
    Line(String),
    /// Progress of the run: steps done, and all steps.
    Progress(usize, usize),
}

/// Calls that are counted and shown together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LookupCallKind {
    /// Reads of files.
    Read,
    /// Searches.
    Searched,
}

impl LookupCallKind {
    /// Says how many calls there were.
    pub(super) fn told(self, targets: &[String]) -> String {
        match (self, targets) {
            (Self::Read, [only]) => format!("read {only}"),
            (Self::Read, several) => format!("read {}", counted(several.len() as u64, "file")),
            (Self::Searched, [only]) => format!("searched for {only}"),
            (Self::Searched, several) => format!("searched {} times", several.len()),
        }
    }
}

/// Returns what a successful call adds to a summary.
pub(super) fn milestone(input: &Value, finished: &ToolFinished, observation: &str) -> CallSummary {
    let text = |key: &str| first_line(input[key].as_str().unwrap_or_default(), LONGEST);
    let line = CallSummary::Line;
    match finished.tool.as_str() {
        "finish" | "find_tools" | "remember" | "output" | "job" | "ask_person" | "skill" => {
            CallSummary::Nothing
        }
        "read" => CallSummary::Looked(LookupCallKind::Read, text("path")),
        "grep" | "glob" => CallSummary::Looked(LookupCallKind::Searched, text("pattern")),
        "list" => CallSummary::Looked(LookupCallKind::Searched, "files".to_owned()),
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

/// Describes a call that is under way.
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

/// Describes the command or tool of a call that was not allowed.
pub(super) fn wanted(tool: &str, input: &Value) -> String {
    match input["command"].as_str() {
        Some(command) => first_line(command, LONGEST),
        None => format!("{} {}", spoken(tool), arguments(input)),
    }
}

/// Says only that a tool ran.
pub(super) fn hidden(tool: &str) -> String {
    format!("[{} hidden]", spoken(tool))
}

/// Returns a call's arguments on one line, with long texts cut and secrets masked.
pub(super) fn arguments(input: &Value) -> String {
    serde_json::to_string(&unveiled(input, shortened)).unwrap_or_default()
}

/// Returns a call's arguments as pretty-printed JSON. Only secrets are masked.
pub(super) fn whole(input: &str) -> String {
    let Ok(input) = serde_json::from_str(input) else {
        // Text that is not JSON is the model's mistake, and is shown as it is.
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

/// Returns the value with secret fields masked and every text passed through `shown`.
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

/// Returns whether a field's name says that its value is a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    SECRET
        .iter()
        .any(|word| name == *word || name.ends_with(&format!("_{word}")))
}

/// Returns a tool's name as words: `mcp__db__query` becomes `db query`.
fn spoken(tool: &str) -> String {
    let name = tool.strip_prefix("mcp__").unwrap_or(tool);
    name.replace("__", " ").replace('_', " ")
}

fn progress(input: &Value) -> CallSummary {
    let tasks = input["tasks"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let done = tasks.iter().filter(|task| task["state"] == "done");
    match tasks.len() {
        0 => CallSummary::Nothing,
        all => CallSummary::Progress(done.count(), all),
    }
}

fn changed(files: &[String]) -> String {
    match files {
        [] => "changed nothing".to_owned(),
        [only] => format!("wrote {only}"),
        several => format!("wrote {}", counted(several.len() as u64, "file")),
    }
}

/// Returns the counts at the start of the tool's output, without those that are zero.
fn tests(observation: &str) -> String {
    let line = first_line(observation, 200);
    let counts = line.split(": ").next().unwrap_or_default();
    let counts = counts.split(',').map(str::trim);
    let told: Vec<&str> = counts.filter(|count| !count.starts_with("0 ")).collect();
    told.join(", ")
}
