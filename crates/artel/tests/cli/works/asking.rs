//! `artel ask` and `artel request`: what is understood, what is kept, what is refused.

use std::fs;

use super::town::Town;
use crate::support::{House, Tree};
use crate::terminal::in_terminal;

#[test]
fn a_request_is_kept_in_the_persons_words_with_what_was_understood() {
    let town = Town::new();
    let words = "Mend add in calc.py. It must add. Do not touch double.";
    let seen = town
        .artel([
            "ask",
            words,
            "--plan",
            "--yes",
            "--priority",
            "high",
            "--json",
        ])
        .run()
        .expect(0)
        .json();
    let id = seen["trace_id"].as_str().unwrap();
    let short = &id[..8];
    assert_eq!(id.as_bytes()[14], b'4', "a UUID of version 4");
    assert_eq!(seen["filename"], format!("request-{short}.md"));
    assert_eq!(seen["status"], "planned");
    assert_eq!(seen["priority"], "high");
    assert_eq!(seen["agent"], "default");
    assert_eq!(seen["created_by"], crate::support::ADA);
    assert_eq!(seen["plan"]["version"], 1);
    let file = fs::read_to_string(seen["path"].as_str().unwrap()).unwrap();
    assert!(file.contains(&format!("trace_id: \"{id}\"")), "{file}");
    assert!(
        file.contains("status: planned") && file.ends_with(&format!("{words}\n")),
        "{file}"
    );
    let plan = town
        .house
        .workshop
        .join(format!("Inbox/Plans/request-{short}_plan.md"));
    let plan = fs::read_to_string(plan).unwrap();
    assert!(plan.contains(&format!("trace_id: \"{id}\"")), "{plan}");
    assert!(
        plan.contains("status: review") && plan.contains("## Steps"),
        "{plan}"
    );
    let shown = town.artel(["request", "show", &short[..6]]).run().expect(0);
    shown
        .says(words)
        .says("criterion   It must add. (explicit)");
    town.artel(["request", "list", "--status", "planned"])
        .run()
        .expect(0)
        .says(short);
    let none = town
        .artel(["request", "list", "--status", "done", "--json"])
        .run()
        .expect(0);
    assert_eq!(none.json(), serde_json::json!([]));
    assert_eq!(
        town.count("step.started"),
        0,
        "nothing is done before approval"
    );
}

#[test]
fn what_is_wanted_can_be_piped() {
    let town = Town::new();
    let ask = || town.artel(["ask", "--file", "-", "--dry-run"]);
    let words = "Mend add in calc.py. It must add.\n";
    let seen = ask().given(words).run().expect(0).json();
    assert_eq!(seen["source"], "cli");
    assert_eq!(seen["title"], "Mend add in calc.py");
    ask().given(" \n").run().fails(2, "C005");
}

#[test]
fn a_rehearsal_of_a_request_writes_nothing() {
    let town = Town::new();
    let before = Tree::of(&town.house.root());
    let seen = town
        .artel(["ask", "Mend add", "--dry-run"])
        .run()
        .expect(0)
        .json();
    for key in [
        "trace_id",
        "filename",
        "path",
        "status",
        "priority",
        "agent",
        "created",
        "created_by",
    ] {
        assert!(!seen[key].is_null(), "{key}: {seen}");
    }
    assert_eq!(Tree::of(&town.house.root()), before);
}

