//! The ways in which people reach a run under way: the events that they record in its
//! stream from any process, and a stop request from the person at this process.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use artel_journal::{EventFilter, EventQuery, Journal};
use artel_types::{Fact, Failure, RunId};
use tokio::sync::{mpsc, watch};

/// Kinds of events about a run's plan that others than its driver record.
const OF_PLANS: &[&str] = &[
    "step.settled",
    "step.steered",
    "step.waived",
    "plan.adopted",
    "plan.proposed",
];

/// Whether this process should stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShutdownLevel {
    /// Keep running.
    #[default]
    No,
    /// Begin nothing new, but let running work finish.
    Politely,
    /// End running work, too.
    Now,
}

/// The steering state of a run, as recorded in the journal now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunSteeringState {
    GoesOn,
    Paused,
    Cancelled,
}

impl RunSteeringState {
    /// Reads the current state from the journal. The driver learns of it a moment later,
    /// so code that is about to begin something after a long wait checks here.
    pub(crate) fn of(journal: &Journal, run: RunId) -> Result<Self, Failure> {
        let filter = EventFilter {
            run: Some(run.to_string()),
            kind: Some("run.steered".to_owned()),
            ..EventFilter::default()
        };
        let mut course = Self::GoesOn;
        for record in journal.reader().records(&EventQuery::of(filter))? {
            let Fact::RunSteered(steered) = record.event()?.fact else {
                continue;
            };
            match steered.act.as_str() {
                "cancel" => return Ok(Self::Cancelled),
                "pause" => course = Self::Paused,
                "resume" => course = Self::GoesOn,
                _ => {}
            }
        }
        Ok(course)
    }
}

/// Listens to what people record for runs, and passes it on to all connected runs.
#[derive(Debug, Clone, Default)]
pub struct SteeringHub(Arc<SteeringListeners>);

#[derive(Debug, Default)]
struct SteeringListeners {
    by_run: Mutex<HashMap<RunId, Ear>>,
    /// Closes when nobody holds the hub any more, so that the listeners end: a daemon
    /// outlives all of its runs.
    held: watch::Sender<()>,
}

/// Channel for the facts recorded for one run, with their sequence numbers.
type Ear = mpsc::UnboundedSender<(u64, Box<Fact>)>;

/// Receives the events for one run.
#[derive(Debug)]
pub struct SteeringInbox {
    facts: mpsc::UnboundedReceiver<(u64, Box<Fact>)>,
    /// Sequence numbers of events that the driver recorded itself and has not received
    /// yet.
    own: BTreeSet<u64>,
    /// Sequence number of the last event that the driver already knows.
    known: u64,
    stop: watch::Receiver<ShutdownLevel>,
    wheel: SteeringHub,
    run: RunId,
}

impl SteeringHub {
    /// Starts listening after the sequence number `after`, as long as somebody holds the
    /// hub.
    pub fn listen(journal: &Journal, after: u64) -> Self {
        let wheel = Self::default();
        let filter = EventFilter {
            kind: Some("run.".to_owned()),
            ..EventFilter::default()
        };
        wheel.hear(journal, filter, after, &["run.steered", "run.answered"]);
        wheel
    }

    /// Also listens to what people and agents record about the plan that a run carries
    /// out.
    pub fn follow(&self, journal: &Journal, run: RunId, after: u64) {
        let filter = EventFilter {
            run: Some(run.to_string()),
            ..EventFilter::default()
        };
        self.hear(journal, filter, after, OF_PLANS);
    }

    fn hear(
        &self,
        journal: &Journal,
        filter: EventFilter,
        after: u64,
        kinds: &'static [&'static str],
    ) {
        let mut heard = journal.subscribe(filter, after);
        let (ears, mut held) = (Arc::downgrade(&self.0), self.0.held.subscribe());
        tokio::spawn(async move {
            loop {
                let record = tokio::select! {
                    Ok(record) = heard.next() => record,
                    _ = held.changed() => break,
                    else => break,
                };
                let Some(ears) = Weak::upgrade(&ears) else {
                    break;
                };
                if kinds.contains(&record.kind.as_str())
                    && let Ok(event) = record.event()
                {
                    Self(ears).pass_on(event.run, (event.seq, event.fact));
                }
            }
        });
    }

    fn pass_on(&self, run: Option<RunId>, (seq, fact): (u64, Fact)) {
        let lock = self.lock();
        if let Some(sender) = run.and_then(|run| lock.get(&run)) {
            // A run that has just ended receives nothing more.
            drop(sender.send((seq, Box::new(fact))));
        }
    }

    /// Connects a run.
    pub fn steer(&self, run: RunId, stop: watch::Receiver<ShutdownLevel>) -> SteeringInbox {
        let (sender, facts) = mpsc::unbounded_channel();
        self.lock().insert(run, sender);
        SteeringInbox {
            facts,
            own: BTreeSet::new(),
            known: 0,
            stop,
            wheel: self.clone(),
            run,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Ear>> {
        let ears = self.0.by_run.lock();
        ears.unwrap_or_else(PoisonError::into_inner)
    }
}

impl SteeringInbox {
    /// Skips events that the driver has already read. It listens first and reads
    /// afterwards, so that everything recorded in between is either read or received, and
    /// never lost.
    pub fn knows_up_to(&mut self, last: u64) {
        self.known = last;
    }

    /// Skips events that the driver recorded itself: folded a second time, they would undo
    /// their consequences.
    pub(crate) fn leave_out(&mut self, seqs: RangeInclusive<u64>) {
        self.own.extend(seqs);
    }

    /// Returns the facts received since the last call.
    pub(crate) fn news(&mut self) -> Vec<Fact> {
        let mut news = Vec::new();
        while let Ok((seq, fact)) = self.facts.try_recv() {
            if !self.own.remove(&seq) && seq > self.known {
                news.push(*fact);
            }
        }
        news
    }

    /// Waits for a fact, or for a stronger stop request.
    pub(crate) async fn heard(&mut self) -> Option<Fact> {
        let Self {
            facts,
            own,
            known,
            stop,
            ..
        } = self;
        tokio::select! {
            heard = facts.recv() => {
                let (seq, fact) = heard?;
                (!own.remove(&seq) && seq > *known).then_some(*fact)
            }
            () = grown(stop) => None,
        }
    }

    pub(crate) fn stop(&self) -> ShutdownLevel {
        *self.stop.borrow()
    }
}

/// Waits for a stronger stop request, or for ever if nobody can send one.
async fn grown(stop: &mut watch::Receiver<ShutdownLevel>) {
    if stop.changed().await.is_err() {
        std::future::pending().await
    }
}

impl Drop for SteeringInbox {
    fn drop(&mut self) {
        self.wheel.lock().remove(&self.run);
    }
}
