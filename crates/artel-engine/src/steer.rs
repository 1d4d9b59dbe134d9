//! How people reach a run under way: what they record in its stream from any process, and the
//! wish of whoever sits at this one that it stop.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use artel_journal::{Filter, Journal, Query};
use artel_types::{Fact, Failure, RunId};
use tokio::sync::{mpsc, watch};

/// What is recorded about the plan of a run by others than its driver.
const OF_PLANS: &[&str] = &[
    "step.settled",
    "step.steered",
    "step.waived",
    "plan.adopted",
    "plan.proposed",
];

/// Whether this process should go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Go on.
    #[default]
    No,
    /// Begin nothing new; what runs may end.
    Politely,
    /// End what runs, too.
    Now,
}

/// What people want of a run, as it stands in the journal now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Course {
    GoesOn,
    Paused,
    Cancelled,
}

impl Course {
    /// Reads it. A driver hears of it a moment later than it is on record: whoever is about to
    /// begin what waited for long looks here.
    pub(crate) fn of(journal: &Journal, run: RunId) -> Result<Self, Failure> {
        let filter = Filter {
            run: Some(run.to_string()),
            kind: Some("run.steered".to_owned()),
            ..Filter::default()
        };
        let mut course = Self::GoesOn;
        for record in journal.reader().records(&Query::of(filter))? {
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

/// Hears what people record for runs, for all runs that are connected to it.
#[derive(Debug, Clone, Default)]
pub struct Wheel(Arc<Ears>);

#[derive(Debug, Default)]
struct Ears {
    by_run: Mutex<HashMap<RunId, Ear>>,
    /// Closes when nobody holds the wheel any more, so that nobody listens for nothing: a daemon
    /// lives longer than all of its runs.
    held: watch::Sender<()>,
}

/// Takes what was recorded for one run, with where it stands in the journal.
type Ear = mpsc::UnboundedSender<(u64, Box<Fact>)>;

/// What reaches one run.
#[derive(Debug)]
pub struct Steering {
    facts: mpsc::UnboundedReceiver<(u64, Box<Fact>)>,
    /// Where events stand that its driver recorded itself and has not heard yet.
    own: BTreeSet<u64>,
    /// Events up to here are known to its driver.
    known: u64,
    stop: watch::Receiver<Stop>,
    wheel: Wheel,
    run: RunId,
}

impl Wheel {
    /// Begins to listen, from behind `after` on, for as long as somebody holds the wheel.
    pub fn listen(journal: &Journal, after: u64) -> Self {
        let wheel = Self::default();
        let filter = Filter {
            kind: Some("run.".to_owned()),
            ..Filter::default()
        };
        wheel.hear(journal, filter, after, &["run.steered", "run.answered"]);
        wheel
    }

    /// Hears also what people and agents record about the plan that a run carries out.
    pub fn follow(&self, journal: &Journal, run: RunId, after: u64) {
        let filter = Filter {
            run: Some(run.to_string()),
            ..Filter::default()
        };
        self.hear(journal, filter, after, OF_PLANS);
    }

    fn hear(&self, journal: &Journal, filter: Filter, after: u64, kinds: &'static [&'static str]) {
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
            // A run that has just ended hears nothing more.
            drop(sender.send((seq, Box::new(fact))));
        }
    }

    /// Connects a run.
    pub fn steer(&self, run: RunId, stop: watch::Receiver<Stop>) -> Steering {
        let (sender, facts) = mpsc::unbounded_channel();
        self.lock().insert(run, sender);
        Steering {
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

impl Steering {
    /// Leaves out what the driver has read already. It listens first and reads then: whatever
    /// people record in between is known, or heard, and never lost.
    pub fn knows_up_to(&mut self, last: u64) {
        self.known = last;
    }

    /// Leaves out what the driver recorded itself: taken in a second time, it would undo what
    /// followed from it.
    pub(crate) fn leave_out(&mut self, seqs: RangeInclusive<u64>) {
        self.own.extend(seqs);
    }

    /// Returns what has come since.
    pub(crate) fn news(&mut self) -> Vec<Fact> {
        let mut news = Vec::new();
        while let Ok((seq, fact)) = self.facts.try_recv() {
            if !self.own.remove(&seq) && seq > self.known {
                news.push(*fact);
            }
        }
        news
    }

    /// Waits for something to come, or for the wish to stop to grow.
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

    pub(crate) fn stop(&self) -> Stop {
        *self.stop.borrow()
    }
}

/// Waits for the wish to stop to grow; for ever where nobody can have it.
async fn grown(stop: &mut watch::Receiver<Stop>) {
    if stop.changed().await.is_err() {
        std::future::pending().await
    }
}

impl Drop for Steering {
    fn drop(&mut self) {
        self.wheel.lock().remove(&self.run);
    }
}
