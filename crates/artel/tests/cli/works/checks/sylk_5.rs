//! Pipelines: commits of steps, tests that come first, steps side by side, the check of the whole,
//! and what people say to work under way.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use regex::Regex;
use serde_json::{Value, json};

use super::stage::{
    Asked, Calls, Stage, Who, adds, end, judge, mend, mends, note, pass, plan, tests_add, write_note,
};
use crate::support::Tree;

fn one_mend(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        Who::Worker => mends(asked),
        _ => pass(asked, json!({})),
    }
}

#[test]
fn sylk_5_10_a_commit_holds_what_the_step_changed_and_nothing_else() {
    let stage = Stage::new(one_mend);
    let town = &stage.town;
    let hook = town.project.join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(town.project.join("pyproject.toml"), "[project]\nname = \"mine\"\n").unwrap();
    fs::write(town.project.join("mine.txt"), "mine\n").unwrap();
    let id = stage.done();
    let branch = stage.branch(&id);
    let commits = stage.git(&["log", "--format=%s", &format!("main..{branch}")]);
    assert_eq!(commits.lines().count(), 1, "one step, one commit: {commits}");
    let subject = Regex::new("^(feat|fix|test|style|docs|refactor): .{1,50}$").unwrap();
    assert!(subject.is_match(&commits), "{commits}");
    let files = stage.git(&["show", "--name-only", "--format=", &branch]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["calc.py", "test_calc.py"]);
    let status = stage.git(&["status", "--porcelain"]);
    assert!(status.contains("M pyproject.toml") && status.contains("?? mine.txt"), "{status}");
}

#[test]
fn sylk_5_11_tests_that_show_no_more_are_not_committed() {
    let stage = Stage::new(|asked| {
        let edit = |new: &str| {
            let edit = json!({ "path": "test_calc.py", "old": "    # more", "new": new });
            vec![("edit", edit), end("tested")]
        };
        match (asked.who, asked.attempt) {
            (Who::Architect, _) => plan(json!([{
                "id": "test", "title": "Test double", "role": "tester", "work": "Test double.",
                "check": "More tests pass.", "verify": "none", "scope": { "paths": ["test_calc.py"] },
            }])),
            (_, 1) => edit("    # still\n    # more"),
            _ => edit("    def test_two(self):\n        self.assertEqual(calc.double(1), 2)\n\n    # more"),
        }
    });
    let id = stage.done();
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 1, "{failed:?}");
    let why = failed[0]["why"].as_str().unwrap();
    assert!(why.contains("no more tests pass than before"), "{why}");
    let branch = stage.branch(&id);
    let commits = stage.git(&["log", "--format=%s", &format!("main..{branch}")]);
    assert_eq!(commits.lines().count(), 1, "{commits}");
    assert!(commits.starts_with("test: "), "{commits}");
}

/// Tests first: what each agent does when it does well.
fn test_driven(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => plan(json!([mend(json!({ "verify": "tdd" }))])),
        Who::Criteria => {
            let claim = json!({ "text": "add(2, 3) is 5", "source": "explicit" });
            vec![("criteria", json!({ "criteria": [claim] })), end("named")]
        }
        Who::Tests => vec![tests_add(), end("they fail")],
        Who::Worker if asked.attempt > 1 && !asked.text.contains("prove nothing") => {
            vec![("read", json!({ "path": "calc.py" })), end("looked again")]
        }
        Who::Worker => vec![adds(), end("mended")],
        _ => pass(asked, json!({})),
    }
}

fn phases(stage: &Stage) -> Vec<String> {
    let events = stage.town.events();
    let mut phases = Vec::new();
    for event in &events {
        let told = super::super::town::payload(event);
        let word = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
        match event["kind"].as_str().unwrap() {
            "step.worked" => phases.push(word("part")),
            "step.checked" => phases.push(format!("{} {}", word("phase"), told["passed"])),
            "step.judged" => phases.push(format!("{} {}", word("by"), told["passed"])),
            "step.passed" => phases.push("passed".to_owned()),
            "step.failed" => phases.push("failed".to_owned()),
            _ => {}
        }
    }
    phases
}

