//! Tests of who goes when, who makes room, and that no call waits for ever.

use ModelCallPriority::{Background, Execution, Planning, User, Validation};
use proptest::prelude::*;

use super::*;

/// A queue with its clock and a transcript of its orders.
struct Desk {
    queue: ProviderQueue,
    now: u64,
    log: Vec<String>,
}

impl Desk {
    fn new(slots: usize) -> Self {
        Self {
            queue: ProviderQueue::new(slots),
            now: 0,
            log: Vec::new(),
        }
    }

    fn step(&mut self, event: ProviderQueueEvent) {
        let effects = self.queue.step(event, Duration::from_secs(self.now));
        self.log.extend(effects.iter().map(|effect| match effect {
            ProviderQueueEffect::Start(ProviderQueueTicket(ticket)) => format!("+{ticket}"),
            ProviderQueueEffect::Preempt(ProviderQueueTicket(ticket)) => format!("!{ticket}"),
        }));
    }

    fn arrive(&mut self, ticket: u64, priority: ModelCallPriority) {
        self.come(ticket, priority, self.now, 0);
    }

    fn come(&mut self, ticket: u64, priority: ModelCallPriority, since: u64, preempted: u32) {
        self.step(ProviderQueueEvent::Arrived {
            ticket: ProviderQueueTicket(ticket),
            priority,
            since: Duration::from_secs(since),
            preempted,
        });
    }

    fn finish(&mut self, ticket: u64) {
        let ticket = ProviderQueueTicket(ticket);
        self.step(ProviderQueueEvent::Finished { ticket });
    }

    fn leave(&mut self, ticket: u64) {
        let ticket = ProviderQueueTicket(ticket);
        self.step(ProviderQueueEvent::Left { ticket });
    }

    fn gate(&mut self, opening: ProviderQueueGate) {
        self.step(ProviderQueueEvent::Gate(opening));
    }

    /// Compares the orders since the last check: `+1` starts, `!1` preempts.
    #[track_caller]
    fn check(&mut self, expected: &str) {
        assert_eq!(self.log.join(" "), expected);
        self.log.clear();
    }
}

#[test]
fn with_one_slot_the_more_urgent_goes_first() {
    let mut desk = Desk::new(1);
    desk.arrive(0, User);
    for (ticket, priority) in [Background, Validation, Execution, Planning, User, User]
        .into_iter()
        .enumerate()
    {
        desk.arrive(ticket as u64 + 1, priority);
    }
    let positions = (0..=6).map(|ticket| desk.queue.position(ProviderQueueTicket(ticket)));
    let expected = [None, Some(5), Some(4), Some(3), Some(2), Some(0), Some(1)];
    assert_eq!(positions.collect::<Vec<_>>(), expected);
    for ticket in [0, 5, 6, 4, 3, 2, 1] {
        desk.finish(ticket);
    }
    desk.check("+0 +5 +6 +4 +3 +2 +1");
    assert_eq!((desk.queue.waiting(), desk.queue.running()), (0, 0));
}

#[test]
fn a_call_that_is_tried_again_keeps_its_place() {
    let mut desk = Desk::new(1);
    desk.arrive(9, User);
    desk.now = 2;
    desk.arrive(1, Execution);
    desk.come(2, Execution, 1, 0);
    desk.come(0, Execution, 2, 0);
    desk.finish(9);
    desk.finish(2);
    desk.finish(0);
    desk.check("+9 +2 +0 +1");
}

#[test]
fn waiting_makes_urgent() {
    let mut desk = Desk::new(1);
    desk.arrive(0, User);
    desk.arrive(1, Validation);
    desk.now = 59;
    desk.arrive(2, Execution);
    desk.step(ProviderQueueEvent::Tick);
    assert_eq!(
        desk.queue.position(ProviderQueueTicket(1)),
        Some(1),
        "59 against 60"
    );
    desk.now = 60;
    desk.step(ProviderQueueEvent::Tick);
    assert_eq!(
        desk.queue.position(ProviderQueueTicket(1)),
        Some(0),
        "60, and older"
    );
    desk.finish(0);
    desk.check("+0 +1");
}

