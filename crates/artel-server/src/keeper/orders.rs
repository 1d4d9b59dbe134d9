//! Commands for the scheduler that do not come from the journal: to resume a task now, or
//! to start a run and return its id.

use std::sync::{Arc, Mutex, PoisonError};

use artel_journal::EventFilter;
use artel_types::{Failure, FailureCode, RunId, TraceId};
use artel_workshop::{RunStartOptions, Workshop};
use tokio::sync::{mpsc, oneshot};

use super::SchedulerTask;
use crate::desk::ServerState;

/// A command for the scheduler.
pub(crate) enum SchedulerCommand {
    /// Resume a task soon, because a person waits for it.
    GoOn(SchedulerTask),
    /// Queue a piece of work that was found, by its urgency.
    Found(TraceId),
    /// Start a run.
    Begin(StartRunCommand),
}

/// A run to start in a person's or program's name.
pub(crate) struct StartRunCommand {
    pub(super) workshop: Arc<Workshop>,
    pub(super) order: RunStartOptions,
    /// Receives why the run did not start, or `None` once it is over.
    pub(super) over: oneshot::Sender<Option<Failure>>,
}

/// The channel of commands to the scheduler.
pub(crate) struct SchedulerCommandChannel {
    sender: mpsc::UnboundedSender<SchedulerCommand>,
    receiver: Mutex<Option<mpsc::UnboundedReceiver<SchedulerCommand>>>,
}

impl Default for SchedulerCommandChannel {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let receiver = Mutex::new(Some(receiver));
        Self { sender, receiver }
    }
}

impl SchedulerCommandChannel {
    /// Has the scheduler resume a task soon.
    pub(crate) fn go_on(&self, task: SchedulerTask) {
        // If the scheduler is gone, the command is not needed: the next one finds leftover
        // tasks.
        drop(self.sender.send(SchedulerCommand::GoOn(task)));
    }

    /// Has the scheduler queue a piece of work by its urgency.
    pub(crate) fn found(&self, trace: TraceId) {
        drop(self.sender.send(SchedulerCommand::Found(trace)));
    }

    /// Returns the receiving end; `None` after the first call.
    pub(super) fn take(&self) -> Option<mpsc::UnboundedReceiver<SchedulerCommand>> {
        let mut receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        receiver.take()
    }
}

/// Starts a run, and returns its ids once the start is recorded. Fails with the reason if
/// it did not start.
pub(crate) async fn begin(
    desk: &ServerState,
    workshop: Arc<Workshop>,
    order: RunStartOptions,
) -> Result<(RunId, TraceId), Failure> {
    if workshop.is_daemon_held()? {
        return Err(
            Failure::new(FailureCode::R008, "the daemon begins nothing new")
                .because("a person paused it")
                .advise("`artel daemon resume`"),
        );
    }
    let trace = workshop.trace_id();
    let filter = EventFilter {
        trace: Some(trace.to_string()),
        kind: Some("run.started".to_owned()),
        ..EventFilter::default()
    };
    let mut started = desk.journal.subscribe(filter, desk.reader().head()?);
    let (over, mut is_over) = oneshot::channel();
    let begin = StartRunCommand {
        workshop,
        order,
        over,
    };
    let stopping = || Failure::new(FailureCode::H003, "the server is stopping");
    let sent = desk.orders.sender.send(SchedulerCommand::Begin(begin));
    sent.map_err(|_| stopping())?;
    let record = tokio::select! {
        biased;
        record = started.next() => record?,
        over = &mut is_over => match over {
            Ok(Some(failure)) => return Err(failure),
            // The run was short and is already over; its start is recorded.
            Ok(None) => started.next().await?,
            Err(_) => return Err(stopping()),
        },
    };
    let run = record.run.as_deref().and_then(|run| run.parse().ok());
    let run = run.ok_or_else(|| Failure::new(FailureCode::X001, "a run began without an id"))?;
    Ok((run, trace))
}
