//! `artel agent`: roles, built in and made by a person.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::json;

use crate::support::House;

const PROMPT: &str =
    "You answer questions about SQL. Read the schema first, then say which query does it.";

fn file(house: &House, id: &str) -> PathBuf {
    house.workshop.join(format!("Agents/{id}.md"))
}

/// Writes a program that edits what it is given.
fn editor(house: &House, script: &str) -> String {
    let path = house.root().join("editor.sh");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_built_in_roles_are_there_without_a_workshop() {
    let house = House::empty();
    let list = house.ok(["agent", "list", "--json"]).json();
    let ids: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "academic",
            "architect",
            "archivalist",
            "default",
            "designer",
            "engineer",
            "guide",
            "inspector",
            "librarian",
            "orchestrator",
            "tester",
        ]
    );
    assert!(
        list.as_array()
            .unwrap()
            .iter()
            .all(|it| it["source"] == "built-in")
    );
    house.ok(["agent", "list"]).says("engineer      built-in");
    house
        .ok(["agent", "show", "architect"])
        .says("`submit_plan` once");
    let shown = house.ok(["agent", "show", "inspector", "--json"]).json();
    let tools = shown["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("run_tests")) && tools.contains(&json!("git_blame")));
    assert!(!tools.contains(&json!("Edit")) && !tools.contains(&json!("Write")));
    house
        .ok(["agent", "validate", "--all"])
        .says("ok   tester: prompt");
    assert!(!house.home.join("Artel").exists());
}

#[test]
fn a_role_is_made_shown_checked_and_removed() {
    let house = House::new();
    let words = [
        "agent",
        "create",
        "sql-expert",
        "--name",
        "SQL: the \"expert\"",
    ];
    let more = [
        "--capabilities",
        "sql,review",
        "--model",
        "fast",
        "--prompt",
        PROMPT,
    ];
    house.artel(words).words(more).run().expect(0).says("made ");
    let shown = house.ok(["agent", "show", "sql-expert", "--json"]).json();
    assert_eq!(shown["name"], "SQL: the \"expert\"");
    assert_eq!(shown["prompt"], PROMPT);
    assert_eq!(shown["capabilities"], json!(["sql", "review"]));
    assert_eq!(
        (&shown["model"], &shown["source"]),
        (&json!("fast"), &json!("file"))
    );
    house
        .ok(["agent", "validate", "sql-expert"])
        .says("ok   sql-expert: model");
    house.ok(["policy", "check", "--role", "sql-expert", "ls"]);
    let last = house
        .ok(["journal", "query", "--kind", "agent.changed", "--json"])
        .json();
    assert_eq!(last[0]["payload"]["act"], "created");
    house
        .artel(["agent", "remove", "sql-expert"])
        .run()
        .fails(3, "C006");
    house
        .ok(["agent", "remove", "sql-expert", "--yes"])
        .says("removed sql-expert");
    assert!(!file(&house, "sql-expert").exists());
    let all = house
        .ok(["journal", "query", "--kind", "agent.changed", "--json"])
        .json();
    let acts: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["payload"]["act"].clone())
        .collect();
    assert!(acts.contains(&json!("removed")), "{acts:?}");
}

#[test]
fn each_mistake_has_its_own_message() {
    let house = House::new();
    house.ok(["agent", "create", "taken", "--name", "Taken"]);
    let short = "Thirty characters are too few.";
    fs::write(file(&house, "broken"), "---\nname: [x\n---\nText\n").unwrap();
    let create = |id: &str, more: &[&str]| {
        house
            .artel(["agent", "create", id, "--name", "X"])
            .words(more)
            .run()
    };
    let mut messages = vec![
        create("Bad_Id", &[])
            .fails(2, "C004")
            .says("lower-case letters")
            .err,
        house
            .artel(["agent", "remove", "tester", "--yes"])
            .run()
            .fails(2, "C004")
            .says("built in")
            .err,
        create("taken", &[])
            .fails(2, "C004")
            .says("artel agent edit taken")
            .err,
        create("new", &["--model", "acme:large"])
            .fails(2, "M001")
            .says("`anthropic`")
            .err,
        create("new", &["--model", "large"])
            .fails(2, "M002")
            .says("`strong`")
            .err,
        create("new", &["--prompt", short])
            .fails(2, "C004")
            .says("30 characters")
            .err,
        create("new", &["--template", "poet"])
            .fails(2, "C004")
            .says("coder")
            .err,
        house.artel(["agent", "show", "broken"]).run().expect(2).err,
        house
            .artel(["agent", "show", "nobody"])
            .run()
            .fails(4, "W010")
            .says("agent create nobody")
            .err,
    ];
    house
        .artel(["agent", "create", "new", "--name", ""])
        .run()
        .fails(2, "C004");
    house
        .artel(["agent", "create", "new"])
        .run()
        .fails(2, "C005")
        .says("--name");
    let seen = house.artel(["agent", "validate", "--all"]).run().expect(1);
    assert!(
        seen.out.contains("bad  broken: frontmatter: "),
        "{}",
        seen.out
    );
    house.ok(["agent", "list"]).says("broken  broken: ");
    assert!(!file(&house, "new").exists());
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), 9);
}

