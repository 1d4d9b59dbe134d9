//! Stage six: settles an attempt's usage and records its result, before anybody acts on it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use artel_rules::budget::BudgetSettlementFacts;
use artel_rules::limiter::RateLimitPause;
use artel_rules::retry;
use artel_types::model::{MessagePart, ModelFault, ModelReply, TokenUsage};
use artel_types::{
    BudgetSettled, BudgetWarned, EventDraft, EventOutcome, Failure, FailureCode, Money,
    RecordedText, SecretRedactor, SpendAmount,
};
use futures_util::future::BoxFuture;

use super::attempt::{CallAttemptEnd, CallAttemptOutcome, CallAttemptTiming};
use super::call::{ModelCallError, ModelCallProgress, ModelCallReply, ModelCallWait};
use super::drive::{CallAttemptFollowUp, ModelCallDriver, jitter, to_json};
use super::entries::{CallAttemptCharge, FailedCallAttempt};
use super::estimate;
use super::health::{self, ModelCallPermit, ProviderHealth, ProviderHealthReport};
use super::intend::CallAttemptReservation;
use crate::book::GatewayStoreError;

/// Longest single wait before trying again to record a result. All waits together take
/// about a minute.
const LONGEST_INSISTENCE: Duration = Duration::from_secs(32);

/// Everything to close after an attempt: its reservations, and what it shows about the
/// provider.
struct CallAttemptSettlement<'a> {
    health: &'a Arc<ProviderHealth>,
    reserved: &'a CallAttemptReservation,
    report: ProviderHealthReport,
}

impl ModelCallDriver {
    /// Closes an attempt and returns what follows from it.
    pub(super) async fn settle(
        &mut self,
        health: &Arc<ProviderHealth>,
        seat: ModelCallPermit,
        mut attempted: CallAttemptOutcome,
        reserved: &CallAttemptReservation,
    ) -> Result<CallAttemptFollowUp, ModelCallError> {
        if let CallAttemptEnd::Faulty(fault) = &mut attempted.end {
            self.clean_fault(fault);
        }
        let outcome = match &attempted.end {
            CallAttemptEnd::Replied(_) => health::ProviderHealthSignal::Answered,
            CallAttemptEnd::Faulty(fault) => health::ProviderHealthSignal::Faulty(fault),
            CallAttemptEnd::Preempted
            | CallAttemptEnd::CalledOff
            | CallAttemptEnd::OverBudget(_)
            | CallAttemptEnd::Unrecorded(_) => health::ProviderHealthSignal::CalledOff,
        };
        let report = health.report(&seat, reserved.passage, outcome, jitter());
        drop(seat);
        let closing = CallAttemptSettlement {
            health,
            reserved,
            report,
        };
        let written = estimate::tokens_of(attempted.output_bytes);
        let took = estimate::usage(reserved.input, written);
        let bill = self.bill(None, attempted.is_charged.then_some(took));
        let CallAttemptOutcome {
            end,
            timing,
            partial,
            ..
        } = attempted;
        match end {
            CallAttemptEnd::Replied(reply) => self.after_reply(closing, timing, reply).await,
            CallAttemptEnd::Faulty(fault) => self.after_fault(closing, bill, fault, partial).await,
            CallAttemptEnd::Preempted => {
                let why = "something more urgent took its place".to_owned();
                self.close_lost(closing, bill, why, &partial).await?;
                self.preempted += 1;
                Ok(CallAttemptFollowUp::Again(ModelCallWait::Preempted))
            }
            CallAttemptEnd::CalledOff => {
                let why = "called off by whoever asked".to_owned();
                self.close_lost(closing, bill, why, &partial).await?;
                Err(ModelCallError::CalledOff)
            }
            CallAttemptEnd::OverBudget(over) => {
                let kept = partial.clone();
                let error = ModelCallError::OverBudget { over, partial };
                let why = Failure::from(error.clone()).what;
                self.close_lost(closing, bill, why, &kept).await?;
                Err(error)
            }
            CallAttemptEnd::Unrecorded(failure) => {
                let why = failure.what.clone();
                self.close_lost(closing, bill, why, &partial).await?;
                Err(ModelCallError::Record(failure))
            }
        }
    }

    async fn after_reply(
        &self,
        closing: CallAttemptSettlement<'_>,
        timing: CallAttemptTiming,
        reply: ModelReply,
    ) -> Result<CallAttemptFollowUp, ModelCallError> {
        let reply = self.clean(reply);
        let estimated = estimate::usage(closing.reserved.input, reply_tokens(&reply));
        let counted = reply.usage.filter(TokenUsage::is_believable);
        let bill = self.bill(counted, Some(estimated));
        let text = self.keep(to_json(&reply)?).await?;
        let draft = self.pen().replied(&bill, &timing, &reply, text);
        self.close(closing, &bill, draft).await?;
        Ok(CallAttemptFollowUp::Done(Box::new(ModelCallReply {
            call: self.id.clone(),
            provider: self.call.chosen.entry.provider,
            model: self.call.chosen.entry.model.clone(),
            charged: bill.charged,
            cost: bill.cost,
            first: timing.first,
            total: timing.total,
            attempts: self.attempt,
            request: self.request.clone(),
            print: self.stored.print.clone(),
            reply,
        })))
    }

