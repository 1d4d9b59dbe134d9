//! A plan of small steps, each done by one agent and proved by another, with values as the only
//! bridge between them.

mod guard;
mod history;

use std::fs;

use serde_json::{Value, json};

use super::super::town::named;
use super::stage::{
    Asked, Calls, Stage, Who, adds, end, judge, mend, mends, note, pass, plan, tests_add,
    write_note,
};
use crate::support::Tree;

/// Mends `add`, which gives `A`; then writes `notes.md`, which uses it and is judged.
fn two_steps() -> Value {
    let mut second = note("notes", &["mend"]);
    second["verify"] = json!("evaluator");
    second["uses"] = json!(["A"]);
    json!([mend(json!({ "gives": ["A"] })), second])
}

fn usual(asked: &Asked) -> Calls {
    match (asked.who, asked.step) {
        (Who::Architect, _) => plan(two_steps()),
        (Who::Worker, 1) => mends(asked),
        (Who::Worker, _) => write_note(asked),
        (Who::Evaluator, 1) => pass(asked, json!({ "A": "1" })),
        (Who::Evaluator, _) => pass(asked, json!({})),
        _ => panic!("nobody expected: {asked:?}"),
    }
}

#[test]
fn skills_agent_01_nothing_happens_before_approval_and_a_rejection_leaves_the_record() {
    let stage = Stage::new(usual);
    let before = Tree::of(&stage.town.project);
    let id = stage.town.asked();
    assert_eq!(
        Tree::of(&stage.town.project),
        before,
        "not a byte before approval"
    );
    for kind in [
        "step.started",
        "branch.begun",
        "baseline.taken",
        "proof.recorded",
    ] {
        assert_eq!(stage.town.count(kind), 0, "{kind}");
    }
    let asked = stage.asked();
    assert!(asked.iter().all(|it| it.who == Who::Architect), "{asked:?}");
    let offered = &asked[0].tools;
    for writes in ["write", "edit", "delete"] {
        assert!(!offered.iter().any(|tool| tool == writes), "{offered:?}");
    }
    let reject = ["plan", "reject", &id, "--reason", "not like this"];
    stage.town.artel(reject).run().expect(0);
    assert_eq!(Tree::of(&stage.town.project), before);
    assert_eq!(stage.git(&["branch", "--format=%(refname:short)"]), "main");
    assert!(named(&stage.town.house.state("worktrees"), "line").is_empty());
    let kept = format!("Inbox/Rejected/request-{}_plan.md", &id[..8]);
    let kept = fs::read_to_string(stage.town.house.workshop.join(kept)).unwrap();
    assert!(kept.contains("status: rejected"), "{kept}");
    let shown = stage
        .town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(shown["why"], "not like this");
    stage.approve(&id, 3);
    assert_eq!(
        stage.asked().len(),
        asked.len(),
        "nobody is asked after a no"
    );
}

#[test]
fn skills_agent_02_a_plan_that_names_what_is_not_there_is_refused_before_it_is_shown() {
    let stage = Stage::new(|asked| {
        let first = |work: &str| mend(json!({ "work": work, "gives": ["A"] }));
        let mut second = note("notes", &["mend"]);
        let steps = match asked.turn {
            0 => json!([first("Use the `frobnicate` tool on calc.py."), second]),
            1 => {
                second["uses"] = json!(["NOBODY"]);
                json!([first("Mend it."), second])
            }
            2 => {
                second["verify"] = json!("evaluator");
                second["check"] = json!(" ");
                json!([first("Mend it."), second])
            }
            3 => {
                second["work"] = json!("");
                json!([first("Mend it."), second])
            }
            _ => return plan(two_steps()),
        };
        vec![("submit_plan", plan(steps)[0].1.clone())]
    });
    let id = stage.town.asked();
    let told: Vec<String> = stage.asked().into_iter().map(|it| it.last).collect();
    let expected = ["frobnicate", "NOBODY", "check", "work"];
    assert_eq!(told.len(), 5, "{told:#?}");
    for (at, word) in expected.iter().enumerate() {
        let told = &told[at + 1];
        assert!(
            told.contains("it was not taken") && told.contains(word),
            "{word}: {told}"
        );
    }
    assert_eq!(
        stage.town.count("plan.drafted"),
        1,
        "a person sees the good one alone"
    );
    let shown = stage
        .town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    for step in shown["plan"]["steps"].as_array().unwrap() {
        for side in ["work", "check"] {
            assert_ne!(
                step[side].as_str().unwrap_or_default().trim(),
                "",
                "{step:#}"
            );
        }
    }
}

#[test]
fn skills_agent_03_values_are_the_only_bridge_between_steps() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Worker, 1) => vec![adds(), tests_add(), end("MARK-WORKER changed a sign")],
        (Who::Evaluator, 1) => judge(
            asked,
            json!({
                "verdict": "pass", "evidence": ["calc.py: MARK-JUDGE"], "outputs": { "A": "1" },
            }),
        ),
        _ => usual(asked),
    });
    stage.done();
    let at_first = stage.asked_of(Who::Evaluator, 1);
    assert!(
        !at_first[0].text.contains("<skill_memory>"),
        "{}",
        at_first[0].text
    );
    for who in [Who::Worker, Who::Evaluator] {
        let asked = stage.asked_of(who, 2);
        assert!(!asked.is_empty(), "{who:?}");
        for asked in asked {
            let memory = "<skill_memory>\nA=1\n</skill_memory>";
            assert!(asked.text.contains(memory), "{who:?}: {}", asked.text);
            assert!(!asked.text.contains("MARK-"), "{who:?}: {}", asked.text);
        }
    }
}

