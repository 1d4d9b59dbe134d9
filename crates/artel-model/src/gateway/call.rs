//! The calls that the gateway takes, and its replies.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

use artel_rules::budget::{BudgetMeasure, OverBudget};
use artel_types::model::{
    ModelCallAttribution, ModelCallPriority, ModelFault, ModelFaultKind, ModelReply, ModelRequest,
    PrivacyLabel, Provider, ReplyChunk,
};
use artel_types::{
    Actor, BudgetLevel, Failure, FailureCode, Money, RunId, SessionId, SpendAmount, Timestamp,
    Tokens, TraceId,
};
use futures_util::Stream;
use tokio::sync::mpsc;

use crate::choose::ChosenModel;
use crate::model::Model;
use crate::recorded::PriorModelCall;
use crate::rehearsal::ModelRequestFingerprint;

/// A question for a model, with everything that decides when and whether it is asked.
#[derive(Clone)]
pub struct ModelCall {
    /// The request to send.
    pub request: ModelRequest,
    /// The previous call in the same stream. Its request is not recorded again.
    pub prior: Option<PriorModelCall>,
    /// The model that answers.
    pub model: Arc<dyn Model>,
    /// The chosen model: how it was resolved, and its prices.
    pub chosen: ChosenModel,
    /// Urgency of the call.
    pub priority: ModelCallPriority,
    /// Where the content may go.
    pub privacy: PrivacyLabel,
    /// The account that the call is charged to.
    pub account: ModelCallAttribution,
    /// The work that the call belongs to.
    pub context: ModelCallContext,
}

/// The ids that every event of a call names.
#[derive(Debug, Clone)]
pub struct ModelCallContext {
    /// Trace of the piece of work.
    pub trace: TraceId,
    /// Actor that makes the call.
    pub actor: Actor,
    /// Session id, if any.
    pub session: Option<SessionId>,
    /// Run id, if any.
    pub run: Option<RunId>,
    /// Runs above that one, the direct parent first. The call counts against each of them.
    pub above: Vec<RunId>,
    /// Step that the call belongs to, as budgets name it.
    pub step: Option<String>,
}

impl ModelCallReply {
    /// Returns this call as the prior call for the next one in the same stream.
    pub fn prior(&self) -> PriorModelCall {
        PriorModelCall {
            call: self.call.clone(),
            request: self.request.clone(),
            print: self.print.clone(),
        }
    }
}

/// The progress of a call, as it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelCallProgress {
    /// The call waits, for this reason.
    Waiting(ModelCallWait),
    /// The request is being sent to the model. Chunks of an earlier attempt are void.
    Asking {
        /// Number of the attempt, from 1.
        attempt: u32,
    },
    /// A chunk of the reply, without secrets.
    Piece(ReplyChunk),
    /// A notice for the person.
    Notice(String),
    /// The reply is complete and on record.
    Done(Box<ModelCallReply>),
    /// The call failed; there is no reply.
    Failed(Box<ModelCallError>),
}

/// The reasons for which a call waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelCallWait {
    /// It waits for its turn.
    Turn {
        /// Number of calls before it.
        before: usize,
    },
    /// The provider asked for a pause.
    Pause {
        /// Name of the provider.
        provider: String,
        /// End of the pause.
        until: Timestamp,
    },
    /// The attempt failed, and the call is tried again.
    Retry {
        /// Fault of the last attempt.
        fault: ModelFault,
        /// Time of the next attempt.
        until: Timestamp,
    },
    /// A more urgent call took its slot.
    Preempted,
}

impl std::fmt::Display for ModelCallWait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Turn { before: 0 } => f.write_str("waits for its turn, next in line"),
            Self::Turn { before } => write!(f, "waits for its turn, {before} before it"),
            Self::Pause { provider, until } => {
                write!(f, "{provider} asked for a pause until {}", clock_of(*until))
            }
            Self::Retry { fault, until } => {
                write!(f, "{fault}; tried again at {}", clock_of(*until))
            }
            Self::Preempted => f.write_str("something more urgent goes first"),
        }
    }
}

