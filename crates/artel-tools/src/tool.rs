//! The definition of a tool: a descriptor, an intent for policy, and the execution.

use std::fmt;

use artel_policy::PolicyAction;
use artel_types::model::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ToolContext;

/// Something that a model can call.
pub trait Tool: Send + Sync {
    /// Returns the tool's descriptor.
    fn card(&self) -> &ToolDescriptor;

    /// Returns what this call would do, before anything is done. Policy judges the answer.
    /// File names are as the caller wrote them; they are judged again, resolved, when they are
    /// used.
    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError>;

    /// Executes the call. Policy has allowed everything that [`Tool::intends`] returned.
    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError>;
}

/// Everything that the registry, the model and policy know about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDescriptor {
    /// The name that a model calls it by: `read`, `git_commit`, `deploy`.
    pub name: String,
    /// A summary in one line of at most 100 characters; only this is sent until the tool is
    /// found.
    pub line: String,
    /// Everything that a model needs to use it well.
    pub description: String,
    /// The JSON schema of its input.
    pub input: Value,
    pub effects: Vec<ToolEffect>,
    /// The recovery if a crash leaves it unknown whether the call took effect.
    pub unknown: ToolCrashRecovery,
    /// The group of tools that are found together: `files`, `git`, `checks`.
    pub bundle: &'static str,
    /// Words that find the tool, in addition to its name and its line.
    pub keywords: &'static [&'static str],
    /// Whether its schema is in every request, or only after it was found.
    pub reach: ToolSchemaDelivery,
}

/// The kind of resource that a tool touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolEffect {
    /// Reads files.
    Read,
    /// Changes files.
    Write,
    /// Starts a process.
    Process,
    /// Reaches another machine.
    Network,
}

/// Recovery after a crash that left an intent without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolCrashRecovery {
    /// Nothing was changed: run it again.
    Pure,
    /// Running it again with the same key does no harm.
    Idempotent,
    /// Check whether it happened.
    Probe,
    /// Restore the run's tree to the snapshot before it, then run it again.
    Restore,
    /// It must not happen twice: ask the person.
    Once,
}

/// Delivery of a tool's schema to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolSchemaDelivery {
    /// In every request.
    Always,
    /// Only a name and one line, until `find_tools` loads the schema.
    Found,
}

/// The result of a call that was carried out, as the model sees it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolObservation {
    pub text: String,
    /// Pictures, for models that accept them.
    pub images: Vec<ToolImage>,
    /// Data for programs: counts, paths, exit codes.
    pub data: Value,
    /// Files that were created, changed or deleted, relative to the tree.
    pub changed: Vec<String>,
    /// Whether the text is only a part of the whole.
    pub is_partial: bool,
    /// Suggestions in case the result is not what the caller intended, such as a failed
    /// command or a text that continues. They are added below the text.
    pub hints: Vec<String>,
}

/// Whether the caller sees hints. Without them, their value can be measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HintVisibility {
    /// Hints are part of every answer.
    #[default]
    Shown,
    /// Answers only say what failed and why.
    Silent,
}

/// A picture for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolImage {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

/// Why a call could not be carried out, written for recovery: what failed, why, and what
/// else is possible. The model gets it unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// The kind of failure, for counting and for the loop's own rules.
    pub kind: ToolErrorKind,
    /// A sentence that says what failed and why.
    pub what: String,
    /// Alternatives: similar paths, other encodings, installed programs. Anything that can be
    /// copied into the next call is in backquotes: a tool, a similar name, a field and its
    /// value as in "write `limit` as `10`".
    pub hints: Vec<String>,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolErrorKind {
    /// The input does not fit the schema.
    BadInput,
    /// Something named does not exist.
    NotFound,
    /// It exists, but the tool cannot work on it.
    Unfit,
    /// Policy, a path rule or the sandbox refused it.
    Refused,
    /// The state is not what the call expected, as with an edit that does not match.
    Mismatch,
    /// A program failed.
    Failed,
    /// It took too long and was ended.
    TimedOut,
    /// The person or the run cancelled it.
    Cancelled,
    /// The machine could not do it: disk full, too many files.
    Machine,
}

impl ToolDescriptor {
    /// Returns the description for a model, as short as possible: the line is left out if the
    /// description says the same.
    pub fn told(&self) -> String {
        let first = |text: &str| text.split_whitespace().next().map(str::to_owned);
        if first(&self.line) == first(&self.description) {
            return self.description.clone();
        }
        let line = self.line.trim_end_matches('.');
        format!("{line}. {}", self.description)
            .trim_end()
            .to_owned()
    }
}

impl From<&ToolDescriptor> for ToolSpec {
    fn from(card: &ToolDescriptor) -> Self {
        Self {
            name: card.name.clone(),
            description: card.told(),
            schema: slim(&card.input),
        }
    }
}

/// Removes the parts of a schema that only Artel checks: everything sent costs tokens in
/// every turn.
fn slim(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let Some(fields) = schema.as_object_mut() else {
        return schema;
    };
    fields.remove("additionalProperties");
    let properties = fields.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties
        .into_iter()
        .flat_map(|properties| properties.values_mut())
    {
        if let Some(property) = property.as_object_mut() {
            property.remove("minimum");
        }
    }
    schema
}

impl ToolErrorKind {
    /// Returns the word for it in the journal.
    pub fn word(self) -> &'static str {
        match self {
            Self::BadInput => "bad-input",
            Self::NotFound => "not-found",
            Self::Unfit => "unfit",
            Self::Refused => "refused",
            Self::Mismatch => "mismatch",
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Machine => "machine",
        }
    }
}

impl ToolObservation {
    /// Creates an observation that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

impl HintVisibility {
    /// Appends the hints of an observation to its text, or drops them.
    pub(crate) fn told(self, mut observation: ToolObservation) -> ToolObservation {
        for hint in std::mem::take(&mut observation.hints) {
            if self == Self::Shown {
                observation.text.push_str(&format!("\n- {hint}"));
            }
        }
        observation
    }

    /// Returns a text with its hint lines, or without them if hints are off.
    pub fn words(self, text: String) -> String {
        if self == Self::Shown {
            return text;
        }
        let lines = text.lines().filter(|line| !line.starts_with("- "));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the error with its hints, or without them if hints are off.
    pub(crate) fn kept(self, mut trouble: ToolError) -> ToolError {
        if self == Self::Silent {
            trouble.hints.clear();
        }
        trouble
    }
}

impl ToolError {
    /// Creates an error without hints.
    pub fn new(kind: ToolErrorKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            hints: Vec::new(),
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        for hint in &self.hints {
            write!(f, "\n- {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ToolError {}

/// Parses a tool's input into its own type. If it does not fit, the error names the field.
pub fn parse<'a, Input: Deserialize<'a>>(input: &'a Value) -> Result<Input, ToolError> {
    Input::deserialize(input).map_err(|cause| {
        ToolError::new(
            ToolErrorKind::BadInput,
            format!("the input does not fit the tool's schema: {cause}"),
        )
    })
}
