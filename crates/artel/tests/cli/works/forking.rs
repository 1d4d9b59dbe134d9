//! `artel fork` of work that belongs to a plan: an agent's part of a step becomes a run of its own,
//! and what cannot be gone on with differently says what can be done instead.

use serde_json::{Value, json};

use super::stage::{Asked, Stage, Who, end, mend, pass, plan, tests_add};
use super::town::{SCRIPT, Town, payload};

/// A plan whose first step does not pass, left with a question to the person.
fn stuck() -> (Town, String) {
    let wrong = SCRIPT.replace(
        "old: \"a - b\", new: \"a + b\"",
        "old: \"2 * a\", new: \"2 + a\"",
    );
    let alone = "rules:\n  - expect: { says: outside of the plan }\n    call: { finish: { answer: alone } }\n";
    let town = Town::saying(&wrong.trim_start().replacen("rules:\n", alone, 1));
    let id = town.asked();
    town.artel(["plan", "approve", &id])
        .run()
        .fails_last(3, "P002");
    (town, id)
}

/// Returns the first run of a part of the first step.
fn run_of(events: &[Value], call: &str) -> String {
    let is_it = |event: &&Value| event["kind"] == "run.started" && payload(event)["call"] == call;
    let found = events.iter().find(is_it).unwrap();
    found["run"].as_str().unwrap().to_owned()
}

fn seq_of(events: &[Value], run: &str, kind: &str) -> String {
    let is_it = |event: &&Value| event["run"] == run && event["kind"] == kind;
    events.iter().find(is_it).unwrap()["seq"].to_string()
}

#[test]
fn the_work_of_a_step_becomes_a_run_of_its_own() {
    let (town, id) = stuck();
    let events = town.events();
    let work = run_of(&events, "mend/1/work");
    let at = seq_of(&events, &work, "tool.finished");
    // Named by the plan, the event says which agent is meant.
    let seen = town.artel(["fork", &id, "--at", &at, "--json"]).run();
    seen.expect(0);
    let events = town.events();
    let forked = events.iter().find(|it| it["kind"] == "run.forked").unwrap();
    assert_eq!(payload(forked)["from"], work.as_str());
    let fork = forked["run"].as_str().unwrap().to_owned();
    let ended = events
        .iter()
        .rfind(|it| it["run"] == fork.as_str())
        .unwrap();
    assert_eq!(ended["kind"], "run.finished");
    assert_eq!(payload(ended)["state"], "complete");
    let is_its = |it: &&Value| it["run"] == fork.as_str() && it["kind"] == "run.started";
    let started = payload(events.iter().find(is_its).unwrap());
    assert!(started["parent"].is_null() && started["step"].is_null());
    // It needs nothing of the plan any more, and the plan nothing of it.
    town.artel(["plan", "cancel", &id]).run().expect(0);
    let is_plan = |it: &&Value| it["kind"] == "branch.begun";
    let plan = events.iter().find(is_plan).unwrap()["run"].as_str();
    let folder = town.house.state("worktrees").join(plan.unwrap());
    std::fs::remove_dir_all(folder).unwrap();
    town.artel(["apply", &fork, "--yes"]).run().expect(0);
    let calc = std::fs::read_to_string(town.project.join("calc.py")).unwrap();
    assert!(calc.contains("2 + a"), "{calc}");
}

