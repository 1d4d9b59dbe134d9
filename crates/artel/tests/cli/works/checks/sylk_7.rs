//! Plan mode: what is refused leaves no trace, comments make versions, permissions come with the
//! approval, failures skip what needs them, changes on the way are decided by the person.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::stage::{
    Asked, Calls, Stage, Who, adds, end, mend, mends, note, pass, plan, tests_add, write_note,
};
use crate::support::Tree;

fn usual(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        Who::Worker => mends(asked),
        _ => pass(asked, json!({})),
    }
}

#[test]
fn sylk_7_12_what_is_refused_leaves_the_files_as_they_are() {
    let stage = Stage::new(usual);
    let town = &stage.town;
    let id = town.asked();
    let inbox = town.house.workshop.join("Inbox");
    let refused = |acts: &[&[&str]]| {
        let before = (Tree::of(&inbox), town.events().len());
        for act in acts {
            let words = [&["plan", act[0], &id], &act[1..]].concat();
            town.artel([])
                .words(words)
                .env("EDITOR", "/bin/true")
                .run()
                .expect(3);
        }
        assert_eq!((Tree::of(&inbox), town.events().len()), before, "{acts:?}");
    };
    refused(&[
        &["retry"],
        &["skip", "1"],
        &["waive", "1", "tester", "--reason", "x"],
    ]);
    town.artel(["plan", "cancel", &id]).run().expect(0);
    refused(&[
        &["approve"],
        &["reject", "--reason", "x"],
        &["revise", "--comment", "x"],
        &["edit"],
        &["cancel"],
        &["retry"],
        &["skip", "1"],
    ]);
    assert!(stage.asked().iter().all(|it| it.who == Who::Architect));
}

#[test]
fn sylk_7_12_a_plan_without_steps_is_not_taken() {
    let stage = Stage::new(|asked| match asked.turn {
        0 => vec![("submit_plan", plan(json!([]))[0].1.clone())],
        _ => vec![end("there is nothing to do")],
    });
    stage.town.ask().run().expect(1);
    assert!(
        stage.asked()[1].last.contains("it has no steps"),
        "{}",
        stage.asked()[1].last
    );
    assert_eq!(stage.town.count("plan.drafted"), 0);
}

#[test]
fn sylk_7_14_what_a_person_wants_changed_reaches_the_architect_and_makes_the_next_version() {
    let stage = Stage::new(|asked| {
        if asked.text.contains("fewer files") {
            plan(json!([mend(json!({ "title": "Mend add alone" }))]))
        } else {
            usual(asked)
        }
    });
    let town = &stage.town;
    let id = town.asked();
    let kept = town
        .house
        .state(&format!("plans/request-{}_plan.v1.md", &id[..8]));
    let first = fs::read(&kept).unwrap();
    let before = stage.asked().len();
    town.artel(["plan", "revise", &id, "--comment", "fewer files"])
        .run()
        .expect(0);
    let asked = &stage.asked()[before];
    assert_eq!(asked.who, Who::Architect);
    assert!(asked.text.contains("(v1) fewer files"), "{}", asked.text);
    assert!(
        asked.text.contains("<plan version=\"1\">"),
        "it has the plan before it"
    );
    assert_eq!(fs::read(&kept).unwrap(), first);
    let explored: Vec<_> = stage
        .told("plan.explored")
        .iter()
        .map(|it| it["why"].clone())
        .collect();
    assert_eq!(explored, [json!("request"), json!("revise")]);
    town.artel(["plan", "diff", &id])
        .run()
        .expect(0)
        .says("Mend add alone");
    town.artel(["plan", "reject", &id, "--reason", "no"])
        .run()
        .expect(0);
    assert_eq!(town.request().unwrap()["plan_state"], "rejected");
    assert_eq!(town.count("run.started"), 2, "the architect's runs alone");
}

#[test]
fn sylk_7_16_what_was_approved_runs_and_what_was_not_does_not() {
    let stage = Stage::new(|asked| match (asked.who, asked.turn) {
        (Who::Architect, _) => {
            let paths = json!(["calc.py", "test_calc.py"]);
            let scope = json!({ "paths": paths, "commands": ["python3 -m unittest:*"] });
            plan(json!([mend(json!({ "scope": scope }))]))
        }
        (Who::Worker, 0) => vec![
            ("bash", json!({ "command": "python3 -m unittest -q" })),
            (
                "bash",
                json!({ "command": "python3 -c 'print(\"UNLISTED\" * 2)'" }),
            ),
        ],
        (Who::Worker, _) => vec![adds(), tests_add(), end("mended")],
        _ => usual(asked),
    });
    let id = stage.town.asked();
    let shown = stage.town.artel(["plan", "show", &id]).run().expect(0).out;
    assert!(shown.contains("python3 -m unittest"), "{shown}");
    stage.approve(&id, 0);
    assert_eq!(stage.town.count("run.asked"), 0, "no further question");
    let told = &stage.asked_of(Who::Worker, 1)[1].last;
    assert!(told.contains("Ran 1 test"), "{told}");
    assert!(!told.contains("UNLISTEDUNLISTED"), "{told}");
    let finished = stage.told("tool.finished");
    let shells: Vec<_> = finished.iter().filter(|it| it["tool"] == "bash").collect();
    assert_eq!(shells.len(), 2);
    assert!(shells[0]["trouble"].is_null(), "{shells:#?}");
    assert!(!shells[1]["trouble"].is_null(), "{shells:#?}");
}