#[test]
fn sylk_5_16_tests_come_first_and_both_judges_have_to_agree() {
    let stage = Stage::new(|asked| match (asked.who, asked.attempt) {
        (Who::Tests, 1) => {
            let new = "    def test_two(self):\n        self.assertEqual(calc.double(1), 2)\n\n    # more";
            vec![("edit", json!({ "path": "test_calc.py", "old": "    # more", "new": new })), end("done")]
        }
        // Whoever judges is not told which attempt it is: the second one's change says so.
        (Who::Inspector, _) if !asked.text.contains("test_third") => judge(asked, json!({
            "verdict": "fail", "evidence": ["calc.py"], "findings": [
                { "severity": "error", "file": "calc.py", "line": 2, "why": "no word about it" },
            ],
        })),
        (Who::Worker, 3) => {
            let new = "# test_third: says it\ndef double";
            vec![("edit", json!({ "path": "calc.py", "old": "def double", "new": new })), end("said")]
        }
        _ => test_driven(asked),
    });
    stage.done();
    let phases = phases(&stage);
    let first = ["criteria", "tests", "red false", "failed"];
    assert_eq!(phases[..4], first, "a test that passes without the work is flagged: {phases:?}");
    let second = ["criteria", "tests", "red true", "work", "green true"];
    assert_eq!(phases[4..9], second, "{phases:?}");
    let mut judged = phases[9..11].to_vec();
    judged.sort();
    assert_eq!(judged, ["inspector false", "tester true"], "{phases:?}");
    assert_eq!(phases[11], "failed", "either of them is enough: {phases:?}");
    let third = ["work", "green true"];
    assert_eq!(phases[12..14], third, "the tests stay: {phases:?}");
    assert_eq!(phases.last().unwrap(), "passed");
    assert_eq!(phases.len(), 17, "{phases:?}");
    let told = &stage.asked_of(Who::Worker, 1);
    let third = told.iter().find(|it| it.attempt == 3).unwrap();
    assert!(third.text.contains("no word about it"), "{}", third.text);
    let tests = "These tests say what has to hold and are not yours to change: test_calc.py";
    assert!(third.text.contains(tests), "{}", third.text);
    let red = stage.told("proof.recorded");
    let red = red.iter().find(|it| it["place"] == "red" && it["round"] == 2).unwrap();
    assert_ne!(red["exit"], 0, "the first run of the tests is on record as failing: {red:#}");
}

#[test]
fn sylk_5_16_after_three_loops_the_person_has_more_or_passes_over_the_tester() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Tester => judge(asked, json!({
            "verdict": "fail", "feedback": "too few cases", "evidence": ["run_tests"], "fault": "code",
        })),
        _ => test_driven(asked),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let waits = stage.town.artel(["waiting", "--json"]).run().expect(0).json();
    let choices = json!(["more", "waive-tester", "take-over", "skip", "cancel"]);
    assert_eq!(waits[0]["choices"], choices, "{waits:#}");
    stage.town.artel(["answer", &id, "more: try zero"]).run().expect(0);
    stage.town.artel(["resume", &id, "--json"]).run().expect(3);
    assert_eq!(stage.town.count("step.failed"), 6, "three more");
    let told = stage.asked_of(Who::Worker, 1);
    assert!(told.last().unwrap().text.contains("a person says: try zero"));
    stage.town.artel(["answer", &id, "waive-tester: known"]).run().expect(0);
    stage.town.artel(["resume", &id, "--json"]).run().expect(0);
    let passed = stage.told("step.passed");
    assert_eq!(passed[0]["waived"], json!(["tester"]), "{passed:?}");
    assert_eq!(stage.told("step.waived")[0]["reason"], "known");
    let shown = stage.town.artel(["changeset", "show", &id]).run().expect(0);
    assert!(shown.out.contains("the person waived tester"), "{}", shown.out);
}

#[test]
fn sylk_5_17_inspector_and_tester_look_side_by_side() {
    let stage = Stage::holding(test_driven, |asked| {
        matches!(asked.who, Who::Inspector | Who::Tester) && asked.turn == 0
    });
    let id = stage.town.asked();
    let child = stage.begin(&id, &[]);
    // Neither has an answer: one after the other there would never be two.
    stage.until_held(2);
    assert_eq!(stage.town.count("step.judged"), 0);
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stage.town.count("step.judged"), 2);
}

