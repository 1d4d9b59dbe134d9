//! What was let through the walls of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use artel_types::{Event, Fact, Outcome, WallOpening};

use crate::Jobs;

/// What was let through the walls around one tree of files, by any run that works in it. It only
/// grows: what a command has seen or sent is not taken back.
#[derive(Default)]
pub struct Openings {
    opened: Mutex<BTreeSet<WallOpening>>,
    /// The background commands of the runs that work in it; of those that are over nothing is left.
    jobs: Mutex<Vec<Weak<Jobs>>>,
}

impl Openings {
    /// Returns everything that was let through so far.
    pub fn all(&self) -> BTreeSet<WallOpening> {
        lock(&self.opened).clone()
    }

    /// Notes what a call lets through.
    pub fn extend(&self, openings: impl IntoIterator<Item = WallOpening>) {
        lock(&self.opened).extend(openings);
    }

    /// Notes the background commands of a run that works in the tree.
    pub fn watch(&self, jobs: &Arc<Jobs>) {
        let mut watched = lock(&self.jobs);
        watched.retain(|known| known.strong_count() > 0);
        let new = Arc::downgrade(jobs);
        if !watched.iter().any(|known| known.ptr_eq(&new)) {
            watched.push(new);
        }
    }

    /// Tells whether a background command of any of these runs can reach a host.
    pub fn keeps_connection(&self) -> bool {
        // Whoever lets go of a run's commands last waits for their end, and holds no lock then.
        let watched: Vec<_> = lock(&self.jobs).iter().filter_map(Weak::upgrade).collect();
        watched.iter().any(|jobs| jobs.keeps_connection())
    }

    /// Notes what earlier calls let through, as the journal has it.
    pub fn fold<'e>(&self, events: impl IntoIterator<Item = &'e Event>) {
        let mut recorded = RecordedOpenings::default();
        events.into_iter().for_each(|event| recorded.fold(event));
        self.extend(recorded.opened);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What calls on record let through: those that were allowed, and those whose question was answered
/// with a yes. A call that was cut off counts.
#[derive(Debug, Default)]
pub struct RecordedOpenings {
    /// What questions that are open would let through, by the call.
    asked: BTreeMap<String, Vec<WallOpening>>,
    /// What was let through so far.
    pub opened: BTreeSet<WallOpening>,
}

impl RecordedOpenings {
    /// Takes in the next event of a run.
    pub fn fold(&mut self, event: &Event) {
        let is_allowed = event.outcome == Some(Outcome::Allowed);
        match &event.fact {
            Fact::ToolRequested(it) => {
                let opens = it.opens.clone().unwrap_or_default();
                if is_allowed {
                    self.opened.extend(opens);
                } else if event.outcome != Some(Outcome::Denied) {
                    self.asked.insert(it.call.clone(), opens);
                }
            }
            Fact::ToolAnswered(it) if is_allowed => {
                let opens = self.asked.remove(&it.call);
                self.opened.extend(opens.into_iter().flatten());
            }
            _ => {}
        }
    }
}