    /// Decides whether a fault ends the call or leads to another attempt.
    async fn after_fault(
        &mut self,
        closing: CallAttemptSettlement<'_>,
        bill: CallAttemptCharge,
        fault: ModelFault,
        partial: String,
    ) -> Result<CallAttemptFollowUp, ModelCallError> {
        let setup = self.gateway.setup();
        let class = fault.kind.class();
        let failures = self.failures.entry(class).or_default();
        *failures += 1;
        let wait = retry::next_wait(&class.schedule(), *failures, None);
        let now = setup.clock.now();
        let (parked, until) = match closing.report.pause {
            Some(RateLimitPause::Park { until }) => (Some(until), Some(until)),
            Some(RateLimitPause::For { until, .. }) => (None, wait.map(|_| until)),
            None => (None, wait.map(|wait| now.after(wait))),
        };
        let lost = FailedCallAttempt {
            outcome: EventOutcome::Failed,
            fault: Some(&fault),
            message: fault.message.clone(),
            retry_at: until,
            partial: self.keep_some(&partial).await,
        };
        let provider = closing.health.name().to_owned();
        let draft = self.pen().failed(lost, &bill);
        self.close(closing, &bill, draft).await?;
        match (parked, until) {
            (Some(until), _) => Err(ModelCallError::Parked { provider, until }),
            (None, Some(until)) => Ok(CallAttemptFollowUp::Again(ModelCallWait::Retry {
                fault,
                until,
            })),
            (None, None) => Err(ModelCallError::Fault {
                provider,
                fault,
                attempts: self.attempt,
                partial,
            }),
        }
    }

    /// Closes an attempt that was cancelled.
    async fn close_lost(
        &self,
        closing: CallAttemptSettlement<'_>,
        bill: CallAttemptCharge,
        message: String,
        partial: &str,
    ) -> Result<(), ModelCallError> {
        let lost = FailedCallAttempt {
            outcome: EventOutcome::Cancelled,
            fault: None,
            message,
            retry_at: None,
            partial: self.keep_some(partial).await,
        };
        let draft = self.pen().failed(lost, &bill);
        self.close(closing, &bill, draft).await
    }

    /// Records the result, together with its cost and what it shows about the provider.
    async fn close(
        &self,
        closing: CallAttemptSettlement<'_>,
        bill: &CallAttemptCharge,
        result: EventDraft,
    ) -> Result<(), ModelCallError> {
        let CallAttemptSettlement {
            health,
            reserved,
            report,
        } = closing;
        let pen = self.pen();
        let mut drafts = vec![result];
        drafts.extend((2..=reserved.parts).map(|part| pen.released(pen.key(part))));
        if !self.is_rehearsal() {
            let stream = self.provider_stream(health)?;
            let facts = report.facts.into_iter();
            drafts.extend(facts.map(|fact| pen.health(stream.clone(), fact)));
        }
        let warnings = if bill.charged == SpendAmount::default() {
            drafts.push(pen.released(pen.key(1)));
            self.record_result(drafts).await?;
            Vec::new()
        } else {
            self.charge(drafts, bill, reserved).await?
        };
        if let Some(notice) = report.notice {
            self.tell(ModelCallProgress::Notice(notice));
        }
        self.speak_of(&warnings);
        Ok(())
    }

    /// Settles the reservation. A warning is given only once, so it is decided like a
    /// reservation. If no limit applies, there is nothing to warn about.
    async fn charge(
        &self,
        drafts: Vec<EventDraft>,
        bill: &CallAttemptCharge,
        reserved: &CallAttemptReservation,
    ) -> Result<Vec<BudgetWarned>, ModelCallError> {
        let (pen, setup) = (self.pen(), self.gateway.setup());
        let settled = |drafts: &[EventDraft], settlement: &BudgetSettlementFacts| {
            let mut all = drafts.to_vec();
            all.push(pen.settled(settlement.settled.clone()));
            all
        };
        let turn = if reserved.is_limited {
            self.turn().await.ok()
        } else {
            None
        };
        let Some(mut turn) = turn else {
            // The gateway state is not needed, or cannot be read; the amount to settle is known
            // anyway.
            let settlement = BudgetSettlementFacts {
                settled: BudgetSettled {
                    key: pen.key(1),
                    amount: bill.charged,
                },
                warnings: Vec::new(),
            };
            self.record_result(settled(&drafts, &settlement)).await?;
            return Ok(Vec::new());
        };
        loop {
            let now = setup.clock.now();
            let Some(settlement) = turn.settle(&setup.limits, &pen.key(1), bill.charged, now)
            else {
                // The reservation is unknown by now: somebody restored an older journal in the
                // meantime.
                drop(turn);
                self.record_result(drafts).await?;
                return Ok(Vec::new());
            };
            let result = settled(&drafts, &settlement);
            if !settlement.warnings.is_empty() {
                let warned = settlement.warnings.iter();
                let warned = warned.map(|fact| pen.warned(fact.clone()));
                let all = result.iter().cloned().chain(warned).collect();
                match turn.record(all).await {
                    Ok(()) => return Ok(settlement.warnings),
                    Err(GatewayStoreError::Moved) if turn.catch_up().is_ok() => continue,
                    // The result matters more than the warning, which the next call repeats.
                    Err(_) => {}
                }
            }
            drop(turn);
            self.record_result(result).await?;
            return Ok(Vec::new());
        }
    }