#[test]
fn sylk_5_18_who_is_named_does_it_and_plain_requests_go_to_the_architect() {
    let stage = Stage::new(one_mend);
    let ask = |more: &[&str]| {
        let words = ["ask", "Mend add in calc.py", "--yes", "--json"];
        stage.town.artel(words).words(more).run()
    };
    ask(&["--agent", "nobody"]).expect(4).says("nobody");
    assert!(stage.asked().is_empty());
    ask(&["--no-plan", "--agent", "designer"]).expect(0);
    let asked = stage.asked();
    assert_eq!(asked[0].who, Who::Worker, "no architect where a role is to do it");
    let designer = stage.town.artel(["agent", "show", "designer"]).run().expect(0).out;
    let line = designer.lines().find(|line| line.starts_with("You ")).unwrap();
    assert!(asked[0].text.contains(line), "{}", asked[0].text);
    let before = asked.len();
    ask(&["--plan"]).expect(0);
    assert_eq!(stage.asked()[before].who, Who::Architect);
}

#[test]
fn sylk_5_19_a_plan_that_is_no_order_is_refused_with_what_is_wrong() {
    let stage = Stage::new(|asked| {
        let steps = match asked.turn {
            0 => json!([note("one", &["two"]), note("two", &["one"])]),
            1 => json!([note("one", &["zero"])]),
            2 => {
                let mut step = note("one", &[]);
                step["role"] = json!("plumber");
                json!([step])
            }
            _ => json!([note("one", &[])]),
        };
        let mut calls = plan(steps);
        calls.truncate(if asked.turn < 3 { 1 } else { 2 });
        calls
    });
    stage.town.asked();
    let told: Vec<_> = stage.asked().into_iter().map(|it| it.last).collect();
    for (at, words) in [["one", "two"], ["zero", "one"], ["plumber", "engineer"]].iter().enumerate() {
        for word in words {
            assert!(told[at + 1].contains(word), "{word}: {}", told[at + 1]);
        }
    }
    assert_eq!(stage.town.count("plan.drafted"), 1);
}

#[test]
fn sylk_5_19_steps_of_a_layer_run_together_after_the_one_before() {
    let stage = Stage::holding(
        |asked| match asked.who {
            Who::Architect => plan(json!([
                note("t1", &[]), note("t2", &["t1"]), note("t3", &["t1"]), note("t4", &["t2", "t3"]),
            ])),
            _ => write_note(asked),
        },
        |asked| matches!((asked.who, asked.step), (Who::Worker, 2 | 3)),
    );
    let id = stage.town.asked();
    let child = stage.begin(&id, &["--at-once", "4"]);
    stage.until_held(2);
    let started = |stage: &Stage| -> Vec<String> {
        let told = stage.told("step.started");
        told.iter().map(|it| it["step"].as_str().unwrap().to_owned()).collect()
    };
    let early = started(&stage);
    assert_eq!(early.len(), 3, "the fourth waits for both: {early:?}");
    assert_eq!(early[0], "t1");
    assert_eq!(stage.told("step.passed").len(), 1);
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(started(&stage)[3], "t4");
    assert_eq!(stage.told("step.passed").len(), 4);
}

#[test]
fn sylk_5_19_failing_fast_begins_nothing_more() {
    let stage = Stage::holding(
        |asked| match (asked.who, asked.step) {
            (Who::Architect, _) => {
                plan(json!([note("bad", &[]), note("slow", &[]), note("late", &["slow"])]))
            }
            (_, 1) => vec![("read", json!({ "path": "calc.py" })), end("nothing done")],
            _ => write_note(asked),
        },
        |asked| asked.is(Who::Worker, 2),
    );
    let id = stage.town.asked();
    let child = stage.begin(&id, &["--fail-fast", "--at-once", "2"]);
    stage.until_told("run.asked", 1);
    stage.until_held(1);
    stage.town.artel(["answer", &id, "skip"]).run().expect(0);
    stage.until_told("step.settled", 1);
    let output = stage.let_go(child);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let started = stage.told("step.started");
    assert!(!started.iter().any(|it| it["step"] == "late"), "{started:?}");
    let passed = stage.told("step.passed");
    assert_eq!(passed.len(), 1, "what was under way ends: {passed:?}");
}

