//! Pipelines: commits of steps, tests that come first, steps side by side, the check of the whole,
//! and what people say to work under way.

mod order;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use regex::Regex;
use serde_json::json;

use super::super::town::payload;
use super::stage::{
    Asked, Calls, Stage, Who, adds, end, judge, mend, mends, pass, plan, tests_add,
};

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
    fs::write(
        town.project.join("pyproject.toml"),
        "[project]\nname = \"mine\"\n",
    )
    .unwrap();
    fs::write(town.project.join("mine.txt"), "mine\n").unwrap();
    let id = stage.done();
    let branch = stage.branch(&id);
    let commits = stage.git(&["log", "--format=%s", &format!("main..{branch}")]);
    assert_eq!(
        commits.lines().count(),
        1,
        "one step, one commit: {commits}"
    );
    let subject = Regex::new("^(feat|fix|test|style|docs|refactor): .{1,50}$").unwrap();
    assert!(subject.is_match(&commits), "{commits}");
    let files = stage.git(&["show", "--name-only", "--format=", &branch]);
    assert_eq!(
        files.lines().collect::<Vec<_>>(),
        ["calc.py", "test_calc.py"]
    );
    let status = stage.git(&["status", "--porcelain"]);
    assert!(
        status.contains("M pyproject.toml") && status.contains("?? mine.txt"),
        "{status}"
    );
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
            _ => edit(
                "    def test_two(self):\n        self.assertEqual(calc.double(1), 2)\n\n    # more",
            ),
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
        let told = payload(event);
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
            vec![
                (
                    "edit",
                    json!({ "path": "test_calc.py", "old": "    # more", "new": new }),
                ),
                end("done"),
            ]
        }
        // Whoever judges is not told which attempt it is: the second one's change says so.
        (Who::Inspector, _) if !asked.text.contains("test_third") => judge(
            asked,
            json!({
                "verdict": "fail", "evidence": ["calc.py"], "findings": [
                    { "severity": "error", "file": "calc.py", "line": 2, "why": "no word about it" },
                ],
            }),
        ),
        (Who::Worker, 3) => {
            let new = "# test_third: says it\ndef double";
            vec![
                (
                    "edit",
                    json!({ "path": "calc.py", "old": "def double", "new": new }),
                ),
                end("said"),
            ]
        }
        _ => test_driven(asked),
    });
    stage.done();
    let phases = phases(&stage);
    let first = ["criteria", "tests", "red false", "failed"];
    assert_eq!(
        phases[..4],
        first,
        "a test that passes without the work is flagged: {phases:?}"
    );
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
    let red = red
        .iter()
        .find(|it| it["place"] == "red" && it["round"] == 2)
        .unwrap();
    assert_ne!(
        red["exit"], 0,
        "the first run of the tests is on record as failing: {red:#}"
    );
}

#[test]
fn sylk_5_16_after_three_loops_the_person_has_more_or_passes_over_the_tester() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Tester => judge(
            asked,
            json!({
                "verdict": "fail", "feedback": "too few cases", "evidence": ["run_tests"], "fault": "code",
            }),
        ),
        _ => test_driven(asked),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let waits = stage
        .town
        .artel(["waiting", "--json"])
        .run()
        .expect(0)
        .json();
    let choices = json!([
        "more",
        "waive-tester",
        "take-over",
        "skip",
        "give-up",
        "cancel"
    ]);
    assert_eq!(waits[0]["choices"], choices, "{waits:#}");
    stage
        .town
        .artel(["answer", &id, "more: try zero"])
        .run()
        .expect(0);
    stage.town.artel(["resume", &id, "--json"]).run().expect(3);
    assert_eq!(stage.town.count("step.failed"), 6, "three more");
    let told = stage.asked_of(Who::Worker, 1);
    assert!(
        told.last()
            .unwrap()
            .text
            .contains("a person says: try zero")
    );
    stage
        .town
        .artel(["answer", &id, "waive-tester: known"])
        .run()
        .expect(0);
    stage.town.artel(["resume", &id, "--json"]).run().expect(0);
    let passed = stage.told("step.passed");
    assert_eq!(passed[0]["waived"], json!(["tester"]), "{passed:?}");
    assert_eq!(stage.told("step.waived")[0]["reason"], "known");
    let shown = stage.town.artel(["changeset", "show", &id]).run().expect(0);
    assert!(
        shown.out.contains("the person waived tester"),
        "{}",
        shown.out
    );
}

