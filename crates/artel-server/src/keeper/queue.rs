//! The queue of tasks that can continue: most urgent first, then oldest first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use artel_types::plan::Urgency;
use artel_types::{RunId, TraceId};
use tokio::time::Instant;

/// A task that can continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SchedulerTask {
    /// A piece of work.
    Work(TraceId),
    /// A run that belongs to no work.
    Run(RunId),
}

impl SchedulerTask {
    /// Returns the shortened id that people use.
    pub(crate) fn short(self) -> String {
        match self {
            Self::Work(trace) => trace.short(),
            Self::Run(run) => run.short(),
        }
    }
}

/// Tasks that wait for their turn. A task is queued at most once, and runs at most once.
#[derive(Debug, Default)]
pub(crate) struct SchedulerQueue {
    count: u64,
    /// Ordered by urgency, then by arrival.
    ready: BTreeMap<(Reverse<Urgency>, u64), SchedulerTask>,
    places: HashMap<SchedulerTask, (Reverse<Urgency>, u64)>,
    /// Tasks that must not start before a given time.
    later: HashMap<SchedulerTask, (Instant, Urgency)>,
    under_way: HashMap<SchedulerTask, Urgency>,
    /// Tasks that were queued again while they ran.
    again: HashMap<SchedulerTask, Urgency>,
    /// Number of failures in a row.
    failures: HashMap<SchedulerTask, u32>,
}

/// Wait after the first failure; it doubles with each further failure.
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// Maximum wait after a failure.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 60);

impl SchedulerQueue {
    /// Queues a task, now or after a delay. If it is queued already, the earlier time
    /// counts.
    pub(crate) fn put(
        &mut self,
        task: SchedulerTask,
        urgency: Urgency,
        after: Duration,
        now: Instant,
    ) {
        if self.under_way.contains_key(&task) {
            let again = self.again.entry(task).or_insert(urgency);
            *again = urgency.max(*again);
            return;
        }
        if let Some(place) = self.places.get(&task) {
            // It keeps its place among tasks of equal urgency, but moves up if it is more
            // urgent now.
            if place.0.0 < urgency {
                let raised = (Reverse(urgency), place.1);
                self.ready.remove(place);
                self.ready.insert(raised, task);
                self.places.insert(task, raised);
            }
            return;
        }
        if after.is_zero() {
            self.later.remove(&task);
            self.count += 1;
            let place = (Reverse(urgency), self.count);
            self.ready.insert(place, task);
            self.places.insert(task, place);
            return;
        }
        let at = now + after;
        let known = self.later.entry(task).or_insert((at, urgency));
        *known = (known.0.min(at), known.1.max(urgency));
    }

    /// Queues a leftover task. One that already waits for its time keeps that time, because
    /// a task that could not continue is found again at every sweep.
    pub(crate) fn offer(
        &mut self,
        task: SchedulerTask,
        urgency: Urgency,
        after: Duration,
        now: Instant,
    ) {
        if !self.later.contains_key(&task) {
            self.put(task, urgency, after, now);
        }
    }

    /// Takes the next task that is ready and at least this urgent.
    pub(crate) fn take(&mut self, least: Urgency, now: Instant) -> Option<SchedulerTask> {
        self.ripen(now);
        let next = self.ready.first_entry();
        let next = next.filter(|entry| entry.key().0.0 >= least)?;
        let ((Reverse(urgency), _), task) = next.remove_entry();
        self.places.remove(&task);
        self.under_way.insert(task, urgency);
        Some(task)
    }

    /// Moves the tasks whose time has come to the ready queue.
    fn ripen(&mut self, now: Instant) {
        let due: Vec<(SchedulerTask, Urgency)> = self
            .later
            .iter()
            .filter(|(_, (at, _))| *at <= now)
            .map(|(task, (_, urgency))| (*task, *urgency))
            .collect();
        for (task, urgency) in due {
            self.put(task, urgency, Duration::ZERO, now);
        }
    }

    /// Notes that a task has gone as far as it can.
    pub(crate) fn done(&mut self, task: SchedulerTask, now: Instant) {
        self.failures.remove(&task);
        self.under_way.remove(&task);
        if let Some(urgency) = self.again.remove(&task) {
            self.put(task, urgency, Duration::ZERO, now);
        }
    }

    /// Notes that a task could not continue, and returns how long it waits until it is
    /// tried again.
    pub(crate) fn failed(&mut self, task: SchedulerTask, now: Instant) -> Duration {
        let urgency = self.under_way.remove(&task).unwrap_or_default();
        self.again.remove(&task);
        let count = self.failures.entry(task).or_insert(0);
        let wait = FIRST_WAIT
            .saturating_mul(1 << (*count).min(10))
            .min(LONGEST_WAIT);
        *count += 1;
        self.put(task, urgency, wait, now);
        wait
    }