/// A complete reply with its cost and timing.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCallReply {
    /// Id of the call in the journal.
    pub call: String,
    /// The request as it is on record, without secrets. The next call begins with it.
    pub request: Arc<ModelRequest>,
    /// Fingerprint of the request.
    pub print: Option<ModelRequestFingerprint>,
    /// The reply as it is on record, without secrets.
    pub reply: ModelReply,
    /// Provider that answered.
    pub provider: Provider,
    /// Name that the provider gives the model.
    pub model: String,
    /// Amount charged to the budgets.
    pub charged: SpendAmount,
    /// Cost of the call, or `None` if no price is known.
    pub cost: Option<Money>,
    /// Time until the first piece of content.
    pub first: Duration,
    /// Time until the end of the reply.
    pub total: Duration,
    /// Number of attempts made.
    pub attempts: u32,
}

/// The reasons for which a call gets no reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelCallError {
    /// It would exceed a limit, or exceeded one midway.
    OverBudget {
        /// The limit that was exceeded.
        over: OverBudget,
        /// Text that had arrived by then.
        partial: String,
    },
    /// A money limit applies, and nobody knows the model's price.
    NoPrice {
        /// Name of the model.
        model: String,
    },
    /// The content must stay on this machine.
    LocalOnly {
        /// Provider that would have received it.
        provider: String,
    },
    /// The provider is unhealthy and gets no calls for a while.
    Unwell {
        /// Name of the provider.
        provider: String,
        /// Time at which it is tried again.
        until: Timestamp,
    },
    /// The provider asked for a pause that is too long to wait for.
    Parked {
        /// Name of the provider.
        provider: String,
        /// End of the pause.
        until: Timestamp,
    },
    /// All attempts failed, or another attempt cannot help.
    Fault {
        /// Name of the provider.
        provider: String,
        /// Fault of the last attempt.
        fault: ModelFault,
        /// Number of attempts made.
        attempts: u32,
        /// Text that had arrived in the last attempt.
        partial: String,
    },
    /// The call waited for as long as a call may wait.
    TooLong {
        /// Provider that it waited for.
        provider: String,
        /// Time waited.
        waited: Duration,
    },
    /// The caller cancelled the call.
    CalledOff,
    /// The call cannot be recorded, so it is not made.
    Record(Failure),
}

/// A call under way. Dropping it cancels the call.
#[derive(Debug)]
pub struct PendingModelCall(mpsc::Receiver<Box<ModelCallProgress>>);

impl PendingModelCall {
    pub(super) fn new(pieces: mpsc::Receiver<Box<ModelCallProgress>>) -> Self {
        Self(pieces)
    }

    /// Returns the next event of the call, or `None` after the reply or the failure.
    pub async fn next(&mut self) -> Option<ModelCallProgress> {
        self.0.recv().await.map(|progress| *progress)
    }

    /// Waits for the reply and ignores all other progress.
    pub async fn answer(mut self) -> Result<ModelCallReply, ModelCallError> {
        while let Some(progress) = self.next().await {
            match progress {
                ModelCallProgress::Done(answer) => return Ok(*answer),
                ModelCallProgress::Failed(error) => return Err(*error),
                _ => {}
            }
        }
        Err(ModelCallError::CalledOff)
    }
}

impl Stream for PendingModelCall {
    type Item = ModelCallProgress;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<ModelCallProgress>> {
        let progress = self.0.poll_recv(context);
        progress.map(|progress| progress.map(|progress| *progress))
    }
}