#[test]
fn skills_agent_04_a_failure_comes_back_as_feedback_and_its_values_do_not_count() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Evaluator, 1) => {
            let outputs = json!({ "A": "wrong", "B": "of-no-use" });
            let feedback = "FEEDBACK-1: the sign is not shown";
            match stage_attempt(asked) {
                1 => judge(
                    asked,
                    json!({
                        "verdict": "fail", "feedback": feedback, "evidence": [], "outputs": outputs,
                    }),
                ),
                _ => pass(asked, json!({ "A": "right" })),
            }
        }
        (Who::Worker, 1) if asked.attempt > 1 => {
            let new = "    def test_again(self):\n        self.assertEqual(calc.add(1, 1), 2)\n\n    # more";
            vec![
                (
                    "edit",
                    json!({ "path": "test_calc.py", "old": "    # more", "new": new }),
                ),
                end("shown"),
            ]
        }
        _ => usual(asked),
    });
    stage.done();
    let workers = stage.asked_of(Who::Worker, 1);
    let second: Vec<_> = workers.iter().filter(|it| it.attempt == 2).collect();
    assert!(!second.is_empty(), "{workers:?}");
    assert!(second[0].text.contains("FEEDBACK-1"), "{}", second[0].text);
    assert!(!workers[0].text.contains("FEEDBACK-1"));
    let later = &stage.asked_of(Who::Worker, 2)[0].text;
    assert!(later.contains("A=right"), "{later}");
    assert!(
        !later.contains("A=wrong") && !later.contains("of-no-use"),
        "{later}"
    );
}

/// The attempt that a verifier looks at: the second one has the second test in it.
fn stage_attempt(asked: &Asked) -> usize {
    if asked.text.contains("test_again") {
        2
    } else {
        1
    }
}

#[test]
fn skills_agent_05_after_three_failures_a_person_is_asked_once() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Evaluator => judge(
            asked,
            json!({
                "verdict": "fail", "feedback": "not good enough", "evidence": [],
            }),
        ),
        _ => usual(asked),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    assert_eq!(stage.town.count("step.failed"), 3);
    assert_eq!(stage.town.count("run.asked"), 1);
    let asked = stage.asked().len();
    for _ in 0..2 {
        stage.town.artel(["resume", &id, "--json"]).run().expect(3);
    }
    assert_eq!(
        stage.asked().len(),
        asked,
        "no model is asked before the answer"
    );
    assert_eq!(stage.town.count("run.asked"), 1, "the question is put once");
    let waits = stage
        .town
        .artel(["waiting", "--json"])
        .run()
        .expect(0)
        .json();
    let choices = |it: &Value| it["choices"].as_array().map(Vec::len);
    assert_eq!(waits.as_array().unwrap().len(), 1, "{waits:#}");
    assert_eq!(choices(&waits[0]), Some(6), "{waits:#}");
}

#[test]
fn skills_agent_06_an_answer_in_words_is_evaluated_like_finish() {
    for words in ["Done: add adds.", "[ATTEMPTS_COMPLETE] add adds."] {
        let stage = Stage::new(move |asked| match (asked.who, asked.step, asked.turn) {
            (Who::Architect, ..) => plan(json!([mend(json!({}))])),
            (Who::Worker, _, 0) => vec![adds(), tests_add()],
            (Who::Worker, ..) => vec![("say", json!(words))],
            _ => usual(asked),
        });
        stage.done();
        assert_eq!(stage.town.count("step.judged"), 1, "{words}");
        assert_eq!(stage.town.count("step.passed"), 1, "{words}");
        let worked = stage.told("step.worked");
        assert_eq!(worked[0]["state"], "complete", "{worked:?}");
    }
}

