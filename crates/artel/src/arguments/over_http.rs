//! Checks that everything a command can do is also available over HTTP, or that there is a
//! reason why not.

use std::collections::{BTreeMap, BTreeSet};

use artel_server::{COMMANDS, CommandAvailability};
use clap::{Command, CommandFactory as _};
use serde_json::Value;

use self::Beside::{Field, Route, Terminal};
use super::ArtelArgs;

/// Options without an HTTP field of the same name. Each row holds the command (or `*` for
/// all commands with that option), the option, and the field that stands for it or the
/// reason why there is none.
const BESIDE: &[(&str, &str, Beside)] = &[
    (
        "*",
        "yes",
        Terminal("who sends it has said so; nobody is asked back"),
    ),
    ("*", "apply", Route("applyRun")),
    (
        "*",
        "batch",
        Terminal("many are many calls, or the checks of all of them"),
    ),
    (
        "policy check",
        "contained",
        Terminal("over HTTP the answer of a run always stands beside that of the rules"),
    ),
    (
        "*",
        "detach",
        Terminal("the daemon drives it, and nobody sits there meanwhile"),
    ),
    ("*", "view", Route("tellRun")),
    ("agent create", "prompt-file", Field("prompt")),
    ("agent validate", "all", Route("validateAgents")),
    ("apply", "diff", Route("diffRun")),
    ("ask", "dry-run", Route("previewRequest")),
    ("ask", "file", Field("words")),
    (
        "ask",
        "interactive",
        Terminal("it is a conversation at a terminal"),
    ),
    ("ask", "no-plan", Field("planning")),
    ("ask", "plan", Field("planning")),
    (
        "auth remove",
        "all",
        Terminal("each key that goes is named by whoever sends it"),
    ),
    ("changeset approve", "waive", Field("reason")),
    ("changeset list", "status", Field("state")),
    ("changeset show", "diff", Route("diffChangeset")),
    (
        "changeset show",
        "stat",
        Terminal("the answer has the files with their counts"),
    ),
    ("clean", "dry-run", Route("showRubbish")),
    (
        "config show",
        "origin",
        Terminal("the answer has where each comes from"),
    ),
    ("daemon logs", "follow", Field("after")),
    (
        "inbox scan",
        "model",
        Terminal("the daemon plans what is found, as its file says"),
    ),
    (
        "inbox scan",
        "no-plan",
        Terminal("what is found is the daemon's to plan in its turn"),
    ),
    (
        "journal export",
        "output",
        Terminal("the answer is the file"),
    ),
    ("journal query", "format", Terminal("the answer is JSON")),
    ("journal query", "newest-first", Field("order")),
    (
        "journal tail",
        "follow",
        Terminal("the same address gives events as they come"),
    ),
    ("journal tail", "lines", Field("limit")),
    ("plan edit", "file", Field("text")),
    ("plan list", "status", Field("state")),
    ("plan revise", "comment", Field("comments")),
    ("plan show", "markdown", Route("showPlanMarkdown")),
    ("portal add", "check", Field("checks")),
    ("replay", "full", Terminal("the answer has every step")),
    ("resume", "answer", Route("answerRun")),
    ("skill feedback", "add", Route("addLesson")),
    ("skill feedback", "edit", Route("editLesson")),
    ("skill feedback", "remove", Route("removeLesson")),
    ("skill test", "from", Route("promoteRun")),
    ("tool run", "root", Field("folder")),
    ("trace", "events", Route("listEvents")),
    ("trace", "full", Field("view")),
];

