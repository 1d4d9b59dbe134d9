//! What policy says: one of three answers, the rule that decided, and a reason.

use artel_types::DecidedBy;
use serde::{Deserialize, Serialize};

/// The three answers, the strictest last: of several answers the greatest stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// It may be done.
    Allow,
    /// A person has to say so first.
    Ask,
    /// It is not done, whoever asks.
    Deny,
}

/// An answer with its ground, fit for a person and for a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What is to be done.
    #[serde(rename = "decision")]
    pub answer: Answer,
    /// The rule that decided, as it is written or by its built-in name, such as `never.git-push`.
    pub rule: String,
    /// Why, in a sentence without a full stop.
    pub reason: String,
    /// Whether a rule decided or the walls of the run.
    #[serde(default)]
    pub decided_by: DecidedBy,
}

/// The name that stands in the place of a rule where the walls decided.
const CONTAINED: &str = "contained";

impl Decision {
    /// Makes a decision by a rule.
    pub fn new(answer: Answer, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            answer,
            rule: rule.into(),
            reason: reason.into(),
            decided_by: DecidedBy::Rule,
        }
    }

    /// Makes the decision that a command runs because of the walls around it.
    pub fn contained(reason: impl Into<String>) -> Self {
        Self {
            decided_by: DecidedBy::Contained,
            ..Self::new(Answer::Allow, CONTAINED, reason)
        }
    }
}