#[test]
fn a_rehearsal_needs_no_workshop_and_makes_none() {
    let house = House::empty();
    let project = house.folder("project");
    let before = Tree::of(&house.root());
    let ask = |words: &[&str]| {
        let artel = house.artel(["ask", "Add a total to the bill", "--dry-run"]);
        artel.words(words).standing_in(&project).run()
    };
    let seen = ask(&[]).expect(0).json();
    assert_eq!(
        (&seen["size"], &seen["portal"]),
        (&"work".into(), &serde_json::Value::Null)
    );
    ask(&["--portal", "shop"]).fails(4, "W001");
    ask(&["--agent", "nobody"]).fails(4, "W010");
    assert_eq!(Tree::of(&house.root()), before);
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_opened() {
    let town = Town::new();
    let empty = town.project.join("empty.md");
    fs::write(&empty, "\n \n").unwrap();
    let empty = empty.to_str().unwrap().to_owned();
    let refusals: [(&[&str], i32, &str, &str); 7] = [
        (&["ask"], 2, "C005", "artel ask -i"),
        (&["ask", "  "], 2, "C005", "nothing asked for"),
        (&["ask", "--file", "nowhere.md"], 4, "W010", "nowhere.md"),
        (&["ask", "--file", &empty], 2, "C005", "is empty"),
        (
            &["ask", "x", "--priority", "urgent"],
            2,
            "C004",
            "low, normal, high, critical",
        ),
        (
            &["ask", "x", "--agent", "nobody", "--yes"],
            4,
            "W010",
            "artel agent create nobody",
        ),
        (
            &["ask", "x", "--portal", "nowhere"],
            4,
            "F001",
            "artel portal add",
        ),
    ];
    for (words, code, name, says) in refusals {
        town.artel([])
            .words(words)
            .run()
            .fails(code, name)
            .says(says);
    }
    assert!(town.request().is_none());
    assert_eq!(town.count("portal.opened"), 0);
}

#[test]
fn the_folder_is_opened_by_one_question() {
    let town = Town::new();
    town.artel(["ask", "Mend add", "--plan"])
        .run()
        .fails(3, "F003")
        .says("--yes");
    let (screen, code) = in_terminal(town.artel(["ask", "Mend add", "--plan"]), "n\n");
    assert_eq!(code, 3, "{screen}");
    let (screen, code) = in_terminal(town.artel(["ask", "Mend add", "--plan"]), "y\n");
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Open `calc`"), "{screen}");
    assert!(screen.contains("Plan ready: `artel plan show "), "{screen}");
    let seen = town
        .artel(["ask", "Mend add again", "--plan"])
        .run()
        .expect(0);
    assert!(!seen.err.contains("Open `calc`"), "{}", seen.err);
}

#[test]
fn a_question_is_answered_and_changes_nothing() {
    let script = "rules:\n  - expect: { result_of: read }\n    call: { finish: { answer: 'In calc.py, line 1.' } }\n\
                  otherwise: { call: { read: { path: calc.py } } }\n";
    let town = Town::saying(script);
    let seen = town
        .artel(["ask", "Where is add defined?", "--yes"])
        .run()
        .expect(0);
    // What goes on meanwhile is told, and is no part of the answer.
    assert_eq!(seen.out, "In calc.py, line 1.\n");
    assert!(seen.err.contains("calc.py"), "{}", seen.err);
    assert_eq!(town.request().unwrap()["status"], "answered");
    assert_eq!(town.count("plan.drafted"), 0);
}

#[test]
fn a_plan_that_never_comes_leaves_the_request_failed() {
    let town = Town::saying("otherwise: { call: { finish: { answer: 'I cannot.' } } }");
    town.ask().run().expect(1);
    let request = town.request().unwrap();
    assert_eq!(request["plan_state"], "failed");
    let id = request["trace_id"].as_str().unwrap().to_owned();
    town.artel(["plan", "approve", &id])
        .run()
        .fails(3, "R008")
        .says("failed");
}

#[test]
fn a_skill_is_planned() {
    let town = Town::new();
    let folder = town.house.workshop.join("Skills/mending");
    fs::create_dir_all(&folder).unwrap();
    let skill =
        "---\nname: mending\ndescription: Mends a function.\n---\n\nMend it. Plan this request.\n";
    fs::write(folder.join("SKILL.md"), skill).unwrap();
    let words = [
        "run", "mending", "calc.py", "--mode", "planned", "--yes", "--json",
    ];
    let seen = town.artel(words).run().expect(0).json();
    assert_eq!(seen["skill"], "mending");
    assert_eq!(seen["plan_state"], "review");
    let words = ["run", "nothing", "--mode", "planned", "--yes"];
    town.artel(words).run().fails(4, "R001");
    assert_eq!(town.count("request.created"), 1);
}

#[test]
fn a_repository_without_a_commit_is_refused_before_any_model_is_asked() {
    let town = Town::new();
    let project = town.house.folder("unborn");
    fs::write(project.join("calc.py"), "x = 1\n").unwrap();
    super::bench::git(&project, &["init", "-q", "-b", "main"]);
    let asked = |words: &str| {
        let artel = town.artel(["ask", words, "--yes"]);
        artel.standing_in(&project).run()
    };
    for words in [
        "Mend add in calc.py. It must add.",
        "Fix the typo in calc.py",
    ] {
        asked(words)
            .expect(1)
            .says("has no commit to start from")
            .says("commit --allow-empty -m start");
    }
    assert_eq!(town.count("request.created"), 0);
    assert_eq!(town.count("model.requested"), 0);
    super::bench::git(&project, &["commit", "-q", "--allow-empty", "-m", "start"]);
    let artel = town.artel(["ask", "Mend add in calc.py.", "--dry-run", "--yes"]);
    artel.standing_in(&project).run().expect(0);
}

#[test]
fn a_recording_cannot_plan_and_the_refusal_says_what_can() {
    let town = Town::new();
    let id = town.asked();
    let model = format!("rehearsal:{id}");
    town.ask()
        .env("ARTEL_MODEL", &model)
        .run()
        .expect(2)
        .says("cannot plan")
        .says(&format!("artel model record {id}"));
    let words = [
        "ask",
        "Mend add in calc.py.",
        "--plan",
        "--yes",
        "--model",
        &model,
    ];
    town.artel(words).run().expect(2).says("cannot plan");
    assert_eq!(town.count("request.created"), 1);
    town.artel(["model", "record", &id]).run().expect(0);
}
