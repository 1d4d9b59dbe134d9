//! How a run ends.

use artel_types::RunOutcome;

/// Why a run is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentRunEnding {
    /// The agent finished, with its answer.
    Complete {
        /// The text for the person.
        answer: String,
    },
    /// The run ended before the agent finished.
    Partial {
        /// The reason.
        why: String,
        /// The agent's last words, if any.
        answer: Option<String>,
    },
    /// The run had no result.
    Failed {
        /// The reason.
        why: String,
    },
    /// A person cancelled it.
    Cancelled,
}

impl AgentRunEnding {
    /// Returns the outcome for the record.
    pub fn state(&self) -> RunOutcome {
        match self {
            Self::Complete { .. } => RunOutcome::Complete,
            Self::Partial { .. } => RunOutcome::Partial,
            Self::Failed { .. } => RunOutcome::Failed,
            Self::Cancelled => RunOutcome::Cancelled,
        }
    }

    /// Returns why the run is not complete.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Partial { why, .. } | Self::Failed { why } => Some(why),
            Self::Complete { .. } => None,
            Self::Cancelled => Some("it was cancelled"),
        }
    }

    /// Returns the answer, if there is one.
    pub fn answer(&self) -> Option<&str> {
        match self {
            Self::Complete { answer } => Some(answer),
            Self::Partial { answer, .. } => answer.as_deref(),
            Self::Failed { .. } | Self::Cancelled => None,
        }
    }
}
