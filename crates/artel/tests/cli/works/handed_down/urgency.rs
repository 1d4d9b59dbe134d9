//! How urgent every call is follows from why it is made.

use std::collections::BTreeSet;

use serde_json::json;

use super::super::stage::{Asked, Calls, Stage, Who, adds, end, mend, pass, plan, tests_add};
use super::super::town::payload;
use super::{calls_skill, is, skill, tries};

fn mind(asked: &Asked) -> Calls {
    match asked.who {
        _ if is(asked, "helper") => tries(asked, vec![("read", json!({ "path": "calc.py" }))]),
        _ if asked.turn == 0 && asked.text.contains("Where is add") => {
            vec![calls_skill("helper", "where")]
        }
        Who::Architect => plan(json!([mend(json!({ "verify": "tdd" }))])),
        Who::Criteria => {
            let claim = json!({ "text": "add(2, 3) is 5", "source": "explicit" });
            vec![("criteria", json!({ "criteria": [claim] })), end("named")]
        }
        Who::Tests if asked.turn == 0 => vec![calls_skill("helper", "tests")],
        Who::Tests => vec![tests_add(), end("they fail")],
        Who::Worker => vec![adds(), end("mended")],
        Who::Inspector if asked.turn == 0 => vec![calls_skill("helper", "look")],
        Who::Inspector => pass(
            &Asked {
                turn: asked.turn - 1,
                ..asked.clone()
            },
            json!({}),
        ),
        Who::Other => vec![end("in calc.py")],
        _ => pass(asked, json!({})),
    }
}

#[test]
fn every_call_is_as_urgent_as_its_reason_and_what_it_calls_as_itself() {
    let stage = Stage::new(mind);
    skill(&stage, "helper", "");
    stage
        .town
        .artel(["ask", "Where is add?", "--yes", "--json"])
        .run()
        .expect(0);
    stage.done();
    stage
        .town
        .artel(["run", "helper", "go", "--json"])
        .run()
        .expect(0);
    let events = stage.town.events();
    let mut seen = BTreeSet::new();
    for event in events.iter().filter(|it| it["kind"] == "model.requested") {
        let is_its =
            |it: &&serde_json::Value| it["kind"] == "run.started" && it["run"] == event["run"];
        let started = payload(events.iter().find(is_its).unwrap());
        let call = started["call"].as_str().unwrap_or("nobody").to_owned();
        let parent = started["parent"].as_str();
        let above = parent.and_then(|parent| {
            let is_it =
                |it: &&serde_json::Value| it["kind"] == "run.started" && it["run"] == parent;
            let above = payload(events.iter().find(is_it)?);
            above["call"].as_str().map(str::to_owned)
        });
        let whose = match (started["skill"].as_str(), above) {
            (Some(skill), Some(above)) => format!("{skill} of {above}"),
            (Some(skill), None) => skill.to_owned(),
            _ => call,
        };
        let priority = payload(event)["priority"].as_str().unwrap().to_owned();
        seen.insert(format!("{whose}: {priority}"));
    }
    let seen: Vec<_> = seen.iter().map(String::as_str).collect();
    assert_eq!(
        seen,
        [
            "answer: user",
            "helper of answer: user",
            "helper of mend/1/inspector: validation",
            "helper of mend/1/tests: execution",
            "helper: execution",
            "mend/1/criteria: validation",
            "mend/1/inspector: validation",
            "mend/1/tester: validation",
            "mend/1/tests: execution",
            "mend/1/work: execution",
            "plan/v1/0: planning",
        ]
    );
}