#[test]
fn sylk_7_17_a_failed_step_skips_what_needs_it_and_can_be_tried_again() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Architect, _) => plan(json!([
            note("one", &[]),
            note("two", &["one"]),
            note("three", &["two"]),
            note("four", &["two"]),
            note("five", &["three"]),
            note("six", &["three", "four"]),
        ])),
        (_, 3) if !asked.text.contains("a person says") => {
            vec![("read", json!({ "path": "calc.py" })), end("nothing done")]
        }
        _ => write_note(asked),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    town.artel(["answer", &id, "give-up: not now"])
        .run()
        .expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(1);
    let states = |version: &str| -> Vec<String> {
        let shown = town
            .artel(["plan", "show", &id, "--json"])
            .run()
            .expect(0)
            .json();
        let steps = shown["steps"]
            .as_array()
            .unwrap_or_else(|| panic!("{version}: {shown:#}"))
            .clone();
        steps
            .iter()
            .map(|it| it["state"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        states("failed"),
        ["done", "done", "failed", "done", "skipped", "skipped"]
    );
    let sheet = format!("request-{}_plan.md", &id[..8]);
    let found = super::super::town::named(&town.house.workshop.join("Inbox"), &sheet);
    let text = fs::read_to_string(&found[0]).unwrap();
    assert!(
        text.contains("[!]") && text.contains("step 3 failed"),
        "{text}"
    );
    assert_eq!(town.request().unwrap()["plan_state"], "failed");
    let ended = stage.told("plan.ended");
    assert_eq!(ended[0]["state"], "failed");
    assert!(
        ended[0]["why"].as_str().unwrap().contains("step 3"),
        "{ended:?}"
    );
    let report = town.artel(["report", "show", &id]).run().expect(0).out;
    assert!(report.contains("Write three.md"), "{report}");
    // Tried again: 3, 5 and 6 wait for their turn, the others stay as they are.
    let before = stage.asked().len();
    town.artel(["plan", "retry", &id, "--json"]).run().expect(3);
    assert!(
        stage.asked()[before..].iter().all(|it| it.step == 3),
        "the others stay"
    );
    town.artel(["answer", &id, "more: write it"])
        .run()
        .expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(states("done"), ["done"; 6]);
    let again: Vec<_> = stage.asked()[before..].iter().map(|it| it.step).collect();
    assert!(
        !again.iter().any(|step| [1, 2, 4].contains(step)),
        "{again:?}"
    );
}

#[test]
fn sylk_7_18_approval_and_end_are_on_record_and_known_to_later_plans() {
    let stage = Stage::new(usual);
    let town = &stage.town;
    let id = stage.done();
    let approved = stage.told("plan.approved");
    assert_eq!(approved.len(), 1);
    for key in ["version", "hash", "run"] {
        assert!(!approved[0][key].is_null(), "{key}: {approved:?}");
    }
    let event = |kind: &str| {
        town.events()
            .into_iter()
            .find(|it| it["kind"] == kind)
            .unwrap()
    };
    let of = event("plan.approved");
    for key in ["trace", "actor"] {
        assert!(!of[key].is_null(), "{key}: {of:#}");
    }
    let drafted = stage.told("plan.drafted");
    assert_eq!(drafted[0]["hash"], approved[0]["hash"]);
    let ended = stage.told("plan.ended");
    assert_eq!((ended.len(), &ended[0]["state"]), (1, &json!("done")));
    assert_eq!(ended[0]["run"], approved[0]["run"]);
    let finished = stage.told("run.finished");
    let whole = finished
        .iter()
        .find(|it| it["id"] == approved[0]["run"])
        .expect("the run's end");
    assert!(
        whole["summary"].as_str().unwrap().contains("1 of 1 steps"),
        "{whole:#}"
    );
    town.artel(["changeset", "approve", &id]).run().expect(0);
    town.asked();
    let later = stage.asked();
    let later = later
        .iter()
        .rfind(|it| it.who == Who::Architect && it.turn == 0)
        .unwrap();
    let report = later
        .text
        .split("Knowledge/Reports/")
        .nth(1)
        .expect("a report is told");
    assert!(
        report.lines().next().unwrap().contains(&id[..8]),
        "{report}"
    );
}

/// The first step needs a file that the plan does not give it.
fn needs_more(asked: &Asked) -> Calls {
    let first = mend(json!({ "scope": { "paths": ["calc.py"] } }));
    match (asked.who, asked.step, asked.turn) {
        (Who::Architect, ..) => plan(json!([first, note("notes", &["mend"]), note("other", &[])])),
        (Who::Worker, 1, 0) if asked.attempt == 1 => vec![
            adds(),
            (
                "propose_change",
                json!({
                    "why": "the test has to be written", "impact": "one more file",
                    "steps": [note("notes", &["mend"])],
                }),
            ),
            (
                "propose_change",
                json!({
                    "why": "the test has to be written", "impact": "one more file",
                    "paths": ["test_calc.py"],
                }),
            ),
            end("waiting"),
        ],
        (Who::Worker, 1, _) if !asked.text.contains("turned down") => {
            vec![tests_add(), end("tested")]
        }
        (Who::Worker, 1, _) => vec![("read", json!({ "path": "calc.py" })), end("as it is")],
        (Who::Worker, ..) => write_note(asked),
        _ => pass(asked, json!({})),
    }
}

#[test]
fn sylk_7_23_a_change_that_an_agent_proposes_stops_new_steps_until_it_is_decided() {
    let stage = Stage::new(needs_more);
    let town = &stage.town;
    let id = town.asked();
    town.artel(["plan", "approve", &id, "--json", "--at-once", "1"])
        .run()
        .expect(3);
    let proposed = stage.told("plan.proposed");
    assert_eq!(
        proposed.len(),
        1,
        "what does not hold reaches nobody: {proposed:?}"
    );
    let started: Vec<_> = stage
        .told("step.started")
        .iter()
        .map(|it| it["step"].clone())
        .collect();
    assert_eq!(started, [json!("mend")], "nothing new begins");
    let waits = town.artel(["waiting", "--json"]).run().expect(0).json();
    let text = waits[0]["text"].as_str().unwrap();
    for words in [
        "test_calc.py",
        "the test has to be written",
        "one more file",
    ] {
        assert!(text.contains(words), "{text}");
    }
    town.artel(["answer", &id, "accept"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    let decided = stage.told("plan.decided");
    assert_eq!(decided[0]["version"], 2, "{decided:?}");
    let shown = town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(shown["version"], 2, "{shown:#}");
    assert_eq!(shown["plan"]["steps"][1]["after"], json!(["mend"]));
    assert_eq!(stage.town.count("step.passed"), 3);
    let worker = stage.asked_of(Who::Worker, 1);
    assert!(
        worker
            .last()
            .unwrap()
            .text
            .contains("You may change: calc.py, test_calc.py.")
    );
}

#[test]
fn sylk_7_23_a_change_that_is_turned_down_is_told_and_the_plan_goes_on() {
    let stage = Stage::new(needs_more);
    let town = &stage.town;
    let id = town.asked();
    town.artel(["plan", "approve", &id, "--json", "--at-once", "1"])
        .run()
        .expect(3);
    town.artel(["answer", &id, "reject: leave the tests alone"])
        .run()
        .expect(0);
    // It goes on by the plan as it was: nothing shows the change, so the step cannot pass.
    town.artel(["resume", &id, "--json"]).run().expect(3);
    let worker = stage.asked_of(Who::Worker, 1);
    let told = &worker.iter().rfind(|it| it.attempt > 1).unwrap().text;
    assert!(told.contains("leave the tests alone"), "{told}");
    let shown = town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(shown["version"], 1, "{shown:#}");
    let passed: Vec<Value> = stage
        .told("step.passed")
        .iter()
        .map(|it| it["step"].clone())
        .collect();
    assert_eq!(passed, [json!("other")], "what does not need it goes on");
}

#[test]
fn sylk_7_24_a_persons_own_change_needs_no_second_approval_and_both_texts_are_kept() {
    let stage = Stage::holding(
        |asked| match asked.who {
            Who::Architect => plan(json!([note("one", &[]), note("two", &["one"])])),
            _ => write_note(asked),
        },
        |asked| asked.is(Who::Worker, 1),
    );
    let town = &stage.town;
    let id = town.asked();
    let child = stage.begin(&id, &[]);
    stage.until_held(1);
    let editor = town.house.root().join("editor.sh");
    let script = "#!/bin/sh\nsed -i 's/^Write two.md\\.$/Write two.md in two lines./' \"$1\"\n";
    fs::write(&editor, script).unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let edit = town.artel(["plan", "edit", &id]).env("EDITOR", &editor);
    edit.run().expect(0).says("goes on by version 2");
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    let told = &stage.asked_of(Who::Worker, 2)[0].text;
    assert!(told.contains("Write two.md in two lines."), "{told}");
    let first = &stage.asked_of(Who::Worker, 1)[0].text;
    assert!(first.contains("Write one.md."), "{first}");
    town.artel(["plan", "diff", &id, "1", "2"])
        .run()
        .expect(0)
        .says("- Write two.md.")
        .says("+ Write two.md in two lines.");
    let approved: Vec<_> = stage
        .told("plan.approved")
        .iter()
        .map(|it| it["version"].clone())
        .collect();
    assert_eq!(
        approved,
        [json!(1), json!(2)],
        "the text itself is the approval"
    );
    let who: Vec<_> = town
        .events()
        .into_iter()
        .filter(|it| it["kind"] == "plan.drafted")
        .collect();
    assert_ne!(who[0]["actor"], who[1]["actor"], "{who:#?}");
}
