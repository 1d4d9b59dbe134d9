//! `artel tool`: what agents have, and one of them tried in a copy.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Artel, House, Seen, Tree, holding};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn tool<const N: usize>(house: &House, words: [&str; N]) -> Artel {
    house.artel(["tool"]).words(words).env("PATH", PATH)
}

/// Tries a tool in a copy of a folder.
fn run(house: &House, root: &Path, name: &str, input: &Value) -> Seen {
    let input = input.to_string();
    let words = ["run", name, &input, "--root", root.to_str().unwrap()];
    tool(house, words).run()
}

/// A project with a little of everything.
fn project(house: &House) -> std::path::PathBuf {
    let root = house.folder("project");
    fs::write(root.join("notes.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(root.join(".env"), "KEY=canary-77\n").unwrap();
    root
}

fn git(root: &Path, words: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
    let done = git
        .args(words)
        .current_dir(root)
        .env("HOME", root)
        .output()
        .unwrap();
    assert!(done.status.success(), "{words:?}: {done:?}");
}

/// Nothing of a trial is left in the house.
fn is_swept(house: &House) -> bool {
    let scratch = house.home.join(".local/state/artel/scratch");
    let mut entries = fs::read_dir(scratch).unwrap();
    !entries.any(|entry| entry.unwrap().path().is_dir())
}

#[test]
fn the_tools_are_listed_by_name() {
    let house = House::empty();
    let before = Tree::of(&house.root());
    let seen = tool(&house, ["list"]).run().expect(0);
    let names: Vec<&str> = seen
        .out
        .lines()
        .map(|line| line[2..].split(' ').next().unwrap())
        .collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    let always: Vec<&str> = seen
        .out
        .lines()
        .filter(|line| line.starts_with('*'))
        .collect();
    insta::assert_snapshot!(always.join("\n"), @r"
    * bash               Run a shell command in the sandbox, in the run's tree
    * edit               Replaces text in a file, exactly.
    * find_tools         Bring the schemas of tools that are only listed by name
    * finish             End the work with its answer
    * glob               Finds files by the pattern of their names.
    * grep               Searches the content of files.
    * read               Reads a file: text, picture, PDF or notebook.
    * write              Makes a file or replaces it whole.
    ");
    let listed = tool(&house, ["list", "--json"]).run().expect(0).json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), names.len());
    for (tool, name) in listed.iter().zip(names) {
        assert_eq!(tool["name"], name);
        assert_eq!(tool["input"]["type"], "object", "{name}");
        assert!(!tool["line"].as_str().unwrap().is_empty(), "{name}");
        let is_known = ["pure", "idempotent", "probe", "restore", "once"];
        assert!(
            is_known.contains(&tool["unknown"].as_str().unwrap()),
            "{tool}"
        );
    }
    before.unchanged(&house.root());
}

#[test]
fn one_is_shown_with_its_schema() {
    let house = House::empty();
    insta::assert_snapshot!(tool(&house, ["show", "write"]).run().text(), @r#"
    exit 0
    write: Makes a file or replaces it whole.

    Makes a file or replaces it whole, by `content`. One that exists must have been read before; for a part of it use `edit`.

    touches          write
    unknown outcome  idempotent
    bundle           files

    input
    {
      "additionalProperties": false,
      "properties": {
        "content": {
          "type": "string"
        },
        "path": {
          "description": "The file; folders above it are made",
          "type": "string"
        }
      },
      "required": [
        "path",
        "content"
      ],
      "type": "object"
    }
    "#);
    let shown = tool(&house, ["show", "bash", "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(shown["input"]["required"], json!(["command"]));
    for words in [&["show", "edti"][..], &["run", "edti", "{}"]] {
        let seen = tool(&house, []).words(words).run();
        seen.fails(4, "T001").says("did you mean `edit`?");
    }
    // What git can do and agents never may is no tool, and neither is what nobody knows.
    for name in [
        "git_push",
        "git_merge",
        "git_rebase",
        "git_reset_hard",
        "git_x",
        "",
    ] {
        tool(&house, ["run", name, "{}"]).run().fails(4, "T001");
    }
}

#[test]
fn an_input_that_does_not_fit_is_said() {
    let house = House::empty();
    let root = project(&house);
    for input in ["", "{", "path", "{\"path\": }"] {
        let words = ["run", "read", input, "--root", root.to_str().unwrap()];
        tool(&house, words)
            .run()
            .fails(2, "T002")
            .says("artel tool show read");
    }
    for input in [
        json!({}),
        json!([]),
        json!(null),
        json!("x"),
        json!({"path": 1}),
        json!({"file": "x"}),
    ] {
        let seen = run(&house, &root, "read", &input).expect(1);
        assert!(seen.out.starts_with("failed: "), "{}", seen.out);
    }
    let nowhere = run(&house, &root.join("nowhere"), "read", &json!({"path": "x"}));
    nowhere.fails(4, "W010");
    let words = ["run", "read", "{\"path\": \"x\"}", "--role", "nobody"];
    tool(&house, words).run().fails(4, "W010");
    assert!(is_swept(&house));
}

#[test]
fn an_edit_is_shown_and_the_folder_stays() {
    let house = House::empty();
    let root = project(&house);
    let before = Tree::of(&root);
    let edit = json!({"path": "notes.txt", "old": "two", "new": "2"});
    let seen = run(&house, &root, "edit", &edit).expect(0);
    insta::assert_snapshot!(seen.text(), @r"
    exit 0
    edited `notes.txt`: replaced at line 2

    --- a/notes.txt
    +++ b/notes.txt
    @@ -1,3 +1,3 @@
     one
    -two
    +2
     three
    ");
    let miss = json!({"path": "notes.txt", "old": "twwo", "new": "2"});
    run(&house, &root, "edit", &miss)
        .expect(1)
        .says("nothing was changed");
    let write = json!({"path": "deep/new.txt", "content": "new\n"});
    let words = [
        "run",
        "write",
        &write.to_string(),
        "--root",
        root.to_str().unwrap(),
        "--json",
    ];
    let seen = tool(&house, words).run().expect(0).json();
    assert_eq!(seen["changed"], json!(["deep/new.txt"]));
    assert_eq!(
        seen["diff"],
        "--- /dev/null\n+++ b/deep/new.txt\n@@ -0,0 +1 @@\n+new\n"
    );
    assert_eq!(seen["decision"]["decision"], "allow");
    assert_eq!(seen["trouble"], Value::Null);
    let similar = json!({"path": "note.txt"});
    run(&house, &root, "read", &similar)
        .expect(1)
        .says("notes.txt");
    before.unchanged(&root);
    assert!(is_swept(&house));
}

#[test]
fn where_one_stands_is_copied_if_no_root_is_named_even_a_home() {
    let house = House::empty();
    let root = project(&house);
    let input = "{\"path\": \"notes.txt\"}";
    let seen = tool(&house, ["run", "read", input])
        .standing_in(&root)
        .run();
    seen.expect(0).says("two");
    // The copies lie in the home folder; they are no part of the copy.
    fs::write(house.home.join("notes.txt"), "at home\n").unwrap();
    let seen = tool(&house, ["run", "read", input])
        .standing_in(&house.home)
        .run();
    let seen = seen.expect(0).says("at home");
    assert!(!seen.out.contains("---"), "{}", seen.out);
}

#[test]
fn a_command_runs_in_the_copy_and_its_changes_are_shown() {
    let house = House::empty();
    let root = project(&house);
    let before = Tree::of(&root);
    let command = json!({"command": "cat notes.txt && touch new.txt && rm notes.txt && printenv"});
    let words = [
        "run",
        "bash",
        &command.to_string(),
        "--root",
        root.to_str().unwrap(),
    ];
    let seen = tool(&house, words)
        .env("X_SECRET", "canary-99")
        .run()
        .expect(0);
    assert!(seen.out.contains("one\ntwo\nthree\n"), "{}", seen.out);
    assert!(
        !seen.out.contains("canary-99") && !seen.out.contains("X_SECRET"),
        "{}",
        seen.out
    );
    assert!(
        seen.out.contains("\n--- /dev/null\n+++ b/new.txt\n"),
        "{}",
        seen.out
    );
    assert!(
        seen.out.contains("--- a/notes.txt\n+++ /dev/null\n"),
        "{}",
        seen.out
    );
    let failing = json!({"command": "ls nowhere"});
    run(&house, &root, "bash", &failing).says("exit code 2");
    before.unchanged(&root);
    assert!(is_swept(&house));
    assert_eq!(
        holding(&house.home, b"three"),
        Vec::<std::path::PathBuf>::new()
    );
}

#[test]
fn what_is_refused_names_its_rule_and_ends_with_three() {
    let house = House::empty();
    let root = project(&house);
    let before = Tree::of(&root);
    let outside = house.root().join("outside.txt");
    let token = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    for (name, input, rule) in [
        ("bash", json!({"command": "git push"}), "never.git-push"),
        (
            "bash",
            json!({"command": "git reset --hard"}),
            "not allowed by",
        ),
        ("bash", json!({"command": "git merge x"}), "not allowed by"),
        (
            "write",
            json!({"path": ".git/hooks/x", "content": "x"}),
            "never.git-metadata",
        ),
        (
            "write",
            json!({"path": ".artel/x", "content": "x"}),
            "never.",
        ),
        (
            "write",
            json!({"path": "artel.toml", "content": "x"}),
            "never.",
        ),
        ("write", json!({"path": outside, "content": "x"}), "outside"),
        (
            "write",
            json!({"path": "../outside.txt", "content": "x"}),
            "outside",
        ),
        (
            "read",
            json!({"path": ".env"}),
            "sensitive.environment-file",
        ),
        (
            "edit",
            json!({"path": ".env", "old": "KEY", "new": "X"}),
            "not allowed by",
        ),
        ("write", json!({"path": "x", "content": token}), "secret"),
        (
            "bash",
            json!({"command": format!("echo {token}")}),
            "secret",
        ),
    ] {
        let seen = run(&house, &root, name, &input);
        assert_eq!(seen.code, 3, "{name} {input}: {seen:?}");
        assert!(
            seen.out.starts_with("failed: ") && seen.out.contains(rule),
            "{input}: {seen:?}"
        );
        assert!(
            !seen.out.contains(token) && !seen.out.contains("canary-77"),
            "{seen:?}"
        );
        assert!(!seen.out.contains("\n---"), "nothing changed: {seen:?}");
    }
    assert!(!outside.exists());
    before.unchanged(&root);
    let words = ["run", "bash", "{\"command\": \"git push\"}", "--json"];
    let seen = tool(&house, words)
        .standing_in(&root)
        .run()
        .expect(3)
        .json();
    assert_eq!(seen["decision"]["rule"], "never.git-push");
    assert_eq!(seen["trouble"], "refused");
}

#[test]
fn git_is_for_roles_that_may() {
    let house = House::empty();
    let root = project(&house);
    git(&root, &["init", "-q", "."]);
    git(&root, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&root, &["add", "notes.txt"]);
    let before = Tree::of(&root);
    let root_text = root.to_str().unwrap();
    let commit = ("git_commit", json!({"message": "feat: keep three notes"}));
    let branch = ("git_branch_create", json!({"name": "topic"}));
    for (role, may_commit, may_branch) in [
        ("engineer", true, false),
        ("designer", true, false),
        ("inspector", false, false),
        ("tester", true, false),
        ("architect", true, true),
        ("librarian", false, false),
    ] {
        for ((name, input), may) in [(&commit, may_commit), (&branch, may_branch)] {
            let input = input.to_string();
            let words = ["run", name, &input, "--root", root_text, "--role", role];
            let seen = tool(&house, words).run();
            assert_eq!(
                seen.code,
                if may { 0 } else { 3 },
                "{role} {name}: {seen:?}"
            );
            assert!(may || seen.out.contains(role), "{role} {name}: {seen:?}");
        }
    }
    let status = [
        "run",
        "git_status",
        "{}",
        "--root",
        root_text,
        "--role",
        "inspector",
    ];
    tool(&house, status).run().expect(0).says("notes.txt");
    before.unchanged(&root);
}

#[test]
fn a_copy_of_a_linked_worktree_does_not_reach_its_repository() {
    let house = House::empty();
    let root = project(&house);
    git(&root, &["init", "-q", "."]);
    git(&root, &["add", "notes.txt"]);
    git(&root, &["commit", "-qm", "notes"]);
    let linked = house.root().join("linked");
    git(&root, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    fs::write(linked.join("notes.txt"), "changed\n").unwrap();
    let (before, repository) = (Tree::of(&linked), Tree::of(&root));
    let add = json!({"paths": ["notes.txt"]});
    let words = [
        "run",
        "git_add",
        &add.to_string(),
        "--root",
        linked.to_str().unwrap(),
    ];
    let seen = tool(&house, words).words(["--role", "engineer"]).run();
    assert_ne!(seen.code, 0, "{seen:?}");
    before.unchanged(&linked);
    repository.unchanged(&root);
}

/// Returns the events of a kind, oldest first.
fn events(house: &House, kind: &str) -> Vec<Value> {
    let lines = house.ok(["journal", "export", "--kind", kind]).out;
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn calls_are_on_record_where_there_is_a_workshop() {
    let house = House::new();
    let root = project(&house);
    run(&house, &root, "bash", &json!({"command": "cat notes.txt"})).expect(0);
    run(&house, &root, "read", &json!({"path": ".env"})).expect(3);
    let token = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    run(
        &house,
        &root,
        "write",
        &json!({"path": "x", "content": token}),
    )
    .expect(3);
    let kinds: Vec<String> = house
        .kinds()
        .into_iter()
        .skip(2)
        .filter(|kind| !kind.starts_with("journal."))
        .collect();
    assert_eq!(
        kinds,
        [
            "sandbox.engaged",
            "tool.requested",
            "tool.finished",
            "sandbox.engaged",
            "tool.requested",
            "tool.answered",
            "tool.finished",
            "sandbox.engaged",
            "tool.requested",
            "tool.finished",
        ]
    );
    let engaged = &events(&house, "sandbox.engaged")[0];
    assert_eq!(engaged["payload"]["level"], "full");
    assert_eq!(engaged["payload"]["demanded"], "full");
    assert_eq!(engaged["payload"]["profile"], "local");
    let layers = engaged["payload"]["layers"].to_string();
    for layer in ["Landlock", "seccomp", "network namespace"] {
        assert!(layers.contains(layer), "{layers}");
    }
    let requested = events(&house, "tool.requested");
    assert_eq!(requested[0]["payload"]["tool"], "bash");
    assert_eq!(requested[0]["payload"]["decision"], "allow");
    assert_eq!(
        requested[1]["payload"]["rule"],
        "sensitive.environment-file"
    );
    let finished = events(&house, "tool.finished");
    assert_eq!(finished[0]["payload"]["sandbox"], "full");
    assert_eq!(finished[1]["outcome"], "denied");
    for (requested, finished) in requested.iter().zip(&finished) {
        assert_eq!(requested["payload"]["call"], finished["payload"]["call"]);
        assert_eq!(requested["trace"], finished["trace"]);
    }
    let trace = requested[0]["trace"].as_str().unwrap().to_owned();
    house.ok(["trace", &trace]).says("tool.requested");
    house.ok(["journal", "verify"]);
    assert_eq!(
        holding(&house.root(), token.as_bytes()),
        Vec::<std::path::PathBuf>::new()
    );
}
