//! The envelope: everything that an event carries in addition to its fact.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Actor, EventVisibility, Fact, RunId, SessionId, StreamName, Timestamp, TraceId};

/// The outcome of what an event describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventOutcome {
    /// It was done.
    Done,
    /// It failed.
    Failed,
    /// Policy or a person allowed it.
    Allowed,
    /// Policy or a person denied it.
    Denied,
    /// It was cancelled.
    Cancelled,
    /// The process died before the result was recorded.
    Unknown,
}

impl EventOutcome {
    const ALL: [Self; 6] = [
        Self::Done,
        Self::Failed,
        Self::Allowed,
        Self::Denied,
        Self::Cancelled,
        Self::Unknown,
    ];

    /// Returns the word that the journal stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

impl FromStr for EventOutcome {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
            .ok_or(())
    }
}

/// An event before it is recorded. The journal adds its position, time and hash.
#[derive(Debug, Clone, PartialEq)]
pub struct EventDraft {
    /// The stream that the event belongs to.
    pub stream: StreamName,
    /// The piece of work that the event belongs to.
    pub trace: TraceId,
    /// The session, if there is one.
    pub session: Option<SessionId>,
    /// The run, if there is one.
    pub run: Option<RunId>,
    /// Sequence number of the event that led to this one.
    pub cause: Option<u64>,
    /// Who did it.
    pub actor: Actor,
    /// What it was done to: a path, a plan, a command, a host.
    pub target: Option<String>,
    /// The outcome in one word, where there is one.
    pub outcome: Option<EventOutcome>,
    /// Who is shown the event.
    pub visibility: EventVisibility,
    /// What happened.
    pub fact: Fact,
}

impl EventDraft {
    /// Creates an event that everyone may see, with only the required fields set.
    pub fn new(stream: StreamName, trace: TraceId, actor: Actor, fact: impl Into<Fact>) -> Self {
        Self {
            stream,
            trace,
            session: None,
            run: None,
            cause: None,
            actor,
            target: None,
            outcome: None,
            visibility: EventVisibility::Summary,
            fact: fact.into(),
        }
    }

    /// Sets the run. Every event of a run names it.
    #[must_use]
    pub fn in_run(mut self, run: RunId) -> Self {
        self.run = Some(run);
        self
    }

    /// Sets the session.
    #[must_use]
    pub fn in_session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Sets what it was done to.
    #[must_use]
    pub fn on(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// Sets the outcome.
    #[must_use]
    pub fn ending(mut self, outcome: EventOutcome) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Sets who is shown the event.
    #[must_use]
    pub fn shown(mut self, visibility: EventVisibility) -> Self {
        self.visibility = visibility;
        self
    }
}

/// A recorded event, decoded. State machines and projections fold over these.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Position among all events, from 1.
    pub seq: u64,
    /// The stream that the event belongs to.
    pub stream: StreamName,
    /// Position within the stream, from 1.
    pub stream_seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// The piece of work that the event belongs to.
    pub trace: TraceId,
    /// The session, if there is one.
    pub session: Option<SessionId>,
    /// The run, if there is one.
    pub run: Option<RunId>,
    /// Sequence number of the event that led to this one.
    pub cause: Option<u64>,
    /// Who did it.
    pub actor: Actor,
    /// What it was done to: a path, a plan, a command, a host.
    pub target: Option<String>,
    /// The outcome in one word, where there is one.
    pub outcome: Option<EventOutcome>,
    /// Who is shown the event.
    pub visibility: EventVisibility,
    /// What happened.
    pub fact: Fact,
}
