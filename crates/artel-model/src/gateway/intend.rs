//! Stages two to four: budget, privacy label, limiter and breaker. Their decisions are
//! recorded before a byte is sent.

use std::sync::Arc;

use artel_rules::breaker::BreakerAdmission;
use artel_rules::budget::BudgetReservationFacts;
use artel_types::model::{PrivacyLabel, TokenUsage};
use artel_types::{BreakerProbed, EventDraft, EventOutcome, Failure};

use super::attempt::CallAttemptEnd;
use super::call::ModelCallError;
use super::desk::SharedLedgerGuard;
use super::drive::ModelCallDriver;
use super::entries::{CallAttemptCharge, FailedCallAttempt};
use super::estimate;
use super::health::{BreakerPassage, ProviderHealth};
use crate::book::GatewayStoreError;

/// The budget set aside for an attempt.
pub(super) struct CallAttemptReservation {
    /// Number of reservations, numbered from 1.
    pub(super) parts: u32,
    pub(super) input: u64,
    /// Number of reply tokens that they cover.
    pub(super) output: u64,
    /// Whether any limit applies to the call.
    pub(super) is_limited: bool,
    /// The way in which the attempt passed the breaker.
    pub(super) passage: BreakerPassage,
}

/// The reason that a call was not admitted.
enum CallAdmissionError {
    Call(ModelCallError),
    /// Another process wrote first.
    Moved,
}

impl From<ModelCallError> for CallAdmissionError {
    fn from(error: ModelCallError) -> Self {
        Self::Call(error)
    }
}

impl ModelCallDriver {
    /// Runs stages two to four (budget, privacy, breaker), then records the intent.
    pub(super) async fn intend(
        &self,
        health: &Arc<ProviderHealth>,
    ) -> Result<CallAttemptReservation, ModelCallError> {
        let mut reserved = CallAttemptReservation {
            parts: 1,
            input: estimate::input_tokens(&self.request),
            output: estimate::first_output(&self.request, &self.call.chosen.card),
            is_limited: true,
            passage: BreakerPassage::Plain,
        };
        let setup = self.gateway.setup();
        let mut turn = self.turn().await?;
        let refused = loop {
            let granted = match self.decide(&turn, health, &reserved).await {
                Ok((granted, passage)) => {
                    reserved.passage = passage;
                    granted
                }
                Err(CallAdmissionError::Call(error)) => break error,
                Err(CallAdmissionError::Moved) => {
                    turn.catch_up().map_err(ModelCallError::Record)?;
                    continue;
                }
            };
            let drafts = self.intent(&reserved, &granted);
            reserved.is_limited = turn.limits_anything(&setup.limits, &self.pen().levels());
            if !reserved.is_limited {
                // Without a limit there is nothing to agree on, so others may decide while this
                // is written.
                drop(turn);
                self.written(health, drafts, reserved.passage).await?;
                self.speak_of(&granted.warnings);
                return Ok(reserved);
            }
            match turn.record(drafts).await {
                Ok(()) => {
                    drop(turn);
                    self.speak_of(&granted.warnings);
                    return Ok(reserved);
                }
                Err(GatewayStoreError::Moved) => {
                    health.not_sent(reserved.passage);
                    turn.catch_up().map_err(ModelCallError::Record)?;
                }
                Err(GatewayStoreError::Failed(failure)) => {
                    health.not_sent(reserved.passage);
                    return Err(ModelCallError::Record(failure));
                }
            }
        };
        drop(turn);
        let lost = FailedCallAttempt {
            outcome: EventOutcome::Denied,
            fault: None,
            message: Failure::from(refused.clone()).what,
            retry_at: None,
            partial: None,
        };
        let draft = self.pen().failed(lost, &CallAttemptCharge::default());
        let recorded = setup.book.append(vec![draft].into()).await;
        recorded.map_err(|error| ModelCallError::Record(error.into_failure()))?;
        Err(refused)
    }

    /// Records an intent, wherever the budget's stream ends by now.
    async fn written(
        &self,
        health: &Arc<ProviderHealth>,
        drafts: Vec<EventDraft>,
        passage: BreakerPassage,
    ) -> Result<(), ModelCallError> {
        let recorded = self.gateway.setup().book.append(drafts.into()).await;
        recorded.map_err(|error| {
            health.not_sent(passage);
            ModelCallError::Record(error.into_failure())
        })
    }

