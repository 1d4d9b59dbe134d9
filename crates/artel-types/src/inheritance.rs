//! What a run was handed down by whatever began it, as it stands on record. Whoever takes the run up
//! again, by itself or through the run that called it, finds the same bounds.

use serde::{Deserialize, Serialize};

use crate::model::{Priority, Privacy};

/// What a run was handed down. It and whatever it begins may narrow this, and never widen it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedInheritance {
    /// What bounds it, whatever its own role and skill allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<RecordedBound>,
    /// Rules of roles above it that deny.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// What a person granted with the plan that it works for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<RecordedGrant>,
    /// Files that say what has to be done, and stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_tests: Vec<String>,
    /// Where its content may go.
    #[serde(default)]
    pub privacy: Privacy,
    /// The model that a person named for all that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How urgent its calls are.
    pub urgency: Priority,
    /// No call that is made for it is less urgent, whatever it is for.
    pub least_urgency: Priority,
    /// The budget of the step that its calls count against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_budget: Option<String>,
}

/// A bound of policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedBound {
    /// Whose limit it is.
    pub name: String,
    /// What it admits.
    pub admits: RecordedAdmission,
}

/// What a bound of policy admits; rules are as they were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedAdmission {
    /// What one of these rules matches.
    Rules(Vec<String>),
    /// These operations.
    Operations(Vec<RecordedOperation>),
    /// What a step of a plan may touch.
    Step(RecordedStepBound),
    /// Commands in which git does nothing that this role may not do.
    GitOf(String),
    /// What this role may do in git, and the secrets that it uses.
    RightsOf {
        /// The role.
        role: String,
        /// The secrets that its own file names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secrets: Option<Vec<String>>,
    },
}

/// Something that is done with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedOperation {
    /// They are read.
    Read,
    /// They are changed.
    Write,
    /// Git is used.
    Git,
}

/// What a step of a plan may touch, as rules; without paths or commands, any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStepBound {
    /// Files that may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Files that may not, although the others say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Commands that may run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Hosts that may be reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Declared tools that may be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The declared tools that there were: of them no others may be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<String>,
    /// Secrets that may be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Whether nothing may change at all.
    #[serde(default)]
    pub is_read_only: bool,
}

/// A rule that a person granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedGrant {
    /// The rule.
    pub rule: String,
    /// Why.
    pub reason: String,
}
