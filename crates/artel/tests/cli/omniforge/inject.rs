//! Checks 9 to 13: commands and variables in a skill's text.

use std::fs;

use serde_json::json;

use super::world::{World, calls, command, finish, instructions, speaks};

/// Returns the text between two marks of what a run is told.
fn between<'t>(told: &'t str, begin: &str, end: &str) -> &'t str {
    let (_, rest) = told
        .split_once(begin)
        .unwrap_or_else(|| panic!("no `{begin}` in:\n{told}"));
    rest.split_once(end).unwrap().0
}

/// Runs a skill once, and returns what it is told at its start.
fn told(front: &str, body: &str, arguments: &[&str]) -> (World, String, String) {
    let world = World::new();
    fs::write(
        world.project.join("notes.txt"),
        "$ARGUMENTS ${USER} !`date`\n",
    )
    .unwrap();
    let model = speaks([finish("done")]);
    world.listens_to(&model);
    world.skill("told", front, body);
    let seen = world
        .artel(["run", "told"])
        .words(arguments)
        .run()
        .expect(0);
    let told = instructions(&model)[0].clone();
    (world, told, seen.err)
}

#[test]
fn check_09_commands_are_replaced_once_before_the_first_call() {
    let world = World::new();
    command(&world.project, &["git", "init", "--quiet"]);
    let model = speaks([
        calls("read", json!({"path": "sales.csv"})),
        calls("read", json!({"path": "sales.csv", "offset": 2})),
        finish("done"),
    ]);
    world.listens_to(&model);
    // What it prints is another name each time it runs: it counts its runs.
    let body = "Changed: !`git status --short`\nFirst <!`mktemp -u`>, second {!`mktemp -u`}.";
    world.skill(
        "changes",
        "allowed-tools: Read, Bash(git:*), Bash(mktemp:*)\n",
        body,
    );
    world.artel(["run", "changes"]).run().expect(0);
    let all = instructions(&model);
    assert_eq!(all.len(), 3);
    assert!(all[0].contains("Changed: ?? sales.csv"), "{}", all[0]);
    let first = between(&all[0], "First <", ">");
    assert!(first.starts_with("/tmp/tmp."), "{first}");
    assert_eq!(first, between(&all[0], "second {", "}"), "one run for both");
    assert!(
        all.iter().all(|told| told == &all[0]),
        "nothing runs again later"
    );
    let injected = world.events("skill.injected");
    assert_eq!(injected.len(), 2, "each on record, once");
}

#[test]
fn check_10_what_is_not_plainly_allowed_is_not_run() {
    let refused = [
        "git status; touch canary",
        "git status && touch canary",
        "git status || touch canary",
        "git status | tee canary",
        "git status > canary",
        "git status < sales.csv",
        "git status $(touch canary)",
        "git status\ntouch canary",
        "git status & touch canary",
        "/usr/bin/git status",
        "../git status",
        "git log \"unbalanced",
        "git-evil status",
        "touch canary",
    ];
    let body: String = refused
        .iter()
        .map(|command| format!("- !`{command}`\n"))
        .collect();
    for (front, ran) in [("allowed-tools: Read, Bash(git:*)\n", true), ("", false)] {
        let body = format!("{body}- plain !`git --version`\n");
        let (world, told, _) = told(front, &body, &[]);
        for command in refused {
            let shown = format!("[Command not allowed: {command}]");
            assert!(told.contains(&shown), "{front}: no `{shown}` in:\n{told}");
        }
        assert_eq!(told.contains("plain git version"), ran, "{front}: {told}");
        assert!(!world.project.join("canary").exists());
        let injected = world.events("skill.injected");
        assert_eq!(injected.len(), refused.len() + 1);
        let denied = injected.iter().filter(|event| event["outcome"] == "denied");
        assert_eq!(denied.count(), refused.len() + usize::from(!ran));
        assert_eq!(world.finished()["state"], "complete", "the skill runs");
    }
}

#[test]
fn check_11_commands_have_limits() {
    let front = "allowed-tools: Bash(sleep:*), Bash(seq:*), Bash(ls:*)\n";
    // A number of seconds that nobody else sleeps.
    let (_, told, _) = told(
        front,
        "<!`sleep 61.0713`>\n{!`seq 1 5000`}\n(!`ls nothing-here`)",
        &[],
    );
    assert!(told.contains("<[Command timed out after 5s]>"), "{told}");
    assert!(told.contains("([Command failed: "), "{told}");
    let long = between(&told, "{", "}");
    let marker = "\n... (truncated at 10000 chars)";
    let kept = long
        .strip_suffix(marker)
        .unwrap_or_else(|| panic!("{long}"));
    assert_eq!(kept.chars().count(), 10_000);
    assert!(kept.starts_with("1\n2\n3\n"));
    let processes = fs::read_dir("/proc").unwrap();
    for process in processes.map(Result::unwrap) {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        assert!(!line.contains("61.0713"), "it is still there: {line}");
    }
}

#[test]
fn check_12_what_comes_in_is_not_expanded_again() {
    let body = "Notes: <!`cat notes.txt`> for $ARGUMENTS";
    let (world, told, _) = told("allowed-tools: Bash(cat:*)\n", body, &["sales"]);
    assert!(
        told.contains("Notes: <$ARGUMENTS ${USER} !`date`> for sales"),
        "{told}"
    );
    assert_eq!(world.events("skill.injected").len(), 1);
}

#[test]
fn check_13_variables_are_filled_in_from_the_author_s_text_alone() {
    let body = "a=$ARGUMENTS|s=${SESSION_ID}|c=${CLAUDE_SESSION_ID}|d=${SKILL_DIR}|\
                w=${WORKSPACE}|u=${USER}|t=${DATE}|n=${NOPE}|";
    let arguments = ["${USER} !`touch canary`"];
    let (world, told, said) = told("allowed-tools: Bash(touch:*)\n", body, &arguments);
    let started = &world.events("run.started")[0];
    let run = started["payload"]["id"].as_str().unwrap();
    assert!(told.contains("a=${USER} !`touch canary`|"), "{told}");
    assert_eq!(between(&told, "|s=", "|"), run);
    assert_eq!(between(&told, "|c=", "|"), run);
    let folder = world.house.workshop.join("Skills/told");
    assert_eq!(between(&told, "|d=", "|"), folder.to_str().unwrap());
    assert!(!between(&told, "|w=", "|").is_empty());
    assert_eq!(between(&told, "|u=", "|"), "ada");
    let date = between(&told, "|t=", "|");
    assert!(date.len() == 10 && date.starts_with("20"), "{date}");
    assert_eq!(between(&told, "|n=", "|"), "${NOPE}");
    assert!(said.contains("${NOPE}"), "it is said: {said}");
    assert!(!told.contains("ARGUMENTS:"), "they were used");
    assert!(world.events("skill.injected").is_empty());
    assert!(!world.project.join("canary").exists());
    let (_, told, _) = self::told("", "Do it.", &["sales.csv"]);
    assert_eq!(told.matches("ARGUMENTS: sales.csv").count(), 1, "{told}");
}