    /// Asks the stages in order. Their decisions hold while the turn is held.
    async fn decide(
        &self,
        turn: &SharedLedgerGuard<'_>,
        health: &Arc<ProviderHealth>,
        reserved: &CallAttemptReservation,
    ) -> Result<(BudgetReservationFacts, BreakerPassage), CallAdmissionError> {
        let setup = self.gateway.setup();
        let amount = self.amount_of(reserved.input, reserved.output);
        self.refuse_unpriced(turn)?;
        let (pen, now) = (self.pen(), setup.clock.now());
        let granted = turn
            .reserve(&setup.limits, &pen.key(1), &pen.levels(), amount, now)
            .map_err(|over| ModelCallError::OverBudget {
                over,
                partial: String::new(),
            })?;
        if self.call.privacy == PrivacyLabel::LocalOnly && !self.call.chosen.is_local() {
            let provider = health.name().to_owned();
            return Err(ModelCallError::LocalOnly { provider }.into());
        }
        match health.admit() {
            BreakerAdmission::Go => Ok((granted, BreakerPassage::Plain)),
            BreakerAdmission::Probe => {
                self.claim_probe(turn, health).await?;
                Ok((granted, BreakerPassage::Probe))
            }
            BreakerAdmission::Refused { until } => {
                let provider = health.name().to_owned();
                Err(ModelCallError::Unwell { provider, until }.into())
            }
        }
    }

    /// Claims the probe: of all processes, only one tests whether a provider is back.
    async fn claim_probe(
        &self,
        turn: &SharedLedgerGuard<'_>,
        health: &Arc<ProviderHealth>,
    ) -> Result<(), CallAdmissionError> {
        let setup = self.gateway.setup();
        let provider = health.name().to_owned();
        if self.is_rehearsal() {
            return Ok(());
        }
        let until = setup.clock.now().after(setup.thresholds.cooldown);
        let stream = self.provider_stream(health)?;
        let successes = health.good_probes();
        let fact = BreakerProbed {
            provider,
            until,
            successes,
        }
        .into();
        let draft = self.pen().health(stream.clone(), fact);
        match turn.record_on(stream, health.name(), draft).await {
            Ok(()) => Ok(()),
            Err(error) => {
                health.not_sent(BreakerPassage::Probe);
                Err(match error {
                    GatewayStoreError::Moved => CallAdmissionError::Moved,
                    GatewayStoreError::Failed(failure) => ModelCallError::Record(failure).into(),
                })
            }
        }
    }

    /// Refuses a call without a known price if a money limit applies, because it would be a
    /// hole in that limit.
    fn refuse_unpriced(&self, turn: &SharedLedgerGuard<'_>) -> Result<(), ModelCallError> {
        let chosen = &self.call.chosen;
        let is_priced = chosen.card.cost(&TokenUsage::default()).is_some();
        let limits = &self.gateway.setup().limits;
        if is_priced || chosen.is_local() || !turn.limits_money(limits, &self.pen().levels()) {
            return Ok(());
        }
        let model = chosen.entry.model.clone();
        Err(ModelCallError::NoPrice { model })
    }

    fn intent(
        &self,
        reserved: &CallAttemptReservation,
        granted: &BudgetReservationFacts,
    ) -> Vec<EventDraft> {
        let pen = self.pen();
        let amount = self.amount_of(reserved.input, reserved.output);
        let warned = granted.warnings.iter();
        let mut drafts = vec![pen.reserved(granted.reserved.clone())];
        drafts.extend(warned.map(|fact| pen.warned(fact.clone())));
        drafts.push(pen.requested(amount, &self.stored));
        drafts
    }

    /// Sets more aside for a reply that grows beyond its reservation, or ends the attempt if
    /// the budget is used up.
    pub(super) async fn set_more_aside(
        &self,
        reserved: &mut CallAttemptReservation,
    ) -> Option<CallAttemptEnd> {
        let (pen, setup) = (self.pen(), self.gateway.setup());
        let card = &self.call.chosen.card;
        let amount = estimate::growth(card, reserved.input, reserved.output);
        let mut turn = match self.gateway.desk().turn(&self.gateway).await {
            Ok(turn) => turn,
            Err(failure) => return Some(CallAttemptEnd::Unrecorded(failure)),
        };
        loop {
            let (key, now) = (pen.key(reserved.parts + 1), setup.clock.now());
            let granted = match turn.reserve(&setup.limits, &key, &pen.levels(), amount, now) {
                Ok(granted) => granted,
                Err(over) => return Some(CallAttemptEnd::OverBudget(over)),
            };
            let mut drafts = vec![pen.reserved(granted.reserved)];
            drafts.extend(granted.warnings.iter().map(|fact| pen.warned(fact.clone())));
            let moved = match turn.record(drafts).await {
                Ok(()) => {
                    reserved.parts += 1;
                    reserved.output += estimate::OUTPUT_AT_ONCE;
                    self.speak_of(&granted.warnings);
                    return None;
                }
                Err(GatewayStoreError::Moved) => turn.catch_up(),
                Err(GatewayStoreError::Failed(failure)) => Err(failure),
            };
            if let Err(failure) = moved {
                return Some(CallAttemptEnd::Unrecorded(failure));
            }
        }
    }
}
