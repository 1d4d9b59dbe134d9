//! The queue of one provider: which call is next, and which must make room.
//!
//! Calls wait by priority, and calls of one priority in the order in which they arrived.
//! Waiting makes a call more urgent, so that even a background call gets its turn
//! eventually among an endless stream of people's calls. If a person's call finds every
//! slot taken, the least urgent call is preempted; it comes back later and keeps its
//! place. A call that was preempted twice is not preempted again.
//!
//! Waiting makes all calls of one priority more urgent at the same rate, so the first of
//! each priority is always its oldest. There is therefore one sorted set per priority, and
//! the next call is the best of five heads. Preemptible calls are a sorted set, too. So a
//! step takes time logarithmic in the number of calls for each call that it starts,
//! removes or preempts, and no step looks at all of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use artel_types::model::ModelCallPriority;

/// Waiting time that is worth one point of priority.
pub const AGING: Duration = Duration::from_secs(3);

/// Highest urgency that a call can reach by waiting. A person's fresh call is as urgent,
/// and of two such calls the older goes first.
pub const MOST_URGENT: u32 = 100;

/// Number of preemptions after which a call is left alone.
pub const MOST_PREEMPTIONS: u32 = 2;

/// The waiting and running calls of one provider.
#[derive(Debug, Clone)]
pub struct ProviderQueue {
    slots: usize,
    gate: ProviderQueueGate,
    /// One set per priority, the oldest call first.
    lines: BTreeMap<ModelCallPriority, BTreeSet<(Duration, ProviderQueueTicket)>>,
    waiting: BTreeMap<ProviderQueueTicket, QueuedModelCall>,
    running: BTreeMap<ProviderQueueTicket, RunningModelCall>,
    /// Preemptible running calls, in the order of preemption.
    victims: BTreeSet<PreemptionCandidate>,
    /// Number of running calls that were told to make room.
    leaving: usize,
    /// The running call that a gate for one call let through.
    scout: Option<ProviderQueueTicket>,
    /// Slots cleared for people's calls that have not started yet.
    cleared: usize,
    /// Counts starts, to tell which running call is the most recent.
    starts: u64,
    now: Duration,
}

/// Identifies a call; the caller makes each ticket once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderQueueTicket(pub u64);

/// An event for the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderQueueEvent {
    /// A call wants to start.
    Arrived {
        ticket: ProviderQueueTicket,
        priority: ModelCallPriority,
        /// When the call first arrived, on the clock of [`ProviderQueue::step`]. A call that is
        /// tried again keeps its place.
        since: Duration,
        /// Number of preemptions so far.
        preempted: u32,
    },
    /// A call does not want to start any more. If it was started in the meantime, it gives
    /// its slot back: a caller that gives up waiting cannot know that its turn has just
    /// come.
    Left { ticket: ProviderQueueTicket },
    /// A running call is over, however it ended, even by preemption.
    Finished { ticket: ProviderQueueTicket },
    /// The limiter changed the gate. If the change follows from a call, this must come
    /// before that call is reported as finished, or the next call starts too early.
    Gate(ProviderQueueGate),
    /// Time passed.
    Tick,
}

/// The number of calls that the limiter lets start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderQueueGate {
    /// No call.
    Shut,
    /// One call at a time, of those that start from now on.
    One,
    /// As many calls as there are slots.
    All,
}

/// An order of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderQueueEffect {
    /// Start this call now.
    Start(ProviderQueueTicket),
    /// End this running call to make room. Its owner reports it as finished, and later as
    /// arrived again.
    Preempt(ProviderQueueTicket),
}

#[derive(Debug, Clone, Copy)]
struct QueuedModelCall {
    priority: ModelCallPriority,
    since: Duration,
    preempted: u32,
}

#[derive(Debug, Clone, Copy)]
enum RunningModelCall {
    /// Left alone: it is a person's call, or was preempted often enough.
    Firm,
    /// May be preempted.
    Loose(PreemptionCandidate),
    /// Was told to make room.
    Leaving,
}

