//! One provider as this process sees it: the waiting calls, the open calls, and its health.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use artel_rules::breaker::{
    self, BreakerAdmission, BreakerCallResult, BreakerThresholds, BreakerTransition, CircuitBreaker,
};
use artel_rules::frequency::{self, ErrorFrequency, ErrorFrequencyNotice};
use artel_rules::limiter::{
    ProviderRateLimiter, RateLimitPause, RateLimitReporter, RateLimiterGate,
};
use artel_rules::queue::{
    ProviderQueue, ProviderQueueEffect, ProviderQueueEvent, ProviderQueueGate, ProviderQueueTicket,
};
use artel_types::model::{ModelCallPriority, ModelFault};
use artel_types::{
    BreakerClosed, BreakerOpened, BreakerProbed, Clock, Fact, ProviderPaused, ProviderResumed,
    RetryClass, Timestamp,
};
use tokio::sync::{Notify, oneshot};

use crate::book::RecordedProviderHealth;

/// Queue, limiter and circuit breaker of one provider.
pub(crate) struct ProviderHealth {
    name: String,
    thresholds: BreakerThresholds,
    clock: Clock,
    state: Mutex<ProviderHealthState>,
}

struct ProviderHealthState {
    queue: ProviderQueue,
    limiter: ProviderRateLimiter,
    breaker: CircuitBreaker,
    frequency: ErrorFrequency,
    places: HashMap<u64, ModelCallSlot>,
    last_ticket: u64,
    /// The call that was sent to find out whether a pause is over.
    scout: Option<ProviderQueueTicket>,
    /// Time at which a timer will open the gate again.
    alarm: Option<Timestamp>,
}

/// One call, in the queue or under way.
struct ModelCallSlot {
    turn: Option<oneshot::Sender<()>>,
    bell: Arc<Notify>,
}

/// A slot in the provider's queue, released on drop.
pub(super) struct ModelCallPermit {
    health: Arc<ProviderHealth>,
    ticket: ProviderQueueTicket,
    /// Notified when a more urgent call needs the slot.
    pub(super) bell: Arc<Notify>,
}

/// The way in which an attempt passed the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BreakerPassage {
    /// The provider was healthy.
    Plain,
    /// It was the one call that probes whether the provider is back.
    Probe,
}

/// The end of an attempt, as far as the provider's health is concerned.
pub(super) enum ProviderHealthSignal<'a> {
    Answered,
    Faulty(&'a ModelFault),
    CalledOff,
}

/// The consequences of an attempt's end.
#[derive(Default)]
pub(super) struct ProviderHealthReport {
    /// Facts to record.
    pub(super) facts: Vec<Fact>,
    /// The pause that the provider asked for.
    pub(super) pause: Option<RateLimitPause>,
    /// A notice for the person.
    pub(super) notice: Option<String>,
}

