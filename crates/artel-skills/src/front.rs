//! The fields that a skill's frontmatter may have, as types.

mod fields;
mod read;
mod rules;
mod value;

use std::collections::BTreeMap;
use std::time::Duration;

use artel_types::Money;
use serde::Serialize;

pub(crate) use read::{FrontmatterStrictness, ParsedSkillFrontmatter, read};
pub(crate) use value::{FrontmatterValueError, YamlTypeStrictness, bounded_text, text, texts};

/// The fields of a `SKILL.md`, except its name and description.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SkillFrontmatter {
    /// The name of a licence, or of the file that holds it.
    pub license: Option<String>,
    /// The environment that the skill needs.
    pub compatibility: Option<String>,
    /// The author's own entries; keys that begin with `artel.` are read as fields.
    pub metadata: BTreeMap<String, String>,
    /// Rules for the tools that the skill may use, or `None` if it does not say.
    pub allowed_tools: Option<Vec<String>>,
    /// An alias or a model id.
    pub model: Option<String>,
    /// Whether the skill runs in the caller's conversation or in its own.
    pub context: SkillContextMode,
    /// The agent that runs a forked skill.
    pub agent: Option<SkillAgentKind>,
    /// Whether the skill continues until it is done.
    pub mode: Option<SkillRunMode>,
    /// Largest number of turns, 1 to 100.
    pub max_iterations: Option<u32>,
    /// Number of retries of a failing tool, 0 to 10.
    pub max_retries_per_tool: Option<u32>,
    /// Time limit for one turn.
    pub timeout_per_iteration: Option<Duration>,
    /// Whether the skill may end before its turns are used up.
    pub early_termination: Option<bool>,
    /// Whether the skill is known to be too long and is loaded all the same.
    pub legacy_large_file: bool,
    /// Largest cost of one run.
    pub max_cost: Option<Money>,
    /// Whether a person may start the skill by name; `None` means yes.
    pub user_invocable: Option<bool>,
    /// Whether only a person may start the skill; if so, models do not see it.
    pub disable_model_invocation: bool,
    /// A hint for a person who is about to type the arguments.
    pub argument_hint: Option<String>,
    /// Patterns of the files that the skill is about.
    pub paths: Vec<String>,
    /// Names of the tool secrets that the skill's scripts need.
    pub secrets: Vec<String>,
    /// Unknown keys, kept unchanged.
    pub other: BTreeMap<String, serde_json::Value>,
}

/// The conversation that a skill runs in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillContextMode {
    /// The caller's conversation.
    #[default]
    Inherit,
    /// A conversation of its own; only a summary comes back.
    Fork,
}

/// The agent that runs a forked skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillAgentKind {
    /// An agent that looks and reads but changes nothing.
    Explore,
    /// An agent that makes a plan but changes nothing.
    Plan,
    /// An agent that may use everything that the skill may use.
    General,
    /// A role of the workshop, by its id.
    Custom(String),
}

/// Execution mode of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillRunMode {
    /// Turn after turn until it is done.
    Autonomous,
    /// One plan, its tools once, one answer.
    Simple,
}
