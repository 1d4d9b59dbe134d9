//! The order of steps, the check of them together, and what people say to work under way.

use std::process::Stdio;

use serde_json::{Value, json};

use super::super::super::town::payload;
use super::super::kept_tests::without_namespaces;
use super::super::stage::{
    Asked, Calls, Stage, Who, adds, end, judge, note, pass, plan, tests_add, write_note,
};
use super::one_mend;
use crate::support::Tree;
use crate::terminal::Seat;

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
    for (at, words) in [["one", "two"], ["zero", "one"], ["plumber", "engineer"]]
        .iter()
        .enumerate()
    {
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
                note("t1", &[]),
                note("t2", &["t1"]),
                note("t3", &["t1"]),
                note("t4", &["t2", "t3"]),
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
        told.iter()
            .map(|it| it["step"].as_str().unwrap().to_owned())
            .collect()
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
            (Who::Architect, _) => plan(json!([
                note("bad", &[]),
                note("slow", &[]),
                note("late", &["slow"])
            ])),
            (_, 1) => vec![("read", json!({ "path": "calc.py" })), end("nothing done")],
            _ => write_note(asked),
        },
        |asked| asked.is(Who::Worker, 2),
    );
    let id = stage.town.asked();
    let child = stage.begin(&id, &["--fail-fast", "--at-once", "2"]);
    stage.until_told("run.asked", 1);
    stage.until_held(1);
    stage.town.artel(["answer", &id, "give-up"]).run().expect(0);
    stage.until_told("step.settled", 1);
    let output = stage.let_go(child);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let started = stage.told("step.started");
    assert!(
        !started.iter().any(|it| it["step"] == "late"),
        "{started:?}"
    );
    let passed = stage.told("step.passed");
    assert_eq!(passed.len(), 1, "what was under way ends: {passed:?}");
}

/// Two steps that pass alone and not together: no two of their files may be the same. Whoever
/// mends does what `mend` says.
fn rivals(asked: &Asked, mend: impl Fn(&Asked) -> Calls) -> Calls {
    let step = |name: &str| {
        json!({
            "id": name, "title": format!("Add {name}"), "role": "engineer", "work": format!("Add {name}.py."),
            "check": "It is tested.", "verify": "none",
            "scope": { "paths": [format!("{name}.py"), format!("test_{name}.py")] },
        })
    };
    let file =
        |path: String, content: String| ("write", json!({ "path": path, "content": content }));
    let make = |name: &str| {
        let test = format!(
            "import os\nimport unittest\n\nimport {name}\n\n\nclass It(unittest.TestCase):\n    \
             def test_{name}(self):\n        self.assertEqual({name}.VALUE, 1)\n        \
             both = ['left.py', 'right.py']\n        \
             texts = [open(it).read() for it in both if os.path.exists(it)]\n        \
             self.assertEqual(len(texts), len(set(texts)))\n"
        );
        vec![
            file(format!("{name}.py"), "VALUE = 1\n".to_owned()),
            file(format!("test_{name}.py"), test),
            end("added"),
        ]
    };
    match (asked.who, asked.step) {
        (Who::Architect, _) => plan(json!([step("left"), step("right")])),
        (Who::Worker, 1) => make("left"),
        (Who::Worker, _) => make("right"),
        _ => mend(asked),
    }
}

/// Makes one of the files another than the other.
fn tell_apart() -> (&'static str, Value) {
    (
        "edit",
        json!({ "path": "right.py", "old": "VALUE = 1", "new": "VALUE = 1  # right" }),
    )
}

/// Carries both rivals out at the same time.
fn broken_together(mend: impl Fn(&Asked) -> Calls + Send + Sync + 'static) -> (Stage, String, i32) {
    let stage = Stage::holding(
        move |asked| rivals(asked, &mend),
        |asked| asked.who == Who::Worker,
    );
    let id = stage.town.asked();
    let child = stage.begin(&id, &["--at-once", "2"]);
    stage.until_held(2);
    let output = stage.let_go(child);
    let code = output.status.code().unwrap();
    (stage, id, code)
}

fn changeset(stage: &Stage, id: &str) -> Value {
    let show = ["changeset", "show", id, "--json"];
    stage.town.artel(show).run().expect(0).json()
}

#[test]
fn sylk_5_20_steps_that_break_together_are_mended_on_the_branch() {
    let (stage, id, code) = broken_together(|asked| match asked.who {
        Who::Mender => vec![tell_apart(), end("they can be together")],
        _ => pass(asked, json!({})),
    });
    assert_eq!(code, 0);
    let checked: Vec<_> = stage
        .told("branch.checked")
        .iter()
        .map(|it| it["passed"].clone())
        .collect();
    assert_eq!(checked, [json!(false), json!(true)]);
    assert_eq!(stage.town.count("branch.mended"), 1);
    let passed = stage.told("step.passed");
    assert_eq!(passed.len(), 2, "the steps keep what they have: {passed:?}");
    assert!(passed.iter().all(|it| it["round"] == 1));
    let mender = stage
        .asked()
        .into_iter()
        .find(|it| it.who == Who::Mender)
        .unwrap();
    for words in [
        "test_left",
        "You may change: left.py, test_left.py, right.py",
    ] {
        assert!(mender.text.contains(words), "{words}: {}", mender.text);
    }
    let judged = stage.told("step.judged");
    let by: Vec<_> = judged.iter().map(|it| (&it["step"], &it["by"])).collect();
    assert_eq!(by, [(&json!("mend.1"), &json!("inspector"))]);
    let shown = changeset(&stage, &id);
    assert_eq!(shown["proven"], json!(true), "{shown:#}");
    assert_eq!(shown["commits"], json!(3), "{shown:#}");
}

