//! What is to be gone on with, and in which order: the most urgent first, then the oldest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use artel_types::plan::Urgency;
use artel_types::{RunId, TraceId};
use tokio::time::Instant;

/// Something that can be gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Task {
    /// A piece of work.
    Work(TraceId),
    /// A run that belongs to none.
    Run(RunId),
}

impl Task {
    /// Returns what people call it by.
    pub(crate) fn short(self) -> String {
        match self {
            Self::Work(trace) => trace.short(),
            Self::Run(run) => run.short(),
        }
    }
}

/// What waits for its turn. A task stands in it once, and is under way once.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    count: u64,
    /// By urgency, then by order of coming.
    ready: BTreeMap<(Reverse<Urgency>, u64), Task>,
    places: HashMap<Task, (Reverse<Urgency>, u64)>,
    /// Not before this time.
    later: HashMap<Task, (Instant, Urgency)>,
    under_way: HashMap<Task, Urgency>,
    /// Came again while it was under way.
    again: HashMap<Task, Urgency>,
    /// How often in a row it could not be gone on with.
    failures: HashMap<Task, u32>,
}

/// How long the first wait after a failure is; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// No wait is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 60);

impl Queue {
    /// Puts a task in, now or after a while; sooner wins where it is in already.
    pub(crate) fn put(&mut self, task: Task, urgency: Urgency, after: Duration, now: Instant) {
        if self.under_way.contains_key(&task) {
            let again = self.again.entry(task).or_insert(urgency);
            *again = urgency.max(*again);
            return;
        }
        if let Some(place) = self.places.get(&task) {
            // It keeps its turn among the same, and comes sooner if it is more urgent now.
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

    /// Puts a task in that was found to be left. One that waits for its time keeps it: what could
    /// not be gone on with is found again and again.
    pub(crate) fn offer(&mut self, task: Task, urgency: Urgency, after: Duration, now: Instant) {
        if !self.later.contains_key(&task) {
            self.put(task, urgency, after, now);
        }
    }

    /// Takes the next task that is ready and at least so urgent.
    pub(crate) fn take(&mut self, least: Urgency, now: Instant) -> Option<Task> {
        self.ripen(now);
        let next = self.ready.first_entry();
        let next = next.filter(|entry| entry.key().0.0 >= least)?;
        let ((Reverse(urgency), _), task) = next.remove_entry();
        self.places.remove(&task);
        self.under_way.insert(task, urgency);
        Some(task)
    }

    /// Puts those in whose time has come.
    fn ripen(&mut self, now: Instant) {
        let due: Vec<(Task, Urgency)> = self
            .later
            .iter()
            .filter(|(_, (at, _))| *at <= now)
            .map(|(task, (_, urgency))| (*task, *urgency))
            .collect();
        for (task, urgency) in due {
            self.put(task, urgency, Duration::ZERO, now);
        }
    }

    /// Notes that a task went as far as it goes.
    pub(crate) fn done(&mut self, task: Task, now: Instant) {
        self.failures.remove(&task);
        self.under_way.remove(&task);
        if let Some(urgency) = self.again.remove(&task) {
            self.put(task, urgency, Duration::ZERO, now);
        }
    }

    /// Notes that a task could not be gone on with, and returns how long it waits.
    pub(crate) fn failed(&mut self, task: Task, now: Instant) -> Duration {
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

    /// Returns when the next task that waits for its time is due.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.later.values().map(|(at, _)| *at).min()
    }

    /// Returns how many tasks wait, and how many are under way.
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

    use super::{Queue, Task};

    fn work(number: u8) -> Task {
        Task::Work(TraceId::from_random([number; 16]))
    }

    #[test]
    fn what_failed_waits_although_it_is_found_meanwhile() {
        let (mut queue, now) = (Queue::default(), Instant::now());
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
        let (mut queue, now) = (Queue::default(), Instant::now());
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
        let (mut queue, now) = (Queue::default(), Instant::now());
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
        let (mut queue, now) = (Queue::default(), Instant::now());
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
        let (mut queue, mut now) = (Queue::default(), Instant::now());
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
        let (mut queue, now) = (Queue::default(), Instant::now());
        queue.put(work(1), Urgency::Normal, Duration::from_secs(5), now);
        assert_eq!(queue.take(Urgency::Low, now), None);
        assert_eq!(queue.next_at(), Some(now + Duration::from_secs(5)));
        assert_eq!(
            queue.take(Urgency::Low, now + Duration::from_secs(5)),
            Some(work(1))
        );
    }
}
