//! The queue: who is next at one provider, and who must make room.
//!
//! Calls wait by priority, and those of one priority in the order in which they came. Waiting
//! makes a call more urgent, so that even a background call gets its turn at last among people's
//! calls that never cease. A person's call that finds every slot taken has the least urgent call
//! thrown out, which comes back later and keeps its place; what was thrown out twice stays.
//!
//! Waiting makes all calls of one priority more urgent alike, so the first of each priority is
//! always its oldest: there is one sorted set per priority, and the next call is the best of five
//! heads. Those that may be thrown out are a sorted set as well. So a step takes time logarithmic
//! in the number of calls for each call that it starts, removes or throws out, and no step looks
//! at all of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use artel_types::model::Priority;

/// Each so much time of waiting is worth one point of priority.
pub const AGING: Duration = Duration::from_secs(3);

/// No call becomes more urgent than this by waiting: a person's fresh call is as urgent, and of
/// two such calls the older goes first.
pub const MOST_URGENT: u32 = 100;

/// A call that was thrown out this often is left alone.
pub const MOST_PREEMPTIONS: u32 = 2;

/// The calls of one provider: those that wait, and those that run.
#[derive(Debug, Clone)]
pub struct Queue {
    slots: usize,
    gate: Opening,
    /// One set per priority, the oldest call first.
    lines: BTreeMap<Priority, BTreeSet<(Duration, Ticket)>>,
    waiting: BTreeMap<Ticket, Waiting>,
    running: BTreeMap<Ticket, Running>,
    /// Running calls that may be thrown out, the first one first.
    victims: BTreeSet<Victim>,
    /// How many running calls were told to make room.
    leaving: usize,
    /// The running call that a gate for one let through.
    scout: Option<Ticket>,
    /// Slots that were cleared for people's calls which have not started yet.
    cleared: usize,
    /// Counts starts: tells which running call is the most recent.
    starts: u64,
    now: Duration,
}

/// Names a call; whoever asks makes them, each one once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A call wants to go.
    Arrived {
        /// Which one.
        ticket: Ticket,
        /// How urgent it is.
        priority: Priority,
        /// When it first came, on the clock of [`Queue::step`]. A call that is tried again keeps
        /// its place.
        since: Duration,
        /// How often it was thrown out so far.
        preempted: u32,
    },
    /// A call no longer wants to go. One that had been started by then gives its slot back:
    /// whoever gives up waiting cannot know that its turn has just come.
    Left {
        /// Which one.
        ticket: Ticket,
    },
    /// A call that ran is over, however it ended, thrown out ones too.
    Finished {
        /// Which one.
        ticket: Ticket,
    },
    /// The limiter opened or shut the gate. What this says about a call must be known before that
    /// call is reported as finished, or the next one goes too early.
    Gate(Opening),
    /// Time passed.
    Tick,
}

/// How far the gate is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Nothing starts.
    Shut,
    /// One call at a time runs of those that start from now on.
    One,
    /// As many run as there are slots.
    All,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// This call goes now.
    Start(Ticket),
    /// This running call must end and make room. Its owner reports it as finished, and later as
    /// arrived again.
    Preempt(Ticket),
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    priority: Priority,
    since: Duration,
    preempted: u32,
}

#[derive(Debug, Clone, Copy)]
enum Running {
    /// It is left alone: it is a person's, or was thrown out often enough.
    Firm,
    /// It may be thrown out.
    Loose(Victim),
    /// It was told to make room.
    Leaving,
}

/// The least urgent call goes first, the most recently started of several: least is lost with it.
type Victim = (Priority, Reverse<u64>, Ticket);

