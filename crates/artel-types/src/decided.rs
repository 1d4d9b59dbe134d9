//! The basis of a policy decision, in the words that the journal stores.

use serde::{Deserialize, Serialize};

/// The basis of a decision about a call: a rule, or the walls of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// A rule: built in, shipped, or the person's.
    #[default]
    Rule,
    /// The walls of the run: the rules would have asked, but whatever the call does is
    /// confined to the run's own copy.
    Contained,
}

impl DecidedBy {
    /// Returns the words shown to a person.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Rule => "by rule",
            Self::Contained => "contained",
        }
    }
}

/// Something that was let through the walls of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxOpening {
    /// Access to a host was granted.
    Network,
    /// A secret was handed out.
    Secret,
}
