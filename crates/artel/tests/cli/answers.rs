//! What every command has: help with an example, and answers for programs.

use std::fs;

use crate::support::{House, old_run};

const COMMANDS: [&[&str]; 130] = [
    &[],
    &["init"],
    &["doctor"],
    &["auth"],
    &["auth", "set"],
    &["auth", "status"],
    &["auth", "remove"],
    &["model"],
    &["model", "list"],
    &["model", "show"],
    &["model", "test"],
    &["model", "reset"],
    &["model", "record"],
    &["usage"],
    &["run"],
    &["runs"],
    &["pause"],
    &["resume"],
    &["cancel"],
    &["hint"],
    &["apply"],
    &["replay"],
    &["fork"],
    &["trace"],
    &["journal"],
    &["journal", "tail"],
    &["journal", "query"],
    &["journal", "export"],
    &["journal", "stats"],
    &["journal", "verify"],
    &["journal", "backup"],
    &["journal", "restore"],
    &["journal", "prune"],
    &["config"],
    &["config", "show"],
    &["workshop"],
    &["workshop", "trust"],
    &["workshop", "show"],
    &["policy"],
    &["policy", "check"],
    &["policy", "path"],
    &["policy", "redact"],
    &["policy", "list"],
    &["policy", "grant"],
    &["policy", "revoke"],
    &["sandbox"],
    &["sandbox", "run"],
    &["portal"],
    &["portal", "add"],
    &["portal", "list"],
    &["portal", "show"],
    &["portal", "remove"],
    &["portal", "verify"],
    &["portal", "refresh"],
    &["agent"],
    &["agent", "create"],
    &["agent", "list"],
    &["agent", "show"],
    &["agent", "validate"],
    &["agent", "edit"],
    &["agent", "remove"],
    &["skill"],
    &["skill", "list"],
    &["skill", "show"],
    &["skill", "validate"],
    &["skill", "new"],
    &["skill", "trust"],
    &["skill", "stats"],
    &["skill", "feedback"],
    &["skill", "test"],
    &["hook"],
    &["hook", "list"],
    &["hook", "trust"],
    &["feedback"],
    &["tool"],
    &["tool", "list"],
    &["tool", "show"],
    &["tool", "run"],
    &["changeset"],
    &["changeset", "list"],
    &["changeset", "show"],
    &["changeset", "approve"],
    &["changeset", "reject"],
    &["changeset", "undo"],
    &["changeset", "redo"],
    &["report"],
    &["report", "list"],
    &["report", "show"],
    &["report", "rebuild"],
    &["clean"],
    &["explain"],
    &["ask"],
    &["request"],
    &["request", "list"],
    &["request", "show"],
    &["plan"],
    &["plan", "list"],
    &["plan", "show"],
    &["plan", "approve"],
    &["plan", "revise"],
    &["plan", "edit"],
    &["plan", "reject"],
    &["plan", "cancel"],
    &["plan", "pause"],
    &["plan", "resume"],
    &["plan", "diff"],
    &["plan", "retry"],
    &["plan", "skip"],
    &["plan", "waive"],
    &["waiting"],
    &["answer"],
    &["inbox"],
    &["inbox", "scan"],
    &["demo"],
    &["serve"],
    &["open"],
    &["daemon"],
    &["daemon", "start"],
    &["daemon", "stop"],
    &["daemon", "restart"],
    &["daemon", "status"],
    &["daemon", "logs"],
    &["daemon", "pause"],
    &["daemon", "resume"],
    &["daemon", "reload"],
    &["daemon", "install"],
    &["token"],
    &["token", "create"],
    &["token", "list"],
    &["token", "revoke"],
];

#[test]
fn every_command_has_help_with_an_example() {
    let house = House::empty();
    for words in COMMANDS {
        for flag in ["--help", "-h"] {
            let seen = house.artel([]).words(words).words([flag]).run().expect(0);
            let example = format!("Example: artel {}", words.join(" "));
            assert!(
                seen.out.contains(example.trim_end()),
                "{words:?}: {}",
                seen.out
            );
            assert!(seen.out.contains("Usage: artel"), "{words:?}: {}", seen.out);
            assert_eq!(seen.err, "", "{words:?}");
        }
    }
}

#[test]
fn help_is_a_command_too() {
    let house = House::empty();
    for words in COMMANDS {
        let by_flag = house.artel([]).words(words).words(["--help"]).run();
        let by_word = house.artel(["help"]).words(words).run().expect(0);
        assert_eq!(by_word.out, by_flag.out, "{words:?}");
    }
    let seen = house.artel(["help", "brew"]).run();
    seen.fails(2, "C003").says("has no command `brew`");
}

#[test]
fn no_command_is_left_out_of_the_list_above() {
    let house = House::empty();
    let named = |words: &[&str]| -> Vec<String> {
        let help = house.artel([]).words(words).words(["-h"]).run().out;
        let commands = help.split("Commands:\n").nth(1).unwrap_or_default();
        let lines = commands.lines().take_while(|line| line.starts_with("  "));
        lines
            .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
            .collect()
    };
    let mut found = vec![String::new()];
    for command in named(&[]) {
        found.push(command.clone());
        let below = named(&[&command]);
        found.extend(below.iter().map(|name| format!("{command} {name}")));
    }
    let mut listed: Vec<String> = COMMANDS.iter().map(|words| words.join(" ")).collect();
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
}

