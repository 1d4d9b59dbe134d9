//! What steps are compared with, and what is asked before the first of them where there is nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::stage::{Stage, Who, adds, end, mend, plan};
use crate::terminal::Seat;

const CHECK: &str = "#!/bin/sh\nexec python3 -c 'import calc; assert calc.double(4) == 8'\n";

/// A project without tests that has a script which looks like its check.
fn untested() -> Stage {
    let evidence = json!([{
        "kind": "command", "what": "python3 -c 'import calc; exit(calc.add(2, 3) != 5)'",
    }]);
    let over = json!({ "verify": "none", "evidence": evidence, "scope": { "paths": ["calc.py"] } });
    let stage = Stage::new(move |asked| match asked.who {
        Who::Architect => plan(json!([mend(over.clone())])),
        _ => vec![adds(), end("mended")],
    });
    let project = &stage.town.project;
    fs::remove_file(project.join("test_calc.py")).unwrap();
    fs::write(project.join("check.sh"), CHECK).unwrap();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.join("check.sh"), mode).unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "No tests"]);
    stage
}

fn waits(stage: &Stage) -> Value {
    let waits = stage.town.artel(["waiting", "--json"]).run().expect(0);
    waits.json()[0].clone()
}

fn commands(stage: &Stage) -> Vec<Value> {
    let taken = stage.told("baseline.taken");
    taken.last().unwrap()["commands"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn without_a_test_the_commands_are_asked_for_and_those_found_are_filled_in() {
    let stage = untested();
    let town = &stage.town;
    let id = town.asked();
    let seen = town
        .artel(["plan", "approve", &id])
        .run()
        .fails_last(3, "P002");
    seen.says("no tests were found").says("\'./check.sh\'");
    assert_eq!(town.count("step.started"), 0, "before the first step");
    let asked = waits(&stage);
    assert_eq!(asked["suggested"], "./check.sh", "{asked:#}");
    let command = asked["commands"][0].as_str().unwrap();
    assert!(command.ends_with(" \'./check.sh\'"), "{command}");
    // A person at a terminal takes it with Enter.
    let mut seat = Seat::at(town.artel(["resume", &id]));
    seat.shows("Which commands build, lint and test this project?")
        .shows("Enter takes: ./check.sh")
        .types("\n");
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(commands(&stage), [json!("./check.sh")]);
    assert_eq!(town.count("step.passed"), 1);
    let proofs = stage.told("proof.recorded");
    let places: Vec<_> = proofs
        .iter()
        .filter(|it| it["what"] == "./check.sh")
        .collect();
    assert!(places.len() >= 3, "baseline, step and branch: {places:?}");
}

#[test]
fn a_command_that_does_not_start_is_no_baseline() {
    let stage = untested();
    let town = &stage.town;
    let add = ["portal", "add", ".", "--check", "./nowhere.sh"];
    town.artel(add).run().expect(0);
    let id = town.asked();
    stage.approve(&id, 3);
    let asked = waits(&stage);
    let text = asked["text"].as_str().unwrap();
    assert!(text.contains("`./nowhere.sh` does not start"), "{text}");
    assert_eq!(asked["suggested"], "./check.sh", "{asked:#}");
    town.artel(["answer", &id, "./gone.sh ; ./check.sh"])
        .run()
        .expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(3);
    let text = waits(&stage)["text"].as_str().unwrap().to_owned();
    assert!(text.contains("`./gone.sh` does not start"), "{text}");
    town.artel(["answer", &id, "./check.sh"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(commands(&stage), [json!("./check.sh")]);
}

/// A runner that finds no test is no check that steps have to keep.
#[test]
fn what_was_no_baseline_is_not_compared_with() {
    let stage = untested();
    let town = &stage.town;
    let empty = "import unittest\n\n\nclass Calc(unittest.TestCase):\n    pass\n";
    fs::write(town.project.join("test_calc.py"), empty).unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "Nothing in it"]);
    let id = town.asked();
    stage.approve(&id, 3);
    let asked = waits(&stage);
    assert!(
        asked["text"].as_str().unwrap().contains("no test ran"),
        "{asked:#}"
    );
    let found = asked["suggested"].as_str().unwrap();
    assert!(
        found.contains("unittest") && found.ends_with(" ; ./check.sh"),
        "{found}"
    );
    town.artel(["answer", &id, "./check.sh"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(town.count("step.failed"), 0);
    assert_eq!(town.count("step.passed"), 1);
}

#[test]
fn a_person_may_say_that_there_is_nothing_to_run() {
    let stage = untested();
    let id = stage.town.asked();
    stage.approve(&id, 3);
    stage.town.artel(["answer", &id, "none"]).run().expect(0);
    stage.town.artel(["resume", &id, "--json"]).run().expect(0);
    let taken = stage.told("baseline.taken");
    let why = taken.last().unwrap()["why"].as_str().unwrap();
    assert!(why.contains("nothing to run"), "{why}");
}