#[test]
fn a_background_call_beats_fresh_calls_of_people_at_last() {
    let mut desk = Desk::new(1);
    desk.arrive(0, User);
    desk.arrive(1, Background);
    for ticket in 2.. {
        desk.now += 1;
        desk.arrive(ticket, User);
        desk.finish(if ticket == 2 { 0 } else { ticket - 1 });
        if desk.log.last().unwrap() == "+1" {
            break;
        }
        assert!(desk.now < 1000, "it starves");
    }
    assert_eq!(desk.now, 240, "80 points at 3 seconds each");
}

#[test]
fn a_person_has_the_least_urgent_and_latest_thrown_out() {
    let mut desk = Desk::new(4);
    desk.arrive(1, Background);
    desk.arrive(2, Validation);
    desk.arrive(3, Background);
    desk.arrive(4, User);
    desk.arrive(5, Planning);
    desk.check("+1 +2 +3 +4");
    desk.arrive(6, User);
    desk.check("!3");
    desk.arrive(7, User);
    desk.check("!1");
    desk.arrive(8, User);
    desk.check("!2");
    desk.arrive(9, User);
    desk.check("");
    assert_eq!(desk.queue.running(), 4);
    for ticket in [1, 3, 2, 4] {
        desk.finish(ticket);
    }
    desk.check("+6 +7 +8 +9");
}

#[test]
fn nobody_is_thrown_out_where_there_is_room() {
    let mut desk = Desk::new(2);
    desk.arrive(1, Background);
    desk.arrive(2, User);
    desk.check("+1 +2");
    desk.arrive(3, Planning);
    desk.check("");
}

#[test]
fn what_was_thrown_out_twice_stays() {
    let mut desk = Desk::new(1);
    desk.arrive(1, Background);
    for (time, person) in [(0, 10), (1, 11)] {
        desk.arrive(person, User);
        desk.finish(1);
        desk.come(1, Background, 0, time + 1);
        desk.finish(person);
    }
    desk.check("+1 !1 +10 +1 !1 +11 +1");
    desk.arrive(12, User);
    desk.check("");
    desk.finish(1);
    desk.check("+12");
}

#[test]
fn a_cleared_slot_goes_to_a_person() {
    let mut desk = Desk::new(2);
    desk.arrive(1, Background);
    desk.come(2, Background, 0, 2);
    desk.arrive(3, Background);
    desk.now = 1000;
    desk.arrive(4, User);
    desk.check("+1 +2 !1");
    desk.finish(1);
    desk.check("+4");
    desk.come(1, Background, 0, 1);
    desk.finish(2);
    desk.check("+1");
}

#[test]
fn a_slot_that_is_being_cleared_serves_the_next_person() {
    let mut desk = Desk::new(3);
    desk.arrive(0, Background);
    desk.arrive(1, Background);
    desk.arrive(2, Background);
    desk.arrive(3, User);
    desk.check("+0 +1 +2 !2");
    desk.finish(1);
    desk.check("+3");
    desk.arrive(4, User);
    desk.check("");
    desk.arrive(5, User);
    desk.check("!0");
    desk.finish(2);
    desk.finish(0);
    desk.check("+4 +5");
}

#[test]
fn a_cleared_slot_that_no_person_wants_is_anybodys() {
    let mut desk = Desk::new(1);
    desk.arrive(1, Background);
    desk.arrive(2, Validation);
    desk.arrive(3, User);
    desk.leave(3);
    desk.finish(1);
    desk.check("+1 !1 +2");
    desk.arrive(4, User);
    desk.check("!2");
}

#[test]
fn a_shut_gate_starts_nothing_and_throws_nothing_out() {
    let mut desk = Desk::new(1);
    desk.arrive(1, Background);
    desk.gate(ProviderQueueGate::Shut);
    desk.arrive(2, User);
    desk.arrive(3, User);
    desk.check("+1");
    desk.gate(ProviderQueueGate::One);
    desk.check("");
    desk.gate(ProviderQueueGate::All);
    desk.check("!1");
    desk.gate(ProviderQueueGate::Shut);
    desk.finish(1);
    desk.check("");
    desk.come(4, Background, 0, 0);
    desk.now = 1000;
    desk.gate(ProviderQueueGate::All);
    desk.check("+2");
}

