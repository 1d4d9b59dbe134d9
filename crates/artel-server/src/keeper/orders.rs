//! What people tell the scheduler beside the journal: to go on with something now, or to begin a
//! run and say which it is.

use std::sync::{Arc, Mutex, PoisonError};

use artel_journal::Filter;
use artel_types::{Code, Failure, RunId, TraceId};
use artel_workshop::{RunOrder, Workshop};
use tokio::sync::{mpsc, oneshot};

use super::Task;
use crate::desk::Desk;

/// Something that the scheduler is told.
pub(crate) enum Order {
    /// To go on with something: somebody waits for it.
    GoOn(Task),
    /// To go on with a piece of work that was found, in its turn.
    Found(TraceId),
    /// To begin a run.
    Begin(Begin),
}

/// A run to begin in somebody's name.
pub(crate) struct Begin {
    pub(super) workshop: Arc<Workshop>,
    pub(super) order: RunOrder,
    /// Hears why it did not begin, or that it is over.
    pub(super) over: oneshot::Sender<Option<Failure>>,
}

/// The way to the scheduler.
pub(crate) struct Orders {
    sender: mpsc::UnboundedSender<Order>,
    receiver: Mutex<Option<mpsc::UnboundedReceiver<Order>>>,
}

impl Default for Orders {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let receiver = Mutex::new(Some(receiver));
        Self { sender, receiver }
    }
}

impl Orders {
    /// Has the scheduler go on with something soon.
    pub(crate) fn go_on(&self, task: Task) {
        // A scheduler that is gone needs no orders: the next one finds what was left.
        drop(self.sender.send(Order::GoOn(task)));
    }

    /// Has the scheduler go on with a piece of work when its turn comes.
    pub(crate) fn found(&self, trace: TraceId) {
        drop(self.sender.send(Order::Found(trace)));
    }

    /// Returns where orders arrive; once.
    pub(super) fn take(&self) -> Option<mpsc::UnboundedReceiver<Order>> {
        let mut receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        receiver.take()
    }
}

/// Begins a run, and returns which it is once it is on record; or why it did not begin.
pub(crate) async fn begin(
    desk: &Desk,
    workshop: Arc<Workshop>,
    order: RunOrder,
) -> Result<(RunId, TraceId), Failure> {
    if workshop.is_daemon_held()? {
        return Err(Failure::new(Code::R008, "the daemon begins nothing new")
            .because("a person paused it")
            .advise("`artel daemon resume`"));
    }
    let trace = workshop.trace_id();
    let filter = Filter {
        trace: Some(trace.to_string()),
        kind: Some("run.started".to_owned()),
        ..Filter::default()
    };
    let mut started = desk.journal.subscribe(filter, desk.reader().head()?);
    let (over, mut is_over) = oneshot::channel();
    let begin = Begin {
        workshop,
        order,
        over,
    };
    let stopping = || Failure::new(Code::H003, "the server is stopping");
    let sent = desk.orders.sender.send(Order::Begin(begin));
    sent.map_err(|_| stopping())?;
    let record = tokio::select! {
        biased;
        record = started.next() => record?,
        over = &mut is_over => match over {
            Ok(Some(failure)) => return Err(failure),
            // It was short; what it left is on record.
            Ok(None) => started.next().await?,
            Err(_) => return Err(stopping()),
        },
    };
    let run = record.run.as_deref().and_then(|run| run.parse().ok());
    let run = run.ok_or_else(|| Failure::new(Code::X001, "a run began without an id"))?;
    Ok((run, trace))
}
