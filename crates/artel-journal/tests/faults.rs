//! A disk that is full, fails, is read-only, or loses power: the error is clear, nothing
//! acknowledged is lost, and the journal goes on when the disk does.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

mod support;

use std::collections::BTreeSet;

use artel_testkit::shim::{Action, Counts, Fault, Op};
use artel_testkit::{Child, Random, Scratch, figure, is_long};

use crate::support::{Acknowledged, PARTS, check, check_all, read_acks};

/// The scenario of the sweeps: one thread, so that every run does the same writes.
const SCENARIO: [u64; 3] = [1, PARTS, 8];

/// Runs the scenario with a fault and returns what the child said.
fn run(scratch: &Scratch, fault: &Fault, tag: &str) -> (Vec<String>, bool) {
    Child::start(scratch, tag, SCENARIO, |command| fault.arm(command)).finish()
}

fn watched(scratch: &Scratch) -> Fault {
    Fault::on(scratch.path().display().to_string())
}

fn fresh() -> Scratch {
    let scratch = Scratch::new();
    drop(scratch.create());
    scratch
}

/// Returns the batches that the child was told are not recorded, where that was said for certain.
fn read_refusals(lines: &[String]) -> BTreeSet<(String, u64)> {
    let refusals = lines
        .iter()
        .filter(|line| !line.contains("while events were being written"));
    refusals
        .filter_map(|line| {
            let mut words = line.strip_prefix("error ")?.splitn(4, ' ');
            let (tag, task, round) = (words.next()?, words.next()?, words.next()?);
            Some((format!("{tag}/{task}"), round.parse().ok()?))
        })
        .collect()
}

/// Learns how many operations of a sort the scenario does.
fn count(op: Op) -> u64 {
    let scratch = fresh();
    let counts = scratch.path().join("counts.txt");
    let (lines, is_well) = run(&scratch, &watched(&scratch).count_into(&counts), "count");
    assert!(is_well, "{lines:?}");
    Counts::read(&counts).of(op)
}

/// Goes through the operations, all of them in a proof, every tenth otherwise, from a random start.
fn sweep(op: Op, random: &mut Random, mut each: impl FnMut(u64)) -> (u64, u64) {
    let total = count(op);
    let step = if is_long() { 1 } else { 10 };
    let first = 1 + random.below(step.min(total));
    let mut runs = 0;
    for nth in (first..=total).step_by(step as usize) {
        each(nth);
        runs += 1;
    }
    (runs, total)
}

#[test]
fn proof_kill_before_and_after_every_write_sync_and_rename() {
    let mut random = Random::for_test("kill at every operation");
    for action in [Action::KillBefore, Action::KillAfter, Action::Torn] {
        for op in [Op::Write, Op::Sync, Op::Rename] {
            if action == Action::Torn && op != Op::Write {
                continue;
            }
            let (runs, total) = sweep(op, &mut random, |nth| {
                let scratch = fresh();
                let (lines, is_well) = run(&scratch, &watched(&scratch).nth(op, nth, action), "k");
                assert!(
                    !is_well,
                    "{action} at {op} {nth}: the child was to be killed"
                );
                let mut acknowledged = Acknowledged::new();
                read_acks(lines, &mut acknowledged);
                check(&scratch, &acknowledged);
                // The second start finishes what the first began, without help.
                let again = Child::appender(&scratch, "again", SCENARIO).finish();
                read_acks(again.0, &mut acknowledged);
                assert!(again.1);
                check(&scratch, &acknowledged);
            });
            figure(&format!(
                "{action}: {runs} of {total} {op} operations, 0 violations"
            ));
        }
    }
}

#[test]
fn proof_faults_every_failing_operation_is_survived() {
    let mut random = Random::for_test("failing operations");
    for action in [
        Action::NoSpace,
        Action::Io,
        Action::Quota,
        Action::ReadOnly,
        Action::Short,
    ] {
        for op in [Op::Write, Op::Sync] {
            let (runs, total) = sweep(op, &mut random, |nth| {
                let scratch = fresh();
                let (lines, _) = run(&scratch, &watched(&scratch).nth(op, nth, action), "f");
                assert!(
                    lines.iter().all(|line| !line.contains("panicked")),
                    "{action} at {op} {nth}: {lines:?}"
                );
                let mut acknowledged = Acknowledged::new();
                let refused = read_refusals(&lines);
                read_acks(lines, &mut acknowledged);
                check_all(&scratch, &acknowledged, &refused);
            });
            figure(&format!(
                "{action} once: {runs} of {total} {op} operations, 0 violations"
            ));
        }
    }
}