#[test]
fn a_gate_for_one_lets_one_through_at_a_time() {
    let mut desk = Desk::new(4);
    desk.arrive(1, Execution);
    desk.gate(ProviderQueueGate::Shut);
    for ticket in 2..7 {
        desk.arrive(ticket, Execution);
    }
    desk.gate(ProviderQueueGate::One);
    desk.check("+1 +2");
    desk.gate(ProviderQueueGate::One);
    desk.arrive(7, User);
    desk.step(ProviderQueueEvent::Tick);
    desk.finish(1);
    desk.check("");
    desk.finish(2);
    desk.check("+7");
    desk.gate(ProviderQueueGate::Shut);
    desk.finish(7);
    desk.gate(ProviderQueueGate::One);
    desk.check("+3");
    desk.gate(ProviderQueueGate::Shut);
    desk.gate(ProviderQueueGate::One);
    desk.check("+4");
    desk.gate(ProviderQueueGate::All);
    desk.check("+5 +6");
}

#[test]
fn what_says_nothing_new_is_passed_over() {
    let mut desk = Desk::new(1);
    desk.finish(1);
    desk.leave(1);
    desk.arrive(1, Execution);
    desk.arrive(1, User);
    desk.arrive(2, Background);
    desk.arrive(2, User);
    desk.finish(2);
    desk.check("+1");
    assert_eq!((desk.queue.waiting(), desk.queue.running()), (1, 1));
    desk.leave(1);
    desk.check("+2");
    desk.leave(2);
    assert_eq!((desk.queue.waiting(), desk.queue.running()), (0, 0));
    assert_eq!(ProviderQueue::new(0).slots, 1);
}

#[test]
fn thousands_may_wait() {
    let mut desk = Desk::new(1000);
    for ticket in 0..11_000 {
        desk.now = ticket / 100;
        desk.arrive(
            ticket,
            ModelCallPriority::ALL[usize::try_from(ticket % 5).unwrap()],
        );
    }
    let mut running: BTreeSet<u64> = BTreeSet::new();
    let mut started = 0;
    loop {
        for order in std::mem::take(&mut desk.log) {
            match order.split_at(1) {
                ("+", ticket) => {
                    started += 1;
                    running.insert(ticket.parse().unwrap());
                }
                // It does not come back: only the count matters here.
                _ => assert!(running.contains(&order[1..].parse().unwrap())),
            }
        }
        let Some(ticket) = running.pop_first() else {
            break;
        };
        desk.finish(ticket);
    }
    assert_eq!(started, 11_000);
}

/// The order of going, by sorting all calls, for comparison.
fn sorted(calls: &[(u64, ModelCallPriority, u64)], now: u64) -> Vec<u64> {
    let urgency = |priority: ModelCallPriority, since: u64| {
        (u64::from(priority.value()) + now.saturating_sub(since) / 3).min(100)
    };
    let mut calls = calls.to_vec();
    calls.sort_by_key(|(ticket, priority, since)| {
        (Reverse(urgency(*priority, *since)), *since, *ticket)
    });
    calls.into_iter().map(|(ticket, _, _)| ticket).collect()
}