/// The least urgent call is preempted first, and among equals the most recently started
/// one, because it loses the least.
type PreemptionCandidate = (ModelCallPriority, Reverse<u64>, ProviderQueueTicket);

impl ProviderQueue {
    /// Makes an empty queue with an open gate. It has at least one slot: with none, no
    /// call would ever start, and nobody would hear why.
    pub fn new(slots: usize) -> Self {
        Self {
            slots: slots.max(1),
            gate: ProviderQueueGate::All,
            lines: BTreeMap::new(),
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            victims: BTreeSet::new(),
            leaving: 0,
            scout: None,
            cleared: 0,
            starts: 0,
            now: Duration::ZERO,
        }
    }

    /// Handles an event at a moment of a monotonic clock, and returns the resulting
    /// orders.
    ///
    /// Reports can cross each other, so some say nothing new and are ignored: a ticket
    /// that arrives while it waits or runs, an unknown one that leaves or finishes, and
    /// one that finishes while it waits.
    pub fn step(&mut self, event: ProviderQueueEvent, now: Duration) -> Vec<ProviderQueueEffect> {
        self.now = self.now.max(now);
        let preempts = match event {
            ProviderQueueEvent::Arrived {
                ticket,
                priority,
                since,
                preempted,
            } => {
                let call = QueuedModelCall {
                    priority,
                    since,
                    preempted,
                };
                usize::from(self.enter(ticket, call) && priority == ModelCallPriority::User)
            }
            ProviderQueueEvent::Left { ticket } => {
                self.leave(ticket);
                self.finish(ticket);
                0
            }
            ProviderQueueEvent::Finished { ticket } => {
                self.finish(ticket);
                0
            }
            ProviderQueueEvent::Gate(opening) => self.turn(opening),
            ProviderQueueEvent::Tick => 0,
        };
        let mut effects = self.fill();
        effects.extend((0..preempts).map_while(|_| self.preempt()));
        effects
    }

    /// Returns the number of waiting calls.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the number of running calls, including those that were told to make room.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Returns how many calls would go before this one if slots became free now, or `None`
    /// if it is not waiting. It examines every waiting call: use it to show one position,
    /// not in a loop over all calls.
    pub fn position(&self, ticket: ProviderQueueTicket) -> Option<usize> {
        let call = self.waiting.get(&ticket)?;
        let own = self.rank(call.priority, call.since, ticket);
        let ahead = self.lines.iter().map(|(priority, line)| {
            line.iter()
                .take_while(|(since, ticket)| self.rank(*priority, *since, *ticket) < own)
                .count()
        });
        Some(ahead.sum())
    }

    fn enter(&mut self, ticket: ProviderQueueTicket, call: QueuedModelCall) -> bool {
        if self.waiting.contains_key(&ticket) || self.running.contains_key(&ticket) {
            return false;
        }
        self.waiting.insert(ticket, call);
        let line = self.lines.entry(call.priority).or_default();
        line.insert((call.since, ticket))
    }

    fn leave(&mut self, ticket: ProviderQueueTicket) -> Option<QueuedModelCall> {
        let call = self.waiting.remove(&ticket)?;
        if let Some(line) = self.lines.get_mut(&call.priority) {
            line.remove(&(call.since, ticket));
        }
        Some(call)
    }

    fn finish(&mut self, ticket: ProviderQueueTicket) {
        match self.running.remove(&ticket) {
            None => return,
            Some(RunningModelCall::Firm) => {}
            Some(RunningModelCall::Loose(victim)) => drop(self.victims.remove(&victim)),
            Some(RunningModelCall::Leaving) => {
                self.leaving -= 1;
                self.cleared += 1;
            }
        }
        self.scout.take_if(|scout| *scout == ticket);
    }

