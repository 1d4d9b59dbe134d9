//! Takes one call through all stages, attempt after attempt, to a reply or an error.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use artel_rules::budget::UNLIMITED;
use artel_rules::limiter::PARK_ABOVE;
use artel_types::model::{ModelFault, ModelFaultKind, ModelRequest, Provider};
use artel_types::{
    BudgetLevel, BudgetWarned, Failure, FailureCode, RecordedText, RetryClass, SpendAmount,
    StreamName, TraceId,
};
use tokio::sync::mpsc;

use super::attempt::{CallAttemptEnd, CallAttemptOutcome, CallAttemptReader};
use super::call::{ModelCall, ModelCallError, ModelCallProgress, ModelCallReply, ModelCallWait};
use super::desk::SharedLedgerGuard;
use super::entries::ModelCallEventBuilder;
use super::health::{ModelCallPermit, ProviderHealth};
use super::intend::CallAttemptReservation;
use super::{Gateway, Owed, estimate};
use crate::recorded::{self, EncodedModelRequest};
use crate::rehearsal::ModelRequestFingerprint;

/// Interval at which a waiting call reads what other processes have recorded.
const LISTEN_EVERY: Duration = Duration::from_secs(2);

/// One call on its way through the stages.
pub(super) struct ModelCallDriver {
    pub(super) gateway: Gateway,
    pub(super) call: ModelCall,
    /// Append that has to be durable before the request is sent.
    owed: Option<Owed>,
    /// Progress for the caller, in boxes because a channel allocates room for many items.
    pub(super) out: mpsc::Sender<Box<ModelCallProgress>>,
    pub(super) id: String,
    /// Time at which the call first queued up. A repeated call keeps its place.
    since: Duration,
    /// Total time that the call has waited for its turn, over all attempts.
    waited: Duration,
    pub(super) attempt: u32,
    pub(super) preempted: u32,
    pub(super) failures: HashMap<RetryClass, u32>,
    /// The request without secrets, as it is sent and recorded.
    pub(super) request: Arc<ModelRequest>,
    pub(super) stored: StoredModelRequest,
}

/// The request as it is recorded.
#[derive(Debug, Clone)]
pub(super) struct StoredModelRequest {
    pub(super) text: RecordedText,
    /// Fingerprint by which a recording is found.
    pub(super) print: Option<ModelRequestFingerprint>,
    /// Call whose request this one begins with.
    pub(super) prior: Option<String>,
}

impl Default for StoredModelRequest {
    fn default() -> Self {
        Self {
            text: RecordedText::from(""),
            print: None,
            prior: None,
        }
    }
}

/// The follow-up of an attempt: a reply, or another attempt after a wait.
pub(super) enum CallAttemptFollowUp {
    Done(Box<ModelCallReply>),
    Again(ModelCallWait),
}

impl ModelCallDriver {
    pub(super) fn new(
        gateway: Gateway,
        call: ModelCall,
        owed: Option<Owed>,
        out: mpsc::Sender<Box<ModelCallProgress>>,
    ) -> Self {
        let since = gateway.setup().clock.uptime();
        Self {
            gateway,
            call,
            owed,
            out,
            id: random_id(),
            since,
            waited: Duration::ZERO,
            attempt: 0,
            preempted: 0,
            failures: HashMap::new(),
            request: Arc::default(),
            stored: StoredModelRequest::default(),
        }
    }

    /// Runs the call and reports how it ended. The caller may be gone by then.
    pub(super) async fn run(mut self) {
        let last = match self.finish().await {
            Ok(answer) => ModelCallProgress::Done(answer),
            Err(error) => ModelCallProgress::Failed(Box::new(error)),
        };
        drop(self.out.send(Box::new(last)).await);
    }

    async fn finish(&mut self) -> Result<Box<ModelCallReply>, ModelCallError> {
        self.request = Arc::new(self.without_secrets()?);
        let health = self.gateway.health(&self.call.chosen).await;
        let health = health.map_err(ModelCallError::Record)?;
        self.store_request().await?;
        loop {
            let seat = self.queue_up(&health).await?;
            self.attempt += 1;
            let reserved = self.intend(&health).await?;
            let (attempted, reserved) = match self.owed.take() {
                Some(owed) => match owed.await {
                    Ok(()) => self.ask(&seat, reserved).await,
                    Err(failure) => (CallAttemptOutcome::not_asked(failure), reserved),
                },
                None => self.ask(&seat, reserved).await,
            };
            match self.settle(&health, seat, attempted, &reserved).await? {
                CallAttemptFollowUp::Done(answer) => return Ok(answer),
                CallAttemptFollowUp::Again(wait) => self.wait(wait).await?,
            }
        }
    }

