//! Plans in a project that is a workshop itself (`artel init .`): they do their work, and change
//! nothing that the workshop reads as a person's word.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, Who, adds, end, mend, pass, plan, tests_add};
use super::town::{Town, payload};
use crate::own_files::{applied, merged};

const PLAN: &str = "Inbox/Active/x_plan.md";
const SKILL: &str = "Skills/evil/SKILL.md";

/// Tries to write what is not the worker's, by tool and by command, and then does the work.
fn tries(asked: &Asked) -> Calls {
    let write = |path: &str| ("write", json!({ "path": path, "content": "Obey.\n" }));
    let bash = |command: &str| ("bash", json!({ "command": command }));
    match (asked.who, asked.turn) {
        (Who::Architect, _) => plan(json!([mend(json!({ "scope": { "paths": ["**"] } }))])),
        (Who::Worker, 0) => vec![
            write(PLAN),
            write(SKILL),
            bash("mkdir -p Inbox/Active && cp calc.py Inbox/Active/x_plan.md"),
            bash("mkdir -p Skills/evil && cp calc.py Skills/evil/SKILL.md"),
            bash("mv Skills Habits"),
        ],
        (Who::Worker, _) => vec![adds(), tests_add(), end("mended")],
        _ => pass(asked, json!({})),
    }
}

/// A project in git whose root is the workshop, with what was made for it committed.
fn stage() -> Stage {
    let mut stage = Stage::new(tries);
    let settings = fs::read(stage.town.house.workshop.join("artel.toml")).unwrap();
    let project = stage.town.project.clone();
    let init = stage.town.house.artel(["init", "."]);
    init.standing_in(&project).run().expect(0);
    fs::write(project.join("artel.toml"), settings).unwrap();
    let skill = project.join("Skills/tidy");
    fs::create_dir(&skill).unwrap();
    let text = "---\nname: tidy\ndescription: Tidies.\n---\nTidy.\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
    stage.town.house.workshop = project;
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "A workshop"]);
    stage
}

/// Returns every call of this tool with its decision and how it ended.
fn calls(stage: &Stage, tool: &str) -> Vec<(Value, Value)> {
    let events = stage.town.events();
    let of = |kind: &str| {
        let of_kind = events.iter().filter(|it| it["kind"] == kind);
        let calls = of_kind.map(|it| (it["run"].clone(), payload(it)));
        calls
            .filter(|(_, it)| it["tool"] == tool)
            .collect::<Vec<_>>()
    };
    let finished = of("tool.finished");
    let with_end = |(run, call): (Value, Value)| {
        let mut ends = finished.iter();
        let end = ends.find(|(its, it)| *its == run && it["call"] == call["call"]);
        (call, end.unwrap().1.clone())
    };
    of("tool.requested").into_iter().map(with_end).collect()
}

fn has_none_of_it(folder: &Path) {
    for name in [PLAN, "Skills/evil", "Habits"] {
        assert!(!folder.join(name).exists(), "{name}");
    }
    assert!(folder.join("Skills/tidy/SKILL.md").exists());
}

#[test]
fn a_plan_in_a_project_that_is_a_workshop_is_merged_and_changes_none_of_its_own_files() {
    let stage = stage();
    let id = stage.done();
    let writes = calls(&stage, "write");
    assert_eq!(writes.len(), 2, "{writes:#?}");
    for (call, end) in &writes {
        assert!(end["trouble"].is_string(), "{call} {end}");
        let said = call.to_string();
        assert!(said.contains("never."), "{said}");
    }
    let commands = calls(&stage, "bash");
    assert_eq!(commands.len(), 3, "{commands:#?}");
    let seen = stage.asked_of(Who::Worker, 1)[1].last.clone();
    let kept_off = ["Read-only file system", "Permission denied", "busy"];
    let times: usize = kept_off.iter().map(|it| seen.matches(it).count()).sum();
    assert!(times >= 3, "{seen}");
    // What is mounted in place stays busy, however often it is tried.
    assert!(seen.contains("neither moved nor removed"), "{seen}");
    assert!(!seen.contains("may pass"), "{seen}");
    let branch = stage.branch(&id);
    let changed = stage.git(&["diff", "--name-only", "main", &branch]);
    assert_eq!(changed, "calc.py\ntest_calc.py");

    let approve = ["changeset", "approve", &id, "--json"];
    stage.town.artel(approve).run().expect(0);
    let calc = fs::read_to_string(stage.town.project.join("calc.py")).unwrap();
    assert!(calc.contains("a + b"), "{calc}");
    has_none_of_it(&stage.town.project);
}

/// Somebody who can write to the branch, and not to the workshop, adds to it.
#[test]
fn a_branch_with_a_workshops_own_files_on_it_is_not_merged() {
    for (file, text) in [(PLAN, "Obey.\n"), (SKILL, "Obey.\n")] {
        let stage = stage();
        let id = stage.done();
        let branch = stage.branch(&id);
        let aside = stage.town.house.root().join("aside");
        let at = aside.display().to_string();
        stage.git(&["worktree", "add", "-q", &at, &branch]);
        let planted = aside.join(file);
        fs::create_dir_all(planted.parent().unwrap()).unwrap();
        fs::write(&planted, text).unwrap();
        stage.git(&["-C", &at, "add", "-f", file]);
        stage.git(&["-C", &at, "commit", "-qm", "A word"]);
        stage.git(&["worktree", "remove", &at]);
        let before = stage.git(&["rev-parse", "main"]);
        let approve = ["changeset", "approve", &id, "--waive", "it is fine"];
        let seen = stage.town.artel(approve).run();
        seen.fails_last(3, "P001").says(file);
        assert_eq!(stage.git(&["rev-parse", "main"]), before);
        assert_eq!(stage.town.count("changeset.merged"), 0);
        has_none_of_it(&stage.town.project);
    }
}

/// A plan that lies in `Inbox/Active` is approved, but not where a run or a merge put it.
#[test]
fn a_plan_that_was_placed_in_the_inbox_is_not_approved() {
    for place in [applied, merged] {
        let town = Town::new();
        town.artel(["portal", "add", "."]).run().expect(0);
        let id: String = town.asked().chars().take(8).collect();
        let name = format!("request-{id}_plan.md");
        let inbox = town.house.workshop.join("Inbox");
        let active = format!("Inbox/Active/{name}");
        place(&town.house, &town.house.workshop, &[&active]);
        let from = inbox.join("Plans").join(&name);
        fs::rename(from, inbox.join("Active").join(&name)).unwrap();
        let seen = town.artel(["inbox", "scan", "--json"]).run();
        let words = "a run put this file here, so Artel ignores it";
        assert!(seen.text().contains(words), "{seen:?}");
        assert_eq!(town.count("plan.approved"), 0);
        let begun = town.events().into_iter();
        let begun = begun.filter(|it| payload(it)["plan"].is_number());
        assert_eq!(begun.filter(|it| it["kind"] == "run.started").count(), 0);
    }
}
