//! What is asked of the gateway, and what it answers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

use artel_rules::budget::{Measure, OverBudget};
use artel_types::model::{
    Attribution, Chunk, Fault, FaultKind, Priority, Privacy, Provider, Reply, Request,
};
use artel_types::{
    Actor, Amount, Code, Failure, Level, Money, RunId, SessionId, Timestamp, Tokens, TraceId,
};
use futures_util::Stream;
use tokio::sync::mpsc;

use crate::choose::Chosen;
use crate::model::Model;
use crate::recorded::Prior;
use crate::rehearsal::Print;

/// A question for a model, with all that decides when and whether it is put.
#[derive(Clone)]
pub struct Call {
    /// The question.
    pub request: Request,
    /// The call before it in the same stream: what it asked is not written down again.
    pub prior: Option<Prior>,
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// How that was chosen, and what it costs.
    pub chosen: Chosen,
    /// How urgent it is.
    pub priority: Priority,
    /// Where its content may go.
    pub privacy: Privacy,
    /// On whose account.
    pub account: Attribution,
    /// What it belongs to.
    pub context: Context,
}

/// What every event of a call names.
#[derive(Debug, Clone)]
pub struct Context {
    /// The piece of work.
    pub trace: TraceId,
    /// Who asks.
    pub actor: Actor,
    /// The session, if any.
    pub session: Option<SessionId>,
    /// The run, if any.
    pub run: Option<RunId>,
    /// The runs above it, the one that began it first: what it takes counts against each of them.
    pub above: Vec<RunId>,
    /// The step that it is a part of, as budgets name it.
    pub step: Option<String>,
}

impl Answer {
    /// Returns what the next call of the same stream names as the one before it.
    pub fn prior(&self) -> Prior {
        Prior {
            call: self.call.clone(),
            request: self.request.clone(),
            print: self.print.clone(),
        }
    }
}

/// What happens to a call, as it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// It waits, and why.
    Waiting(Wait),
    /// It is put to the model now. Whatever came of an earlier attempt is void.
    Asking {
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// A piece of the answer, without secrets.
    Piece(Chunk),
    /// Something a person should know.
    Notice(String),
    /// The answer is complete and on record.
    Done(Box<Answer>),
    /// There is no answer.
    Failed(Box<CallError>),
}

/// What a call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// For its turn: so many are before it.
    Turn {
        /// How many.
        before: usize,
    },
    /// The provider asked for a pause.
    Pause {
        /// Who.
        provider: String,
        /// Until when.
        until: Timestamp,
    },
    /// It failed and is tried again.
    Retry {
        /// What was wrong.
        fault: Fault,
        /// When it is tried again.
        until: Timestamp,
    },
    /// Something more urgent took its place.
    Preempted,
}

impl std::fmt::Display for Wait {
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

/// A complete answer with what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Names the call in the journal.
    pub call: String,
    /// What was asked: as it is on record, without secrets. The next call begins with it.
    pub request: Arc<Request>,
    /// The print of that.
    pub print: Option<Print>,
    /// What was said: as it is on record, without secrets.
    pub reply: Reply,
    /// Who answered.
    pub provider: Provider,
    /// The model, in the provider's word.
    pub model: String,
    /// What was charged.
    pub charged: Amount,
    /// What it cost; nothing if no price is known.
    pub cost: Option<Money>,
    /// How long until the first piece came.
    pub first: Duration,
    /// How long until the end.
    pub total: Duration,
    /// How many attempts it took.
    pub attempts: u32,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum CallError {
    /// It would pass a limit, or passed it in the middle.
    OverBudget {
        /// Which one.
        over: OverBudget,
        /// What had come by then.
        partial: String,
    },
    /// A money limit holds, and nobody knows what the model costs.
    NoPrice {
        /// The model.
        model: String,
    },
    /// The content must stay on this machine.
    LocalOnly {
        /// Who would have got it.
        provider: String,
    },
    /// The provider is left alone for a while.
    Unwell {
        /// Who.
        provider: String,
        /// Until when.
        until: Timestamp,
    },
    /// The provider asked for a pause that is too long to sit out.
    Parked {
        /// Who.
        provider: String,
        /// Until when.
        until: Timestamp,
    },
    /// All attempts failed, or trying again cannot help.
    Fault {
        /// Who.
        provider: String,
        /// What was wrong at last.
        fault: Fault,
        /// How many attempts there were.
        attempts: u32,
        /// What had come of the last one.
        partial: String,
    },
    /// It waited as long as a call may wait.
    TooLong {
        /// For whom.
        provider: String,
        /// How long.
        waited: Duration,
    },
    /// Whoever asked no longer wants to know.
    CalledOff,
    /// It cannot be recorded, so it is not made.
    Record(Failure),
}

/// A call under way. Dropping it calls it off.
#[derive(Debug)]
pub struct Calling(mpsc::Receiver<Box<Progress>>);

impl Calling {
    pub(super) fn new(pieces: mpsc::Receiver<Box<Progress>>) -> Self {
        Self(pieces)
    }

