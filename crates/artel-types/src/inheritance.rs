//! The limits handed down to a run when it was started, as recorded in the journal. A
//! process that resumes the run, directly or through the run that called it, finds the same
//! limits.

use serde::{Deserialize, Serialize};

use crate::model::{ModelCallPriority, PrivacyLabel};

/// The limits handed down to a run. The run and everything it starts may narrow them, but
/// never widen them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedInheritance {
    /// Bounds that apply no matter what the run's own role and skill allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<RecordedBound>,
    /// Deny rules of the roles above it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Rules that a person granted with the plan it works for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<RecordedGrant>,
    /// Files that define what has to be done and must stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_tests: Vec<String>,
    /// Where its content may go.
    #[serde(default)]
    pub privacy: PrivacyLabel,
    /// The model that a person named for all of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How urgent its calls are.
    pub urgency: ModelCallPriority,
    /// The lowest urgency of any call made for it, whatever the purpose of the call.
    pub least_urgency: ModelCallPriority,
    /// The budget of the step that its calls count against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_budget: Option<String>,
}

/// A policy bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedBound {
    /// Name of whatever the limit belongs to.
    pub name: String,
    /// What the bound admits.
    pub admits: RecordedAdmission,
}

/// What a policy bound admits. Rules are kept as they were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedAdmission {
    /// Calls that one of these rules matches.
    Rules(Vec<String>),
    /// Only these operations.
    Operations(Vec<RecordedOperation>),
    /// What a step of a plan may touch.
    Step(RecordedStepBound),
    /// Commands in which git does nothing that this role may not do.
    GitOf(String),
    /// What this role may do in git, and the secrets that it may use.
    RightsOf {
        /// The role.
        role: String,
        /// The secrets named in the role's own file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secrets: Option<Vec<String>>,
    },
}

/// An operation on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedOperation {
    /// Files are read.
    Read,
    /// Files are changed.
    Write,
    /// Git is used.
    Git,
}

/// What a step of a plan may touch, as rules. Empty paths or commands mean any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedStepBound {
    /// Files that may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Files that may not change, even if `paths` covers them.
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
    /// The declared tools that existed at the time; no other declared tool may be used.
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
    /// The rule, as written.
    pub rule: String,
    /// The reason the person gave.
    pub reason: String,
}