impl From<ModelCallError> for Failure {
    fn from(error: ModelCallError) -> Self {
        match error {
            ModelCallError::OverBudget { over, .. } => over_budget(&over),
            ModelCallError::NoPrice { model } => Failure::new(
                FailureCode::M005,
                format!("a money limit holds, and no price is known for `{model}`"),
            )
            .because("what it costs could not be counted")
            .advise(format!(
                "add its price to `artel.toml`: [prices.\"{model}\"] input = … output = …"
            )),
            ModelCallError::LocalOnly { provider } => Failure::new(
                FailureCode::M006,
                format!("the content must stay on this machine, and `{provider}` is not on it"),
            )
            .because("it is labelled `local-only`")
            .advise("choose a local model, such as one of Ollama"),
            ModelCallError::Unwell { provider, until } => Failure::new(
                FailureCode::M007,
                format!(
                    "`{provider}` failed too often and is left alone until {}",
                    clock_of(until)
                ),
            )
            .advise(format!("wait, or `artel model reset {provider}`")),
            ModelCallError::Parked { provider, until } => Failure::new(
                FailureCode::M008,
                format!("`{provider}` asks for a pause until {until}"),
            )
            .advise("the work goes on from here then; nothing is lost"),
            ModelCallError::Fault {
                provider,
                fault,
                attempts,
                ..
            } => of_fault(&provider, &fault, attempts),
            ModelCallError::TooLong { provider, waited } => Failure::new(
                FailureCode::M009,
                format!(
                    "`{provider}` had no turn for this call in {} s",
                    waited.as_secs()
                ),
            )
            .because("other calls came first, or it asked for pauses")
            .advise("try again later; `gateway.max_wait` sets how long a call waits"),
            ModelCallError::CalledOff => Failure::new(FailureCode::M013, "the call was called off"),
            ModelCallError::Record(failure) => failure,
        }
    }
}

fn of_fault(provider: &str, fault: &ModelFault, attempts: u32) -> Failure {
    let code = match fault.kind {
        ModelFaultKind::Key => FailureCode::M003,
        ModelFaultKind::NoSuchModel
        | ModelFaultKind::BadRequest
        | ModelFaultKind::TooLarge
        | ModelFaultKind::Endless
        | ModelFaultKind::ContextOverflow => FailureCode::M010,
        ModelFaultKind::OffScript => FailureCode::M012,
        _ => FailureCode::M009,
    };
    let tries = if attempts > 1 {
        format!(", after {attempts} tries")
    } else {
        String::new()
    };
    let failure = Failure::new(code, format!("`{provider}`: {}{tries}", fault.kind));
    let mut why = fault.message.clone();
    if let Some(id) = &fault.request_id {
        why.push_str(&format!(" (request {id})"));
    }
    let failure = failure.because(why);
    match fault.kind {
        ModelFaultKind::Key => failure.advise(format!("`artel auth set {}`", word_of(provider))),
        ModelFaultKind::Quota => {
            failure.advise("look at the account's billing page at the provider")
        }
        ModelFaultKind::NoSuchModel => {
            failure.advise("`artel model show` names model and place: mend `model` or `base_url`")
        }
        ModelFaultKind::Unreachable => {
            failure.advise("start it, or mend `base_url`: `artel model show` names the place")
        }
        ModelFaultKind::Untrusted => {
            failure.advise("check the clock, the certificate, and proxies in between")
        }
        _ => failure,
    }
}

fn over_budget(over: &OverBudget) -> Failure {
    let shown = |amount: u64| match over.measure {
        BudgetMeasure::Tokens => format!("{} tokens", Tokens(amount)),
        BudgetMeasure::Money => Money(amount).to_string(),
    };
    let period = over
        .period
        .map_or(String::new(), |period| format!(" a {period}"));
    let failure = Failure::new(
        FailureCode::M005,
        format!(
            "the {} budget of {}{period} has no room for this call",
            over.level,
            shown(over.limit)
        ),
    )
    .because(format!(
        "{} used or set aside, and this call may take {}",
        shown(over.used),
        shown(over.wanted)
    ));
    match over.resets_at {
        Some(at) => failure.advise(format!(
            "it counts from zero again at {at}; or raise it in `[budget]`"
        )),
        None if matches!(over.level, BudgetLevel::Run(_)) => failure.advise(
            "raise what limits the run: `--max-cost` or the skill's `max-cost-usd` for the next one, \
             `[budget.run]` in `artel.toml`",
        ),
        None => failure.advise("raise it in `[budget]` in `artel.toml`"),
    }
}

/// Returns the provider's own word. The name may also contain its place.
fn word_of(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

/// Returns the time of day. The awaited time is always within a minute.
fn clock_of(at: Timestamp) -> String {
    let whole = at.to_string();
    match whole.get(11..19) {
        Some(time) => format!("{time} UTC"),
        None => whole,
    }
}

impl std::fmt::Debug for ModelCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelCall")
            .field("chosen", &self.chosen)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
