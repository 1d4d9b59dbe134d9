//! Running tasks, each in its own thread. Every task that ends is reported with its
//! identity, even if it panicked: it must neither keep its slot nor disappear unnoticed.

use std::any::Any;
use std::collections::HashMap;

use artel_types::{Failure, FailureCode};
use tokio::runtime::Handle;
use tokio::task::{Id, JoinError, JoinSet};

use super::queue::SchedulerTask;
use super::task::TaskOutcome;

/// A task that ended, with its outcome.
pub(super) type EndedTask = (Option<SchedulerTask>, Result<TaskOutcome, Failure>);

#[derive(Debug, Default)]
pub(super) struct RunningTasks {
    tasks: JoinSet<EndedTask>,
    /// The task of each thread, if it is known before the task ends.
    known: HashMap<Id, SchedulerTask>,
}

impl RunningTasks {
    /// Runs a task in its own thread. Parts of it block on the disk, and while the disk is
    /// full no other task may be blocked with them.
    pub(super) fn drive(
        &mut self,
        task: Option<SchedulerTask>,
        work: impl Future<Output = EndedTask> + Send + 'static,
    ) {
        let runtime = Handle::current();
        let began = self.tasks.spawn_blocking(move || runtime.block_on(work));
        if let Some(task) = task {
            self.known.insert(began.id(), task);
        }
    }

    /// Waits for the next task to end; returns `None` if none is running.
    pub(super) async fn next(&mut self) -> Option<EndedTask> {
        Some(match self.tasks.join_next_with_id().await? {
            Ok((id, ended)) => {
                self.known.remove(&id);
                ended
            }
            Err(error) => (self.known.remove(&error.id()), Err(broken_off(error))),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

fn broken_off(error: JoinError) -> Failure {
    let why = match error.try_into_panic() {
        Ok(panic) => said(panic.as_ref()),
        Err(error) => error.to_string(),
    };
    Failure::new(FailureCode::X001, "a part of Artel broke off at it")
        .because(why)
        .advise("`artel daemon logs` has where; what is done is kept")
}

/// Returns the message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it did not say why").to_owned()
}

#[cfg(test)]
mod tests {
    use artel_types::TraceId;
    use artel_types::plan::Urgency;
    use tokio::time::Instant;

    use super::*;
    use crate::keeper::queue::SchedulerQueue;

    #[tokio::test]
    async fn what_panics_leaves_its_place_and_is_tried_again_like_what_fails() {
        let (mut queue, now) = (SchedulerQueue::default(), Instant::now());
        let mut under_way = RunningTasks::default();
        let task = SchedulerTask::Work(TraceId::from_random([7; 16]));
        queue.put(task, Urgency::Normal, std::time::Duration::ZERO, now);
        let taken = queue.take(Urgency::Low, now).unwrap();
        under_way.drive(Some(taken), async { panic!("number {}", 7) });
        let (ended, rest) = under_way.next().await.unwrap();
        assert_eq!(ended, Some(task));
        let failure = rest.err().unwrap();
        assert_eq!(failure.code, FailureCode::X001);
        assert_eq!(failure.why.as_deref(), Some("number 7"));
        assert!(under_way.is_empty() && under_way.known.is_empty());
        let wait = queue.failed(task, now);
        assert_eq!(queue.sizes(), (1, 0), "it waits, and is not under way");
        assert_eq!(queue.take(Urgency::Low, now + wait), Some(task));
    }

    #[tokio::test]
    async fn one_that_nobody_knew_is_told_too() {
        let mut under_way = RunningTasks::default();
        under_way.drive(None, async { panic!("gone") });
        under_way.drive(None, async { (None, Ok(TaskOutcome::Done)) });
        let mut failed = 0;
        while let Some((task, rest)) = under_way.next().await {
            assert_eq!(task, None);
            failed += usize::from(rest.is_err());
        }
        assert_eq!(failed, 1);
    }
}
