//! The runtime on which a command waits for the network, or for a person.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use artel_types::{Code, Failure, FailureKind};
use artel_workshop::Stop;
use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::signals::Ear;

/// How long what was under way may take to end well after an interruption.
const GRACE: Duration = Duration::from_secs(1);

/// How often to look whether it has ended.
const LOOK: Duration = Duration::from_millis(10);

/// Waits for something. Ctrl-C and a request to end call it off: a call that is under way is
/// settled before the command ends.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let not_started = |error: std::io::Error| {
        Failure::new(Code::X001, "the runtime could not be started").because(error.to_string())
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(not_started)?;
    let done = runtime.block_on(async {
        let done = unless_interrupted(future).await.map_err(not_started)?;
        if done.is_none() {
            // A limit that passes is no news: what has not ended by then never does.
            tokio::time::timeout(GRACE, all_ended())
                .await
                .unwrap_or_default();
        }
        done.ok_or_else(interrupted)
    });
    // Somebody may still wait in a thread, for a name or a key press; nobody waits for them.
    runtime.shutdown_background();
    done
}

/// Waits for something that can be asked to stop: the first Ctrl-C asks it to, politely, the second
/// at once; the third is not waited for.
pub(crate) fn block_on_stoppable<T>(
    future: impl Future<Output = T>,
    stop: &watch::Sender<Stop>,
) -> Result<T, Failure> {
    let not_started = |error: std::io::Error| {
        Failure::new(Code::X001, "the runtime could not be started").because(error.to_string())
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(not_started)?;
    let mut ear = Ear::for_work(stop).map_err(not_started)?;
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

/// Serves until a signal says to stop; a hang-up says to look at the settings anew.
pub(crate) fn block_on_serving<T, F: Future<Output = T>>(
    serve: impl FnOnce(watch::Receiver<Stop>, watch::Receiver<u64>) -> F,
) -> Result<T, Failure> {
    let not_started = |error: std::io::Error| {
        Failure::new(Code::X001, "the runtime could not be started").because(error.to_string())
    };
    let runtime = Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(not_started)?;
    let done = runtime.block_on(async {
        let mut ear = Ear::open().map_err(not_started)?;
        let mut hang_up = signal(SignalKind::hangup()).map_err(not_started)?;
        let (stop, stops) = watch::channel(Stop::No);
        let (again, agains) = watch::channel(0);
        let mut serving = pin!(serve(stops, agains));
        loop {
            tokio::select! {
                biased;
                done = &mut serving => return Ok(done),
                _ = hang_up.recv() => again.send_modify(|count| *count += 1),
                () = ear.hear() => { stop.send_replace(Stop::Politely); }
            }
        }
    });
    // What is being written is finished. A call may still wait for somebody's yes in a thread;
    // nobody waits for that.
    runtime.shutdown_timeout(GRACE);
    done
}

/// Returns what a command fails with: where the person called it off at a question, it is that,
/// and not that nobody answered.
pub(crate) fn unless_stopped(failure: Failure, stop: &watch::Sender<Stop>) -> Failure {
    match *stop.borrow() {
        Stop::Politely | Stop::Now if failure.kind() == FailureKind::Refused => interrupted(),
        // It waited for room, and was called off.
        Stop::Politely | Stop::Now if failure.code == Code::J006 => {
            let why = interrupted().because(failure.what);
            match failure.advice {
                Some(advice) => why.advise(advice),
                None => why,
            }
        }
        _ => failure,
    }
}

/// The failure of a command that a person called off.
pub(crate) fn interrupted() -> Failure {
    Failure::new(Code::X002, "interrupted")
}

/// Returns nothing if a signal came first; what was waited for is dropped then.
async fn unless_interrupted<T>(future: impl Future<Output = T>) -> std::io::Result<Option<T>> {
    let mut ear = Ear::open()?;
    tokio::select! {
        biased;
        done = future => Ok(Some(done)),
        () = ear.hear() => Ok(None),
    }
}

/// Waits until every task has ended: those of calls that were called off settle them.
async fn all_ended() {
    while Handle::current().metrics().num_alive_tasks() > 0 {
        tokio::time::sleep(LOOK).await;
    }
}