#[test]
fn the_version_is_one_line() {
    let house = House::empty();
    for flag in ["--version", "-V"] {
        assert_eq!(house.ok([flag]).out, "artel 0.1.0\n");
    }
}

/// Those about the server that need none to run.
const SERVER: [&[&str]; 6] = [
    &["token", "create", "--role", "user"],
    &["token", "list"],
    &["daemon", "status"],
    &["daemon", "pause"],
    &["daemon", "resume"],
    &["daemon", "install", "--user"],
];

#[test]
fn every_command_prints_json_for_programs() {
    let house = House::new();
    let (_, trace) = old_run(&house, 100, 3, 5);
    let trace = trace.to_string();
    fs::write(
        house.workshop.join("script.yaml"),
        "otherwise: { say: Hello., call: { echo: {} } }\n",
    )
    .unwrap();
    let commands: [&[&str]; 56] = [
        &["init"],
        &["doctor"],
        &["auth", "status"],
        &["auth", "remove", "--all", "--yes"],
        &["model", "list"],
        &["model", "show"],
        &["model", "test"],
        &["model", "reset", "rehearsal"],
        &["usage"],
        &["usage", "--person", "--period", "day"],
        &["trace", &trace],
        &["journal", "tail", "-n", "1"],
        &["journal", "query"],
        &["journal", "query", "--format", "csv"],
        &["journal", "export", "--kind", "workshop.created"],
        &["journal", "stats"],
        &["journal", "verify"],
        &["journal", "backup"],
        &["journal", "restore"],
        &["journal", "prune", "--before", "90d", "--yes"],
        &["policy", "grant", "Bash(ls:*)", "--reason", "only looks"],
        &["policy", "list"],
        &["policy", "revoke", "1"],
        &["hook", "list"],
        &["hook", "trust"],
        &["portal", "add", "."],
        &["portal", "list"],
        &["portal", "show", "shop"],
        &["portal", "verify"],
        &["portal", "refresh", "shop"],
        &["portal", "remove", "shop"],
        &["agent", "create", "mine", "--name", "Mine"],
        &["agent", "list"],
        &["agent", "show", "mine"],
        &["agent", "validate", "--all"],
        &["agent", "remove", "mine", "--yes"],
        &["skill", "list"],
        &["skill", "validate"],
        &["skill", "stats"],
        &["skill", "test"],
        &["tool", "list"],
        &["tool", "show", "read"],
        &["tool", "run", "read", "{\"path\": \"script.yaml\"}"],
        &["changeset", "list"],
        &["request", "list"],
        &["plan", "list"],
        &["waiting"],
        &["inbox", "scan"],
        &["ask", "Add a thing", "--dry-run"],
        &["report", "list"],
        &["config", "show"],
        &["workshop", "show"],
        &["workshop", "trust", "."],
        &["clean", "--dry-run"],
        &["explain"],
        &["explain", "J003"],
    ];
    for words in commands.into_iter().chain(SERVER) {
        let seen = house
            .artel([])
            .words(words)
            .words(["--json"])
            .env("ARTEL_MODEL", "rehearsal:script.yaml")
            .run()
            .expect(0);
        let value = seen.json();
        assert!(value.is_object() || value.is_array(), "{words:?}: {value}");
        assert!(!seen.out.contains('\u{1b}'), "{words:?}");
    }
}

#[test]
fn failures_are_json_too() {
    let house = House::new();
    let lines: [(&[&str], i32, &str); 6] = [
        (&["bogus"], 2, "C003"),
        (&["trace", "ffffffffffffffff"], 4, "W005"),
        (&["explain", "J999"], 4, "C007"),
        (&["--workshop", "/nowhere", "clean"], 4, "W002"),
        (&["journal", "restore", "nowhere.db"], 4, "W010"),
        (&["--set", "a.b=1", "doctor"], 2, ""),
    ];
    for (words, code, name) in lines {
        let seen = house.artel(["--json"]).words(words).run().expect(code);
        if name.is_empty() {
            // The doctor's findings are its answer, also where one of them is a problem.
            assert_eq!(seen.json()["ok"], false);
            continue;
        }
        let error: serde_json::Value = serde_json::from_str(&seen.err).unwrap();
        assert_eq!(error["error"]["code"], name);
        assert!(error["error"]["what"].is_string() && error["error"]["advice"].is_string());
    }
}

#[test]
fn explain_knows_every_code() {
    let house = House::empty();
    insta::assert_snapshot!(house.ok(["explain", "J003"]).text(), @r"
        exit 0
        J003: the journal is damaged

        An event does not fit the chain, or a page of the file is unreadable. Events
        before the damage can still be read; nothing more is written. `artel journal
        verify` names the first bad event; `artel journal restore` offers the longest
        intact part or a backup, whichever holds more.

        Exit code 1 (failed)
        ");
    for text in ["j003", "error[J003]"] {
        assert_eq!(
            house.ok(["explain", text]).out,
            house.ok(["explain", "J003"]).out
        );
    }
    let list = house.ok(["explain"]).out;
    for line in list.lines() {
        let code = line.split(' ').next().unwrap();
        house
            .ok(["explain", code])
            .says(line.split_once("  ").unwrap().1);
    }
}