    /// Stage one: waits for a slot, and reports the reason for waiting whenever it changes.
    async fn queue_up(
        &mut self,
        health: &Arc<ProviderHealth>,
    ) -> Result<ModelCallPermit, ModelCallError> {
        let (seat, mut turn) = health.arrive(self.call.priority, self.since, self.preempted);
        let (clock, max_wait) = (
            self.gateway.setup().clock.clone(),
            self.gateway.setup().max_wait,
        );
        let (begun, before) = (clock.uptime(), self.waited);
        let mut told = None;
        loop {
            if turn.try_recv().is_ok() {
                return Ok(seat);
            }
            let wait = self.reason(health, &seat)?;
            if told.as_ref() != Some(&wait) {
                self.tell(ModelCallProgress::Waiting(wait.clone()));
                told = Some(wait);
            }
            let left = max_wait.saturating_sub(self.waited);
            if left.is_zero() {
                let (provider, waited) = (health.name().to_owned(), self.waited);
                return Err(ModelCallError::TooLong { provider, waited });
            }
            tokio::select! {
                biased;
                () = self.out.closed() => return Err(ModelCallError::CalledOff),
                _ = &mut turn => return Ok(seat),
                () = tokio::time::sleep(left.min(LISTEN_EVERY)) => {}
            }
            self.waited = before + clock.uptime().saturating_sub(begun);
            // Another process may have found that the provider is back, or a person may have
            // said so.
            drop(self.turn().await?);
        }
    }

    /// Returns the reason for waiting. Fails if the provider's pause is too long to wait for.
    fn reason(
        &self,
        health: &ProviderHealth,
        seat: &ModelCallPermit,
    ) -> Result<ModelCallWait, ModelCallError> {
        let Some(until) = health.paused_until() else {
            let before = seat.position();
            return Ok(ModelCallWait::Turn { before });
        };
        let provider = health.name().to_owned();
        let now = self.gateway.setup().clock.now();
        if until.since(now) > PARK_ABOVE {
            return Err(ModelCallError::Parked { provider, until });
        }
        Ok(ModelCallWait::Pause { provider, until })
    }

    /// Stage five: the provider.
    async fn ask(
        &self,
        seat: &ModelCallPermit,
        mut reserved: CallAttemptReservation,
    ) -> (CallAttemptOutcome, CallAttemptReservation) {
        let attempt = self.attempt;
        let setup = self.gateway.setup();
        let answer = self.call.model.reply(&self.request);
        let mut reading = CallAttemptReader::new(
            answer,
            &setup.of_replies(),
            &self.out,
            &seat.bell,
            &setup.clock,
        );
        let mut end = reading.show(ModelCallProgress::Asking { attempt }).await;
        while end.is_none() {
            end = reading.step().await;
            let written = estimate::tokens_of(reading.output_bytes());
            if end.is_none() && written > self.longest_answer() {
                let said = format!("it has {written} tokens by now, and may not");
                end = Some(CallAttemptEnd::Faulty(ModelFault::new(
                    ModelFaultKind::Endless,
                    said,
                )));
            }
            if end.is_none() && written > reserved.output {
                end = self.set_more_aside(&mut reserved).await;
            }
        }
        // The loop above always ends with a value. If it did not, the call would count as
        // cancelled, and nobody would see that.
        (
            reading.close(end.unwrap_or(CallAttemptEnd::CalledOff)),
            reserved,
        )
    }

    /// Returns the longest reply that is read, in tokens. Providers keep to the given limit,
    /// and tokens are only estimated here; a reply many times that long is no longer sensible.
    fn longest_answer(&self) -> u64 {
        let card = &self.call.chosen.card;
        let named = self.request.max_output.or(card.max_output);
        named.map_or(u64::MAX, |most| {
            most.saturating_mul(8).saturating_add(8_192)
        })
    }

    async fn wait(&self, wait: ModelCallWait) -> Result<(), ModelCallError> {
        let until = match &wait {
            ModelCallWait::Retry { fault, until }
                if fault.kind.class() != RetryClass::RateLimit =>
            {
                Some(*until)
            }
            // The queue itself waits for the provider.
            _ => None,
        };
        self.tell(ModelCallProgress::Waiting(wait));
        let Some(until) = until else {
            return Ok(());
        };
        let span = until.since(self.gateway.setup().clock.now());
        tokio::select! {
            biased;
            () = self.out.closed() => Err(ModelCallError::CalledOff),
            () = tokio::time::sleep(span) => Ok(()),
        }
    }

