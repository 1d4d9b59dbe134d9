//! How a run ends.

use artel_types::RunState;

/// Why a run is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The agent is done, with its answer.
    Complete {
        /// What the person reads.
        answer: String,
    },
    /// It was ended before it was done.
    Partial {
        /// Why.
        why: String,
        /// What the agent said about it, if anything.
        answer: Option<String>,
    },
    /// Nothing came of it.
    Failed {
        /// Why.
        why: String,
    },
    /// A person ended it.
    Cancelled,
}

impl Ending {
    /// Returns the word for it.
    pub fn state(&self) -> RunState {
        match self {
            Self::Complete { .. } => RunState::Complete,
            Self::Partial { .. } => RunState::Partial,
            Self::Failed { .. } => RunState::Failed,
            Self::Cancelled => RunState::Cancelled,
        }
    }

    /// Returns why it is not complete.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Partial { why, .. } | Self::Failed { why } => Some(why),
            Self::Complete { .. } => None,
            Self::Cancelled => Some("it was cancelled"),
        }
    }

    /// Returns the answer.
    pub fn answer(&self) -> Option<&str> {
        match self {
            Self::Complete { answer } => Some(answer),
            Self::Partial { answer, .. } => answer.as_deref(),
            Self::Failed { .. } | Self::Cancelled => None,
        }
    }
}