#[test]
fn proof_power_cut_loses_nothing_that_was_acknowledged() {
    let mut random = Random::for_test("power cut");
    let total = count(Op::Any);
    let cuts = if is_long() { 1_000 } else { 100 };
    let (mut acknowledgements, mut changes) = (0, [0; 3]);
    for _ in 0..cuts {
        let scratch = fresh();
        let (nth, seed) = (1 + random.below(total), random.bits());
        let counts = scratch.path().join("counts.txt");
        let fault = watched(&scratch).nth(Op::Any, nth, Action::PowerCut { seed });
        let (lines, _) = run(&scratch, &fault.count_into(&counts), "p");
        if let Some(cut) = Counts::read(&counts).cut {
            for (sum, more) in changes.iter_mut().zip([cut.kept, cut.dropped, cut.torn]) {
                *sum += more;
            }
        }
        let mut acknowledged = Acknowledged::new();
        read_acks(lines, &mut acknowledged);
        check(&scratch, &acknowledged);
        acknowledgements += acknowledged.len();
    }
    let [kept, dropped, torn] = changes;
    figure(&format!(
        "power cut: {cuts} cuts; unsynced writes: {kept} kept, {dropped} dropped, {torn} torn; \
         {acknowledgements} acknowledged batches, 0 lost"
    ));
}

#[test]
fn proof_faults_a_batch_that_was_refused_never_comes_back() {
    let mut random = Random::for_test("failed sync, then a kill");
    let rounds = if is_long() { 200 } else { 20 };
    let (mut refusals, total) = (0, count(Op::Sync));
    for _ in 0..rounds {
        let scratch = fresh();
        let nth = 1 + random.below(total);
        let fault = watched(&scratch).nth(Op::Sync, nth, Action::Io);
        let mut child = Child::start(&scratch, "s", [4, PARTS, 0], |command| fault.arm(command));
        // Killed right after it was told, before anything else covers what is in the log.
        let mut lines = Vec::new();
        while let Some(line) = child.line() {
            let is_refusal = line.starts_with("error");
            lines.push(line);
            if is_refusal || lines.len() > 200 {
                break;
            }
        }
        lines.extend(child.kill());
        let refused = read_refusals(&lines);
        refusals += refused.len();
        let mut acknowledged = Acknowledged::new();
        read_acks(lines, &mut acknowledged);
        check_all(&scratch, &acknowledged, &refused);
    }
    assert!(refusals > 0, "some sync of a commit was hit");
    figure(&format!(
        "failed sync and kill: {rounds} runs, {refusals} refused batches, 0 came back"
    ));
}

#[test]
fn a_full_disk_is_named_and_the_journal_goes_on_when_there_is_room() {
    let scratch = fresh();
    let room = scratch.path().join("room");
    // Full from the thirtieth write on, until the test makes room.
    let fault = watched(&scratch)
        .from_nth(Op::Write, 30, Action::NoSpace)
        .until_exists(&room);
    let mut child = Child::start(&scratch, "full", [1, PARTS, 0], |command| {
        fault.arm(command)
    });
    let mut acknowledged = Acknowledged::new();
    let refused = loop {
        let line = child.line().unwrap();
        if line.starts_with("error") {
            break line;
        }
        read_acks([line], &mut acknowledged);
    };
    assert!(
        refused.contains("the disk is full: could not write"),
        "{refused}"
    );
    std::fs::write(&room, "").unwrap();
    let next = std::iter::from_fn(|| child.line()).find(|line| line.starts_with("ack"));
    read_acks([next.unwrap()], &mut acknowledged);
    read_acks(child.kill(), &mut acknowledged);
    check(&scratch, &acknowledged);
}

#[test]
fn a_read_only_disk_is_named() {
    let scratch = fresh();
    let fault = watched(&scratch).from_nth(Op::Any, 1, Action::ReadOnly);
    let (lines, is_well) = run(&scratch, &fault, "ro");
    let text = lines.join("\n");
    assert!(!is_well && text.contains("read-only"), "{text}");
    check(&scratch, &Acknowledged::new());
}