/// A plan whose tests come first and whose work is never done, left with a question to the person.
fn tests_first() -> (Stage, String) {
    const MORE: &str = "import unittest\n\nimport calc\n\n\nclass More(unittest.TestCase):\n    \
                        def test_more(self):\n        self.assertEqual(calc.add(1, 2), 3)\n";
    let stage = Stage::new(|asked: &Asked| match asked.who {
        Who::Architect => plan(json!([mend(json!({ "verify": "tdd" }))])),
        Who::Criteria => {
            let claim = json!({ "text": "add(2, 3) is 5", "source": "explicit" });
            vec![("criteria", json!({ "criteria": [claim] })), end("named")]
        }
        _ if asked.text.contains("outside of the plan") => vec![end("alone")],
        Who::Tests => match asked.turn {
            0 => vec![("read", json!({ "path": "calc.py" }))],
            1 => vec![("write", json!({ "path": "test_more.py", "content": MORE }))],
            2 => vec![tests_add()],
            _ => vec![end("they fail")],
        },
        Who::Worker => vec![end("nothing done")],
        _ => pass(asked, json!({})),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    (stage, id)
}

/// Whoever named the criteria before had a copy of the files, whose snapshots are no longer there.
#[test]
fn the_tests_of_a_step_become_a_run_of_their_own_from_any_event() {
    let (stage, id) = tests_first();
    let town = &stage.town;
    let events = town.events();
    let tests = run_of(&events, "mend/1/tests");
    let mut points = vec![seq_of(&events, &tests, "run.prepared")];
    let is_end = |it: &&Value| it["run"] == tests.as_str() && it["kind"] == "tool.finished";
    points.extend(events.iter().filter(is_end).map(|it| it["seq"].to_string()));
    for (at, from) in points.iter().zip([&id, &tests, &id]) {
        town.artel(["fork", from, "--at", at]).run().expect(0);
    }
    let events = town.events();
    let forked = events.iter().filter(|it| it["kind"] == "run.forked");
    let forked: Vec<&str> = forked.map(|it| it["run"].as_str().unwrap()).collect();
    let changed = |fork: &str| {
        let is_end = |it: &&Value| it["run"] == fork && it["kind"] == "run.finished";
        let end = payload(events.iter().find(is_end).unwrap());
        assert_eq!(end["state"], "complete", "{end}");
        let changed = end["changed"].as_array().cloned().unwrap_or_default();
        let paths = changed
            .iter()
            .map(|it| it["path"].as_str().unwrap().to_owned());
        paths.collect::<Vec<_>>()
    };
    // Each has the files as they were then.
    assert_eq!(changed(forked[0]), [""; 0]);
    assert_eq!(changed(forked[1]), [""; 0]);
    assert_eq!(changed(forked[2]), ["test_more.py"]);
    town.artel(["apply", forked[2], "--yes"]).run().expect(0);
    let calc = std::fs::read_to_string(town.project.join("test_calc.py")).unwrap();
    assert!(!calc.contains("test_add"), "{calc}");
    assert!(town.project.join("test_more.py").is_file());
}

#[test]
fn what_cannot_be_forked_says_what_to_do_instead() {
    let (town, id) = stuck();
    let events = town.events();
    let plan = run_of(&events, "mend/1/work");
    let work_at = seq_of(&events, &plan, "tool.finished");
    let own = events
        .iter()
        .find(|it| it["kind"] == "step.started")
        .unwrap();
    let own_at = own["seq"].to_string();
    town.artel(["fork", &id, "--at", &own_at])
        .run()
        .fails(3, "R008")
        .says("artel plan retry ");
    let answer = ["answer", &id, "give-up: later"];
    town.artel(answer).run().expect(0);
    town.artel(["resume", &id]).run().fails_last(1, "R005");
    town.artel(["fork", &id, "--at", &work_at])
        .run()
        .fails(3, "R008")
        .says("the files of step `mend` are gone")
        .says("artel plan retry ");
}

/// A judge on its own would judge nothing, and could run what judges run.
#[test]
fn a_judge_is_not_forked() {
    let town = Town::new();
    let id = town.asked();
    town.artel(["plan", "approve", &id]).run().expect(0);
    let events = town.events();
    let judge = run_of(&events, "mend/1/evaluator");
    let started = town.count("run.started");
    for kind in ["tool.requested", "tool.finished", "run.finished"] {
        let at = seq_of(&events, &judge, kind);
        for from in [&id, &judge] {
            town.artel(["fork", from, "--at", &at])
                .run()
                .fails(3, "R008")
                .says("a run that judges a step cannot be gone on with differently")
                .says("fork the work of step `mend`");
        }
    }
    assert_eq!(town.count("run.forked"), 0);
    assert_eq!(town.count("run.started"), started);
}
