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
    let paused = town.artel(["plan", "pause", &id, "1", "--json"]).run();
    let paused = paused.expect(0).json();
    let driver = paused["driver"].as_str().unwrap();
    let text =
        format!("pause sent to {driver}; `Write one.md` begins nothing new once it has been read");
    assert_eq!(paused["text"], text.as_str(), "{paused}");
    assert!(paused.get("did").is_none(), "{paused}");
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

#[test]
fn a_wish_about_a_step_that_nobody_carries_out_is_saved_and_said_so() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Architect, _) => plan(json!([note("one", &[]), note("two", &["one"])])),
        // It says that it is done without having done anything.
        (Who::Worker, 1) => vec![("finish", json!({ "answer": "done" }))],
        _ => write_note(asked),
    });
    let town = &stage.town;
    let id = town.asked();
    town.artel(["plan", "approve", &id]).run().expect(3);
    let steer = |word: &str| town.artel(["plan", word, &id, "2"]).run().expect(0).out;
    let short = &id[..8];
    let told = ["pause", "resume", "cancel"].map(steer).concat();
    let wanted = format!(
        "pause saved: nobody is carrying the plan out. `Write two.md` will stay paused when you \
         run `artel resume {short}`.\n\
         resume saved: nobody is carrying the plan out. `Write two.md` will go on when you run \
         `artel resume {short}`.\n\
         nobody is carrying the plan out; `Write two.md` is cancelled now\n"
    );
    assert_eq!(told, wanted);
}