    /// Returns when the next delayed task is due.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.later.values().map(|(at, _)| *at).min()
    }

    /// Returns the number of waiting tasks and the number of running tasks.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.ready.len() + self.later.len(), self.under_way.len())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use artel_types::TraceId;
    use artel_types::plan::Urgency;
    use tokio::time::Instant;

    use super::{SchedulerQueue, SchedulerTask};

    fn work(number: u8) -> SchedulerTask {
        SchedulerTask::Work(TraceId::from_random([number; 16]))
    }

    #[test]
    fn what_failed_waits_although_it_is_found_meanwhile() {
        let (mut queue, now) = (SchedulerQueue::default(), Instant::now());
        queue.offer(work(1), Urgency::Normal, Duration::ZERO, now);
        let task = queue.take(Urgency::Low, now).unwrap();
        let wait = queue.failed(task, now);
        let sooner = Duration::from_secs(5);
        queue.offer(work(1), Urgency::Normal, sooner, now);
        assert_eq!(queue.take(Urgency::Low, now + sooner), None);
        assert_eq!(queue.take(Urgency::Low, now + wait), Some(work(1)));
        queue.failed(work(1), now);
        queue.put(work(1), Urgency::Normal, sooner, now);
        assert_eq!(
            queue.take(Urgency::Low, now + sooner),
            Some(work(1)),
            "a person says so"
        );
    }

    #[test]
    fn the_most_urgent_first_then_in_order() {
        let (mut queue, now) = (SchedulerQueue::default(), Instant::now());
        queue.put(work(1), Urgency::Low, Duration::ZERO, now);
        queue.put(work(2), Urgency::Normal, Duration::ZERO, now);
        queue.put(work(3), Urgency::Critical, Duration::ZERO, now);
        queue.put(work(4), Urgency::Normal, Duration::ZERO, now);
        queue.put(work(2), Urgency::Normal, Duration::ZERO, now);
        queue.put(work(5), Urgency::Normal, Duration::ZERO, now);
        queue.put(work(5), Urgency::High, Duration::ZERO, now);
        let order: Vec<_> = std::iter::from_fn(|| queue.take(Urgency::Low, now)).collect();
        assert_eq!(order, [work(3), work(5), work(2), work(4), work(1)]);
    }

    #[test]
    fn only_what_is_so_urgent_is_taken_and_what_failed_stays_so() {
        let (mut queue, now) = (SchedulerQueue::default(), Instant::now());
        queue.put(work(1), Urgency::Normal, Duration::ZERO, now);
        assert_eq!(queue.take(Urgency::High, now), None);
        queue.put(work(2), Urgency::Critical, Duration::ZERO, now);
        assert_eq!(queue.take(Urgency::High, now), Some(work(2)));
        let wait = queue.failed(work(2), now);
        assert_eq!(queue.take(Urgency::High, now), None);
        assert_eq!(queue.take(Urgency::High, now + wait), Some(work(2)));
        assert_eq!(queue.take(Urgency::Low, now), Some(work(1)));
    }

    #[test]
    fn what_comes_again_while_it_is_under_way_is_taken_once_more() {
        let (mut queue, now) = (SchedulerQueue::default(), Instant::now());
        queue.put(work(1), Urgency::Normal, Duration::ZERO, now);
        assert_eq!(queue.take(Urgency::Low, now), Some(work(1)));
        queue.put(work(1), Urgency::Normal, Duration::ZERO, now);
        queue.put(work(1), Urgency::Normal, Duration::ZERO, now);
        assert_eq!(queue.take(Urgency::Low, now), None);
        queue.done(work(1), now);
        assert_eq!(queue.take(Urgency::Low, now), Some(work(1)));
        queue.done(work(1), now);
        assert_eq!(queue.take(Urgency::Low, now), None);
    }

    #[test]
    fn what_fails_waits_longer_each_time_but_not_for_what_is_new() {
        let (mut queue, mut now) = (SchedulerQueue::default(), Instant::now());
        queue.put(work(1), Urgency::Normal, Duration::ZERO, now);
        let mut waits = Vec::new();
        for _ in 0..9 {
            assert_eq!(queue.take(Urgency::Low, now), Some(work(1)));
            let wait = queue.failed(work(1), now);
            assert_eq!(queue.take(Urgency::Low, now), None);
            waits.push(wait.as_secs());
            now += wait;
        }
        assert_eq!(waits, [30, 60, 120, 240, 480, 960, 1800, 1800, 1800]);
        queue.take(Urgency::Low, now);
        queue.failed(work(1), now);
        queue.put(work(1), Urgency::Normal, Duration::ZERO, now);
        assert_eq!(queue.take(Urgency::Low, now), Some(work(1)));
    }

    #[test]
    fn a_grace_is_a_time_before_which_it_is_not_taken() {
        let (mut queue, now) = (SchedulerQueue::default(), Instant::now());
        queue.put(work(1), Urgency::Normal, Duration::from_secs(5), now);
        assert_eq!(queue.take(Urgency::Low, now), None);
        assert_eq!(queue.next_at(), Some(now + Duration::from_secs(5)));
        assert_eq!(
            queue.take(Urgency::Low, now + Duration::from_secs(5)),
            Some(work(1))
        );
    }
}
