//! The envelope: what every event says besides its fact.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Actor, Fact, RunId, SessionId, Stream, Timestamp, TraceId, Visibility};

/// How the thing an event speaks of ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was done.
    Done,
    /// It failed.
    Failed,
    /// Policy or a person allowed it.
    Allowed,
    /// Policy or a person denied it.
    Denied,
    /// It was called off.
    Cancelled,
    /// The process died before the result was recorded.
    Unknown,
}

impl Outcome {
    const ALL: [Self; 6] = [
        Self::Done,
        Self::Failed,
        Self::Allowed,
        Self::Denied,
        Self::Cancelled,
        Self::Unknown,
    ];

    /// Returns the word that stands in the journal.
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

impl FromStr for Outcome {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
            .ok_or(())
    }
}

/// An event before it is recorded; the journal adds its place, its time and its hash.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The line of events it belongs to.
    pub stream: Stream,
    /// The piece of work it belongs to.
    pub trace: TraceId,
    /// The session, if any.
    pub session: Option<SessionId>,
    /// The run, if any.
    pub run: Option<RunId>,
    /// The sequence number of the event that led to this one.
    pub cause: Option<u64>,
    /// Who did it.
    pub actor: Actor,
    /// What it was done to: a path, a plan, a command, a host.
    pub target: Option<String>,
    /// How it ended, where that can be said in a word.
    pub outcome: Option<Outcome>,
    /// Who is shown it.
    pub visibility: Visibility,
    /// What happened.
    pub fact: Fact,
}

impl Draft {
    /// Makes an event that everybody sees, with nothing but the necessary said.
    pub fn new(stream: Stream, trace: TraceId, actor: Actor, fact: impl Into<Fact>) -> Self {
        Self {
            stream,
            trace,
            session: None,
            run: None,
            cause: None,
            actor,
            target: None,
            outcome: None,
            visibility: Visibility::Summary,
            fact: fact.into(),
        }
    }

    /// Names the run, as its events do.
    #[must_use]
    pub fn in_run(mut self, run: RunId) -> Self {
        self.run = Some(run);
        self
    }

    /// Names the session.
    #[must_use]
    pub fn in_session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Names what it was done to.
    #[must_use]
    pub fn on(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// Says how it ended.
    #[must_use]
    pub fn ending(mut self, outcome: Outcome) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Says who is shown it.
    #[must_use]
    pub fn shown(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }
}

/// A recorded event, decoded: what machines and projections fold over.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its place among all events, from 1.
    pub seq: u64,
    /// The line of events it belongs to.
    pub stream: Stream,
    /// Its place in that line, from 1.
    pub stream_seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// The piece of work it belongs to.
    pub trace: TraceId,
    /// The session, if any.
    pub session: Option<SessionId>,
    /// The run, if any.
    pub run: Option<RunId>,
    /// The event that led to this one.
    pub cause: Option<u64>,
    /// Who did it.
    pub actor: Actor,
    /// What it was done to.
    pub target: Option<String>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Who is shown it.
    pub visibility: Visibility,
    /// What happened.
    pub fact: Fact,
}
