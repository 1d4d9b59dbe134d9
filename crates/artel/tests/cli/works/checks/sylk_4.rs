//! Evidence: what judges find, what the runtime proves, what nobody can change afterwards.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::stage::{
    Asked, Calls, Stage, Who, adds, end, judge, mend, mends, note, pass, plan, tests_add,
    write_note,
};

fn usual(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        Who::Worker => mends(asked),
        _ => pass(asked, json!({})),
    }
}

#[test]
fn sylk_4_04_stopping_keeps_what_is_done_and_resuming_goes_on_there() {
    let stage = Stage::holding(
        |asked| match asked.who {
            Who::Architect => plan(json!([note("one", &[]), note("two", &["one"])])),
            _ => write_note(asked),
        },
        |asked| asked.is(Who::Worker, 2),
    );
    let id = stage.town.asked();
    let child = stage
        .town
        .artel(["plan", "approve", &id])
        .command()
        .spawn()
        .unwrap();
    stage.until_held(1);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = stage.let_go(child);
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("artel resume "), "{said}");
    assert_eq!(stage.town.count("step.passed"), 1);
    let before = stage.asked().len();
    let resumed = stage
        .town
        .artel(["resume", &id, "--json"])
        .command()
        .spawn()
        .unwrap();
    let output = stage.let_go(resumed);
    assert!(output.status.success(), "{output:?}");
    assert!(
        stage.asked()[before..].iter().all(|it| it.step == 2),
        "the first is not done again"
    );
    assert_eq!(stage.town.count("step.passed"), 2);
}

#[test]
fn sylk_4_04_a_finding_that_a_person_waives_is_deferred_and_shown() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Evaluator => judge(
            asked,
            json!({
                "verdict": "fail", "feedback": "see there", "evidence": ["calc.py"], "findings": [
                    { "severity": "error", "file": "calc.py", "line": 2, "why": "no words about it" },
                ],
            }),
        ),
        _ => usual(asked),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    let waive = [
        "plan",
        "waive",
        &id,
        "1",
        "e1",
        "--reason",
        "tracked elsewhere",
    ];
    town.artel(waive).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(town.count("step.passed"), 1);
    // The step, the finding with its place, and why the person let it pass.
    let line = "Mend add: the person waived e1, error in calc.py:2: no words about it \
                (tracked elsewhere)";
    let shown = town.artel(["changeset", "show", &id]).run().expect(0).out;
    assert!(shown.contains(line), "{shown}");
    let show = ["changeset", "show", &id, "--json"];
    let shown = town.artel(show).run().expect(0).json();
    assert_eq!(shown["deferred"], json!([line]), "{shown:#}");
    let report = town.artel(["report", "show", &id]).run().expect(0).out;
    let deferred = report.split("## Deferred").nth(1).unwrap();
    assert!(deferred.contains(line), "{report}");
    assert_eq!(deferred.matches("waived e1").count(), 1, "once: {report}");
    let waived = &stage.told("step.waived")[0];
    assert_eq!(waived["finding"]["why"], "no words about it", "{waived:#}");
}

