//! Policy decisions: one of three answers, the deciding rule, and a reason.

use artel_types::DecidedBy;
use serde::{Deserialize, Serialize};

/// The three answers, the strictest last: of several answers the greatest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyAnswer {
    /// The action may run.
    Allow,
    /// A person must agree first.
    Ask,
    /// The action never runs, no matter who asks for it.
    Deny,
}

/// An answer with its rule and reason, fit for a person and for a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRuling {
    /// The answer: allow, ask or deny.
    #[serde(rename = "decision")]
    pub answer: PolicyAnswer,
    /// The deciding rule, as it was written or by its built-in name, such as `never.git-push`.
    pub rule: String,
    /// The reason, as a sentence without a full stop.
    pub reason: String,
    /// The decider: a rule, or the walls of the run.
    #[serde(default)]
    pub decided_by: DecidedBy,
}

/// The name that replaces a rule where the walls decided.
const CONTAINED: &str = "contained";

impl PolicyRuling {
    /// Creates a decision made by a rule.
    pub fn new(answer: PolicyAnswer, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            answer,
            rule: rule.into(),
            reason: reason.into(),
            decided_by: DecidedBy::Rule,
        }
    }

    /// Creates the decision that a command may run because of the walls around it.
    pub fn contained(reason: impl Into<String>) -> Self {
        Self {
            decided_by: DecidedBy::Contained,
            ..Self::new(PolicyAnswer::Allow, CONTAINED, reason)
        }
    }
}