#[test]
fn skills_agent_09_a_verifier_cannot_write() {
    let stage = Stage::new(|asked| match (asked.who, asked.turn) {
        (Who::Architect, _) => plan(json!([mend(json!({}))])),
        (Who::Evaluator, 0) => vec![
            ("write", json!({ "path": "calc.py", "content": "BROKEN\n" })),
            ("bash", json!({ "command": "echo MINE > calc.py" })),
            ("read", json!({ "path": "calc.py" })),
        ],
        (Who::Evaluator, 2) => vec![("read", json!({ "path": "calc.py" }))],
        (Who::Evaluator, turn) => {
            let verdict = json!({ "verdict": "pass", "evidence": ["calc.py was read"] });
            let mut calls = vec![("verdict", verdict), end("judged")];
            calls.truncate(turn.min(2));
            calls
        }
        _ => usual(asked),
    });
    let id = stage.done();
    let judges = stage.asked_of(Who::Evaluator, 1);
    assert!(
        !judges[0]
            .tools
            .iter()
            .any(|tool| tool == "write" || tool == "edit")
    );
    assert!(
        judges[1]
            .last
            .contains("not allowed by `bound.role inspector`"),
        "{}",
        judges[1].last
    );
    // A shell reaches its own copy, and a verdict about that is not taken.
    let told = &judges[2].last;
    assert!(
        told.contains("it was not taken") && told.contains("`calc.py`"),
        "{told}"
    );
    assert!(
        judges[3].last.contains("a + b"),
        "it is as it was: {}",
        judges[3].last
    );
    let refused = stage.told("tool.finished");
    let refused = refused
        .iter()
        .filter(|it| it["tool"] == "write" && !it["trouble"].is_null());
    assert_eq!(refused.count(), 1, "the attempt is on record");
    let file = stage.git(&["show", &format!("{}:calc.py", stage.branch(&id))]);
    assert!(file.contains("a + b"), "{file}");
}

#[test]
fn skills_agent_10_a_file_that_is_claimed_and_not_there_fails_whatever_is_said() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Architect => {
            let mut step = note("notes", &[]);
            step["verify"] = json!("evaluator");
            plan(json!([step]))
        }
        Who::Worker => vec![
            ("read", json!({ "path": "calc.py" })),
            end("I wrote notes.md."),
        ],
        _ => pass(asked, json!({})),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    assert_eq!(stage.town.count("step.passed"), 0);
    let why = stage.told("step.failed");
    assert_eq!(why.len(), 3);
    assert!(
        why[0]["why"]
            .as_str()
            .unwrap()
            .contains("`notes.md` is not there"),
        "{why:?}"
    );
}

#[test]
fn skills_agent_17_a_backslash_is_part_of_a_name_and_outside_is_refused() {
    let name = r"odd\name.txt";
    let stage = Stage::new(move |asked| match (asked.who, asked.turn) {
        (Who::Architect, _) => {
            let mut step = note("notes", &[]);
            step["scope"] = json!({});
            plan(json!([step]))
        }
        (Who::Worker, 0) => vec![
            ("list", json!({ "path": "." })),
            ("read", json!({ "path": name })),
            ("read", json!({ "path": "../secret.txt" })),
            ("write", json!({ "path": "../outside.txt", "content": "x" })),
        ],
        (Who::Worker, 1) => vec![
            (
                "bash",
                json!({ "command": r"cp 'odd\name.txt' 'copy\name.txt'" }),
            ),
            ("write", json!({ "path": "notes.md", "content": "x\n" })),
        ],
        _ => vec![end("done")],
    });
    let town = &stage.town;
    fs::write(town.project.join(name), "odd\n").unwrap();
    fs::write(town.house.root().join("secret.txt"), "TOP-SECRET\n").unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "odd"]);
    let id = stage.done();
    let told = &stage.asked_of(Who::Worker, 1)[1].last;
    assert!(told.contains(name) && told.contains("odd"), "{told}");
    let branch = stage.branch(&id);
    let copied = stage.git(&[
        "-c",
        "core.quotePath=false",
        "ls-tree",
        "-z",
        "--name-only",
        &branch,
    ]);
    assert!(
        copied.split('\0').any(|it| it == r"copy\name.txt"),
        "{copied:?}"
    );
    let all: Vec<_> = stage.asked().into_iter().map(|it| it.text).collect();
    assert!(!all.iter().any(|text| text.contains("TOP-SECRET")));
    assert!(named(&town.house.root(), "outside.txt").is_empty());
}

#[test]
fn skills_agent_18_a_kill_in_the_third_step_repeats_neither_of_the_others() {
    let stage = Stage::holding(
        |asked| match (asked.who, asked.step) {
            (Who::Architect, _) => {
                let mut second = note("second", &["mend"]);
                second["verify"] = json!("evaluator");
                second["gives"] = json!(["B"]);
                let mut third = note("third", &["second"]);
                third["uses"] = json!(["A", "B"]);
                plan(json!([mend(json!({ "gives": ["A"] })), second, third]))
            }
            (Who::Evaluator, 2) => pass(asked, json!({ "B": "2" })),
            _ => usual(asked),
        },
        |asked| asked.is(Who::Worker, 3),
    );
    let id = stage.town.asked();
    let mut child = stage.begin(&id, &[]);
    stage.until_held(1);
    child.kill().unwrap();
    child.wait().unwrap();
    let before: Vec<_> = stage.asked().iter().map(|it| (it.who, it.step)).collect();
    let resumed = stage
        .town
        .artel(["resume", &id, "--json"])
        .command()
        .spawn()
        .unwrap();
    let output = stage.let_go(resumed);
    assert!(output.status.success(), "{output:?}");
    let after = stage.asked();
    for asked in &after[before.len()..] {
        assert_eq!(asked.step, 3, "done again: {asked:?}");
        assert!(asked.text.contains("A=1\nB=2"), "{}", asked.text);
    }
    assert!(after.len() > before.len());
    assert_eq!(stage.town.count("step.started"), 3);
    assert_eq!(stage.town.count("step.passed"), 3);
}