/// Two steps that pass alone and not together.
fn rivals(asked: &Asked) -> Calls {
    let step = |name: &str| json!({
        "id": name, "title": format!("Add {name}"), "role": "engineer", "work": format!("Add {name}.py."),
        "check": "It is tested.", "verify": "none",
        "scope": { "paths": [format!("{name}.py"), format!("test_{name}.py")] },
    });
    let file = |path: String, content: String| ("write", json!({ "path": path, "content": content }));
    let make = |name: &str, other: &str| {
        let test = format!(
            "import os\nimport unittest\n\nimport {name}\n\n\nclass It(unittest.TestCase):\n    \
             def test_it(self):\n        self.assertEqual({name}.VALUE, 1)\n        \
             self.assertFalse(os.path.exists('{other}.py'))\n"
        );
        vec![
            file(format!("{name}.py"), "VALUE = 1\n".to_owned()),
            file(format!("test_{name}.py"), test),
            end("added"),
        ]
    };
    let without = |name: &str, other: &str| {
        let old = format!("        self.assertFalse(os.path.exists('{other}.py'))\n");
        ("edit", json!({ "path": format!("test_{name}.py"), "old": old, "new": "" }))
    };
    match (asked.who, asked.step) {
        (Who::Architect, _) => plan(json!([step("left"), step("right")])),
        (Who::Worker, 1) => make("left", "right"),
        (Who::Worker, _) => make("right", "left"),
        _ => vec![without("left", "right"), without("right", "left"), end("they can be together")],
    }
}

#[test]
fn sylk_5_20_steps_that_break_together_are_mended_on_the_branch() {
    let stage = Stage::holding(rivals, |asked| asked.who == Who::Worker);
    let id = stage.town.asked();
    let child = stage.begin(&id, &["--at-once", "2"]);
    stage.until_held(2);
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    let checked: Vec<_> = stage.told("branch.checked").iter().map(|it| it["passed"].clone()).collect();
    assert_eq!(checked, [json!(false), json!(true)]);
    assert_eq!(stage.town.count("branch.mended"), 1);
    let passed = stage.told("step.passed");
    assert_eq!(passed.len(), 2, "the steps keep what they have: {passed:?}");
    assert!(passed.iter().all(|it| it["round"] == 1));
    let mender = stage.asked().into_iter().find(|it| it.who == Who::Mender).unwrap();
    assert!(mender.text.contains("test_it"), "told what does not hold: {}", mender.text);
    let shown = stage.town.artel(["changeset", "show", &id, "--json"]).run().expect(0).json();
    assert_eq!(shown["proven"], json!(true), "{shown:#}");
}

#[test]
fn sylk_5_21_work_under_way_is_paused_asked_about_and_told() {
    let stage = Stage::holding(
        |asked| match (asked.who, asked.turn) {
            (Who::Worker, 0) => vec![("read", json!({ "path": "calc.py" }))],
            (Who::Worker, 1) => vec![adds(), tests_add(), end("mended")],
            (Who::Other, _) => vec![end("add is in calc.py, line 1")],
            _ => one_mend(asked),
        },
        |asked| asked.who == Who::Worker,
    );
    let town = &stage.town;
    let id = town.asked();
    let child = stage.begin(&id, &[]);
    stage.until_held(1);
    let runs = town.artel(["runs", "--json"]).run().expect(0).json();
    let runs = runs.as_array().unwrap();
    let of = |test: &dyn Fn(&Value) -> bool| {
        let events = town.events();
        let started = events.iter().filter(|it| it["kind"] == "run.started");
        let found = started.filter(|it| test(&super::super::town::payload(it))).next_back();
        found.unwrap()["run"].as_str().unwrap().to_owned()
    };
    assert!(runs.len() >= 2, "{runs:?}");
    let whole = of(&|it| it["plan"].is_number());
    let worker = of(&|it| it["step"] == "mend");
    town.artel(["hint", &worker, "HINT: mind the sign"]).run().expect(0);
    town.artel(["pause", &whole]).run().expect(0);
    stage.model.release();
    stage.until_told("tool.finished", 1);
    // A question of the person goes on beside it, and changes nothing.
    let before = Tree::of(&town.project);
    town.artel(["ask", "Where is add?", "--yes", "--json"]).run().expect(0);
    assert_eq!(Tree::of(&town.project), before);
    let turns = stage.asked_of(Who::Worker, 1).len();
    assert_eq!(turns, 1, "no further turn while it is paused");
    town.artel(["resume", &whole]).run().expect(0);
    stage.until_held(1);
    let told = &stage.asked_of(Who::Worker, 1)[1];
    assert!(told.text.contains("HINT: mind the sign"), "{}", told.text);
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    for words in [["hint", &whole, "too late"], ["hint", &worker, "too late"]] {
        town.artel(words).run().fails(3, "R008").says("is over");
    }
    town.artel(["pause", &whole]).run().expect(3).says("is over");
}
