//! Builds the events of a call.

use artel_types::model::{ModelFault, ModelReply, Provider, TokenUsage};
use artel_types::{
    Actor, BudgetLevel, BudgetReleased, BudgetReserved, BudgetSettled, BudgetWarned, EventDraft,
    EventOutcome, EventVisibility, Fact, ModelFailed, ModelReplied, ModelRequested, Money,
    RecordedText, SpendAmount, StreamName, Timestamp,
};

use super::attempt::CallAttemptTiming;
use super::call::{ModelCall, ModelCallContext};
use super::drive::StoredModelRequest;

/// Builds the events of one call.
pub(super) struct ModelCallEventBuilder<'a> {
    pub(super) call: &'a ModelCall,
    /// Id of the call.
    pub(super) id: &'a str,
    pub(super) attempt: u32,
    /// Name of the gateway, for events about the health of providers.
    pub(super) gateway: &'a str,
}

/// Usage and cost of an attempt.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallAttemptCharge {
    /// Usage as the provider counted it, if it did.
    pub(super) usage: Option<TokenUsage>,
    pub(super) charged: SpendAmount,
    pub(super) cost: Option<Money>,
}

/// An attempt that gave no reply.
pub(super) struct FailedCallAttempt<'a> {
    /// Failed, cancelled, or denied.
    pub(super) outcome: EventOutcome,
    /// The fault, or `None` if the call was cancelled or denied.
    pub(super) fault: Option<&'a ModelFault>,
    pub(super) message: String,
    pub(super) retry_at: Option<Timestamp>,
    pub(super) partial: Option<RecordedText>,
}

impl ModelCallContext {
    /// Returns the budgets that a call to this provider counts against. `own_step` is the step
    /// it is charged to, if no plan named one.
    pub fn levels(&self, provider: Provider, own_step: Option<&str>) -> Vec<BudgetLevel> {
        let Self {
            session,
            run,
            above,
            step,
            ..
        } = self;
        let provider = BudgetLevel::Provider(provider.to_string());
        // A step belongs to its run: the second step of one run is not that of another.
        let own = || {
            let step = own_step?;
            Some(match run {
                Some(run) => format!("{run}/{step}"),
                None => step.to_owned(),
            })
        };
        let step = step.clone().or_else(own).map(BudgetLevel::Step);
        [BudgetLevel::Global, provider]
            .into_iter()
            .chain(session.map(|session| BudgetLevel::Session(session.to_string())))
            .chain(
                run.iter()
                    .chain(above)
                    .map(|run| BudgetLevel::Run(run.to_string())),
            )
            .chain(step)
            .collect()
    }
}

impl ModelCallEventBuilder<'_> {
    /// Returns the budgets that the call counts against.
    pub(super) fn levels(&self) -> Vec<BudgetLevel> {
        let ModelCall {
            context, account, ..
        } = self.call;
        context.levels(self.provider(), account.step.as_deref())
    }

    /// Returns the key of a reservation of this attempt. A growing reply needs several.
    pub(super) fn key(&self, part: u32) -> String {
        format!("{}/{}/{part}", self.id, self.attempt)
    }

    pub(super) fn reserved(&self, fact: BudgetReserved) -> EventDraft {
        self.quiet(StreamName::budget(), fact)
    }

    pub(super) fn warned(&self, fact: BudgetWarned) -> EventDraft {
        self.draft(StreamName::budget(), fact)
    }

    pub(super) fn settled(&self, fact: BudgetSettled) -> EventDraft {
        self.quiet(self.stream(), fact)
    }

    pub(super) fn released(&self, key: String) -> EventDraft {
        self.quiet(self.stream(), BudgetReleased { key })
    }

    pub(super) fn requested(
        &self,
        estimate: SpendAmount,
        stored: &StoredModelRequest,
    ) -> EventDraft {
        let StoredModelRequest { text, print, prior } = stored.clone();
        let call = self.call;
        let fact = ModelRequested {
            call: self.id.to_owned(),
            attempt: self.attempt,
            wanted: call.chosen.wanted.clone(),
            resolved: call.chosen.resolved.clone(),
            provider: self.provider(),
            model: self.model(),
            priority: call.priority,
            privacy: call.privacy,
            account: call.account.clone(),
            estimate,
            request: text,
            fingerprint: print.map(|print| print.hex()).unwrap_or_default(),
            prior,
        };
        self.quiet(self.stream(), fact).on(self.target())
    }

    pub(super) fn replied(
        &self,
        bill: &CallAttemptCharge,
        timing: &CallAttemptTiming,
        reply: &ModelReply,
        text: RecordedText,
    ) -> EventDraft {
        let fact = ModelReplied {
            call: self.id.to_owned(),
            attempt: self.attempt,
            provider: self.provider(),
            model: self.model(),
            account: self.call.account.clone(),
            stop: reply.stop.clone(),
            usage: bill.usage,
            charged: bill.charged,
            cost: bill.cost,
            first_ms: millis(timing.first),
            total_ms: millis(timing.total),
            reply: text,
        };
        self.quiet(self.stream(), fact)
            .on(self.target())
            .ending(EventOutcome::Done)
    }

    /// Builds the event of an attempt that gave no reply.
    pub(super) fn failed(
        &self,
        lost: FailedCallAttempt<'_>,
        bill: &CallAttemptCharge,
    ) -> EventDraft {
        let FailedCallAttempt {
            outcome,
            fault,
            message,
            retry_at,
            partial,
        } = lost;
        let fact = ModelFailed {
            call: self.id.to_owned(),
            attempt: self.attempt,
            provider: self.provider(),
            model: self.model(),
            account: self.call.account.clone(),
            fault: fault.map(|fault| fault.kind),
            class: fault.map(|fault| fault.kind.class()),
            status: fault.and_then(|fault| fault.status),
            message,
            request_id: fault.and_then(|fault| fault.request_id.clone()),
            charged: bill.charged,
            cost: bill.cost,
            retry_at,
            partial,
        };
        self.quiet(self.stream(), fact)
            .on(self.target())
            .ending(outcome)
    }

    /// Builds an event about a provider's health. The actor tells this gateway that the event
    /// is its own.
    pub(super) fn health(&self, stream: StreamName, fact: Fact) -> EventDraft {
        EventDraft {
            actor: Actor::system(self.gateway),
            ..self.draft(stream, fact)
        }
    }

    fn draft(&self, stream: StreamName, fact: impl Into<Fact>) -> EventDraft {
        let ModelCallContext {
            trace,
            actor,
            session,
            run,
            ..
        } = &self.call.context;
        let mut draft = EventDraft::new(stream, *trace, actor.clone(), fact);
        draft.session = *session;
        draft.run = *run;
        draft
    }

    fn quiet(&self, stream: StreamName, fact: impl Into<Fact>) -> EventDraft {
        self.draft(stream, fact).shown(EventVisibility::Full)
    }

    /// Returns the stream that the call belongs to.
    fn stream(&self) -> StreamName {
        let ModelCallContext { session, run, .. } = &self.call.context;
        match (run, session) {
            (Some(run), _) => StreamName::run(*run),
            (None, Some(session)) => StreamName::session(*session),
            (None, None) => StreamName::workshop(),
        }
    }

    fn provider(&self) -> Provider {
        self.call.chosen.entry.provider
    }

    fn model(&self) -> String {
        self.call.chosen.entry.model.clone()
    }

    fn target(&self) -> String {
        format!("{}:{}", self.provider(), self.model())
    }
}

fn millis(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
