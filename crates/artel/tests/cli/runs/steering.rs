//! How people reach a run that is under way: from another process, and with Ctrl-C.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::world::{Running, World};

/// Works until a file appears in its tree.
const SCRIPT: &str = "#!/bin/sh\ntouch began\nwhile [ ! -e go ]; do sleep 0.02; done\necho went\n";

/// The model that has it run.
const WAITING: &str = r#"
rules:
  - expect: { says: begin the work }
    call: { bash: { command: ./wait.sh } }
  - expect: { says: use tabs }
    call: { finish: { answer: with tabs } }
  - expect: { says: went }
    call: { bash: { command: "echo next" } }
  - expect: { says: next }
    call: { finish: { answer: without tabs } }
  - expect: { says: cancelled }
    call: { finish: { answer: was cut off } }
"#;

/// Begins a run and waits until its first command runs.
fn begun(world: &World) -> (Running, String) {
    let script = world.project.join("wait.sh");
    fs::write(&script, SCRIPT).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut running = Running::start(world.task([]));
    running.says("run ");
    let run = world.run();
    running.until(|| world.tree(&run, "began").exists());
    (running, run)
}

fn go(world: &World, run: &str) {
    fs::write(world.tree(run, "go"), "").unwrap();
}

#[test]
fn another_process_pauses_hints_and_resumes() {
    let world = World::new(WAITING);
    let (mut running, run) = begun(&world);
    assert_eq!(world.state(), "running");
    world
        .ok(["pause", &run])
        .says("pause sent to artel run (process ");
    world.artel(["pause", &run]).run().fails(3, "R008");
    world
        .ok(["hint", &run, "use tabs"])
        .says("hint sent to artel run (process ");
    assert_eq!(world.state(), "paused");
    world.artel(["apply", &run]).run().fails(3, "R008");
    go(&world, &run);
    running.says("waits: paused");
    assert!(world.ok(["runs"]).out.contains("paused"));
    world
        .ok(["resume", &run])
        .says("goes on in artel run (process ");
    let (code, told) = running.end();
    assert_eq!(code, 0, "{told}");
    for words in ["⏸ paused", "⏸ hint: use tabs", "⏸ goes on"] {
        assert!(told.contains(words), "no `{words}` in:\n{told}");
    }
    let finished = &world.events("run.finished")[0]["payload"];
    assert_eq!(finished["answer"], "with tabs");
    // Whoever gave the hint waits for what becomes of it.
    assert_eq!(world.urgencies(), ["execution", "user"]);
    for words in [["pause", &run], ["cancel", &run]] {
        world.artel(words).run().fails(3, "R008");
    }
    world.artel(["hint", &run, "late"]).run().fails(3, "R008");
}

#[test]
fn a_second_resume_stays_with_the_run_until_it_is_over() {
    let world = World::new(WAITING);
    let (running, run) = begun(&world);
    let mut second = Running::start(world.artel(["resume", &run]));
    second.says("waits: ");
    assert_eq!(world.state(), "running");
    go(&world, &run);
    let (code, told) = running.end();
    assert_eq!(code, 0, "{told}");
    let (code, told) = second.end();
    assert_eq!(code, 0, "{told}");
    assert!(told.contains(" goes on in artel run (process "), "{told}");
    assert_eq!(world.events("run.finished").len(), 1);
    assert_eq!(world.urgencies().len(), 3, "nothing is asked twice");
}

#[test]
fn whoever_waits_for_a_run_leaves_it_alone_with_ctrl_c() {
    let world = World::new(WAITING);
    let (running, run) = begun(&world);
    let mut second = Running::start(world.artel(["resume", &run]));
    second.says("waits: ");
    second.interrupt();
    let (code, told) = second.end();
    assert_eq!(code, 130, "{told}");
    assert!(told.contains("stays with it"), "{told}");
    assert_eq!(world.state(), "running");
    assert!(world.events("run.steered").is_empty());
    go(&world, &run);
    let (code, told) = running.end();
    assert_eq!(code, 0, "{told}");
}

#[test]
fn a_second_resume_takes_over_from_a_process_that_died() {
    let silent = "otherwise: { say: I think, then: silent }\n";
    let world = World::new(silent);
    let mut running = Running::start(world.task([]));
    running.until(|| !world.events("model.requested").is_empty());
    let run = world.run();
    let script = world.house.root().join("second.yaml");
    let finishes = "otherwise: { call: { finish: { answer: taken over } } }\n";
    fs::write(&script, finishes).unwrap();
    let model = format!("rehearsal:{}", script.display());
    let resume = ["resume", &run, "--model", &model];
    let mut second = Running::start(world.artel(resume));
    second.says("waits: ");
    running.kill();
    let (code, told) = second.end();
    assert_eq!(code, 0, "{told}");
    let finished = world.events("run.finished");
    assert_eq!(finished.len(), 1);
    assert_eq!(finished[0]["payload"]["answer"], "taken over");
}

#[test]
fn a_cancelled_run_ends_what_it_runs() {
    let world = World::new(WAITING);
    let (running, run) = begun(&world);
    world
        .ok(["cancel", &run])
        .says("cancel sent to artel run (process ");
    let (code, told) = running.end();
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("✗ cancelled: it was cancelled"), "{told}");
    assert_eq!(world.state(), "cancelled");
}

#[test]
fn ctrl_c_stops_politely_and_says_how_to_go_on() {
    let world = World::new(WAITING);
    let (mut running, run) = begun(&world);
    running.interrupt();
    running.says("stopping after what runs now; Ctrl-C again stops at once");
    go(&world, &run);
    let (code, told) = running.end();
    assert_eq!(code, 130, "{told}");
    let short = &run[..8];
    assert!(
        told.ends_with(&format!("stopped; `artel resume {short}` goes on\n")),
        "{told}"
    );
    assert_eq!(world.state(), "paused");
    let seen = world.artel(["resume", &run]).run().expect(0);
    assert!(
        seen.err
            .contains("picked up after the process ended at event "),
        "{}",
        seen.err
    );
    assert_eq!(seen.out, "without tabs\n");
    assert_eq!(world.state(), "complete");
}

#[test]
fn a_second_ctrl_c_stops_at_once() {
    let world = World::new(WAITING);
    let (mut running, run) = begun(&world);
    running.interrupt();
    running.says("Ctrl-C again stops at once");
    running.interrupt();
    let (code, told) = running.end();
    assert_eq!(code, 130, "{told}");
    assert!(!world.tree(&run, "go").exists(), "the command was ended");
    // A run that was left can be ended without being taken up.
    world
        .ok(["cancel", &run])
        .says("was not running; it is cancelled now");
    assert_eq!(world.state(), "cancelled");
}

#[test]
fn hints_hold_no_secrets() {
    let world = World::new(WAITING);
    let (running, run) = begun(&world);
    let key = format!("use ghp_{}", "a1B2".repeat(9));
    world.artel(["hint", &run, &key]).run().fails(3, "P006");
    world.ok(["cancel", &run]);
    running.end();
}
