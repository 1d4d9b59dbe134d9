//! Many commands at once, and slots that bound them.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use artel_sandbox::CommandExit;
use artel_sandbox::run::{CancelToken, LiveCommandEvent};
use artel_sandbox::slots::{CommandConcurrencyPool, CommandInitiator};

use crate::support::{Trial, figure, is_long, sandbox};

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn a_cancelled_command_gives_its_slot_back() {
    let folder = tempfile::tempdir().unwrap();
    let slots = CommandConcurrencyPool::of_cores(folder.path(), NonZeroUsize::MIN).unwrap();
    for _ in 0..3 {
        let trial = Trial::new();
        let mut nobody = |_: &_| panic!("the slot is free");
        let slot = slots
            .acquire(CommandInitiator::Agent, "sleep", &trial.cancel, &mut nobody)
            .unwrap();
        let cancel = trial.cancel.clone();
        let script = "echo ready; sleep 1000 & sleep 1000";
        let finished = trial.run_live(script, &mut |live| {
            if matches!(live, LiveCommandEvent::Output(..)) {
                cancel.soft();
            }
        });
        assert!(finished.killed.is_some());
        drop(slot);
    }
}

#[test]
fn proof_many_at_once_leak_nothing() {
    let count = if is_long() { 500 } else { 40 };
    let folder = tempfile::tempdir().unwrap();
    let cores = thread::available_parallelism().unwrap();
    let slots = CommandConcurrencyPool::of_cores(folder.path(), cores).unwrap();
    sandbox();
    let before = open_files();
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                let cancel = CancelToken::new().unwrap();
                let slot = slots
                    .acquire(CommandInitiator::Agent, "true", &cancel, &mut |_| {})
                    .unwrap();
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let trial = Trial::new();
                let finished = trial.run("echo here");
                running.fetch_sub(1, Ordering::SeqCst);
                drop(slot);
                assert_eq!(
                    finished.exit,
                    Some(CommandExit::Code(0)),
                    "{}",
                    finished.render("")
                );
                assert_eq!(finished.stdout.excerpt.text, "here\n");
            });
        }
    });
    assert!(most.load(Ordering::SeqCst) <= 2 * cores.get());
    // Other tests of this process open files as well, but not one per command.
    let after = open_files();
    assert!(
        after < before + count,
        "{before} descriptors became {after}"
    );
    figure(&format!(
        "{count} at once | 0 failures | 0 descriptors leaked"
    ));
}
