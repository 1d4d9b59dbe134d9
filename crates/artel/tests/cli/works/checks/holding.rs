//! A step that a person holds: the others do not wait for it, and it waits for nobody but them.

use std::process::Stdio;

use serde_json::json;

use super::super::town::payload;
use super::stage::{Stage, Who, note, plan, until, write_note};

#[test]
fn a_held_step_gives_its_place_free_and_goes_on_when_it_is_resumed_itself() {
    let stage = Stage::holding(
        |asked| match (asked.who, asked.step, asked.turn) {
            (Who::Architect, ..) => plan(json!([note("one", &[]), note("two", &[])])),
            (Who::Worker, 1, 0) => vec![("read", json!({ "path": "calc.py" }))],
            _ => write_note(asked),
        },
        |asked| asked.is(Who::Worker, 1) && asked.turn == 0,
    );
    let town = &stage.town;
    let id = town.asked();
    let child = stage.begin(&id, &["--at-once", "1"]);
    stage.until_held(1);
    town.artel(["plan", "pause", &id, "1"]).run().expect(0);
    stage.model.release();
    // There is one place, and the step that has it waits for a person.
    stage.until_told("step.passed", 1);
    assert_eq!(stage.told("step.passed")[0]["step"], "two");
    let started = |test: &dyn Fn(&serde_json::Value) -> bool| {
        let events = town.events();
        let mut started = events.iter().filter(|it| it["kind"] == "run.started");
        let found = started.find(|it| test(&payload(it)));
        found.unwrap()["run"].as_str().unwrap().to_owned()
    };
    let whole = started(&|it| it["plan"].is_number());
    let agent = started(&|it| it["step"] == "one");
    // The run as a whole is another matter.
    town.artel(["pause", &whole]).run().expect(0);
    let resumed = town.artel(["resume", &whole, "--json"]).command();
    let resumed = { resumed }.stdin(Stdio::null()).spawn().unwrap();
    let steered = |run: &str| -> Vec<_> {
        let events = town.events();
        let own = events
            .iter()
            .filter(|it| it["kind"] == "run.steered" && it["run"] == run);
        own.map(|it| payload(it)["act"].clone()).collect()
    };
    until("the run goes on", || steered(&whole).len() == 2);
    assert_eq!(steered(&agent), ["pause"]);
    assert_eq!(stage.asked_of(Who::Worker, 1).len(), 1, "it is held");
    town.artel(["plan", "resume", &id, "1"]).run().expect(0);
    for process in [child, resumed] {
        let output = stage.let_go(process);
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(steered(&agent), ["pause", "resume"]);
    assert_eq!(town.count("step.passed"), 2);
}