#[test]
fn a_waiver_of_one_finding_does_not_let_the_next_of_its_name_pass() {
    let found = |line: u64, why: &str| json!({ "severity": "blocker", "file": "calc.py", "line": line, "why": why });
    let stage = Stage::new(move |asked| match (asked.who, asked.attempt) {
        (Who::Evaluator, _) => {
            let findings = if asked.text.contains("late remark") {
                json!([found(2, "it divides by zero")])
            } else {
                json!([found(1, "no words about it"), found(2, "too short")])
            };
            let verdict = json!({
                "verdict": "fail", "feedback": "see there", "evidence": ["calc.py"],
                "findings": findings,
            });
            judge(asked, verdict)
        }
        (Who::Worker, 1) => vec![
            (
                "edit",
                json!({ "path": "calc.py", "old": "def add(a, b)", "new": "def add(a,  b)" }),
            ),
            adds(),
            tests_add(),
            end("mended"),
        ],
        (Who::Worker, 4) => vec![
            (
                "edit",
                json!({ "path": "calc.py", "old": "a + b", "new": "a + b  # late remark" }),
            ),
            end("remarked"),
        ],
        _ => usual(asked),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    let waive = |what: &str| {
        let words = ["plan", "waive", &id, "1", what, "--reason", "known"];
        town.artel(words).run()
    };
    waive("e7")
        .fails(2, "C004")
        .says("evaluator, inspector, tester, e1, e2");
    waive("e1").expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(3);
    town.artel(["answer", &id, "more"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(3);
    let judged = stage.told("step.judged");
    let last = &judged.last().unwrap()["findings"];
    assert_eq!(last[0]["id"], "e1", "another of that name: {last:#}");
    assert_eq!(last[0]["why"], "it divides by zero", "{last:#}");
    assert_eq!(town.count("step.passed"), 0, "nobody waived it");
    assert_eq!(town.count("step.failed"), 6);
    waive("e1").expect(0);
    let waived = stage.told("step.waived");
    let whys: Vec<_> = waived
        .iter()
        .map(|it| it["finding"]["why"].clone())
        .collect();
    assert_eq!(
        whys,
        ["no words about it", "it divides by zero"].map(|it| json!(it))
    );
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(town.count("step.passed"), 1);
}

#[test]
fn the_one_judge_of_a_step_is_waived_by_its_own_name() {
    let stage = Stage::new(|asked| match asked.who {
        Who::Evaluator => judge(
            asked,
            json!({ "verdict": "fail", "feedback": "I do not like it", "evidence": ["calc.py"] }),
        ),
        _ => usual(asked),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    let words = ["plan", "waive", &id, "1", "evaluator", "--reason", "taste"];
    town.artel(words).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(town.count("step.passed"), 1);
    assert_eq!(town.count("step.failed"), 3, "no further attempt");
    let show = ["changeset", "show", &id, "--json"];
    let shown = town.artel(show).run().expect(0).json();
    let line = "Mend add: the person waived evaluator, I do not like it (taste)";
    assert_eq!(shown["deferred"], json!([line]), "{shown:#}");
}

#[test]
fn sylk_4_17_errors_and_blockers_fail_and_warnings_are_kept() {
    let stage = Stage::new(|asked| {
        let with = |severity: &str, verdict: &str| {
            json!({
                "verdict": verdict, "evidence": ["calc.py was read"], "findings": [
                    { "severity": severity, "file": "calc.py", "line": 2, "why": format!("a {severity}") },
                ],
            })
        };
        match (asked.who, asked.turn) {
            (Who::Evaluator, 0) => judge(asked, json!({})),
            (Who::Evaluator, 1) => vec![("verdict", with("blocker", "pass"))],
            (Who::Evaluator, 2) => vec![("verdict", with("error", "pass"))],
            (Who::Evaluator, _) => vec![("verdict", with("warning", "pass")), end("judged")],
            _ => usual(asked),
        }
    });
    stage.done();
    let judges = stage.asked_of(Who::Evaluator, 1);
    for (at, severity) in [(2, "blocker"), (3, "error")] {
        let told = &judges[at].last;
        assert!(
            told.contains(&format!("cannot have a finding of severity {severity}")),
            "{told}"
        );
    }
    let judged = &stage.told("step.judged")[0];
    assert_eq!(judged["passed"], true);
    let finding = &judged["findings"][0];
    assert_eq!(finding["severity"], "warning");
    for field in ["id", "file", "line", "why"] {
        assert!(!finding[field].is_null(), "{finding:#}");
    }
}

#[test]
fn sylk_4_17_a_key_does_not_get_into_a_changed_file() {
    let key = format!("AKIA{}", "Z7QX3MNB5KTR2WPL");
    let stage = Stage::new(move |asked| match (asked.who, asked.turn) {
        (Who::Worker, 0) => {
            let new = format!("TOKEN = '{key}'\n\n\ndef add");
            vec![(
                "edit",
                json!({ "path": "calc.py", "old": "def add", "new": new }),
            )]
        }
        (Who::Worker, _) => vec![adds(), tests_add(), end("mended")],
        _ => usual(asked),
    });
    let id = stage.done();
    let told = &stage.asked_of(Who::Worker, 1)[1].last;
    assert!(told.contains("holds what looks like a secret"), "{told}");
    let diff = stage.git(&["diff", "main", &stage.branch(&id)]);
    assert!(diff.contains("a + b") && !diff.contains("TOKEN"), "{diff}");
}

#[test]
fn sylk_4_18_a_step_that_breaks_a_test_is_not_done_and_the_output_is_told() {
    let stage = Stage::new(|asked| {
        let double =
            |old: &str, new: &str| ("edit", json!({ "path": "calc.py", "old": old, "new": new }));
        match (asked.who, asked.attempt) {
            (Who::Worker, 1) => {
                vec![
                    adds(),
                    tests_add(),
                    double("return 2 * a", "return 3 * a"),
                    end("mended"),
                ]
            }
            (Who::Worker, _) => vec![double("return 3 * a", "return 2 * a"), end("mended")],
            _ => usual(asked),
        }
    });
    stage.done();
    let second = stage.asked_of(Who::Worker, 1);
    let second = second.iter().find(|it| it.attempt == 2).unwrap();
    for words in ["test_double", "12 != 8"] {
        assert!(second.text.contains(words), "{words}: {}", second.text);
    }
    assert_eq!(
        stage.town.count("step.judged"),
        1,
        "nobody is asked about what is broken"
    );
    let checked: Vec<_> = stage
        .told("step.checked")
        .iter()
        .map(|it| it["passed"].clone())
        .collect();
    assert_eq!(checked, [json!(false), json!(true)]);
    let events = stage.town.events();
    let proofs: Vec<_> = events
        .iter()
        .filter(|it| it["kind"] == "proof.recorded")
        .collect();
    assert!(proofs.len() >= 4, "{}", proofs.len());
    for event in &proofs {
        assert!(event["at"].is_string(), "{event:#}");
        let proof = super::super::town::payload(event);
        for field in ["id", "place", "what", "exit", "holds", "tree"] {
            assert!(!proof[field].is_null(), "{field}: {proof:#}");
        }
    }
    let held = |round: u64, place: &str| {
        let payloads = proofs.iter().map(|it| super::super::town::payload(it));
        let mut of = payloads.filter(|it| it["round"] == round && it["place"] == place);
        of.next().unwrap()["holds"].clone()
    };
    assert_eq!(held(1, "green"), false);
    assert_eq!(held(2, "green"), true);
}

#[test]
fn sylk_4_19_evidence_is_out_of_reach_of_agents_and_a_change_is_found() {
    let stage = Stage::new(move |asked| match (asked.who, asked.turn) {
        (Who::Worker, 0) => {
            let found = regex::Regex::new(r"JOURNAL:(\S+):").unwrap();
            let journal = found.captures(&asked.text).expect("where it is")[1].to_owned();
            vec![
                (
                    "write",
                    json!({ "path": journal, "content": "nothing happened" }),
                ),
                (
                    "bash",
                    json!({ "command": format!("rm -f {journal}; echo gone > {journal}") }),
                ),
                ("read", json!({ "path": "calc.py" })),
            ]
        }
        (Who::Worker, _) => vec![adds(), tests_add(), end("mended")],
        _ => usual(asked),
    });
    let town = &stage.town;
    let journal = town.house.journal_file();
    let words = format!(
        "Mend add in calc.py. JOURNAL:{}: is the journal.",
        journal.display()
    );
    let seen = town
        .artel(["ask", &words, "--plan", "--yes", "--json"])
        .run()
        .expect(0);
    let id = seen.json()["trace_id"].as_str().unwrap().to_owned();
    stage.approve(&id, 0);
    town.house.ok(["journal", "verify"]);
    let proofs = stage.told("proof.recorded");
    assert!(!proofs.is_empty());
    town.artel(["report", "rebuild", &id]).run().expect(0);
    assert_eq!(
        stage.told("proof.recorded"),
        proofs,
        "looking again adds and changes nothing"
    );
    let bytes = fs::read(&journal).unwrap();
    assert!(bytes.starts_with(b"SQLite format 3"));
    town.house.tamper(
        "UPDATE event SET payload = replace(payload, '\"holds\":true', '\"holds\":false') \
         WHERE kind = 'proof.recorded'",
    );
    town.house.artel(["journal", "verify"]).run().expect(1);
}

#[test]
fn sylk_4_20_code_that_no_test_shows_and_tests_that_vanish_do_not_pass() {
    let stage = Stage::new(|asked| match (asked.who, asked.attempt) {
        (Who::Worker, 1) => vec![adds(), end("mended, without a test")],
        (Who::Worker, 2) => {
            let old = "    def test_double(self):\n        self.assertEqual(calc.double(4), 8)\n";
            let new = "    maxDiff = None\n";
            vec![
                (
                    "edit",
                    json!({ "path": "test_calc.py", "old": old, "new": new }),
                ),
                end("removed"),
            ]
        }
        (Who::Worker, _) => {
            let new = "    def test_double(self):\n        self.assertEqual(calc.double(4), 8)\n\n    # more";
            let back = json!({ "path": "test_calc.py", "old": "    # more", "new": new });
            vec![("edit", back), tests_add(), end("both")]
        }
        _ => usual(asked),
    });
    stage.done();
    let failed: Vec<Value> = stage
        .told("step.failed")
        .iter()
        .map(|it| it["why"].clone())
        .collect();
    assert_eq!(failed.len(), 2, "{failed:#?}");
    assert!(
        failed[0].as_str().unwrap().contains("nothing exercises it"),
        "{failed:#?}"
    );
    assert!(failed[1].as_str().unwrap().contains("test"), "{failed:#?}");
    assert!(
        !failed[1].as_str().unwrap().contains("nothing exercises it"),
        "{failed:#?}"
    );
}

#[test]
fn a_test_that_takes_the_place_of_another_is_found_by_its_name() {
    let swaps = |asked: &Asked| match (asked.attempt, asked.turn) {
        // As many tests as before, and one of them is another.
        (1, 0) => vec![
            (
                "edit",
                json!({ "path": "calc.py", "old": "a - b", "new": "a + b" }),
            ),
            (
                "edit",
                json!({
                    "path": "test_calc.py",
                    "old": "    def test_double(self):\n        self.assertEqual(calc.double(4), 8)",
                    "new": "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)",
                }),
            ),
            end("mended"),
        ],
        (2, 0) => vec![
            (
                "edit",
                json!({
                    "path": "test_calc.py",
                    "old": "    # more",
                    "new": "    def test_double(self):\n        self.assertEqual(calc.double(4), 8)\n\n    # more",
                }),
            ),
            end("put back"),
        ],
        _ => vec![end("done")],
    };
    let stage = Stage::new(move |asked| match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        Who::Worker => swaps(asked),
        _ => pass(asked, json!({})),
    });
    stage.done();
    let checked = stage.told("step.checked");
    assert_eq!(checked[0]["passed"], false, "{checked:?}");
    let why = checked[0]["why"][0].as_str().unwrap();
    assert!(
        why.contains("test_double` passed before and is gone"),
        "{why}"
    );
    assert_eq!(checked[1]["passed"], true, "{checked:?}");
    let told = &stage.asked_of(Who::Worker, 1)[1].text;
    assert!(told.contains("test_double"), "the next attempt is told");
}