    /// Changes the gate and returns how many calls may be preempted: people's calls that
    /// came while the gate was not open could not ask for that then. An unchanged gate
    /// changes nothing; above all, it does not let a second call through beside the first.
    fn turn(&mut self, opening: ProviderQueueGate) -> usize {
        if self.gate == opening {
            return 0;
        }
        self.gate = opening;
        self.scout = None;
        match opening {
            ProviderQueueGate::All => self.people().len(),
            ProviderQueueGate::Shut | ProviderQueueGate::One => 0,
        }
    }

    /// Starts every call that may start.
    fn fill(&mut self) -> Vec<ProviderQueueEffect> {
        let mut effects = Vec::new();
        while self.has_room() {
            let Some(ticket) = self.next() else { break };
            let Some(call) = self.leave(ticket) else {
                break;
            };
            self.start(ticket, call);
            effects.push(ProviderQueueEffect::Start(ticket));
        }
        effects
    }

    fn has_room(&self) -> bool {
        let may_start = match self.gate {
            ProviderQueueGate::Shut => false,
            ProviderQueueGate::One => self.scout.is_none(),
            ProviderQueueGate::All => true,
        };
        may_start && self.running.len() < self.slots
    }

    fn start(&mut self, ticket: ProviderQueueTicket, call: QueuedModelCall) {
        self.starts += 1;
        let is_firm =
            call.priority == ModelCallPriority::User || call.preempted >= MOST_PREEMPTIONS;
        let running = if is_firm {
            RunningModelCall::Firm
        } else {
            let victim = (call.priority, Reverse(self.starts), ticket);
            self.victims.insert(victim);
            RunningModelCall::Loose(victim)
        };
        self.running.insert(ticket, running);
        if self.gate == ProviderQueueGate::One {
            self.scout = Some(ticket);
        }
    }

    /// Picks the next call. A slot that was cleared for a person goes to a person's call,
    /// even before a call that has become as urgent by waiting; otherwise a call was
    /// preempted for nothing.
    fn next(&mut self) -> Option<ProviderQueueTicket> {
        let person = self.people().next().map(|(_, ticket)| *ticket);
        if person.is_none() {
            self.cleared = 0;
        }
        if self.cleared > 0 {
            self.cleared -= 1;
            return person;
        }
        let heads = self
            .lines
            .iter()
            .filter_map(|(priority, line)| line.first().map(|head| (*priority, head)));
        heads
            .min_by_key(|(priority, (since, ticket))| self.rank(*priority, *since, *ticket))
            .map(|(_, (_, ticket))| *ticket)
    }

    /// Preempts a running call for a waiting call of a person, unless a slot is already
    /// being cleared for it.
    fn preempt(&mut self) -> Option<ProviderQueueEffect> {
        let is_open = self.gate == ProviderQueueGate::All;
        if !is_open || self.people().len() <= self.leaving {
            return None;
        }
        let (_, _, ticket) = self.victims.pop_first()?;
        self.running.insert(ticket, RunningModelCall::Leaving);
        self.leaving += 1;
        Some(ProviderQueueEffect::Preempt(ticket))
    }

    /// Returns the waiting calls of people, the oldest first.
    fn people(&self) -> impl ExactSizeIterator<Item = &(Duration, ProviderQueueTicket)> {
        static NOBODY: BTreeSet<(Duration, ProviderQueueTicket)> = BTreeSet::new();
        self.lines
            .get(&ModelCallPriority::User)
            .unwrap_or(&NOBODY)
            .iter()
    }

    /// Returns the rank of a call: the smallest goes first.
    fn rank(
        &self,
        priority: ModelCallPriority,
        since: Duration,
        ticket: ProviderQueueTicket,
    ) -> (Reverse<u32>, Duration, ProviderQueueTicket) {
        let points = self.now.saturating_sub(since).as_secs() / AGING.as_secs();
        let points = u32::try_from(points).unwrap_or(u32::MAX);
        let urgency = priority.value().saturating_add(points).min(MOST_URGENT);
        (Reverse(urgency), since, ticket)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
