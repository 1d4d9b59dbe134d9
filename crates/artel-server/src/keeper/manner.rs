//! How people want things to be done that the scheduler takes up. As what is said behind a command
//! holds for that command, it holds for as long as this daemon has the thing.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use artel_types::{Code, Failure};
use artel_workshop::{OnFailure, PlanRules, Workshop};

use super::Task;

/// No more steps of a plan than this are under way at once.
const MOST_AT_ONCE: u16 = 64;

/// How something is to be done, as far as somebody said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    /// How many steps of a plan are under way at once.
    pub(crate) at_once: Option<u16>,
    /// Whether nothing new begins once a step failed.
    pub(crate) fail_fast: Option<bool>,
    /// The model, where it is another than that of the request.
    pub(crate) model: Option<String>,
}

/// How everything is to be done about which somebody said so.
#[derive(Debug, Default)]
pub(crate) struct Manners(Mutex<HashMap<Task, Manner>>);

impl Manner {
    /// Refuses what cannot be done so, before anything is on record.
    pub(crate) async fn check(&self, workshop: &Workshop) -> Result<(), Failure> {
        if let Some(count) = self.at_once
            && !(1..=MOST_AT_ONCE).contains(&count)
        {
            return Err(Failure::new(
                Code::C004,
                format!("{count} steps at once are not possible"),
            )
            .advise(format!("`at_once` is a number from 1 to {MOST_AT_ONCE}")));
        }
        workshop.ensure_model(self.model.as_deref()).await
    }

    /// Returns what a plan is carried out by.
    pub(super) fn rules(&self) -> PlanRules {
        let usual = std::thread::available_parallelism().map_or(1, usize::from);
        PlanRules {
            at_once: self.at_once.map_or(usual, usize::from),
            failure: match self.fail_fast {
                Some(true) => OnFailure::Fast,
                _ => OnFailure::Continue,
            },
        }
    }
}

impl Manners {
    /// Takes note of how something is to be done, and returns how it was before. Where nothing is
    /// said, it stays so.
    pub(crate) fn set(&self, task: Task, manner: Manner) -> Manner {
        let before = self.of(task);
        if manner != Manner::default() {
            self.lock().insert(task, manner);
        }
        before
    }

    /// Has something be done as before: it was not to be.
    pub(crate) fn put_back(&self, task: Task, before: Manner) {
        self.forget(task);
        self.set(task, before);
    }

    /// Returns how something is to be done.
    pub(super) fn of(&self, task: Task) -> Manner {
        self.lock().get(&task).cloned().unwrap_or_default()
    }

    /// Forgets about something that is over.
    pub(super) fn forget(&self, task: Task) {
        self.lock().remove(&task);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Task, Manner>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use artel_types::TraceId;

    use super::*;

    #[test]
    fn what_is_said_holds_until_it_is_over() {
        let (manners, task) = (
            Manners::default(),
            Task::Work(TraceId::from_random([1; 16])),
        );
        assert_eq!(manners.of(task), Manner::default());
        let manner = Manner {
            at_once: Some(3),
            fail_fast: Some(true),
            model: None,
        };
        manners.set(task, manner.clone());
        manners.set(task, Manner::default());
        assert_eq!(manners.of(task), manner, "nothing was said the second time");
        let rules = manners.of(task).rules();
        assert_eq!((rules.at_once, rules.failure), (3, OnFailure::Fast));
        manners.forget(task);
        assert_eq!(manners.of(task), Manner::default());
    }
}