    /// Returns the charge: as the provider counted, else as estimated, else zero.
    fn bill(&self, usage: Option<TokenUsage>, estimated: Option<TokenUsage>) -> CallAttemptCharge {
        let card = &self.call.chosen.card;
        match usage.or(estimated) {
            Some(counted) => CallAttemptCharge {
                usage,
                charged: estimate::amount(card, &counted),
                cost: card.cost(&counted),
            },
            None => CallAttemptCharge {
                cost: card.cost(&TokenUsage::default()).map(|_| Money(0)),
                ..CallAttemptCharge::default()
            },
        }
    }

    pub(super) async fn keep(&self, text: String) -> Result<RecordedText, ModelCallError> {
        let book = &self.gateway.setup().book;
        self.insist(|| book.keep(text.clone())).await
    }

    /// Stores a partial reply, if there is one and it can be stored. Without it, the fault
    /// still has to be recorded.
    async fn keep_some(&self, partial: &str) -> Option<RecordedText> {
        if partial.is_empty() {
            return None;
        }
        self.keep(partial.to_owned()).await.ok()
    }

    /// Records a result. It is paid for, so the call waits for a full disk or a busy journal,
    /// and tells the caller why nothing comes.
    async fn record_result(&self, drafts: Vec<EventDraft>) -> Result<(), ModelCallError> {
        let book = &self.gateway.setup().book;
        self.insist(|| {
            let appended = book.append(drafts.clone().into());
            Box::pin(async { appended.await.map_err(GatewayStoreError::into_failure) })
        })
        .await
    }

    async fn insist<T>(
        &self,
        work: impl Fn() -> BoxFuture<'static, Result<T, Failure>>,
    ) -> Result<T, ModelCallError> {
        let mut wait = Duration::from_secs(1);
        loop {
            let failure = match work().await {
                Ok(done) => return Ok(done),
                Err(failure) => failure,
            };
            let may_pass = matches!(
                failure.code,
                FailureCode::J005 | FailureCode::J006 | FailureCode::J007
            );
            if !may_pass || wait > LONGEST_INSISTENCE {
                return Err(ModelCallError::Record(failure));
            }
            let text = format!("waits to be recorded: {}", failure.what);
            self.tell(ModelCallProgress::Notice(text));
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
    }

    /// Removes secrets from a fault. Providers repeat what they were sent: some quote a key
    /// that they reject.
    fn clean_fault(&self, fault: &mut ModelFault) {
        let redactor = &self.gateway.setup().redactor;
        fault.message = redactor.redact(&fault.message).into_owned();
        let id = fault.request_id.take();
        fault.request_id = id.map(|id| redactor.redact(&id).into_owned());
    }

    /// Removes secrets from a reply, so that everyone works with what is on record.
    fn clean(&self, reply: ModelReply) -> ModelReply {
        let setup = self.gateway.setup();
        let mut reply = match serde_json::to_string(&reply) {
            Ok(json) => match setup.redactor.redact_json(&json) {
                Cow::Borrowed(_) => reply,
                Cow::Owned(clean) => serde_json::from_str(&clean).unwrap_or(reply),
            },
            Err(_) => reply,
        };
        let of_replies = setup.of_replies();
        for part in &mut reply.parts {
            clean_part(part, &of_replies);
        }
        reply
    }
}

/// Removes likely secrets from a part. Seals and ids are not words of the model and stay,
/// except the seal of text that no longer is what was sealed.
fn clean_part(part: &mut MessagePart, redactor: &SecretRedactor) {
    match part {
        MessagePart::Text { text, .. } => *text = redactor.redact(text).into_owned(),
        MessagePart::Thinking { text, seal } => {
            if let Cow::Owned(clean) = redactor.redact(text) {
                (*text, *seal) = (clean, None);
            }
        }
        MessagePart::ToolCall(call) => {
            call.arguments = redactor.redact_json(&call.arguments).into_owned();
        }
        MessagePart::Image(_) | MessagePart::ToolResult(_) => {}
    }
}

fn reply_tokens(reply: &ModelReply) -> u64 {
    let bytes = |part: &MessagePart| match part {
        MessagePart::Text { text, .. } | MessagePart::Thinking { text, .. } => text.len(),
        MessagePart::ToolCall(call) => call.name.len() + call.arguments.len(),
        MessagePart::Image(_) | MessagePart::ToolResult(_) => 0,
    };
    estimate::tokens_of(reply.parts.iter().map(bytes).sum::<usize>() as u64)
}
