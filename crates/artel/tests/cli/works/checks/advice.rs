//! A step that did not pass: the architect says whether plan or code is at fault before the person
//! decides, and may propose another plan.

use std::fs;

use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, Who, advice, end, note, plan, write_note};

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
    town.artel(["answer", &id, "give-up"]).run().expect(0);
    town.artel(["resume", &id]).run().fails_last(1, "R005");
    assert!(fs::exists(&town.project).unwrap());
}
