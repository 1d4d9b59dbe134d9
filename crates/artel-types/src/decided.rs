//! What a decision of policy rests on, in the words of the journal.

use serde::{Deserialize, Serialize};

/// What decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// A rule: built in, shipped, or the person's.
    #[default]
    Rule,
    /// The walls of the run: rules would have asked, and whatever it does ends with the run's copy.
    Contained,
}

impl DecidedBy {
    /// Returns how a person is told.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Rule => "by rule",
            Self::Contained => "contained",
        }
    }
}

/// What was let through the walls of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WallOpening {
    /// A host was granted.
    Network,
    /// A secret was handed out.
    Secret,
}
