//! The openings made in the walls of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use artel_types::{Event, EventOutcome, Fact, SandboxOpening};

use crate::BackgroundJobs;

/// The openings made in the walls around one tree of files, by any run that works in it.
/// The set only grows: a command cannot forget what it has seen, nor take back what it has
/// sent.
#[derive(Default)]
pub struct TreeWallOpenings {
    opened: Mutex<BTreeSet<SandboxOpening>>,
    /// The background commands of the runs that work in the tree. Those of ended runs are
    /// dropped.
    jobs: Mutex<Vec<Weak<BackgroundJobs>>>,
}

impl TreeWallOpenings {
    /// Returns all openings so far.
    pub fn all(&self) -> BTreeSet<SandboxOpening> {
        lock(&self.opened).clone()
    }

    /// Records the openings that a call makes.
    pub fn extend(&self, openings: impl IntoIterator<Item = SandboxOpening>) {
        lock(&self.opened).extend(openings);
    }

    /// Registers the background commands of a run that works in the tree.
    pub fn watch(&self, jobs: &Arc<BackgroundJobs>) {
        let mut watched = lock(&self.jobs);
        watched.retain(|known| known.strong_count() > 0);
        let new = Arc::downgrade(jobs);
        if !watched.iter().any(|known| known.ptr_eq(&new)) {
            watched.push(new);
        }
    }

    /// Returns whether a background command of any of these runs can reach a host.
    pub fn keeps_connection(&self) -> bool {
        // Dropping the last reference to a run's commands waits for their end, so no lock may be
        // held then.
        let watched: Vec<_> = lock(&self.jobs).iter().filter_map(Weak::upgrade).collect();
        watched.iter().any(|jobs| jobs.keeps_connection())
    }

    /// Records the openings of earlier calls from the journal.
    pub fn fold<'e>(&self, events: impl IntoIterator<Item = &'e Event>) {
        let mut recorded = RecordedOpenings::default();
        events.into_iter().for_each(|event| recorded.fold(event));
        self.extend(recorded.opened);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The openings of recorded calls: those that were allowed, and those whose question was
/// answered with yes. An interrupted call counts too.
#[derive(Debug, Default)]
pub struct RecordedOpenings {
    /// The openings that the open questions would make, by call.
    asked: BTreeMap<String, Vec<SandboxOpening>>,
    /// All openings so far.
    pub opened: BTreeSet<SandboxOpening>,
}

impl RecordedOpenings {
    /// Folds the next event of a run.
    pub fn fold(&mut self, event: &Event) {
        let is_allowed = event.outcome == Some(EventOutcome::Allowed);
        match &event.fact {
            Fact::ToolRequested(it) => {
                let opens = it.opens.clone().unwrap_or_default();
                if is_allowed {
                    self.opened.extend(opens);
                } else if event.outcome != Some(EventOutcome::Denied) {
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
