//! Commands end by themselves, by time, by a cancel, and together with everything they
//! started.

use std::fs::File;
use std::io::{Read as _, Write as _};

use artel_rules::patience::{CommandStopSignal, CommandTimeLimits, CommandTimeout};

use super::*;

/// Reads to the end of a pipe, which comes when the last process that has it open is gone.
struct Witness(File);

impl Witness {
    /// Creates the pipe `witness`, which children open for writing.
    fn new(trial: &Trial) -> Self {
        let path = trial.fifo("witness");
        // Opening for both avoids waiting for a writer; the writing side is dropped
        // afterwards.
        let both = File::options().read(true).write(true).open(&path).unwrap();
        let reader = File::open(&path).unwrap();
        drop(both);
        Self(reader)
    }

    fn assert_all_gone(mut self) {
        let mut said = Vec::new();
        self.0.read_to_end(&mut said).unwrap();
    }
}

/// Cancels when the child prints that it is ready.
fn cancel_when_ready(cancel: &CancelToken) -> impl FnMut(LiveCommandEvent<'_>) {
    let cancel = cancel.clone();
    move |live| {
        if matches!(live, LiveCommandEvent::Output(_, bytes) if bytes.starts_with(b"ready")) {
            cancel.soft();
        }
    }
}

#[test]
fn a_command_that_ends_by_itself_is_told_as_it_ended() {
    let cases = [
        ("echo out; echo err >&2; exit 3", CommandExit::Code(3)),
        (
            "echo out; echo err >&2; kill -SEGV $$",
            CommandExit::Signal(libc::SIGSEGV),
        ),
    ];
    for (script, exit) in cases {
        let finished = Trial::new().run(script);
        assert_eq!(finished.exit, Some(exit), "{script}");
        assert_eq!(
            (finished.killed, finished.partial),
            (None, false),
            "{script}"
        );
        assert_eq!(finished.stdout.excerpt.text, "out\n");
        assert_eq!(finished.stderr.excerpt.text, "err\n");
        assert!(finished.render("").contains("--- stderr ---\nerr\n"));
    }
}

#[test]
fn a_cancel_ends_grandchildren_too() {
    let trial = Trial::new();
    let witness = Witness::new(&trial);
    let script = "exec 7>witness; sleep 1000 & echo ready; exec sleep 1000";
    let finished = trial.run_live(script, &mut cancel_when_ready(&trial.cancel));
    let killed = finished.killed.unwrap();
    assert_eq!(killed.by, CommandTerminationCause::Cancel);
    // On a busy machine the grace after the first signal can be over before the signal is
    // delivered.
    let polite = ["SIGINT", "SIGTERM"].contains(&killed.signal_name().as_str());
    assert!(polite, "{killed:?}");
    assert!(finished.partial);
    assert_eq!(text(&finished.stdout), "ready\n");
    witness.assert_all_gone();
}

#[test]
fn who_ignores_everything_is_killed_and_its_output_kept() {
    let trial = Trial::new();
    let script = "trap '' INT TERM; echo ready; while :; do sleep 1000; done";
    let mut signals = Vec::new();
    let mut cancel = cancel_when_ready(&trial.cancel);
    let finished = trial.run_live(script, &mut |live| {
        cancel(live);
        if let LiveCommandEvent::Signalled(signal) = live {
            signals.push(signal);
        }
    });
    let killed = finished.killed.unwrap();
    assert_eq!(
        (killed.signal, killed.by),
        (libc::SIGKILL, CommandTerminationCause::Cancel)
    );
    assert_eq!(killed.signal_name(), "SIGKILL");
    assert_eq!(
        signals,
        [
            CommandStopSignal::Interrupt,
            CommandStopSignal::Terminate,
            CommandStopSignal::Kill
        ]
    );
    let sent = killed.sent;
    let (interrupt, terminate) = (sent.interrupt.unwrap(), sent.terminate.unwrap());
    assert!(terminate >= interrupt + trial.graces.interrupt);
    assert!(sent.kill.unwrap() >= terminate + trial.graces.terminate);
    assert_eq!(finished.exit, Some(CommandExit::Signal(libc::SIGKILL)));
    assert!(finished.partial);
    assert_eq!(finished.stdout.excerpt.text, "ready\n");
}

#[test]
fn who_ignores_the_interrupt_gets_the_chance_to_terminate() {
    let trial = Trial::new();
    let script =
        "trap '' INT; trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.01; done";
    let finished = trial.run_live(script, &mut cancel_when_ready(&trial.cancel));
    let killed = finished.killed.unwrap();
    assert_eq!(killed.signal, libc::SIGTERM);
    assert_eq!(killed.sent.kill, None);
    assert_eq!(finished.exit, Some(CommandExit::Code(9)));
    assert_eq!(text(&finished.stdout), "ready\nbye\n");
}

#[test]
fn a_hard_cancel_kills_at_once() {
    let trial = Trial::new();
    let cancel = trial.cancel.clone();
    let finished = trial.run_live("trap '' INT; echo ready; sleep 1000", &mut |live| {
        if matches!(live, LiveCommandEvent::Output(..)) {
            cancel.hard();
        }
    });
    let sent = finished.killed.unwrap().sent;
    assert_eq!((sent.interrupt, sent.terminate), (None, None));
    assert!(sent.kill.is_some());
}

