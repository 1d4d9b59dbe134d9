//! The memory and the counters of a stand-in.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::answer::{Answer, Repeats};
use super::dialect::Dialect;
use super::{Format, Seen};

/// The state shared between the server and the test that started it.
pub(super) struct State {
    format: Format,
    plan: Mutex<VecDeque<Answer>>,
    /// A function that answers instead of the plan.
    mind: Option<Box<Mind>>,
    seen: Mutex<Vec<Seen>>,
    held: Mutex<Held>,
    counts: watch::Sender<Counts>,
}

/// Returns the answer to a request from its body alone.
pub(super) type Mind = dyn Fn(&Value) -> Answer + Send + Sync;

/// Numbers of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) seen: usize,
    pub(super) open: usize,
    pub(super) peak: usize,
    pub(super) held: usize,
}

/// The answers that wait to be released, oldest first.
#[derive(Default)]
struct Held {
    waiting: VecDeque<(u64, oneshot::Sender<()>)>,
    next: u64,
}

/// A request that is being answered. It counts as open until this is dropped, which happens
/// when the answer is complete and also when the client goes away.
pub(super) struct Ticket {
    state: Arc<State>,
    /// The number of the request, from 1.
    pub(super) number: usize,
}

impl State {
    pub(super) fn new(format: Format, plan: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            format,
            plan: Mutex::new(plan.into_iter().collect()),
            mind: None,
            seen: Mutex::default(),
            held: Mutex::default(),
            counts: watch::Sender::default(),
        }
    }

    /// Lets a function answer instead of a plan.
    pub(super) fn minded(mut self, mind: Box<Mind>) -> Self {
        self.mind = Some(mind);
        self
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    pub(super) fn dialect(&self) -> &'static Dialect {
        Dialect::of(self.format)
    }

    pub(super) fn counts(&self) -> Counts {
        *self.counts.borrow()
    }

    pub(super) fn watch(&self) -> watch::Receiver<Counts> {
        self.counts.subscribe()
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        lock(&self.seen).clone()
    }

    /// Records a request and begins to count it.
    pub(super) fn arrive(self: &Arc<Self>, request: Seen) -> Ticket {
        let number = {
            let mut seen = lock(&self.seen);
            seen.push(request);
            seen.len()
        };
        self.counts.send_modify(|counts| {
            counts.seen += 1;
            counts.open += 1;
            counts.peak = counts.peak.max(counts.open);
        });
        Ticket {
            state: Arc::clone(self),
            number,
        }
    }

    pub(super) fn push(&self, answer: Answer) {
        lock(&self.plan).push_back(answer);
    }

    /// Returns the next answer of the plan, or `None` when it is used up.
    pub(super) fn next_answer(&self, body: &Value) -> Option<Answer> {
        if let Some(mind) = &self.mind {
            return Some(mind(body));
        }
        let mut plan = lock(&self.plan);
        match plan.front() {
            Some(last) if plan.len() == 1 && last.repeats == Repeats::WhenLast => {
                Some(last.clone())
            }
            _ => plan.pop_front(),
        }
    }

    /// Waits to be released.
    pub(super) async fn hold(&self) {
        let (sender, released) = oneshot::channel();
        let id = {
            let mut held = lock(&self.held);
            held.next += 1;
            let id = held.next;
            held.waiting.push_back((id, sender));
            self.count_held(&held);
            id
        };
        let _leave = Leave { state: self, id };
        drop(released.await);
    }

    /// Releases the answer that has waited longest, and returns whether there was one.
    pub(super) fn release_one(&self) -> bool {
        let mut held = lock(&self.held);
        while let Some((_, sender)) = held.waiting.pop_front() {
            self.count_held(&held);
            if sender.send(()).is_ok() {
                return true;
            }
        }
        false
    }

    fn count_held(&self, held: &Held) {
        self.counts
            .send_modify(|counts| counts.held = held.waiting.len());
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.state.counts.send_modify(|counts| counts.open -= 1);
    }
}

/// Removes an answer from the waiting ones if its client goes away before it is released.
struct Leave<'a> {
    state: &'a State,
    id: u64,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let mut held = lock(&self.state.held);
        held.waiting.retain(|(id, _)| *id != self.id);
        self.state.count_held(&held);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a stand-in that did not panic")
}
