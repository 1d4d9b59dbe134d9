//! Slots are limited, shared between processes, given in order, and never lost.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tempfile::TempDir;

use super::*;

fn slots(total: usize, reserved: usize) -> (TempDir, CommandConcurrencyPool) {
    let folder = tempfile::tempdir().unwrap();
    let slots = CommandConcurrencyPool::new(folder.path().join("slots"), total, reserved).unwrap();
    (folder, slots)
}

/// Takes a slot that must be free.
fn take(slots: &CommandConcurrencyPool, who: CommandInitiator) -> CommandConcurrencyPermit {
    let cancel = CancelToken::new().unwrap();
    let mut waiting = |waiting: &CommandConcurrencyWait| panic!("nothing was free: {waiting:?}");
    slots.acquire(who, "a test", &cancel, &mut waiting).unwrap()
}

/// Returns whether a slot is free, cancelling instead of waiting.
fn is_free(slots: &CommandConcurrencyPool, who: CommandInitiator) -> bool {
    let cancel = CancelToken::new().unwrap();
    let mut waiting = |_: &CommandConcurrencyWait| cancel.soft();
    match slots.acquire(who, "a look", &cancel, &mut waiting) {
        Ok(_) => true,
        Err(CommandConcurrencyError::Cancelled) => false,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_sizes_follow_the_cores() {
    for (cores, agents, people) in [(1, 1, 1), (2, 3, 1), (8, 13, 3), (64, 103, 25)] {
        let folder = tempfile::tempdir().unwrap();
        let slots =
            CommandConcurrencyPool::of_cores(folder.path(), NonZeroUsize::new(cores).unwrap())
                .unwrap();
        let held: Vec<CommandConcurrencyPermit> = (0..agents)
            .map(|_| take(&slots, CommandInitiator::Agent))
            .collect();
        assert!(!is_free(&slots, CommandInitiator::Agent), "{cores} cores");
        let kept: Vec<CommandConcurrencyPermit> = (0..people)
            .map(|_| take(&slots, CommandInitiator::Person))
            .collect();
        assert!(!is_free(&slots, CommandInitiator::Person), "{cores} cores");
        assert_eq!(held.len() + kept.len(), 2 * cores);
    }
}

#[test]
fn a_slot_comes_back_when_it_is_dropped() {
    let (_folder, slots) = slots(2, 1);
    for _ in 0..100 {
        let held = take(&slots, CommandInitiator::Agent);
        assert!(!is_free(&slots, CommandInitiator::Agent));
        drop(held);
    }
    assert!(is_free(&slots, CommandInitiator::Agent));
}

#[test]
fn who_waits_is_told_for_what() {
    let (_folder, slots) = slots(3, 1);
    let cancel = CancelToken::new().unwrap();
    let hold = |label: &str| {
        let mut nobody = |_: &CommandConcurrencyWait| panic!("free");
        slots
            .acquire(CommandInitiator::Agent, label, &cancel, &mut nobody)
            .unwrap()
    };
    let _first = hold("run 7: cargo test\x1b[2J");
    let _second = hold("run 8: npm install");
    let _person = take(&slots, CommandInitiator::Person);
    let mut told = Vec::new();
    let result = slots.acquire(CommandInitiator::Agent, "x", &cancel, &mut |waiting| {
        told.push(waiting.clone());
        cancel.soft();
    });
    assert!(matches!(result, Err(CommandConcurrencyError::Cancelled)));
    // Only the slots it could get are listed; the person's slot is not among them.
    let holders = vec![
        "run 7: cargo test [2J".to_owned(),
        "run 8: npm install".to_owned(),
    ];
    assert_eq!(told, [CommandConcurrencyWait { ahead: 0, holders }]);
}

/// Waits for a slot on its own thread, and reports when it waits and when it gets it.
fn queue_up(
    slots: &CommandConcurrencyPool,
    name: usize,
    waits: Sender<CommandConcurrencyWait>,
    got: Sender<usize>,
) -> thread::JoinHandle<()> {
    let slots = slots.clone();
    thread::spawn(move || {
        let cancel = CancelToken::new().unwrap();
        let mut waiting = |waiting: &CommandConcurrencyWait| {
            // The receiver is dropped once the test has seen enough.
            drop(waits.send(waiting.clone()));
        };
        let slot = slots
            .acquire(CommandInitiator::Agent, "queue", &cancel, &mut waiting)
            .unwrap();
        got.send(name).unwrap();
        drop(slot);
    })
}

#[test]
fn calls_are_served_in_their_order() {
    let (_folder, slots) = slots(2, 1);
    let held = take(&slots, CommandInitiator::Agent);
    let (waits, waiting) = channel();
    let (got, order) = channel();
    let mut threads = Vec::new();
    for name in 0..8 {
        threads.push(queue_up(&slots, name, waits.clone(), got.clone()));
        // The next call comes only after this one is in the queue.
        assert_eq!(waiting.recv().unwrap().ahead, name);
    }
    drop((held, got));
    assert_eq!(order.iter().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_cancelled_call_leaves_the_line() {
    let (_folder, slots) = slots(2, 1);
    let held = take(&slots, CommandInitiator::Agent);
    let (waits, waiting) = channel();
    let cancel = CancelToken::new().unwrap();
    let first = {
        let (slots, cancel, waits) = (slots.clone(), cancel.clone(), waits.clone());
        thread::spawn(move || {
            let mut waiting =
                |waiting: &CommandConcurrencyWait| waits.send(waiting.clone()).unwrap();
            slots
                .acquire(CommandInitiator::Agent, "first", &cancel, &mut waiting)
                .is_err()
        })
    };
    assert_eq!(waiting.recv().unwrap().ahead, 0);
    let (got, order) = channel();
    let second = queue_up(&slots, 2, waits, got);
    assert_eq!(waiting.recv().unwrap().ahead, 1);
    cancel.soft();
    assert!(first.join().unwrap());
    assert_eq!(waiting.recv().unwrap().ahead, 0, "the next one moved up");
    drop(held);
    assert_eq!(order.recv().unwrap(), 2);
    second.join().unwrap();
}

#[test]
fn never_more_than_there_are_run_at_once() {
    let (_folder, slots) = slots(4, 1);
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                let cancel = CancelToken::new().unwrap();
                let slot = slots
                    .acquire(CommandInitiator::Agent, "many", &cancel, &mut |_| {})
                    .unwrap();
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                drop(slot);
            });
        }
    });
    assert!(most.load(Ordering::SeqCst) <= 3);
    let held: Vec<CommandConcurrencyPermit> = (0..3)
        .map(|_| take(&slots, CommandInitiator::Agent))
        .collect();
    assert_eq!(held.len(), 3, "all came back");
}