#[test]
fn every_template_passes_its_check() {
    let house = House::new();
    let templates = [
        "default",
        "coder",
        "reviewer",
        "architect",
        "researcher",
        "gemini",
        "mock",
        "tester",
    ];
    for template in templates {
        let id = format!("my-{template}");
        let words = [
            "agent",
            "create",
            &id,
            "--name",
            template,
            "--template",
            template,
        ];
        house.ok(words);
        house.ok(["agent", "validate", &id]);
        let shown = house.ok(["agent", "show", &id, "--json"]).json();
        assert!(
            !shown["capabilities"].as_array().unwrap().is_empty(),
            "{template}"
        );
    }
    let shown = house.ok(["agent", "show", "my-reviewer", "--json"]).json();
    assert!(
        shown["tools"]
            .as_array()
            .unwrap()
            .contains(&json!("run_tests"))
    );
    house.ok(["agent", "validate", "--all"]);
}

#[test]
fn a_file_takes_the_place_of_a_built_in_role_until_it_is_removed() {
    let house = House::new();
    let how = house.root().join("how.md");
    fs::write(&how, format!("{PROMPT}\n\nSecond part.\n")).unwrap();
    let words = [
        "agent",
        "create",
        "engineer",
        "--name",
        "Ours",
        "--prompt-file",
    ];
    house
        .artel(words)
        .words([&how])
        .run()
        .expect(0)
        .says("takes the place");
    let shown = house.ok(["agent", "show", "engineer", "--json"]).json();
    assert_eq!(
        (&shown["name"], &shown["source"]),
        (&json!("Ours"), &json!("override"))
    );
    assert!(shown["prompt"].as_str().unwrap().ends_with("Second part."));
    // What it may do in git does not depend on its file.
    house
        .artel(["policy", "check", "--role", "engineer", "git branch topic"])
        .run()
        .expect(3);
    house.ok(["agent", "remove", "engineer", "--yes"]);
    let shown = house.ok(["agent", "show", "engineer", "--json"]).json();
    assert_eq!(shown["source"], "built-in");
    house
        .artel([
            "agent",
            "create",
            "x",
            "--name",
            "X",
            "--prompt-file",
            "nowhere",
        ])
        .run()
        .fails(4, "W010");
}

#[test]
fn the_shell_is_no_way_around_the_git_matrix() {
    let house = House::new();
    let table = [
        ("engineer", "git commit -m x", false),
        ("inspector", "git log -3", false),
        ("inspector", "git commit -m x", true),
        ("tester", "git branch topic", true),
        ("designer", "git checkout main", true),
        ("engineer", "git push", true),
        ("architect", "git merge topic", true),
        ("default", "git reset --hard", true),
    ];
    for (role, command, is_denied) in table {
        let seen = house
            .artel(["--json", "policy", "check", "--role", role, command])
            .run();
        let answer = seen.json();
        assert_eq!(
            answer["decision"] == "deny",
            is_denied,
            "{role} `{command}`: {answer}"
        );
    }
}

#[test]
fn a_role_is_edited_with_the_persons_editor_and_checked() {
    let house = House::new();
    house.ok(["agent", "create", "mine", "--name", "Mine"]);
    house
        .artel(["agent", "edit", "mine"])
        .run()
        .fails(2, "C005")
        .says("EDITOR");
    let adds = editor(&house, "echo 'One more line.' >> \"$1\"");
    house
        .artel(["agent", "edit", "mine"])
        .env("EDITOR", &adds)
        .run()
        .expect(0);
    house.ok(["agent", "show", "mine"]).says("One more line.");
    let acts = || -> Vec<String> {
        let all = house
            .ok(["journal", "query", "--kind", "agent.changed", "--json"])
            .json();
        let all = all.as_array().unwrap().clone();
        let mut acts: Vec<_> = all
            .iter()
            .map(|it| format!("{} {}", it["payload"]["id"], it["payload"]["act"]).replace('"', ""))
            .collect();
        acts.sort();
        acts
    };
    assert_eq!(acts(), ["mine created", "mine updated"]);
    // Nothing changed, nothing kept: a built-in role stays built in.
    let looks = editor(&house, "exit 0");
    house
        .artel(["agent", "edit", "tester"])
        .env("VISUAL", &looks)
        .run()
        .expect(0);
    assert!(!file(&house, "tester").exists());
    house
        .artel(["agent", "edit", "tester"])
        .env("EDITOR", editor(&house, "exit 3"))
        .run()
        .fails(2, "C004")
        .says("exit code 3");
    assert!(!file(&house, "tester").exists());
    let breaks = editor(&house, "echo '---' > \"$1\"");
    house
        .artel(["agent", "edit", "mine"])
        .env("EDITOR", &breaks)
        .run()
        .expect(1)
        .says("frontmatter");
    house
        .artel(["agent", "edit", "nobody"])
        .env("EDITOR", &looks)
        .run()
        .fails(4, "W010");
}
