//! Everything a command can do can be had over HTTP, or there is a reason why not.

use std::collections::BTreeSet;

use artel_server::{COMMANDS, Over};
use clap::{Command, CommandFactory as _};

use super::Arguments;

/// Gathers the commands that do something, by the words that call them.
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
    leaves(&Arguments::command(), "", &mut commands);
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
            Over::Http(wanted) => {
                assert!(!wanted.is_empty(), "{command}");
                for name in *wanted {
                    assert!(names.contains(name), "{command}: {name}");
                }
            }
            Over::Terminal(reason) => assert!(reason.len() > 10, "{command}"),
        }
    }
}

#[test]
fn few_commands_are_left_to_the_terminal() {
    let left = COMMANDS
        .iter()
        .filter(|(_, over)| matches!(over, Over::Terminal(_)));
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