fn priorities() -> impl Strategy<Value = ModelCallPriority> {
    proptest::sample::select(ModelCallPriority::ALL.to_vec())
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Arrive(ModelCallPriority, u64),
    Leave(usize),
    Finish(usize),
    Turn(ProviderQueueGate),
    Wait(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let opening = proptest::sample::select(vec![
        ProviderQueueGate::Shut,
        ProviderQueueGate::One,
        ProviderQueueGate::All,
    ]);
    let act = prop_oneof![
        6 => (priorities(), 0_u64..300).prop_map(|(priority, age)| Act::Arrive(priority, age)),
        1 => any::<usize>().prop_map(Act::Leave),
        5 => any::<usize>().prop_map(Act::Finish),
        2 => opening.prop_map(Act::Turn),
        2 => (0_u64..100).prop_map(Act::Wait),
    ];
    proptest::collection::vec(act, 0..150)
}

proptest! {
    #[test]
    fn the_order_is_that_of_sorting(
        calls in proptest::collection::vec((priorities(), 0_u64..400), 1..60),
        pauses in proptest::collection::vec(0_u64..60, 60),
    ) {
        let mut desk = Desk::new(1);
        desk.gate(ProviderQueueGate::Shut);
        desk.now = 400;
        let mut calls: Vec<_> = (0..).zip(calls).map(|(ticket, (priority, since))| {
            desk.come(ticket, priority, since, 2);
            (ticket, priority, since)
        }).collect();
        desk.gate(ProviderQueueGate::All);
        for pause in pauses {
            let Some(next) = sorted(&calls, desk.now).first().copied() else { break };
            prop_assert_eq!(std::mem::take(&mut desk.log), [format!("+{next}")]);
            calls.retain(|(ticket, _, _)| *ticket != next);
            desk.now += pause;
            desk.step(ProviderQueueEvent::Tick);
            for (position, ticket) in sorted(&calls, desk.now).into_iter().enumerate() {
                prop_assert_eq!(desk.queue.position(ProviderQueueTicket(ticket)), Some(position));
            }
            desk.finish(next);
        }
    }

    #[test]
    fn slots_are_kept_used_and_nobody_is_lost(slots in 1_usize..5, acts in acts()) {
        let mut queue = ProviderQueue::new(slots);
        let (mut now, mut next, mut gate) = (300, 0, ProviderQueueGate::All);
        let mut waiting: Vec<(ProviderQueueTicket, ModelCallPriority, u32)> = Vec::new();
        let mut running: Vec<(ProviderQueueTicket, ModelCallPriority, u32)> = Vec::new();
        let mut leaving: Vec<ProviderQueueTicket> = Vec::new();
        for act in acts {
            let (mut person, mut has_preempted) = (false, false);
            let event = match act {
                Act::Arrive(priority, age) => {
                    next += 1;
                    let (ticket, preempted) = (ProviderQueueTicket(next), u32::try_from(age % 3).unwrap());
                    waiting.push((ticket, priority, preempted));
                    person = priority == User;
                    let since = Duration::from_secs(now - age);
                    ProviderQueueEvent::Arrived { ticket, priority, since, preempted }
                }
                Act::Leave(at) if !waiting.is_empty() => {
                    let (ticket, ..) = waiting.remove(at % waiting.len());
                    ProviderQueueEvent::Left { ticket }
                }
                Act::Finish(at) if !running.is_empty() => {
                    let (ticket, ..) = running.remove(at % running.len());
                    leaving.retain(|other| *other != ticket);
                    ProviderQueueEvent::Finished { ticket }
                }
                Act::Turn(opening) => {
                    gate = opening;
                    ProviderQueueEvent::Gate(opening)
                }
                Act::Wait(seconds) => {
                    now += seconds;
                    ProviderQueueEvent::Tick
                }
                _ => ProviderQueueEvent::Tick,
            };
            for effect in queue.step(event, Duration::from_secs(now)) {
                match effect {
                    ProviderQueueEffect::Start(ticket) => {
                        let at = waiting.iter().position(|(other, ..)| *other == ticket);
                        running.push(waiting.remove(at.unwrap()));
                        prop_assert!(gate != ProviderQueueGate::Shut);
                    }
                    ProviderQueueEffect::Preempt(ticket) => {
                        let (_, priority, preempted) = *running.iter().find(|(other, ..)| *other == ticket).unwrap();
                        prop_assert!(priority < User && preempted < 2 && gate == ProviderQueueGate::All);
                        prop_assert!(!leaving.contains(&ticket), "it was told already");
                        prop_assert!(person || matches!(event, ProviderQueueEvent::Gate(_)));
                        let lower = running.iter().any(|(other, lower, times)| {
                            *lower < priority && *times < 2 && !leaving.contains(other)
                        });
                        prop_assert!(!lower, "a less urgent one runs");
                        leaving.push(ticket);
                        has_preempted = true;
                    }
                }
            }
            let people = waiting.iter().filter(|(_, priority, _)| *priority == User).count();
            prop_assert_eq!((queue.waiting(), queue.running()), (waiting.len(), running.len()));
            prop_assert!(running.len() <= slots);
            prop_assert!(gate != ProviderQueueGate::All || waiting.is_empty() || running.len() == slots);
            if person && people > 0 && gate == ProviderQueueGate::All {
                let firm = running.iter().all(|(ticket, priority, times)| {
                    *priority == User || *times >= 2 || leaving.contains(ticket)
                });
                let is_served = has_preempted || people <= leaving.len();
                prop_assert!(firm || is_served, "a person waits beside loose calls");
            }
        }
    }
}
