//! A step that did not pass: the architect says whether plan or code is at fault before the person
//! decides, and may propose another plan.

use std::fs;

use serde_json::{Value, json};

use super::super::town::payload;
use super::stage::{
    Asked, Calls, Stage, Who, adds, advice, end, mend, note, pass, plan, write_note,
};

/// The step cannot be done as it is planned: it needs a file that no step makes.
fn needs_a_file(asked: &Asked, says: &Value) -> Calls {
    match (asked.who, asked.step) {
        (Who::Architect, _) => plan(json!([note("one", &[])])),
        (Who::Adviser, _) => advice(says.clone()),
        (Who::Worker, _) if asked.text.contains("step 1 of 2") => write_note(asked),
        (Who::Worker, 2) if asked.turn == 0 => vec![("read", json!({ "path": "first.md" }))],
        (Who::Worker, 2) => write_note(asked),
        _ => vec![("read", json!({ "path": "calc.py" })), end("no luck")],
    }
}

fn stage(says: Value) -> Stage {
    Stage::advised(move |asked| needs_a_file(asked, &says), |_| false)
}

fn question(stage: &Stage) -> Value {
    let waits = stage.town.artel(["waiting", "--json"]).run().expect(0);
    let waits = waits.json();
    assert_eq!(waits.as_array().unwrap().len(), 1, "{waits:#}");
    waits[0].clone()
}

fn wants_first() -> Value {
    json!({
        "fault": "plan", "why": "one.md rests on first.md, which no step makes",
        "change": { "impact": "one step more", "steps": [note("first", &[])] },
    })
}

#[test]
fn sylk_5_16_the_architect_is_heard_before_the_person_decides() {
    let stage = stage(json!({ "fault": "code", "why": "one.md was never written" }));
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let told = stage.told("step.advised");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (&told[0]["fault"], &told[0]["round"]),
        (&json!("code"), &json!(3))
    );
    let asked = stage.asked_of(Who::Adviser, 1);
    for words in [
        "`one.md` is not there",
        "no luck",
        "Write one.md.",
        "No file was changed.",
    ] {
        assert!(asked[0].text.contains(words), "{words}: {}", asked[0].text);
    }
    for writes in ["write", "edit", "delete", "submit_plan"] {
        assert!(
            !asked[0].tools.iter().any(|tool| tool == writes),
            "{writes}"
        );
    }
    let kinds: Vec<_> = stage
        .town
        .events()
        .iter()
        .map(|it| it["kind"].clone())
        .collect();
    let place = |kind: &str| kinds.iter().position(|it| it == kind).unwrap();
    assert!(place("step.advised") < place("run.asked"));
    let waits = question(&stage);
    let text = waits["text"].as_str().unwrap();
    assert!(
        text.contains("The architect says that the code is at fault: one.md was never written"),
        "{text}"
    );
    assert_eq!(
        waits["choices"][0], "more",
        "no plan is proposed: {waits:#}"
    );
    // Whoever tries again is told it, and the architect is asked once for three attempts.
    stage.town.artel(["answer", &id, "more"]).run().expect(0);
    stage.town.artel(["resume", &id, "--json"]).run().expect(3);
    let again = stage.asked_of(Who::Worker, 1);
    let again = again.iter().find(|it| it.attempt == 4).unwrap();
    assert!(
        again.text.contains("one.md was never written"),
        "{}",
        again.text
    );
    assert_eq!(stage.town.count("step.advised"), 2);
    let trace = stage
        .town
        .artel(["trace", &id, "--step", "1"])
        .run()
        .expect(0);
    assert!(
        trace.out.contains("what the architect says"),
        "{}",
        trace.out
    );
}