/// Holds a slot's lock from another process, with the file open for writing as a real
/// holder has it.
#[expect(
    clippy::disallowed_methods,
    reason = "another process is what is tested"
)]
fn foreign_holder(slots: &CommandConcurrencyPool, number: usize) -> Child {
    let script = format!(
        "exec 9>>{}/slot-{number}; flock -n 9 || exit 1; echo other process >&9; echo held; read x",
        slots.shared.folder.display()
    );
    let mut child = Command::new("/bin/sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "held\n");
    child
}

#[test]
fn another_process_counts_and_its_death_frees_its_slot() {
    let (_folder, slots) = slots(2, 1);
    let mut other = foreign_holder(&slots, 0);
    assert!(!is_free(&slots, CommandInitiator::Agent));
    let (waits, waiting) = channel();
    let (got, order) = channel();
    let thread = queue_up(&slots, 1, waits, got);
    assert_eq!(waiting.recv().unwrap().holders, ["other process"]);
    other.kill().unwrap();
    assert_eq!(order.recv().unwrap(), 1);
    thread.join().unwrap();
    other.wait().unwrap();
}

#[test]
fn another_process_that_leaves_in_peace_is_heard() {
    let (_folder, slots) = slots(2, 1);
    let mut other = foreign_holder(&slots, 0);
    let (waits, waiting) = channel();
    let (got, order) = channel();
    let thread = queue_up(&slots, 1, waits, got);
    waiting.recv().unwrap();
    other.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(order.recv().unwrap(), 1);
    thread.join().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_holder_locks_others_out() {
    let (_folder, slots) = slots(2, 1);
    let held = take(&slots, CommandInitiator::Agent);
    let path = slots.shared.folder.join("slot-0");
    let mut label = String::new();
    File::open(&path)
        .unwrap()
        .read_to_string(&mut label)
        .unwrap();
    assert_eq!(label, "a test");
    let stranger = File::open(&path).unwrap();
    let lock = || flock(&stranger, FlockOperation::NonBlockingLockExclusive);
    assert_eq!(lock(), Err(Errno::WOULDBLOCK));
    drop(held);
    assert_eq!(lock(), Ok(()));
}
