//! Background commands: each has a thread that watches it, a number, and an end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use artel_sandbox::SandboxLevel;
use artel_sandbox::run::CancelToken;

use super::{ProcessQueueState, ToolProcessSpec, ToolSandbox};
use crate::{ToolContext, ToolError, ToolErrorKind, ToolObservation};

/// The background commands of a run. Dropping this ends all of them.
#[derive(Default)]
pub struct BackgroundJobs {
    jobs: Mutex<BTreeMap<u64, BackgroundJob>>,
}

/// State of a background command.
#[derive(Debug, Clone, PartialEq)]
pub enum BackgroundJobState {
    /// It waits for its turn, for the given reason.
    Waiting(String),
    Running,
    Ended(Result<ToolObservation, ToolError>),
}

struct BackgroundJob {
    label: String,
    /// Whether it was started with a network grant.
    reaches: bool,
    cancel: CancelToken,
    state: Arc<Mutex<BackgroundJobState>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundJobs {
    /// Starts a command in the background and returns its number.
    pub fn start(
        &self,
        bench: &ToolContext,
        room: &Arc<ToolSandbox>,
        order: ToolProcessSpec,
    ) -> Result<u64, ToolError> {
        if room.sandbox.engaged().level < SandboxLevel::Full {
            return Err(ToolError::new(
                ToolErrorKind::Refused,
                "background commands need the full sandbox",
            )
            .hint("run it in the foreground"));
        }
        let cancel = CancelToken::new()
            .map_err(|error| ToolError::new(ToolErrorKind::Machine, error.to_string()))?;
        let state = Arc::new(Mutex::new(BackgroundJobState::Running));
        let label = order.label();
        let reaches = !order.network.is_empty();
        let watch = {
            let (room, bench, cancel) = (Arc::clone(room), bench.clone(), cancel.clone());
            let state = Arc::clone(&state);
            move || {
                let turn = |turn: ProcessQueueState<'_>| {
                    *lock(&state) = match turn {
                        ProcessQueueState::Awaited(what) => {
                            BackgroundJobState::Waiting(what.to_owned())
                        }
                        ProcessQueueState::Come => BackgroundJobState::Running,
                    };
                };
                let result = room
                    .finish(&bench, &order, cancel, &turn)
                    .and_then(|finished| room.observe(&order.words, &finished));
                *lock(&state) = BackgroundJobState::Ended(result);
            }
        };
        let thread = std::thread::Builder::new()
            .name("artel-job".to_owned())
            .spawn(watch)
            .map_err(|error| ToolError::new(ToolErrorKind::Machine, error.to_string()))?;
        let mut jobs = lock(&self.jobs);
        let number = jobs.keys().next_back().map_or(1, |last| last + 1);
        jobs.insert(
            number,
            BackgroundJob {
                label,
                reaches,
                cancel,
                state,
                thread: Some(thread),
            },
        );
        Ok(number)
    }

    /// Returns whether a command that is still running can reach a host.
    pub fn keeps_connection(&self) -> bool {
        let jobs = lock(&self.jobs);
        let is_open =
            |entry: &BackgroundJob| !matches!(*lock(&entry.state), BackgroundJobState::Ended(_));
        jobs.values().any(|entry| entry.reaches && is_open(entry))
    }

    /// Returns every command with its number, its label and its state.
    pub fn list(&self) -> Vec<(u64, String, BackgroundJobState)> {
        let jobs = lock(&self.jobs);
        let one = |(number, entry): (&u64, &BackgroundJob)| {
            (*number, entry.label.clone(), lock(&entry.state).clone())
        };
        jobs.iter().map(one).collect()
    }

    /// Returns the state of a command.
    pub fn state(&self, number: u64) -> Result<BackgroundJobState, ToolError> {
        let jobs = lock(&self.jobs);
        let entry = jobs.get(&number).ok_or_else(|| unknown(number, &jobs))?;
        Ok(lock(&entry.state).clone())
    }

    /// Asks a command to exit, waits for its end, and returns its state. No process of it
    /// remains.
    pub fn kill(&self, number: u64) -> Result<BackgroundJobState, ToolError> {
        let thread = {
            let mut jobs = lock(&self.jobs);
            let unknown = unknown(number, &jobs);
            let entry = jobs.get_mut(&number).ok_or(unknown)?;
            entry.cancel.soft();
            entry.thread.take()
        };
        if let Some(thread) = thread {
            // A watcher that panicked has reported it, and its command ended with it.
            thread.join().ok();
        }
        self.state(number)
    }
}

impl BackgroundJobs {
    /// Ends every command and waits until it is gone.
    pub fn end(&self) {
        let mut jobs = lock(&self.jobs);
        for entry in jobs.values() {
            entry.cancel.hard();
        }
        let threads = jobs.values_mut().filter_map(|entry| entry.thread.take());
        for thread in threads.collect::<Vec<_>>() {
            thread.join().ok();
        }
    }
}

impl Drop for BackgroundJobs {
    fn drop(&mut self) {
        self.end();
    }
}

fn unknown(number: u64, jobs: &BTreeMap<u64, BackgroundJob>) -> ToolError {
    let known: Vec<_> = jobs.keys().map(u64::to_string).collect();
    let trouble = ToolError::new(
        ToolErrorKind::NotFound,
        format!("there is no background command {number}"),
    );
    if known.is_empty() {
        trouble.hint("none was started")
    } else {
        let known: Vec<_> = known.iter().map(|number| format!("`{number}`")).collect();
        trouble.hint(format!("write `id` as {}", known.join(" or ")))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