#[test]
fn sylk_2_17_another_plan_of_the_architects_is_one_of_the_ways_on() {
    let stage = stage(wants_first());
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    let waits = question(&stage);
    let text = waits["text"].as_str().unwrap();
    for words in [
        "the plan is at fault",
        "first: Write first.md",
        "one step more",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(waits["choices"][0], "change-plan");
    assert_eq!(town.count("plan.adopted"), 0, "nothing widens by itself");
    town.artel(["answer", &id, "change-plan"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    let passed: Vec<_> = stage
        .told("step.passed")
        .iter()
        .map(|it| it["step"].clone())
        .collect();
    assert_eq!(passed, [json!("first"), json!("one")]);
    let shown = town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(shown["version"], 2, "{shown:#}");
    // What comes first is there for the step that needs it.
    let read = stage.asked_of(Who::Worker, 2);
    assert!(read[1].last.contains("made by step 1"), "{}", read[1].last);
    assert!(read[0].text.contains("come first now"), "{}", read[0].text);
}

#[test]
fn a_plan_of_the_architects_that_is_not_taken_is_turned_down() {
    let stage = stage(wants_first());
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    town.artel(["answer", &id, "give-up: not now"])
        .run()
        .expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(1);
    let decided = stage.told("plan.decided");
    assert_eq!(decided.len(), 1, "{decided:?}");
    assert_eq!(decided[0]["version"], json!(null));
    let shown = town
        .artel(["plan", "show", &id, "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(shown["version"], 1, "{shown:#}");
}

#[test]
fn advice_that_does_not_hold_goes_back_and_silence_keeps_nobody_waiting() {
    let circle = json!({
        "fault": "plan", "why": "it goes round",
        "change": { "steps": [note("first", &["one"])] },
    });
    let stage = Stage::advised(
        move |asked| match (asked.who, asked.turn) {
            (Who::Adviser, 0) => vec![("advice", circle.clone())],
            (Who::Adviser, _) => vec![end("I do not know")],
            _ => needs_a_file(asked, &Value::Null),
        },
        |_| false,
    );
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let told = &stage.asked_of(Who::Adviser, 1)[1].last;
    assert!(told.contains("it was not taken"), "{told}");
    assert_eq!(stage.town.count("plan.proposed"), 0);
    let text = question(&stage)["text"].as_str().unwrap().to_owned();
    assert!(text.contains("gave no advice"), "{text}");
}

#[test]
fn a_portal_that_is_closed_to_the_architect_is_shown_to_nobody() {
    let stage = stage(json!({ "fault": "code", "why": "x" }));
    let town = &stage.town;
    let id = town.asked();
    let path = town.project.to_str().unwrap().to_owned();
    let agents = ["--agents", "engineer,inspector,tester"];
    town.artel(["portal", "add", &path])
        .words(agents)
        .run()
        .expect(0);
    stage.approve(&id, 3);
    assert!(stage.asked_of(Who::Adviser, 1).is_empty());
    let told = stage.told("step.advised");
    let said = told[0]["advice"].as_str().unwrap();
    assert!(said.contains("may not work in"), "{said}");
    assert!(question(&stage)["text"].as_str().unwrap().contains(said));
}

/// A model that fails keeps nobody from deciding.
#[test]
fn a_person_decides_though_the_architect_cannot_be_asked() {
    let script = super::super::town::SCRIPT;
    let (script, _) = script
        .split_once("  - expect: { tools: [advice] }")
        .unwrap();
    let wrong = "old: \"2 * a\", new: \"2 + a\"";
    let script = script.replace("old: \"a - b\", new: \"a + b\"", wrong);
    let town = super::super::town::Town::saying(&script);
    let id = town.asked();
    let seen = town
        .artel(["plan", "approve", &id])
        .run()
        .fails_last(3, "P002");
    seen.says("did not pass in 3 attempts")
        .says("could not be asked");
    // Nobody takes that conversation up again, so it is over.
    let events = town.events();
    let told = |kind: &str| events.iter().find(|it| it["kind"] == kind).unwrap();
    let run = payload(told("step.advised"))["run"].clone();
    let is_end = |it: &&Value| it["kind"] == "run.finished" && it["run"] == run;
    let end = events.iter().find(is_end).expect("it stays open");
    assert_eq!(payload(end)["state"], "failed", "{end:#}");
    town.artel(["answer", &id, "give-up"]).run().expect(0);
    town.artel(["resume", &id]).run().fails_last(1, "R005");
    assert!(fs::exists(&town.project).unwrap());
}

/// A test that was written first and asks for the wrong sum, until it is written anew.
fn wrong_test(asked: &Asked, says: &Value) -> Calls {
    let test = |old: &str, new: &str| {
        let edit = json!({ "path": "test_calc.py", "old": old, "new": new });
        vec![("edit", edit), end("it fails")]
    };
    let wrong =
        "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 6)\n\n    # more";
    match (asked.who, asked.attempt) {
        (Who::Architect, _) => plan(json!([mend(json!({ "verify": "tdd" }))])),
        (Who::Adviser, _) => advice(says.clone()),
        (Who::Criteria, _) => {
            let claim = json!({ "text": "add(2, 3) is 5", "source": "explicit" });
            vec![("criteria", json!({ "criteria": [claim] })), end("named")]
        }
        (Who::Tests, 1) => test("    # more", wrong),
        (Who::Tests, _) => test("calc.add(2, 3), 6", "calc.add(2, 3), 5"),
        (Who::Worker, 1) => vec![adds(), end("it adds")],
        (Who::Worker, _) => vec![("read", json!({ "path": "calc.py" })), end("it adds")],
        _ => pass(asked, json!({})),
    }
}

/// The work is there already when the tests are written anew: they have to fail without it.
#[test]
fn tests_are_written_anew_where_they_are_at_fault_or_the_work_is_another() {
    let at_fault = json!({ "fault": "tests", "why": "2 and 3 are 5, not 6" });
    let other_work = json!({
        "fault": "plan", "why": "it does not say which sum",
        "change": { "impact": "none", "work": "Make add in calc.py add: 2 and 3 are 5." },
    });
    for (says, answer) in [(at_fault, "more"), (other_work, "change-plan")] {
        let stage = Stage::advised(move |asked| wrong_test(asked, &says), |_| false);
        let town = &stage.town;
        let id = town.asked();
        stage.approve(&id, 3);
        assert_eq!(stage.asked_of(Who::Tests, 1).len(), 1, "{answer}");
        town.artel(["answer", &id, answer]).run().expect(0);
        town.artel(["resume", &id, "--json"]).run().expect(0);
        let anew = stage.asked_of(Who::Tests, 1);
        assert_eq!(anew.last().unwrap().attempt, 4, "{answer}");
        let checked = stage.told("step.checked");
        let of_last: Vec<_> = checked
            .iter()
            .filter(|it| it["round"] == 4)
            .map(|it| (it["phase"].clone(), it["passed"].clone()))
            .collect();
        let (red, green) = (json!("red"), json!("green"));
        let yes = json!(true);
        assert_eq!(of_last, [(red, yes.clone()), (green, yes)], "{checked:#?}");
        // Whoever works may still change what they made before.
        let worker = stage.asked_of(Who::Worker, 1);
        let last = &worker.last().unwrap().text;
        let kept = "are not yours to change: test_calc.py";
        assert!(
            last.contains(kept) && !last.contains("test_calc.py, calc.py"),
            "{last}"
        );
        assert_eq!(town.count("step.passed"), 1, "{answer}");
    }
}