#[test]
fn mending_is_seen_while_it_goes_on_and_told_afterwards() {
    let mend = |asked: &Asked| match asked.who {
        Who::Mender => vec![tell_apart(), end("they can be together")],
        _ => pass(asked, json!({})),
    };
    let stage = Stage::holding(
        move |asked| rivals(asked, mend),
        |asked| matches!(asked.who, Who::Worker | Who::Mender),
    );
    let id = stage.town.asked();
    let words = ["plan", "approve", &id, "--at-once", "2"];
    let mut seat = Seat::at(stage.town.artel(words));
    stage.until_held(2);
    stage.model.release();
    stage.until_told("branch.checked", 1);
    stage.until_held(1);
    // Whoever is at it stands beside it, as at a step.
    seat.shows("mending the branch, round 1 of 2 · engineer: ");
    stage.model.release();
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
}

#[test]
fn whoever_does_not_sit_at_a_terminal_is_told_of_mending_in_lines() {
    let stage = Stage::holding(
        |asked| {
            rivals(asked, |asked| match asked.who {
                Who::Mender => vec![tell_apart(), end("they can be together")],
                _ => pass(asked, json!({})),
            })
        },
        |asked| asked.who == Who::Worker,
    );
    let id = stage.town.asked();
    let words = ["plan", "approve", &id, "--at-once", "2"];
    let child = stage.town.artel(words).command().spawn().unwrap();
    stage.until_held(2);
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    for words in [
        "▸ mending the branch, round 1 of 2",
        "the branch: inspector: ",
        "the branch was mended, as commit ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn whoever_mends_keeps_to_the_contract() {
    // It takes the steps' tests away, and changes a file that no step may change.
    let (stage, id, code) = broken_together(|asked| match asked.who {
        Who::Mender => vec![
            (
                "edit",
                json!({ "path": "calc.py", "old": "a - b", "new": "a + b" }),
            ),
            (
                "bash",
                json!({ "command": "rm test_left.py test_right.py; echo '# odd' >> calc.py" }),
            ),
            end("they can be together"),
        ],
        _ => pass(asked, json!({})),
    });
    assert_eq!(code, 3, "a person is asked");
    let mender = stage.asked().into_iter().rfind(|it| it.who == Who::Mender);
    let told = mender.unwrap().text;
    assert!(told.contains("outside"), "the edit is refused: {told}");
    let asked = stage.told("run.asked");
    let text = asked.last().unwrap()["text"].as_str().unwrap().to_owned();
    for words in ["also changed calc.py", "+# odd"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let town = &stage.town;
    town.artel(["answer", &id, "reject"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(town.count("branch.mended"), 2);
    assert_eq!(stage.told("run.asked").len(), 1, "no is no for both rounds");
    assert_eq!(town.count("step.judged"), 0, "nothing is left of it");
    let branch = stage.branch(&id);
    let files = stage.git(&["ls-tree", "--name-only", &branch]);
    for test in ["test_left.py", "test_right.py"] {
        assert!(files.contains(test), "{files}");
    }
    let diff = stage.git(&["diff", "--stat", "main", &branch, "--", "calc.py"]);
    assert_eq!(diff, "");
    let shown = changeset(&stage, &id);
    assert_eq!(shown["proven"], json!(false), "{shown:#}");
}

/// Lower walls do not stop a change of the mode: what the mender left is compared.
#[test]
fn tests_that_mending_changed_are_put_back_and_the_round_is_lost() {
    const HIDES: &str = "import pathlib\n\n\
        pathlib.Path(__file__).with_name('test_left.py').chmod(0o755)\nVALUE = 1  # right\n";
    let mend = |asked: &Asked| match asked.who {
        Who::Mender if asked.text.contains("was not taken") => {
            assert!(
                asked.text.contains("It changed test_left.py"),
                "{}",
                asked.text
            );
            vec![tell_apart(), end("another way")]
        }
        Who::Mender => vec![
            ("read", json!({ "path": "right.py" })),
            ("write", json!({ "path": "right.py", "content": HIDES })),
            ("run_tests", json!({})),
            (
                "write",
                json!({ "path": "right.py", "content": "VALUE = 1  # right\n" }),
            ),
            end("they can be together"),
        ],
        _ => pass(asked, json!({})),
    };
    let stage = Stage::holding(
        move |asked| rivals(asked, mend),
        |asked| asked.who == Who::Worker,
    );
    let id = stage.town.asked();
    let words = ["plan", "approve", &id, "--at-once", "2"];
    let artel = stage.town.artel(words);
    let artel = artel.words(["--set", "sandbox.accept=partial"]);
    let mut command = without_namespaces(artel);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    stage.until_held(2);
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(
        said.contains("the branch: put back: test_left.py"),
        "{said}"
    );
    let back = stage.told("step.put_back");
    assert_eq!(back.len(), 1, "{back:#?}");
    assert_eq!(
        (&back[0]["step"], &back[0]["part"], &back[0]["files"]),
        (&json!("mend.1"), &json!("work"), &json!(["test_left.py"]))
    );
    let mended = stage.told("branch.mended");
    let commits: Vec<_> = mended.iter().map(|it| it["commit"].is_string()).collect();
    assert_eq!(commits, [false, true]);
    assert_eq!(
        stage.town.count("step.judged"),
        1,
        "of the second round alone"
    );
    let kind = stage.git(&["ls-tree", &stage.branch(&id), "test_left.py"]);
    assert!(kind.starts_with("100644 "), "{kind}");
    assert_eq!(changeset(&stage, &id)["proven"], json!(true));
}

#[test]
fn what_a_person_lets_mending_do_stands_under_deferred() {
    let (stage, id, code) = broken_together(|asked| match asked.who {
        Who::Mender => vec![
            tell_apart(),
            ("bash", json!({ "command": "echo '# said' >> calc.py" })),
            end("they can be together"),
        ],
        _ => pass(asked, json!({})),
    });
    assert_eq!(code, 3);
    let town = &stage.town;
    town.artel(["answer", &id, "accept"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    let mended = stage.told("branch.mended");
    assert!(mended[0]["commit"].is_string(), "{mended:?}");
    let mends = stage.asked().into_iter();
    assert_eq!(mends.filter(|it| it.who == Who::Mender).count(), 1);
    let shown = changeset(&stage, &id);
    assert_eq!(shown["proven"], json!(true), "{shown:#}");
    let report = town.artel(["report", "show", &id]).run().expect(0).out;
    assert!(report.contains("also changed calc.py"), "{report}");
}

#[test]
fn a_mend_that_an_inspector_turns_down_is_not_on_the_branch() {
    let (stage, id, code) = broken_together(|asked| match asked.who {
        Who::Mender if asked.text.contains("was not taken") => {
            assert!(asked.text.contains("not like that"), "{}", asked.text);
            vec![tell_apart(), end("another way")]
        }
        Who::Mender => vec![
            (
                "edit",
                json!({ "path": "left.py", "old": "VALUE = 1", "new": "VALUE = 1  # FIXME" }),
            ),
            end("one way"),
        ],
        _ if asked.text.contains("FIXME") => judge(
            asked,
            json!({ "verdict": "fail", "feedback": "not like that", "evidence": ["left.py"] }),
        ),
        _ => pass(asked, json!({})),
    });
    assert_eq!(code, 0);
    let commits: Vec<_> = stage
        .told("branch.mended")
        .iter()
        .map(|it| it["commit"].is_string())
        .collect();
    assert_eq!(commits, [false, true]);
    let branch = stage.branch(&id);
    let left = stage.git(&["show", &format!("{branch}:left.py")]);
    assert_eq!(left, "VALUE = 1");
    assert_eq!(changeset(&stage, &id)["proven"], json!(true));
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
        let mut started = events.iter().filter(|it| it["kind"] == "run.started");
        let found = started.rfind(|it| test(&payload(it)));
        found.unwrap()["run"].as_str().unwrap().to_owned()
    };
    assert!(runs.len() >= 2, "{runs:?}");
    let whole = of(&|it| it["plan"].is_number());
    let worker = of(&|it| it["step"] == "mend");
    town.artel(["hint", &worker, "HINT: mind the sign"])
        .run()
        .expect(0);
    town.artel(["pause", &whole]).run().expect(0);
    stage.model.release();
    stage.until_told("tool.finished", 1);
    // A question of the person goes on beside it, and changes nothing.
    let before = Tree::of(&town.project);
    town.artel(["ask", "Where is add?", "--yes", "--json"])
        .run()
        .expect(0);
    assert_eq!(Tree::of(&town.project), before);
    let turns = stage.asked_of(Who::Worker, 1).len();
    assert_eq!(turns, 1, "no further turn while it is paused");
    // Whoever lets it go on also waits for its end, beside the one that drives it.
    let resumed = town
        .artel(["resume", &id, "--json"])
        .command()
        .spawn()
        .unwrap();
    stage.until_held(1);
    let told = &stage.asked_of(Who::Worker, 1)[1];
    assert!(told.text.contains("HINT: mind the sign"), "{}", told.text);
    for process in [child, resumed] {
        let output = stage.let_go(process);
        assert!(output.status.success(), "{output:?}");
    }
    for words in [["hint", &whole, "too late"], ["hint", &worker, "too late"]] {
        town.artel(words).run().fails(3, "R008").says("is over");
    }
    town.artel(["pause", &whole])
        .run()
        .expect(3)
        .says("is over");
}