#[test]
fn a_second_cancel_cuts_the_grace_short() {
    let trial = Trial {
        graces: patience::CommandGracePeriods {
            interrupt: Duration::from_secs(3600),
            terminate: Duration::from_secs(3600),
        },
        ..Trial::new()
    };
    let cancel = trial.cancel.clone();
    let finished = trial.run_live(
        "trap '' INT; echo ready; sleep 1000",
        &mut |live| match live {
            LiveCommandEvent::Output(..) => cancel.soft(),
            LiveCommandEvent::Signalled(CommandStopSignal::Interrupt) => cancel.hard(),
            LiveCommandEvent::Signalled(_) => {}
        },
    );
    let sent = finished.killed.unwrap().sent;
    assert!(sent.interrupt.is_some() && sent.terminate.is_none() && sent.kill.is_some());
}

#[test]
fn one_cancel_ends_many() {
    let cancel = CancelToken::new().unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let cancel = cancel.clone();
            std::thread::spawn(move || {
                let trial = Trial {
                    cancel,
                    ..Trial::new()
                };
                trial.run("sleep 1000").killed.is_some()
            })
        })
        .collect();
    cancel.soft();
    for thread in threads {
        assert!(thread.join().unwrap());
    }
}

#[test]
fn a_command_lives_by_what_it_says() {
    let limits = CommandTimeLimits {
        base: Duration::from_secs(2),
        extend: Duration::from_secs(1),
        longest: Duration::from_secs(30),
    };
    let capped = CommandTimeLimits {
        longest: Duration::from_secs(4),
        ..limits
    };
    let longest = capped.longest;
    let cases = [
        (limits, "line", None),
        (limits, "....", Some((2_000, "silent"))),
        (limits, "42%", Some((2_000, "silent"))),
        (capped, "line", Some((4_000, "endless"))),
    ];
    for (limits, line, expected) in cases {
        let killed = lockstep(limits, line);
        let seen =
            killed.map(|killed| {
                let why =
                    match killed.by {
                        CommandTerminationCause::Timeout(CommandTimeout::Silent {
                            base, ..
                        }) if base == limits.base => "silent",
                        CommandTerminationCause::Timeout(CommandTimeout::Endless {
                            longest: told,
                        }) if told == longest => "endless",
                        other => panic!("{other:?}"),
                    };
                (killed.sent.interrupt.unwrap().as_millis(), why)
            });
        assert_eq!(seen, expected, "{line}");
    }
}

/// Runs a child that prints `line` every half second for six seconds, on a clock that
/// moves with its lines.
fn lockstep(limits: CommandTimeLimits, line: &str) -> Option<CommandTermination> {
    let (clock, time) = hand_clock();
    let trial = Trial {
        clock,
        patience: limits,
        graces: patience::CommandGracePeriods {
            interrupt: Duration::ZERO,
            terminate: Duration::ZERO,
        },
        ..Trial::new()
    };
    let path = trial.fifo("go");
    let mut go = Some(File::options().read(true).write(true).open(path).unwrap());
    let script =
        format!("echo {line}; while read x; do [ $x = end ] && exit 0; echo {line}; done <go");
    let finished = trial.run_live(&script, &mut |live| {
        if !matches!(live, LiveCommandEvent::Output(..)) {
            return;
        }
        let mut time = time.lock().unwrap();
        *time += Duration::from_millis(500);
        let word: &[u8] = if *time < Duration::from_secs(6) {
            b"go\n"
        } else {
            b"end\n"
        };
        go.as_mut().unwrap().write_all(word).unwrap();
    });
    finished.killed
}

#[test]
fn who_closes_its_output_and_stays_meets_its_time() {
    let (_trial, finished) =
        Trial::with_time(150).run_timed("echo going; exec >&- 2>&-; sleep 1000");
    let killed = finished.killed.unwrap();
    assert!(
        matches!(killed.by, CommandTerminationCause::Timeout(_)),
        "{killed:?}"
    );
    assert_eq!(text(&finished.stdout), "going\n");
}

#[test]
fn a_background_child_does_not_hold_the_end_up() {
    let trial = Trial::new();
    let witness = Witness::new(&trial);
    let finished =
        trial.run("exec 7>witness; sleep 1000 & nohup sleep 1000 2>/dev/null & echo done");
    assert_eq!(finished.exit, Some(CommandExit::Code(0)));
    assert_eq!((finished.killed, finished.partial), (None, false));
    assert_eq!(text(&finished.stdout), "done\n");
    witness.assert_all_gone();
}

#[test]
fn a_pipe_that_a_stranger_holds_is_given_up() {
    let trial = Trial::new();
    let path = trial.fifo("leave");
    let leave = File::options().read(true).write(true).open(path).unwrap();
    trial.fifo("there");
    let script = "setsid sh -c 'echo >there; read x <leave' & read x <there; echo done";
    let finished = trial.run(script);
    assert_eq!(finished.exit, Some(CommandExit::Code(0)));
    assert!(finished.partial, "someone may still have written");
    assert_eq!(text(&finished.stdout), "done\n");
    drop(leave);
}

#[test]
fn who_stopped_itself_is_woken_to_leave() {
    let script = "trap 'echo bye; exit 5' INT; echo ready; kill -STOP $$; sleep 1000";
    let (_trial, finished) = Trial::with_time(200).run_timed(script);
    let killed = finished.killed.unwrap();
    assert_eq!(killed.signal, libc::SIGINT);
    assert_eq!(finished.exit, Some(CommandExit::Code(5)));
    assert_eq!(text(&finished.stdout), "ready\nbye\n");
}

#[test]
fn a_parent_of_zombies_ends_like_any_other() {
    let trial = Trial::with_time(150);
    let witness = Witness::new(&trial);
    let script = "exec 7>witness; echo ready; for i in 1 2 3; do true & done; exec sleep 1000";
    let (_trial, finished) = trial.run_timed(script);
    assert!(finished.killed.is_some());
    assert!(finished.exit.is_some());
    witness.assert_all_gone();
}