impl ProviderHealth {
    pub(super) fn new(
        name: &str,
        slots: usize,
        thresholds: BreakerThresholds,
        clock: Clock,
        standing: &RecordedProviderHealth,
    ) -> Self {
        let (mut limiter, mut breaker) =
            (ProviderRateLimiter::default(), CircuitBreaker::default());
        if let Some((said, until)) = standing.paused {
            limiter.paused_elsewhere(said, until, standing.attempt);
        }
        if let Some(until) = standing.open_until {
            breaker.opened_elsewhere(until);
        }
        if let Some(until) = standing.probed_until {
            breaker.probed_elsewhere(until, standing.successes);
        }
        Self {
            name: name.to_owned(),
            thresholds,
            clock,
            state: Mutex::new(ProviderHealthState {
                queue: ProviderQueue::new(slots),
                limiter,
                breaker,
                frequency: ErrorFrequency::default(),
                places: HashMap::new(),
                last_ticket: 0,
                scout: None,
                alarm: None,
            }),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Puts a call into the queue. The receiver resolves when it is the call's turn.
    pub(super) fn arrive(
        self: &Arc<Self>,
        priority: ModelCallPriority,
        since: Duration,
        preempted: u32,
    ) -> (ModelCallPermit, oneshot::Receiver<()>) {
        let (turn, mine) = oneshot::channel();
        let bell = Arc::new(Notify::new());
        self.refresh();
        let ticket = {
            let mut state = self.state();
            state.last_ticket += 1;
            let ticket = ProviderQueueTicket(state.last_ticket);
            let place = ModelCallSlot {
                turn: Some(turn),
                bell: bell.clone(),
            };
            state.places.insert(ticket.0, place);
            let arrived = ProviderQueueEvent::Arrived {
                ticket,
                priority,
                since,
                preempted,
            };
            state.step(arrived, self.clock.uptime());
            ticket
        };
        let health = self.clone();
        let seat = ModelCallPermit {
            health,
            ticket,
            bell,
        };
        (seat, mine)
    }

    /// Returns the end of the provider's pause, if it asked for one.
    pub(super) fn paused_until(&self) -> Option<Timestamp> {
        let now = self.clock.now();
        let until = self.state().limiter.paused_until();
        until.filter(|until| *until > now)
    }

    pub(super) fn admit(&self) -> BreakerAdmission {
        let now = self.clock.now();
        self.state().breaker.admit(now, &self.thresholds)
    }

    /// Returns an unused admission of [`ProviderHealth::admit`].
    pub(super) fn not_sent(&self, passage: BreakerPassage) {
        let now = self.clock.now();
        // Nothing was sent, so nothing follows from it.
        drop(self.judge(
            &mut self.state(),
            passage,
            BreakerCallResult::Abandoned,
            now,
        ));
    }

    /// Returns the number of successful probes.
    pub(super) fn good_probes(&self) -> u32 {
        match self.state().breaker.state() {
            breaker::BreakerStatus::Probing { successes, .. } => successes,
            _ => 0,
        }
    }

    /// Lets the breaker judge an attempt. One that was sent while the provider was healthy, and
    /// ends after it became unhealthy, must not count as the probe.
    fn judge(
        &self,
        state: &mut ProviderHealthState,
        passage: BreakerPassage,
        verdict: BreakerCallResult,
        now: Timestamp,
    ) -> Option<BreakerTransition> {
        let is_closed = state.breaker.state() == breaker::BreakerStatus::Closed;
        if passage == BreakerPassage::Plain && !is_closed {
            return None;
        }
        state.breaker.report(verdict, now, &self.thresholds)
    }

    /// Takes in how an attempt ended, and opens or shuts the gate accordingly.
    pub(super) fn report(
        self: &Arc<Self>,
        seat: &ModelCallPermit,
        passage: BreakerPassage,
        outcome: ProviderHealthSignal<'_>,
        jitter_permille: u32,
    ) -> ProviderHealthReport {
        let heard = self.state().heard_of(seat.ticket);
        let report = self.take_in(heard, passage, &outcome, jitter_permille);
        self.refresh();
        report
    }

    fn take_in(
        &self,
        heard: RateLimitReporter,
        passage: BreakerPassage,
        outcome: &ProviderHealthSignal<'_>,
        jitter_permille: u32,
    ) -> ProviderHealthReport {
        let (now, uptime) = (self.clock.now(), self.clock.uptime());
        let mut report = ProviderHealthReport::default();
        let mut state = self.state();
        let verdict = match outcome {
            ProviderHealthSignal::Answered => BreakerCallResult::Success,
            ProviderHealthSignal::Faulty(fault) if fault.kind.is_ill_health() => {
                BreakerCallResult::Failure
            }
            ProviderHealthSignal::Faulty(_) | ProviderHealthSignal::CalledOff => {
                BreakerCallResult::Abandoned
            }
        };
        let change = self.judge(&mut state, passage, verdict, now);
        let fact = change.map(|change| self.fact_of(change, now));
        report.facts.extend(fact);
        match outcome {
            ProviderHealthSignal::Answered => {
                if state.limiter.succeeded(heard).is_some() {
                    let provider = self.name.clone();
                    report.facts.push(ProviderResumed { provider }.into());
                }
            }
            ProviderHealthSignal::Faulty(fault) if fault.kind.class() == RetryClass::RateLimit => {
                let before = state.limiter.paused_until();
                let wait = fault.retry_after;
                let paused = state.limiter.slowed(now, heard, wait, jitter_permille);
                // In a burst of refusals, the first one says everything.
                if state.limiter.paused_until() != before {
                    report.facts.push(self.paused(paused, fault));
                }
                report.pause = Some(paused);
            }
            ProviderHealthSignal::Faulty(fault) => {
                state.abandon(heard);
                report.notice = state.notice(&self.name, fault, uptime);
            }
            ProviderHealthSignal::CalledOff => state.abandon(heard),
        }
        report
    }

    fn fact_of(&self, change: BreakerTransition, now: Timestamp) -> Fact {
        let provider = self.name.clone();
        match change {
            BreakerTransition::Opened { until, why } => BreakerOpened {
                provider,
                until,
                why,
            }
            .into(),
            BreakerTransition::Probed { successes } => BreakerProbed {
                provider,
                until: now,
                successes,
            }
            .into(),
            BreakerTransition::Closed => {
                let why = "it answers again".to_owned();
                BreakerClosed { provider, why }.into()
            }
        }
    }

    fn paused(&self, paused: RateLimitPause, fault: &ModelFault) -> Fact {
        let (until, attempt) = match paused {
            RateLimitPause::For { until, attempt } => (until, attempt),
            RateLimitPause::Park { until } => (until, 1),
        };
        ProviderPaused {
            provider: self.name.clone(),
            until,
            attempt,
            why: fault.to_string(),
        }
        .into()
    }

    /// Takes in an event about this provider that another process recorded.
    pub(super) fn learn(self: &Arc<Self>, event: &artel_types::Event) {
        {
            let mut state = self.state();
            match &event.fact {
                Fact::ProviderPaused(fact) => {
                    let (until, attempt) = (fact.until, fact.attempt);
                    state.limiter.paused_elsewhere(event.at, until, attempt);
                }
                Fact::ProviderResumed(_) => state.limiter.resumed_elsewhere(),
                Fact::BreakerOpened(fact) => state.breaker.opened_elsewhere(fact.until),
                Fact::BreakerProbed(fact) => {
                    let (until, successes) = (fact.until, fact.successes);
                    state.breaker.probed_elsewhere(until, successes);
                }
                Fact::BreakerClosed(_) => state.breaker.reset(),
                _ => {}
            }
        }
        self.refresh();
    }

    /// Sets the gate to what the limiter says, and makes sure that it opens again.
    fn refresh(self: &Arc<Self>) {
        let now = self.clock.now();
        let mut state = self.state();
        let gate = state.limiter.gate(now);
        let opening = match gate {
            RateLimiterGate::Open => ProviderQueueGate::All,
            RateLimiterGate::One => ProviderQueueGate::One,
            RateLimiterGate::Shut { .. } => ProviderQueueGate::Shut,
        };
        state.step(ProviderQueueEvent::Gate(opening), self.clock.uptime());
        if let RateLimiterGate::Shut { until } = gate
            && state
                .alarm
                .is_none_or(|alarm| alarm > until || alarm <= now)
        {
            state.alarm = Some(until);
            drop(state);
            self.set_alarm(until.since(now));
        }
    }

    fn set_alarm(self: &Arc<Self>, wait: Duration) {
        let health = Arc::downgrade(self);
        // Slightly later than the moment itself, because a timer may round down to it.
        let wait = wait + Duration::from_millis(1);
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            if let Some(health) = health.upgrade() {
                health.state().alarm = None;
                health.refresh();
            }
        });
    }

