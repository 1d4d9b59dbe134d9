//! What a skill's frontmatter may say, in types.

mod fields;
mod read;
mod rules;
mod value;

use std::collections::BTreeMap;
use std::time::Duration;

use artel_types::Money;
use serde::Serialize;

pub(crate) use read::{Manner, Reading, read};
pub(crate) use value::{Exactness, Fault, bounded_text, text, texts};

/// The fields of a `SKILL.md`, apart from its name and description.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Front {
    /// The name of a licence, or of the file that holds it.
    pub license: Option<String>,
    /// What the skill needs around it.
    pub compatibility: Option<String>,
    /// Whatever the author keeps there; keys that begin with `artel.` are read as fields.
    pub metadata: BTreeMap<String, String>,
    /// The rules of what it may use; none means that it does not say.
    pub allowed_tools: Option<Vec<String>>,
    /// An alias or the id of a model.
    pub model: Option<String>,
    /// Whether it runs in the conversation or in one of its own.
    pub context: Context,
    /// Who runs it when it is forked.
    pub agent: Option<AgentKind>,
    /// Whether it goes on until it is done.
    pub mode: Option<Mode>,
    /// How many turns it may take, 1 to 100.
    pub max_iterations: Option<u32>,
    /// How often a failing tool may be tried again, 0 to 10.
    pub max_retries_per_tool: Option<u32>,
    /// How long one turn may take.
    pub timeout_per_iteration: Option<Duration>,
    /// Whether it may end before its turns are used up.
    pub early_termination: Option<bool>,
    /// It is known to be too long and loads all the same.
    pub legacy_large_file: bool,
    /// What a run may cost at most.
    pub max_cost: Option<Money>,
    /// Whether a person may start it by name; yes unless it says no.
    pub user_invocable: Option<bool>,
    /// Only a person starts it; a model is not told of it.
    pub disable_model_invocation: bool,
    /// What to show a person who is about to type its arguments.
    pub argument_hint: Option<String>,
    /// Patterns of the files that it is about.
    pub paths: Vec<String>,
    /// Names of tool secrets that its scripts need.
    pub secrets: Vec<String>,
    /// Keys that mean nothing here, kept as they are.
    pub other: BTreeMap<String, serde_json::Value>,
}

/// Which conversation a skill runs in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// The one that called it.
    #[default]
    Inherit,
    /// One of its own; only a summary comes back.
    Fork,
}

/// Who runs a forked skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentKind {
    /// Looks and reads, changes nothing.
    Explore,
    /// Makes a plan, changes nothing.
    Plan,
    /// Everything that the skill may use.
    General,
    /// A role of the workshop, by its id.
    Custom(String),
}

/// How a skill is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Turn after turn until it is done.
    Autonomous,
    /// One plan, its tools once, one answer.
    Simple,
}