/// The substitute for a field of the same name.
enum Beside {
    /// A field of the route that means the same.
    Field(&'static str),
    /// Another route that does it.
    Route(&'static str),
    /// Why the option only makes sense for a person at a terminal.
    Terminal(&'static str),
}

/// Collects the commands that do something, by the words that call them.
fn leaves(command: &Command, words: &str, found: &mut Vec<String>) {
    let mut below = command.get_subcommands().peekable();
    if below.peek().is_none() {
        found.push(words.to_owned());
        return;
    }
    for one in below {
        leaves(one, format!("{words} {}", one.get_name()).trim(), found);
    }
}

#[test]
fn every_command_has_a_route_or_a_reason_why_not() {
    let mut commands = Vec::new();
    leaves(&ArtelArgs::command(), "", &mut commands);
    assert!(commands.len() > 100, "{}", commands.len());
    commands.sort();
    let known: Vec<&str> = COMMANDS.iter().map(|(command, _)| *command).collect();
    assert_eq!(
        commands, known,
        "`artel-server/src/api/commands.rs` lists them"
    );
}

#[test]
fn every_route_of_a_command_is_described() {
    let described = artel_server::openapi();
    let paths = described["paths"].as_object().unwrap().values();
    let operations = paths.flat_map(|item| item.as_object().unwrap().values());
    let names: BTreeSet<&str> = operations
        .map(|it| it["operationId"].as_str().unwrap())
        .collect();
    for (command, over) in COMMANDS {
        match over {
            CommandAvailability::Http(wanted) => {
                assert!(!wanted.is_empty(), "{command}");
                for name in *wanted {
                    assert!(names.contains(name), "{command}: {name}");
                }
            }
            CommandAvailability::Terminal(reason) => assert!(reason.len() > 10, "{command}"),
        }
    }
}

#[test]
fn few_commands_are_left_to_the_terminal() {
    let left = COMMANDS
        .iter()
        .filter(|(_, over)| matches!(over, CommandAvailability::Terminal(_)));
    let left: Vec<&str> = left.map(|(command, _)| *command).collect();
    let known = [
        "auth set",
        "daemon install",
        "daemon restart",
        "daemon start",
        "daemon stop",
        "demo",
        "init",
        "journal restore",
        "open",
        "policy path",
        "sandbox run",
        "serve",
        "workshop trust",
    ];
    assert_eq!(left, known);
}

/// Collects the options of commands that do something, except for those that all commands
/// have.
fn options(command: &Command, words: &str, found: &mut BTreeMap<String, Vec<String>>) {
    let mut below = command.get_subcommands().peekable();
    if below.peek().is_none() {
        let own = command.get_arguments().filter(|it| !it.is_global_set());
        let named = own.filter_map(|it| it.get_long());
        let named = named.filter(|it| !["help", "version"].contains(it));
        found.insert(words.to_owned(), named.map(str::to_owned).collect());
        return;
    }
    for one in below {
        options(one, format!("{words} {}", one.get_name()).trim(), found);
    }
}

/// Follows a JSON reference to the schema it refers to.
fn resolved<'a>(described: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(place) => described
            .pointer(place.trim_start_matches('#'))
            .unwrap_or(&Value::Null),
        None => schema,
    }
}

/// Returns the parameters and body fields that each operation accepts.
fn fields(described: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let paths = described["paths"].as_object().unwrap().values();
    let operations = paths.flat_map(|item| item.as_object().unwrap().values());
    let told = |it: &Value| {
        let asked = it["parameters"].as_array().into_iter().flatten();
        let mut names: BTreeSet<String> = asked
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect();
        let body = &it["requestBody"]["content"]["application/json"]["schema"];
        let properties = resolved(described, body)["properties"].as_object();
        names.extend(properties.into_iter().flat_map(|it| it.keys().cloned()));
        (it["operationId"].as_str().unwrap().to_owned(), names)
    };
    operations.map(told).collect()
}

#[test]
fn every_option_of_a_command_has_a_field_or_a_reason_why_not() {
    let described = artel_server::openapi();
    let fields = fields(&described);
    let mut known = BTreeMap::new();
    options(&ArtelArgs::command(), "", &mut known);
    let mut used = BTreeSet::new();
    let mut missing = Vec::new();
    for (command, over) in COMMANDS {
        let CommandAvailability::Http(routes) = over else {
            continue;
        };
        let has = |field: &str| routes.iter().any(|it| fields[*it].contains(field));
        for option in &known[*command] {
            let is_it = |it: &&(&str, &str, Beside)| {
                (it.0 == *command || it.0 == "*") && it.1 == option.as_str()
            };
            if has(&option.replace('-', "_")) {
                continue;
            }
            let Some(beside) = BESIDE.iter().position(|it| is_it(&it)) else {
                missing.push(format!("{command} --{option}"));
                continue;
            };
            used.insert(beside);
            match BESIDE[beside].2 {
                Beside::Field(field) => assert!(has(field), "{command} --{option}: {field}"),
                Beside::Route(route) => assert!(fields.contains_key(route), "{option}: {route}"),
                Beside::Terminal(reason) => assert!(reason.len() > 10, "{command} --{option}"),
            }
        }
    }
    assert_eq!(
        missing,
        Vec::<String>::new(),
        "they cannot be said over HTTP"
    );
    let idle = BESIDE.iter().enumerate().filter(|it| !used.contains(&it.0));
    let idle: Vec<_> = idle.map(|(_, it)| (it.0, it.1)).collect();
    assert_eq!(idle, Vec::new(), "they can be said by now");
}
