//! Who carries a plan out: one process at a time, and another once that one is gone; also on a disk
//! that is full for a while.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use artel_testkit::shim::{Action, Fault, Op};
use rustix::process::{Pid, Signal, kill_process};

use super::town::Town;

/// Waits until something is on record; a story takes seconds, a hang is no answer.
fn until(town: &Town, kind: &str) {
    let began = Instant::now();
    while town.count(kind) == 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "no {kind}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn two_executors_one_works_and_the_other_takes_over() {
    let town = Town::new();
    let id = town.asked();
    let mut first = town
        .artel(["plan", "approve", &id, "--json"])
        .command()
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until(&town, "step.started");
    // It stands still and is there: the second process finds it at work, however fast it is.
    let pid = Pid::from_child(&first);
    kill_process(pid, Signal::STOP).unwrap();
    let mut second = town
        .artel(["resume", &id])
        .command()
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(second.stderr.take().unwrap()).lines();
    let waits = said.by_ref().map_while(Result::ok);
    let waits = waits.filter(|line| line.contains(" goes on in artel run (process "));
    assert!(waits.take(1).count() == 1, "it waits for the first");
    first.kill().unwrap();
    first.wait().unwrap();
    let rest: Vec<String> = said.map_while(Result::ok).collect();
    assert!(second.wait().unwrap().success(), "{rest:?}");
    assert_eq!(town.count("step.passed"), 2);
    assert_eq!(town.count("plan.ended"), 1);
    town.to_the_end();
    let left = town.left();
    assert_eq!(left.files["NOTES.md"], b"add adds\n");
    assert_eq!(left.subjects.len(), 3, "{:?}", left.subjects);
}

#[test]
fn a_disk_that_is_full_for_a_while_loses_nothing() {
    let expected = {
        let town = Town::new();
        town.to_the_end();
        town.left()
    };
    for nth in [3, 9, 20] {
        let town = Town::new();
        let id = town.asked();
        let mut command = town.artel(["plan", "approve", &id, "--json"]).command();
        let fault = Fault::on("journal.db-wal").nth(Op::Write, nth, Action::NoSpace);
        fault.arm(&mut command);
        let output = command.output().unwrap();
        assert_ne!(output.status.code(), Some(70), "{output:?}");
        town.to_the_end();
        assert_eq!(town.left(), expected, "full at write {nth}");
        town.house.ok(["journal", "verify"]);
    }
}
