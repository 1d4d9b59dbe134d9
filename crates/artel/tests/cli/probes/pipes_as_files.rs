//! Pipes where files are expected: whoever opens one to read waits until somebody writes, and
//! nobody does.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;

use crate::omniforge::world::{World, calls, command, finish, speaks};
use crate::support::{Artel, Seen};

/// Longer than anything here takes; only what hangs takes it.
const PATIENCE: Duration = Duration::from_secs(45);

fn make_pipe(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Runs a command, and fails if that has no end.
#[track_caller]
fn ends(what: &str, artel: Artel) -> Seen {
    let (done, end) = channel();
    std::thread::spawn(move || done.send(artel.run()));
    let end = end.recv_timeout(PATIENCE);
    end.unwrap_or_else(|_| panic!("it has no end: {what}"))
}

const DONE: &str = "lines:\n  - call: { finish: { answer: done } }\n";

#[test]
fn a_pipe_among_the_files_of_a_workshop_keeps_nobody_waiting() {
    for file in [
        "artel.toml",
        "Policy/rules.toml",
        "Policy/grants.toml",
        "Tools/x.toml",
        "Agents/x.md",
        "Skills/x/SKILL.md",
        "Skills/x/scripts/go.sh",
        "Inbox/Requests/x.md",
        "Inbox/Active/x.md",
        "Knowledge/Context/x.md",
        ".artel/workshop.json",
        ".artel/grants.lock",
    ] {
        let world = World::new();
        let place = world.house.workshop.join(file);
        drop(std::fs::remove_file(&place));
        make_pipe(&place);
        for words in [
            &["doctor"][..],
            &["policy", "list"],
            &["policy", "grant", "Bash(git status)", "--reason", "we do"],
            &["agent", "list"],
            &["skill", "list"],
            &["inbox", "scan", "--no-plan"],
            &["journal", "verify"],
        ] {
            let artel = world.artel([]).words(words);
            ends(&format!("{words:?} with a pipe as {file}"), artel);
        }
        let run = world.rehearsed(DONE, ["--task", "x", "--yes"]);
        ends(&format!("a run with a pipe as {file}"), run);
    }
}

#[test]
fn a_pipe_that_a_command_made_keeps_no_tool_and_no_apply_waiting() {
    let world = World::new();
    let bash = |text: &str| calls("bash", json!({ "command": text }));
    let model = speaks([
        bash("mkfifo pipe; mkdir sub; mkfifo sub/pipe; echo made > made.txt"),
        calls("read", json!({ "path": "pipe" })),
        calls("edit", json!({ "path": "pipe", "old": "a", "new": "b" })),
        calls("write", json!({ "path": "sub/pipe", "content": "x" })),
        calls("grep", json!({ "pattern": "x" })),
        calls("glob", json!({ "pattern": "**" })),
        calls("git_status", json!({})),
        calls("git_diff", json!({})),
        bash("mkfifo .gitignore sub/.ignore"),
        calls("glob", json!({ "pattern": "**" })),
        calls("grep", json!({ "pattern": "made" })),
        calls("read", json!({ "path": "mad.txt" })),
        finish("done"),
    ]);
    world.listens_to(&model);
    let run = world.artel(["run", "--task", "begin", "--apply"]);
    ends("a run with a pipe in its tree", run);
    assert_eq!(model.seen().len(), 13, "{:#?}", world.calls());
    let made = std::fs::read_to_string(world.project.join("made.txt"));
    assert_eq!(made.unwrap(), "made\n");
    assert!(!world.project.join("pipe").exists());
}

#[test]
fn a_pipe_that_a_repository_includes_keeps_nobody_waiting() {
    let world = World::new();
    let git = ["git", "init", "-q", "-b", "main"];
    command(&world.project, &git);
    let pipe = world.house.root().join("pipe");
    make_pipe(&pipe);
    let config = world.project.join(".git/config");
    let before = std::fs::read_to_string(&config).unwrap();
    let includes = format!("{before}[include]\n\tpath = {}\n", pipe.display());
    std::fs::write(&config, includes).unwrap();
    let told = format!("`{}` is not a file", pipe.display());
    let lists =
        "lines:\n  - call: { bash: { command: ls } }\n  - call: { finish: { answer: done } }\n";
    let run = || world.rehearsed(lists, ["--task", "x"]);
    let seen = ends("a run", run());
    assert!(seen.text().contains(&told), "{}", seen.text());
    ends("doctor", world.artel(["doctor"]));
    ends("portal add", world.artel(["portal", "add", "."]));
    // What it says to remove is all there is to do.
    std::fs::write(&config, before).unwrap();
    ends("a run without it", run()).expect(0);
}
