//! However a command tries to outlive its time, it ends, and everything it started with it.

use std::time::Duration;

use artel_sandbox::CommandExit;
use artel_sandbox::run::{CommandTerminationCause, LiveCommandEvent};

use crate::support::{Trial, Witness, figure, is_long};

/// Cancels when the command says that it is ready.
fn run_and_cancel(trial: &Trial, script: &str) -> artel_sandbox::run::FinishedCommand {
    let cancel = trial.cancel.clone();
    trial.run_live(script, &mut |live| {
        if matches!(live, LiveCommandEvent::Output(_, bytes) if bytes.starts_with(b"ready")) {
            cancel.soft();
        }
    })
}

#[test]
fn a_command_that_ends_by_itself_is_told_as_it_ended() {
    let cases = [
        ("echo out; echo err >&2; exit 3", CommandExit::Code(3)),
        (
            "echo out; echo err >&2; kill -SEGV $$",
            CommandExit::Signal(11),
        ),
    ];
    for (script, exit) in cases {
        let trial = Trial::new();
        let finished = trial.run(script);
        assert_eq!(finished.exit, Some(exit), "{script}");
        assert_eq!(
            (finished.killed, finished.partial),
            (None, false),
            "{script}"
        );
        assert_eq!(finished.stdout.excerpt.text, "out\n");
        assert!(finished.stderr.excerpt.text.starts_with("err\n"));
    }
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let trial = Trial::new();
    let finished = trial.run_job(&trial.job(&["/no/such/program"]), &mut |_| {});
    let exit = finished.exit.unwrap();
    assert!(
        matches!(&exit, CommandExit::NotStarted { step, .. } if step == "program"),
        "{exit:?}"
    );
}

#[test]
fn a_cancel_ends_grandchildren_too() {
    let mut trial = Trial::new();
    // Long enough on any machine: the first signal has to do it.
    trial.graces.interrupt = Duration::from_secs(60);
    let witness = Witness::new(&trial);
    // Ready when the shell has no child left to start: one that is in the middle of starting a
    // child may swallow an interrupt.
    let script = "exec 7>witness; echo x >&7; sleep 1000 & echo ready; exec sleep 1000";
    let finished = run_and_cancel(&trial, script);
    let killed = finished.killed.unwrap();
    assert_eq!(
        (killed.by, killed.signal_name().as_str()),
        (CommandTerminationCause::Cancel, "SIGINT")
    );
    assert!(finished.partial);
    assert_eq!(finished.stdout.excerpt.text, "ready\n");
    witness.assert_all_gone();
}

#[test]
fn who_ignores_everything_is_killed_and_its_output_kept() {
    let trial = Trial::new();
    let script = "trap '' INT TERM; echo ready; while :; do sleep 1000; done";
    let finished = run_and_cancel(&trial, script);
    let killed = finished.killed.unwrap();
    assert_eq!(
        (killed.by, killed.signal_name().as_str()),
        (CommandTerminationCause::Cancel, "SIGKILL")
    );
    let sent = killed.sent;
    assert!(sent.interrupt < sent.terminate && sent.terminate < sent.kill);
    assert!(finished.partial);
    assert_eq!(finished.stdout.excerpt.text, "ready\n");
}

#[test]
fn proof_ends_nobody_survives() {
    let rounds = if is_long() { 100 } else { 2 };
    // Each opens the witness and then tries to stay.
    let kinds = [
        ("closes its output", "exec >&- 2>&-; sleep 1000"),
        (
            "ignores SIGTERM",
            "trap '' INT TERM HUP; while :; do sleep 1000; done",
        ),
        ("stops itself", "kill -STOP $$; sleep 1000"),
        ("stops its group", "sleep 1000 & kill -STOP 0; sleep 1000"),
        (
            "parent of zombies",
            "for i in 1 2 3; do true & done; exec sleep 1000",
        ),
    ];
    for (name, tail) in kinds {
        for _ in 0..rounds {
            let trial = Trial::with_time(200);
            let witness = Witness::new(&trial);
            let script = format!("exec 7>witness; echo x >&7; echo ready; {tail}");
            let (_trial, finished) = trial.run_timed(&script);
            let killed = finished.killed.unwrap();
            assert!(
                matches!(killed.by, CommandTerminationCause::Timeout(_)),
                "{name}: {killed:?}"
            );
            assert!(finished.exit.is_some(), "{name}");
            witness.assert_all_gone();
        }
        figure(&format!("{name} | {rounds} rounds | 0 survivors"));
    }
    let leavers = [
        ("background child keeps the pipe", "sleep 1000 & echo done"),
        (
            "double fork, setsid, nohup",
            "(setsid nohup sh -c 'sleep 1000 & sleep 1000' &) ; echo done",
        ),
    ];
    for (name, tail) in leavers {
        for _ in 0..rounds {
            let trial = Trial::new();
            let witness = Witness::new(&trial);
            let finished = trial.run(&format!("exec 7>witness; echo x >&7; {tail}"));
            assert_eq!(finished.exit, Some(CommandExit::Code(0)), "{name}");
            assert_eq!((finished.killed, finished.partial), (None, false), "{name}");
            assert!(finished.stdout.excerpt.text.ends_with("done\n"), "{name}");
            witness.assert_all_gone();
        }
        figure(&format!("{name} | {rounds} rounds | 0 survivors"));
    }
}
