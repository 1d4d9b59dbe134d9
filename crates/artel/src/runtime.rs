//! The async runtime with which a command waits for the network or a person.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use artel_types::{Failure, FailureCode, FailureKind};
use artel_workshop::ShutdownLevel;
use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::signals::SignalListener;

/// Time that tasks get to end cleanly after an interruption.
const GRACE: Duration = Duration::from_secs(1);

/// Interval between checks whether they have ended.
const LOOK: Duration = Duration::from_millis(10);

/// Runs a future to its end. Ctrl-C or a termination request cancels it: a call in progress
/// is settled before the command ends.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let not_started = |error: std::io::Error| {
        Failure::new(FailureCode::X001, "the runtime could not be started")
            .because(error.to_string())
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(not_started)?;
    let done = runtime.block_on(async {
        let done = unless_interrupted(future).await.map_err(not_started)?;
        if done.is_none() {
            // A timeout is not an error: tasks that have not ended by then never will.
            tokio::time::timeout(GRACE, all_ended())
                .await
                .unwrap_or_default();
        }
        done.ok_or_else(interrupted)
    });
    // A thread may still be waiting for a name lookup or a key press; nothing waits for
    // that thread.
    runtime.shutdown_background();
    done
}

/// Runs a future that can be asked to stop. The first Ctrl-C asks it to stop politely, the
/// second at once; the third no longer waits for it.
pub(crate) fn block_on_stoppable<T>(
    future: impl Future<Output = T>,
    stop: &watch::Sender<ShutdownLevel>,
) -> Result<T, Failure> {
    let not_started = |error: std::io::Error| {
        Failure::new(FailureCode::X001, "the runtime could not be started")
            .because(error.to_string())
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(not_started)?;
    let mut ear = SignalListener::for_work(stop).map_err(not_started)?;
    let done = runtime.block_on(async {
        let mut future = pin!(future);
        loop {
            tokio::select! {
                biased;
                done = &mut future => return Ok(done),
                () = ear.hear() => {}
            }
            if ear.count() > 2 {
                return Err(interrupted());
            }
        }
    });
    runtime.shutdown_background();
    done
}

/// Serves until a signal asks to stop. A hang-up signal reloads the settings.
pub(crate) fn block_on_serving<T, F: Future<Output = T>>(
    serve: impl FnOnce(watch::Receiver<ShutdownLevel>, watch::Receiver<u64>) -> F,
) -> Result<T, Failure> {
    let not_started = |error: std::io::Error| {
        Failure::new(FailureCode::X001, "the runtime could not be started")
            .because(error.to_string())
    };
    let runtime = Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(not_started)?;
    let done = runtime.block_on(async {
        let mut ear = SignalListener::open().map_err(not_started)?;
        let mut hang_up = signal(SignalKind::hangup()).map_err(not_started)?;
        let (stop, stops) = watch::channel(ShutdownLevel::No);
        let (again, agains) = watch::channel(0);
        let mut serving = pin!(serve(stops, agains));
        loop {
            tokio::select! {
                biased;
                done = &mut serving => return Ok(done),
                _ = hang_up.recv() => again.send_modify(|count| *count += 1),
                () = ear.hear() => { stop.send_replace(ShutdownLevel::Politely); }
            }
        }
    });
    // Writes in progress are finished. A call may still be waiting in a thread for a
    // person's yes; nothing waits for that.
    runtime.shutdown_timeout(GRACE);
    done
}

/// Returns the failure of a command. If the person stopped the command at a question, that
/// is the failure, and not that nobody answered.
pub(crate) fn unless_stopped(failure: Failure, stop: &watch::Sender<ShutdownLevel>) -> Failure {
    match *stop.borrow() {
        ShutdownLevel::Politely | ShutdownLevel::Now if failure.kind() == FailureKind::Refused => {
            interrupted()
        }
        // The command was waiting for disk space when it was stopped.
        ShutdownLevel::Politely | ShutdownLevel::Now if failure.code == FailureCode::J006 => {
            let why = interrupted().because(failure.what);
            match failure.advice {
                Some(advice) => why.advise(advice),
                None => why,
            }
        }
        _ => failure,
    }
}

/// Returns the failure of a command that a person interrupted.
pub(crate) fn interrupted() -> Failure {
    Failure::new(FailureCode::X002, "interrupted")
}

/// Returns `None` if a signal came first; the future is dropped then.
async fn unless_interrupted<T>(future: impl Future<Output = T>) -> std::io::Result<Option<T>> {
    let mut ear = SignalListener::open()?;
    tokio::select! {
        biased;
        done = future => Ok(Some(done)),
        () = ear.hear() => Ok(None),
    }
}

/// Waits until every task has ended. Tasks of cancelled calls settle those calls.
async fn all_ended() {
    while Handle::current().metrics().num_alive_tasks() > 0 {
        tokio::time::sleep(LOOK).await;
    }
}