    pub(super) async fn turn(&self) -> Result<SharedLedgerGuard<'_>, ModelCallError> {
        let turn = self.gateway.desk().turn(&self.gateway).await;
        turn.map_err(ModelCallError::Record)
    }

    pub(super) fn pen(&self) -> ModelCallEventBuilder<'_> {
        ModelCallEventBuilder {
            call: &self.call,
            id: &self.id,
            attempt: self.attempt,
            gateway: self.gateway.name(),
        }
    }

    pub(super) fn provider_stream(
        &self,
        health: &ProviderHealth,
    ) -> Result<StreamName, ModelCallError> {
        StreamName::provider(health.name()).map_err(|error| {
            ModelCallError::Record(Failure::new(FailureCode::X001, error.to_string()))
        })
    }

    pub(super) fn amount_of(&self, input: u64, output: u64) -> SpendAmount {
        estimate::amount(&self.call.chosen.card, &estimate::usage(input, output))
    }

    async fn store_request(&mut self) -> Result<(), ModelCallError> {
        let written = recorded::write(&self.request, self.call.prior.as_ref());
        let EncodedModelRequest { json, prior } = written.map_err(unwritable)?;
        self.stored = StoredModelRequest {
            text: self.keep(json).await?,
            print: Some(self.print()),
            prior,
        };
        // It may be long, and is not needed any more.
        self.call.prior = None;
        Ok(())
    }

    /// Returns the request's fingerprint, extending that of the prior request if possible.
    fn print(&self) -> ModelRequestFingerprint {
        let longer = self.call.prior.as_ref().and_then(|prior| {
            let more = recorded::rest(&prior.request, &self.request)?;
            Some(prior.print.as_ref()?.and(more))
        });
        longer.unwrap_or_else(|| ModelRequestFingerprint::of(&self.request))
    }

    pub(super) fn speak_of(&self, warnings: &[BudgetWarned]) {
        for warning in warnings {
            self.tell(ModelCallProgress::Notice(warning_text(warning)));
        }
    }

    /// Reports progress to the caller if there is room. Nothing may wait for a caller that does
    /// not read.
    pub(super) fn tell(&self, progress: ModelCallProgress) {
        drop(self.out.try_send(Box::new(progress)));
    }

    /// Returns whether a script answers. Its faults are its own and are not remembered: a
    /// rehearsal must not depend on what was played before.
    pub(super) fn is_rehearsal(&self) -> bool {
        self.call.chosen.entry.provider == Provider::Rehearsal
    }

    /// Removes secrets from the request before anybody sees it.
    fn without_secrets(&mut self) -> Result<ModelRequest, ModelCallError> {
        let request = std::mem::take(&mut self.call.request);
        let redactor = &self.gateway.setup().redactor;
        // The prior request is already clean if it has a fingerprint, so only the new messages
        // have to be checked.
        if let Some(prior) = &self.call.prior
            && prior.print.is_some()
            && let Some(more) = recorded::rest(&prior.request, &request)
        {
            let json = to_json(&more)?;
            if matches!(redactor.redact_json(&json), Cow::Borrowed(_)) {
                return Ok(request);
            }
        }
        let json = to_json(&request)?;
        match redactor.redact_json(&json) {
            Cow::Borrowed(_) => Ok(request),
            Cow::Owned(clean) => serde_json::from_str(&clean).map_err(|error| {
                let what = "the question cannot be sent without a secret that is part of its form";
                let advice = "a key or password has an everyday word as its value: change it";
                let failure = Failure::new(FailureCode::M010, what).because(error.to_string());
                ModelCallError::Record(failure.advise(advice))
            }),
        }
    }
}

fn warning_text(warning: &BudgetWarned) -> String {
    let BudgetWarned {
        level, used, limit, ..
    } = warning;
    let mut parts = Vec::new();
    if limit.money.0 != UNLIMITED {
        parts.push(format!("{} of {}", used.money, limit.money));
    }
    if limit.tokens.0 != UNLIMITED {
        parts.push(format!("{} of {} tokens", used.tokens, limit.tokens));
    }
    match level {
        BudgetLevel::Global => format!("budget: {} used", parts.join(", ")),
        level => format!("budget of {level}: {} used", parts.join(", ")),
    }
}

pub(super) fn to_json(value: &impl serde::Serialize) -> Result<String, ModelCallError> {
    serde_json::to_string(value).map_err(unwritable)
}

fn unwritable(error: serde_json::Error) -> ModelCallError {
    ModelCallError::Record(Failure::new(FailureCode::X001, error.to_string()))
}

/// Returns a new random id.
pub(super) fn random_id() -> String {
    TraceId::from_random(random()).to_string()
}

/// Returns a random number from 0 to 1000: the point in its range at which a wait falls.
pub(super) fn jitter() -> u32 {
    u32::from_le_bytes(random()) % 1001
}

/// Returns random bytes, or zeros if the system has none. Then ids could repeat, and a
/// reservation under a known id is refused, which does no harm.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => bytes,
        Err(_) => [0; N],
    }
}