    /// Returns what happens next; nothing after the answer or the failure.
    pub async fn next(&mut self) -> Option<Progress> {
        self.0.recv().await.map(|progress| *progress)
    }

    /// Waits for the answer, whatever happens before it.
    pub async fn answer(mut self) -> Result<Answer, CallError> {
        while let Some(progress) = self.next().await {
            match progress {
                Progress::Done(answer) => return Ok(*answer),
                Progress::Failed(error) => return Err(*error),
                _ => {}
            }
        }
        Err(CallError::CalledOff)
    }
}

impl Stream for Calling {
    type Item = Progress;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<Progress>> {
        let progress = self.0.poll_recv(context);
        progress.map(|progress| progress.map(|progress| *progress))
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::OverBudget { over, .. } => over_budget(&over),
            CallError::NoPrice { model } => Failure::new(
                Code::M005,
                format!("a money limit holds, and no price is known for `{model}`"),
            )
            .because("what it costs could not be counted")
            .advise(format!(
                "add its price to `artel.toml`: [prices.\"{model}\"] input = … output = …"
            )),
            CallError::LocalOnly { provider } => Failure::new(
                Code::M006,
                format!("the content must stay on this machine, and `{provider}` is not on it"),
            )
            .because("it is labelled `local-only`")
            .advise("choose a local model, such as one of Ollama"),
            CallError::Unwell { provider, until } => Failure::new(
                Code::M007,
                format!(
                    "`{provider}` failed too often and is left alone until {}",
                    clock_of(until)
                ),
            )
            .advise(format!("wait, or `artel model reset {provider}`")),
            CallError::Parked { provider, until } => Failure::new(
                Code::M008,
                format!("`{provider}` asks for a pause until {until}"),
            )
            .advise("the work goes on from here then; nothing is lost"),
            CallError::Fault {
                provider,
                fault,
                attempts,
                ..
            } => of_fault(&provider, &fault, attempts),
            CallError::TooLong { provider, waited } => Failure::new(
                Code::M009,
                format!(
                    "`{provider}` had no turn for this call in {} s",
                    waited.as_secs()
                ),
            )
            .because("other calls came first, or it asked for pauses")
            .advise("try again later; `gateway.max_wait` sets how long a call waits"),
            CallError::CalledOff => Failure::new(Code::M013, "the call was called off"),
            CallError::Record(failure) => failure,
        }
    }
}

fn of_fault(provider: &str, fault: &Fault, attempts: u32) -> Failure {
    let code = match fault.kind {
        FaultKind::Key => Code::M003,
        FaultKind::NoSuchModel
        | FaultKind::BadRequest
        | FaultKind::TooLarge
        | FaultKind::Endless
        | FaultKind::ContextOverflow => Code::M010,
        FaultKind::OffScript => Code::M012,
        _ => Code::M009,
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
        FaultKind::Key => failure.advise(format!("`artel auth set {}`", word_of(provider))),
        FaultKind::Quota => failure.advise("look at the account's billing page at the provider"),
        FaultKind::NoSuchModel => {
            failure.advise("`artel model show` names model and place: mend `model` or `base_url`")
        }
        FaultKind::Unreachable => {
            failure.advise("start it, or mend `base_url`: `artel model show` names the place")
        }
        FaultKind::Untrusted => {
            failure.advise("check the clock, the certificate, and proxies in between")
        }
        _ => failure,
    }
}

fn over_budget(over: &OverBudget) -> Failure {
    let shown = |amount: u64| match over.measure {
        Measure::Tokens => format!("{} tokens", Tokens(amount)),
        Measure::Money => Money(amount).to_string(),
    };
    let period = over
        .period
        .map_or(String::new(), |period| format!(" a {period}"));
    let failure = Failure::new(
        Code::M005,
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
        None if matches!(over.level, Level::Run(_)) => failure.advise(
            "raise what limits the run: `--max-cost` or the skill's `max-cost-usd` for the next one, \
             `[budget.run]` in `artel.toml`",
        ),
        None => failure.advise("raise it in `[budget]` in `artel.toml`"),
    }
}

/// Returns the provider's own word: a name may also say where it is.
fn word_of(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

/// Returns the time of day: what is awaited comes within the minute.
fn clock_of(at: Timestamp) -> String {
    let whole = at.to_string();
    match whole.get(11..19) {
        Some(time) => format!("{time} UTC"),
        None => whole,
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("chosen", &self.chosen)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