impl Queue {
    /// Makes an empty queue with an open gate. There is at least one slot: without any, nothing
    /// would ever go, and nobody would hear why.
    pub fn new(slots: usize) -> Self {
        Self {
            slots: slots.max(1),
            gate: Opening::All,
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

    /// Takes an event at a moment of a clock that never goes back, and returns what is to be done.
    ///
    /// Reports cross each other on their way, so a few say nothing new and are passed over: a
    /// ticket that arrives while it waits or runs, one that leaves or finishes unknown, and one
    /// that finishes while it waits.
    pub fn step(&mut self, event: Event, now: Duration) -> Vec<Effect> {
        self.now = self.now.max(now);
        let preempts = match event {
            Event::Arrived {
                ticket,
                priority,
                since,
                preempted,
            } => {
                let call = Waiting {
                    priority,
                    since,
                    preempted,
                };
                usize::from(self.enter(ticket, call) && priority == Priority::User)
            }
            Event::Left { ticket } => {
                self.leave(ticket);
                self.finish(ticket);
                0
            }
            Event::Finished { ticket } => {
                self.finish(ticket);
                0
            }
            Event::Gate(opening) => self.turn(opening),
            Event::Tick => 0,
        };
        let mut effects = self.fill();
        effects.extend((0..preempts).map_while(|_| self.preempt()));
        effects
    }

    /// Returns how many calls wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns how many calls run, those that were told to make room included.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Returns how many calls would go before this one if slots came free now, or `None` if it
    /// does not wait. It looks at every waiting call: fit for showing one, not for a loop over
    /// all.
    pub fn position(&self, ticket: Ticket) -> Option<usize> {
        let call = self.waiting.get(&ticket)?;
        let own = self.rank(call.priority, call.since, ticket);
        let ahead = self.lines.iter().map(|(priority, line)| {
            line.iter()
                .take_while(|(since, ticket)| self.rank(*priority, *since, *ticket) < own)
                .count()
        });
        Some(ahead.sum())
    }

    fn enter(&mut self, ticket: Ticket, call: Waiting) -> bool {
        if self.waiting.contains_key(&ticket) || self.running.contains_key(&ticket) {
            return false;
        }
        self.waiting.insert(ticket, call);
        let line = self.lines.entry(call.priority).or_default();
        line.insert((call.since, ticket))
    }

    fn leave(&mut self, ticket: Ticket) -> Option<Waiting> {
        let call = self.waiting.remove(&ticket)?;
        if let Some(line) = self.lines.get_mut(&call.priority) {
            line.remove(&(call.since, ticket));
        }
        Some(call)
    }

    fn finish(&mut self, ticket: Ticket) {
        match self.running.remove(&ticket) {
            None => return,
            Some(Running::Firm) => {}
            Some(Running::Loose(victim)) => drop(self.victims.remove(&victim)),
            Some(Running::Leaving) => {
                self.leaving -= 1;
                self.cleared += 1;
            }
        }
        self.scout.take_if(|scout| *scout == ticket);
    }

    /// Turns the gate and returns how many calls may be thrown out: people's calls that came while
    /// it was not open could not ask for that then. A gate that stays as it is changes nothing;
    /// above all, it does not let a second call through beside the first.
    fn turn(&mut self, opening: Opening) -> usize {
        if self.gate == opening {
            return 0;
        }
        self.gate = opening;
        self.scout = None;
        match opening {
            Opening::All => self.people().len(),
            Opening::Shut | Opening::One => 0,
        }
    }

    /// Starts what may start.
    fn fill(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while self.has_room() {
            let Some(ticket) = self.next() else { break };
            let Some(call) = self.leave(ticket) else {
                break;
            };
            self.start(ticket, call);
            effects.push(Effect::Start(ticket));
        }
        effects
    }

    fn has_room(&self) -> bool {
        let may_start = match self.gate {
            Opening::Shut => false,
            Opening::One => self.scout.is_none(),
            Opening::All => true,
        };
        may_start && self.running.len() < self.slots
    }

    fn start(&mut self, ticket: Ticket, call: Waiting) {
        self.starts += 1;
        let is_firm = call.priority == Priority::User || call.preempted >= MOST_PREEMPTIONS;
        let running = if is_firm {
            Running::Firm
        } else {
            let victim = (call.priority, Reverse(self.starts), ticket);
            self.victims.insert(victim);
            Running::Loose(victim)
        };
        self.running.insert(ticket, running);
        if self.gate == Opening::One {
            self.scout = Some(ticket);
        }
    }

    /// Picks the next call. A slot that was cleared for a person goes to one, also before a call
    /// that has become as urgent by waiting: otherwise another call was thrown out for nothing.
    fn next(&mut self) -> Option<Ticket> {
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

    /// Throws out a running call for a person's call that waits, unless a slot is being cleared
    /// for it already.
    fn preempt(&mut self) -> Option<Effect> {
        let is_open = self.gate == Opening::All;
        if !is_open || self.people().len() <= self.leaving {
            return None;
        }
        let (_, _, ticket) = self.victims.pop_first()?;
        self.running.insert(ticket, Running::Leaving);
        self.leaving += 1;
        Some(Effect::Preempt(ticket))
    }

    /// The people's calls that wait, the oldest first.
    fn people(&self) -> impl ExactSizeIterator<Item = &(Duration, Ticket)> {
        static NOBODY: BTreeSet<(Duration, Ticket)> = BTreeSet::new();
        self.lines.get(&Priority::User).unwrap_or(&NOBODY).iter()
    }

    /// The order of going: the smallest goes first.
    fn rank(
        &self,
        priority: Priority,
        since: Duration,
        ticket: Ticket,
    ) -> (Reverse<u32>, Duration, Ticket) {
        let points = self.now.saturating_sub(since).as_secs() / AGING.as_secs();
        let points = u32::try_from(points).unwrap_or(u32::MAX);
        let urgency = priority.value().saturating_add(points).min(MOST_URGENT);
        (Reverse(urgency), since, ticket)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
