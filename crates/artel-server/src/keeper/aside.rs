//! Tasks that wait for a person, for an answer or to be resumed. They do not count as busy,
//! so that others can run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_workshop::{
    AttributedToolApproval, RemoteApprover, RunObserver, Spell, ToolApprovalQuestion,
    ToolCallApprover,
};
use tokio::sync::Notify;

/// Registry of the tasks that wait for a person.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskActivityRegistry(Arc<TaskActivityRegistryInner>);

#[derive(Debug, Default)]
struct TaskActivityRegistryInner {
    /// The activities of each task that has any.
    open: Mutex<HashMap<u64, TaskActivityCounts>>,
    news: Notify,
}

/// Counts of the activities of one task.
#[derive(Debug, Default, PartialEq)]
struct TaskActivityCounts {
    /// Open questions.
    questions: usize,
    /// Parts that a person paused.
    rests: usize,
    /// Parts that are working, even if others are paused.
    works: usize,
}

/// A kind of activity.
#[derive(Debug, Clone, Copy)]
enum TaskActivityKind {
    Question,
    Rest,
    Work,
}

/// Reports the questions and pauses of one task.
#[derive(Debug, Clone)]
pub(super) struct TaskActivityTracker {
    all: TaskActivityRegistry,
    number: u64,
}

/// An approver that waits for an answer from elsewhere and meanwhile counts the task as
/// waiting.
pub(super) struct WaitCountingApprover {
    pub(super) inner: RemoteApprover,
    pub(super) asks: TaskActivityTracker,
}

/// Counts one activity of a task until it is dropped.
struct TaskActivityGuard {
    asks: TaskActivityTracker,
    sort: TaskActivityKind,
}

impl TaskActivityRegistry {
    /// Returns the tracker for the task with this number.
    pub(super) fn of(&self, number: u64) -> TaskActivityTracker {
        let all = self.clone();
        TaskActivityTracker { all, number }
    }

    /// Returns how many tasks wait for a person.
    pub(super) fn count(&self) -> usize {
        let open = self.open();
        open.values().filter(|holds| holds.is_aside()).count()
    }

    /// Waits until an activity begins or ends.
    pub(super) async fn changed(&self) {
        self.0.news.notified().await;
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, TaskActivityCounts>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TaskActivityCounts {
    fn is_aside(&self) -> bool {
        self.questions > 0 || self.rests > 0 && self.works == 0
    }

    fn count_of(&mut self, sort: TaskActivityKind) -> &mut usize {
        match sort {
            TaskActivityKind::Question => &mut self.questions,
            TaskActivityKind::Rest => &mut self.rests,
            TaskActivityKind::Work => &mut self.works,
        }
    }
}

impl TaskActivityTracker {
    fn open(&self, sort: TaskActivityKind) -> TaskActivityGuard {
        *self
            .all
            .open()
            .entry(self.number)
            .or_default()
            .count_of(sort) += 1;
        self.all.0.news.notify_one();
        TaskActivityGuard {
            asks: self.clone(),
            sort,
        }
    }
}

impl Drop for TaskActivityGuard {
    fn drop(&mut self) {
        let TaskActivityTracker { all, number } = &self.asks;
        let mut open = all.open();
        if let Some(holds) = open.get_mut(number) {
            *holds.count_of(self.sort) -= 1;
            if *holds == TaskActivityCounts::default() {
                open.remove(number);
            }
        }
        drop(open);
        all.0.news.notify_one();
    }
}

impl ToolCallApprover for WaitCountingApprover {
    fn approve(&self, question: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        let _open = self.asks.open(TaskActivityKind::Question);
        self.inner.approve(question)
    }

    fn settled(&self, question: &ToolApprovalQuestion, why: &str) {
        self.inner.settled(question, why);
    }
}

/// Nobody watches the output; only pauses and work are counted, so that paused tasks make
/// room.
impl RunObserver for TaskActivityTracker {
    fn words(&self, _: &str) {}
    fn begins(&self) {}
    fn output(&self, _: &str) {}
    fn waits(&self, _: &str) {}
    fn notice(&self, _: &str) {}

    fn rests(&self) -> Option<Spell> {
        Some(Box::new(self.open(TaskActivityKind::Rest)))
    }

    fn works(&self) -> Option<Spell> {
        Some(Box::new(self.open(TaskActivityKind::Work)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_a_question_counts_once_until_the_last_is_answered() {
        let all = TaskActivityRegistry::default();
        let (one, other) = (all.of(1), all.of(2));
        let first = one.open(TaskActivityKind::Question);
        let second = one.open(TaskActivityKind::Question);
        let third = other.open(TaskActivityKind::Question);
        assert_eq!(all.count(), 2);
        drop(first);
        assert_eq!(all.count(), 2);
        drop((second, third));
        assert_eq!(all.count(), 0);
    }

    #[test]
    fn whoever_rests_counts_unless_a_part_of_it_is_at_work() {
        let all = TaskActivityRegistry::default();
        let one = all.of(1);
        let work = one.works();
        assert_eq!(all.count(), 0);
        let held = one.rests();
        assert_eq!(all.count(), 0, "one step is held, others go on");
        drop(work);
        assert_eq!(all.count(), 1, "the others are done");
        drop(held);
        assert_eq!(all.count(), 0);
        assert!(all.open().is_empty(), "nothing is kept of it");
    }
}