#[test]
fn a_tester_that_fails_a_step_says_whether_test_or_code_is_at_fault() {
    let fail = json!({ "verdict": "fail", "feedback": "too few cases", "evidence": ["run_tests"] });
    let stage = Stage::new(move |asked| match (asked.who, asked.turn) {
        (Who::Tester, 1) => vec![("verdict", fail.clone())],
        (Who::Tester, 2) if !asked.text.contains("test_third") => {
            let mut whose = fail.clone();
            whose["fault"] = json!("code");
            vec![("verdict", whose), end("judged")]
        }
        _ => test_driven(asked),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let told = stage.asked_of(Who::Tester, 1);
    let again = &told.iter().find(|it| it.turn == 2).unwrap().last;
    for words in ["it was not taken", "`fault`", "`test`", "`code`"] {
        assert!(again.contains(words), "{words}: {again}");
    }
    let judged = stage.told("step.judged");
    let of_tester: Vec<_> = judged.iter().filter(|it| it["by"] == "tester").collect();
    assert!(!of_tester.is_empty());
    assert!(
        of_tester.iter().all(|it| it["fault"] == "code"),
        "{of_tester:#?}"
    );
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

/// The architect is told who is wanted; a plan that leaves them out is not taken.
fn named_roles_get_the_steps_of_a_plan() {
    let stage = Stage::new(|asked| {
        let by = |role: &str| plan(json!([mend(json!({ "role": role }))]));
        match (asked.who, asked.turn) {
            (Who::Architect, 0) => by("engineer").into_iter().take(1).collect(),
            (Who::Architect, _) => by("designer"),
            _ => one_mend(asked),
        }
    });
    let town = &stage.town;
    let words = ["ask", "Mend add", "--plan", "--yes", "--json"];
    let named = town.artel(words).words(["--agent", "designer"]);
    let id = named.run().expect(0).json()["trace_id"].clone();
    let asked = stage.asked();
    assert!(asked[0].text.contains("wants it done by: designer"));
    let told = &asked[1].last;
    assert!(told.contains("`designer`, which has no step"), "{told}");
    let shown = town.artel(["plan", "show", id.as_str().unwrap(), "--json"]);
    let shown = shown.run().expect(0).json();
    assert_eq!(shown["plan"]["steps"][0]["role"], "designer", "{shown:#}");
    // Whoever only reads may have nothing to do, and the person is told.
    let reads = town.artel(words).words(["--agent", "librarian"]);
    let id = reads.run().expect(0).json()["trace_id"].clone();
    let shown = town.artel(["plan", "show", id.as_str().unwrap()]);
    let shown = shown.run().expect(0).out;
    let told = "you asked for the role `librarian`, which has no step";
    assert!(shown.contains(told), "{shown}");
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
    let done = ask(&["--no-plan", "--agent", "designer"])
        .expect(0)
        .result();
    assert_eq!(
        done["plan_state"], "done",
        "what happened, then what came of it"
    );
    let asked = stage.asked();
    assert_eq!(
        asked[0].who,
        Who::Worker,
        "no architect where a role is to do it"
    );
    let designer = stage
        .town
        .artel(["agent", "show", "designer"])
        .run()
        .expect(0)
        .out;
    let line = designer
        .lines()
        .find(|line| line.starts_with("You "))
        .unwrap();
    assert!(asked[0].text.contains(line), "{}", asked[0].text);
    named_roles_get_the_steps_of_a_plan();
    let before = asked.len();
    ask(&["--plan"]).expect(0);
    let architect = &stage.asked()[before];
    assert_eq!(architect.who, Who::Architect);
    // Whoever plans changes nothing, and whoever works does not plan or judge.
    let has = |it: &Asked, tool: &str| it.tools.iter().any(|name| name == tool);
    for tool in ["write", "edit"] {
        assert!(has(&asked[0], tool) && !has(architect, tool), "{tool}");
    }
    for tool in ["submit_plan", "verdict", "criteria"] {
        assert!(!has(&asked[0], tool), "{tool}");
    }
}
