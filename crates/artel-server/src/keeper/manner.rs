//! Options that people give for a task when they start or resume it. Like the options of a
//! command, they apply to that one task, for as long as this daemon drives it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use artel_types::{Failure, FailureCode};
use artel_workshop::{OnFailure, PlanRules, Workshop};

use super::SchedulerTask;

/// Maximum number of steps of a plan that run at once.
const MOST_AT_ONCE: u16 = 64;

/// The options of a task, as far as they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TaskOptions {
    /// Maximum number of steps of a plan that run at once.
    pub(crate) at_once: Option<u16>,
    /// Whether no further step starts after a step has failed.
    pub(crate) fail_fast: Option<bool>,
    /// A model that replaces the one of the request.
    pub(crate) model: Option<String>,
}

/// The options of all tasks that have any.
#[derive(Debug, Default)]
pub(crate) struct TaskOptionsStore(Mutex<HashMap<SchedulerTask, TaskOptions>>);

impl TaskOptions {
    /// Refuses invalid options before anything is recorded.
    pub(crate) async fn check(&self, workshop: &Workshop) -> Result<(), Failure> {
        if let Some(count) = self.at_once
            && !(1..=MOST_AT_ONCE).contains(&count)
        {
            return Err(Failure::new(
                FailureCode::C004,
                format!("{count} steps at once are not possible"),
            )
            .advise(format!("`at_once` is a number from 1 to {MOST_AT_ONCE}")));
        }
        workshop.ensure_model(self.model.as_deref()).await
    }

    /// Returns the rules for carrying out a plan.
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

impl TaskOptionsStore {
    /// Sets the options of a task, and returns the previous ones. If no option is given,
    /// the previous ones stay in force.
    pub(crate) fn set(&self, task: SchedulerTask, manner: TaskOptions) -> TaskOptions {
        let before = self.of(task);
        if manner != TaskOptions::default() {
            self.lock().insert(task, manner);
        }
        before
    }

    /// Restores the previous options, because the action that set them failed.
    pub(crate) fn put_back(&self, task: SchedulerTask, before: TaskOptions) {
        self.forget(task);
        self.set(task, before);
    }

    /// Returns the options of a task.
    pub(super) fn of(&self, task: SchedulerTask) -> TaskOptions {
        self.lock().get(&task).cloned().unwrap_or_default()
    }

    /// Forgets the options of a finished task.
    pub(super) fn forget(&self, task: SchedulerTask) {
        self.lock().remove(&task);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SchedulerTask, TaskOptions>> {
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
            TaskOptionsStore::default(),
            SchedulerTask::Work(TraceId::from_random([1; 16])),
        );
        assert_eq!(manners.of(task), TaskOptions::default());
        let manner = TaskOptions {
            at_once: Some(3),
            fail_fast: Some(true),
            model: None,
        };
        manners.set(task, manner.clone());
        manners.set(task, TaskOptions::default());
        assert_eq!(manners.of(task), manner, "nothing was said the second time");
        let rules = manners.of(task).rules();
        assert_eq!((rules.at_once, rules.failure), (3, OnFailure::Fast));
        manners.forget(task);
        assert_eq!(manners.of(task), TaskOptions::default());
    }
}
