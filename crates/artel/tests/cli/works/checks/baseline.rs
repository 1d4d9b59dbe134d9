//! What steps are compared with, and what is asked before the first of them where there is nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::stage::{Stage, Who, adds, end, mend, plan, until};
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
    assert!(text.contains("`./nowhere.sh` cannot be started"), "{text}");
    assert_eq!(asked["suggested"], "./check.sh", "{asked:#}");
    town.artel(["answer", &id, "./gone.sh ; ./check.sh"])
        .run()
        .expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(3);
    let text = waits(&stage)["text"].as_str().unwrap().to_owned();
    assert!(text.contains("`./gone.sh` cannot be started"), "{text}");
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

/// Whatever a person decides is heard by whoever takes the run up in that moment, or read by them.
#[test]
fn an_answer_counts_once_while_another_process_takes_the_run_up() {
    let stage = untested();
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    for turn in 1..=6 {
        let taken_up = town.count("run.continued");
        let mut resume = town.artel(["resume", &id, "--json"]).command();
        let resume = resume.stdin(Stdio::null()).stdout(Stdio::null());
        let mut taking = resume.stderr(Stdio::null()).spawn().unwrap();
        if turn % 2 == 0 {
            until("taken up", || town.count("run.continued") > taken_up);
        }
        town.artel(["answer", &id, "./gone.sh"]).run().expect(0);
        assert_eq!(taking.wait().unwrap().code(), Some(3));
        // Where it was too late for that process, the next one goes on from it.
        town.artel(["resume", &id, "--json"]).run().expect(3);
        assert_eq!(town.count("run.answered"), turn);
        assert_eq!(
            town.count("run.asked"),
            turn + 1,
            "asked once more each time"
        );
    }
    assert_eq!(town.count("step.started"), 0);
    let edited = town.house.root().join("mine.md");
    let file = format!("Inbox/Active/request-{}_plan.md", &id[..8]);
    let text = fs::read_to_string(town.house.workshop.join(file)).unwrap();
    let text = text.replace("Make add in calc.py add", "Make add in calc.py add well");
    fs::write(&edited, text).unwrap();
    let mut resume = town.artel(["resume", &id, "--json"]).command();
    let mut taking = resume.stdin(Stdio::null()).spawn().unwrap();
    let edit = ["plan", "edit", &id, "--file", edited.to_str().unwrap()];
    town.artel(edit).run().expect(0);
    assert_eq!(taking.wait().unwrap().code(), Some(3));
    town.artel(["answer", &id, "./check.sh"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    let worker = &stage.asked_of(Who::Worker, 1)[0].text;
    assert!(worker.contains("add well"), "{worker}");
}