    fn leave(self: &Arc<Self>, ticket: ProviderQueueTicket) {
        {
            let mut state = self.state();
            let waits = state
                .places
                .get(&ticket.0)
                .map(|place| place.turn.is_some());
            state.places.remove(&ticket.0);
            let heard = state.heard_of(ticket);
            state.abandon(heard);
            let event = match waits {
                Some(true) => ProviderQueueEvent::Left { ticket },
                _ => ProviderQueueEvent::Finished { ticket },
            };
            state.step(event, self.clock.uptime());
        }
        self.refresh();
    }

    /// Returns the number of calls before this one in the queue.
    fn position(&self, ticket: ProviderQueueTicket) -> usize {
        self.state().queue.position(ticket).unwrap_or(0)
    }

    fn state(&self) -> MutexGuard<'_, ProviderHealthState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProviderHealthState {
    fn step(&mut self, event: ProviderQueueEvent, now: Duration) {
        for effect in self.queue.step(event, now) {
            match effect {
                ProviderQueueEffect::Start(ticket) => {
                    if self.limiter.sent() == RateLimitReporter::OfTheOne {
                        self.scout = Some(ticket);
                    }
                    let place = self.places.get_mut(&ticket.0);
                    // A call that is gone returns its slot itself, when its permit is dropped.
                    if let Some(turn) = place.and_then(|place| place.turn.take()) {
                        turn.send(()).unwrap_or_default();
                    }
                }
                ProviderQueueEffect::Preempt(ticket) => {
                    if let Some(place) = self.places.get(&ticket.0) {
                        place.bell.notify_one();
                    }
                }
            }
        }
    }

    /// Returns whether a call was the one sent to find out about a pause. A second query says
    /// no.
    fn heard_of(&mut self, ticket: ProviderQueueTicket) -> RateLimitReporter {
        match self.scout.take_if(|scout| *scout == ticket) {
            Some(_) => RateLimitReporter::OfTheOne,
            None => RateLimitReporter::OfAnother,
        }
    }

    /// Lets another call find out about the pause, if this one was to do so and learned
    /// nothing.
    fn abandon(&mut self, heard: RateLimitReporter) {
        if heard == RateLimitReporter::OfTheOne {
            self.limiter.one_abandoned();
        }
    }

    /// Returns a notice for the person. Transient faults stay silent until there are many; a
    /// failing provider is reported at once.
    fn notice(&mut self, name: &str, fault: &ModelFault, uptime: Duration) -> Option<String> {
        match fault.kind.class() {
            RetryClass::Degrading => Some(format!("{name}: {fault}")),
            RetryClass::Transient => {
                let limits = frequency::ErrorFrequencyLimits::default();
                let (frequency, notice) =
                    std::mem::take(&mut self.frequency).count(uptime, &limits);
                self.frequency = frequency;
                (notice == ErrorFrequencyNotice::Tell).then(|| {
                    let (count, window) = (limits.count, limits.window.as_secs());
                    format!("{name}: {count} failures within {window} s, the last: {fault}")
                })
            }
            _ => None,
        }
    }
}

impl ModelCallPermit {
    /// Returns the number of calls before this one in the queue.
    pub(super) fn position(&self) -> usize {
        self.health.position(self.ticket)
    }
}

impl Drop for ModelCallPermit {
    fn drop(&mut self) {
        self.health.leave(self.ticket);
    }
}
