//! What a tool is: a card that says what it does, an intent for policy, and the deed.

use std::fmt;

use artel_policy::Action;
use artel_types::model::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Bench;

/// Something a model can call.
pub trait Tool: Send + Sync {
    /// Says what it is.
    fn card(&self) -> &Card;

    /// Says what this call would do, before anything is done. Policy judges the answer; names of
    /// files are as the caller wrote them and are judged again, resolved, when they are used.
    fn intends(&self, input: &Value, bench: &Bench) -> Result<Vec<Action>, Trouble>;

    /// Does it. Policy has allowed what [`Tool::intends`] said.
    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble>;
}

/// What the registry, the model and policy know about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// The name a model calls it by: `read`, `git_commit`, `deploy`.
    pub name: String,
    /// What it does in one line of at most 100 characters; all that is sent until it is found.
    pub line: String,
    /// What a model needs to use it well.
    pub description: String,
    /// The JSON schema of its input.
    pub input: Value,
    /// What it touches.
    pub effects: Vec<Effect>,
    /// What is done when nobody knows whether it happened.
    pub unknown: Unknown,
    /// Tools that are found together: `files`, `git`, `checks`.
    pub bundle: &'static str,
    /// Words that find it besides its name and its line.
    pub keywords: &'static [&'static str],
    /// Whether its schema is in every request, or only once it was found.
    pub reach: Reach,
}

/// What a tool touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Files are read.
    Read,
    /// Files are changed.
    Write,
    /// A process is started.
    Process,
    /// Another machine is reached.
    Network,
}

/// What an intent without a result means, after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// Nothing was changed: run it again.
    Pure,
    /// Running it again with the same key does no harm.
    Idempotent,
    /// Look whether it happened.
    Probe,
    /// Put the run's tree back to the snapshot before it, then run it again.
    Restore,
    /// It may not happen twice: ask the person.
    Once,
}

/// Whether a model has a tool's schema from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// In every request.
    Always,
    /// A name and one line until `find_tools` brings the schema.
    Found,
}

/// What a model gets to see of a call that was carried out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// The text.
    pub text: String,
    /// Pictures, for models that take them.
    pub images: Vec<Image>,
    /// What programs read: counts, paths, exit codes.
    pub data: Value,
    /// Files that were made, changed or deleted, relative to the tree.
    pub changed: Vec<String>,
    /// Whether the text is only a part of what there was.
    pub is_partial: bool,
    /// What to try next, where it came out otherwise than the caller may have meant: a command
    /// that ended badly, a text that goes on. They are put below the text.
    pub hints: Vec<String>,
}

/// Whether whoever calls gets to see hints. Without them it can be measured what they are worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hints {
    /// They are part of every answer.
    #[default]
    Shown,
    /// Answers say what failed and why, and nothing more.
    Silent,
}

/// A picture for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// `image/png` and the like.
    pub media_type: String,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

/// Why a call could not be carried out, written for recovery: what failed, why, and what else
/// there is. It goes to the model as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What kind it is, for counting and for the loop's own rules.
    pub kind: TroubleKind,
    /// What failed and why, in a sentence.
    pub what: String,
    /// What to try instead: similar paths, other encodings, installed programs. What can be put
    /// into the next call stands between backquotes: a tool, a name that is like the one given, a
    /// field and its value as in "write `limit` as `10`".
    pub hints: Vec<String>,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TroubleKind {
    /// The input does not fit the schema.
    BadInput,
    /// Something named does not exist.
    NotFound,
    /// It exists but is not what the tool works on.
    Unfit,
    /// Policy, a path rule or the sandbox said no.
    Refused,
    /// The state is not what the call expected: an edit that does not match.
    Mismatch,
    /// A program ended badly.
    Failed,
    /// It took too long and was ended.
    TimedOut,
    /// The person or the run ended it.
    Cancelled,
    /// The machine could not: disk full, too many files.
    Machine,
}

impl Card {
    /// Returns what a model is told about it, for as little as will do: the line only where the
    /// description does not say the same.
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

impl From<&Card> for ToolSpec {
    fn from(card: &Card) -> Self {
        Self {
            name: card.name.clone(),
            description: card.told(),
            schema: slim(&card.input),
        }
    }
}

/// Leaves out of a schema what only we check: whatever is sent is paid for in every turn.
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

impl TroubleKind {
    /// Returns the word for it, as in the journal.
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

impl Observation {
    /// Makes one that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

impl Hints {
    /// Adds the hints of an answer to its text, or drops them.
    pub(crate) fn told(self, mut observation: Observation) -> Observation {
        for hint in std::mem::take(&mut observation.hints) {
            if self == Self::Shown {
                observation.text.push_str(&format!("\n- {hint}"));
            }
        }
        observation
    }

    /// Leaves words that hold hints as they are, or drops the lines of them.
    pub fn words(self, text: String) -> String {
        if self == Self::Shown {
            return text;
        }
        let lines = text.lines().filter(|line| !line.starts_with("- "));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Leaves the hints of trouble as they are, or drops them.
    pub(crate) fn kept(self, mut trouble: Trouble) -> Trouble {
        if self == Self::Silent {
            trouble.hints.clear();
        }
        trouble
    }
}

impl Trouble {
    /// Makes trouble without hints.
    pub fn new(kind: TroubleKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            hints: Vec::new(),
        }
    }

    /// Adds something to try.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        for hint in &self.hints {
            write!(f, "\n- {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Trouble {}

/// Reads a tool's input into its own type; what does not fit is said with the field's name.
pub fn parse<'a, Input: Deserialize<'a>>(input: &'a Value) -> Result<Input, Trouble> {
    Input::deserialize(input).map_err(|cause| {
        Trouble::new(
            TroubleKind::BadInput,
            format!("the input does not fit the tool's schema: {cause}"),
        )
    })
}
