//! What is said about a run as a whole: how it ended, what it took, what it changed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{BlobRef, Money, RunFinished, RunId, RunStarted};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// The agent says that it is done.
    Complete,
    /// Something was achieved, not all.
    Partial,
    /// Nothing came of it.
    Failed,
    /// A person ended it.
    Cancelled,
}

impl RunState {
    const ALL: [Self; 4] = [Self::Complete, Self::Partial, Self::Failed, Self::Cancelled];

    /// Returns the word that stands in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl FromStr for RunState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or(())
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A part of a prompt with its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPart {
    /// Which part: role, skill, tools, standing, task, lessons.
    pub name: String,
    /// Its size in tokens, as estimated.
    pub tokens: u64,
}

/// Something a run set out to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objective {
    /// What.
    pub text: String,
    /// Whether it was done.
    pub done: bool,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new.
    Made,
    /// Its contents differ.
    Changed,
    /// It is gone.
    Deleted,
    /// It was moved, and perhaps changed.
    Renamed,
    /// Only who may run it differs.
    Mode,
}

/// A file that a run made or changed in its own tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The path, relative to the tree; what is not text is shown as well as it can be.
    pub path: String,
    /// Where it was before it was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What happened.
    pub kind: ChangeKind,
    /// Lines added; nothing for what is not text.
    pub added: Option<u64>,
    /// Lines removed; nothing for what is not text.
    pub removed: Option<u64>,
    /// Its size now.
    pub bytes: u64,
}

impl FileChange {
    /// Returns its path as people read it: with where it was, if it was moved.
    pub fn name(&self) -> String {
        match &self.from {
            Some(from) => format!("{from} → {}", self.path),
            None => self.path.clone(),
        }
    }
}

/// Something in a run's tree that no snapshot holds and that is never put in place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutPath {
    /// The path, relative to the tree, or the beginning of a very long one.
    pub path: String,
    /// Why.
    pub why: LeftOutReason,
    /// How many bytes or files it has, where that is the reason.
    pub amount: Option<u64>,
}

/// Why something in a run's tree is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// It is called `.git`, or stands in the place of a file of git's.
    GitMetadata,
    /// Git takes the folder for a repository by what is in it.
    Repository,
    /// It is a pipe, a socket or a device.
    SpecialFile,
    /// It lies too deep below the root.
    TooDeep,
    /// It has more bytes than are kept.
    TooLarge,
    /// It holds too many new files.
    TooMany,
}

/// A picture that a tool showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptImage {
    /// Such as `image/png`.
    pub media_type: String,
    /// Where its bytes are.
    pub at: BlobRef,
}

/// What a run took: a fold over its events, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunMetrics {
    /// Replies that called tools, with those calls.
    pub turns: u64,
    /// Answers that came.
    pub model_calls: u64,
    /// Attempts at an answer that failed.
    pub model_failures: u64,
    /// Calls of tools that were carried out or refused.
    pub tool_calls: u64,
    /// Of them, those that failed.
    pub tool_failures: u64,
    /// Calls that were made again just as they were.
    pub retries: u64,
    /// Failures after which the same goal was reached another way, by the kind of failure.
    pub recoveries: BTreeMap<String, u64>,
    /// Tokens of the first request's skill and standing parts.
    pub tokens_initial: u64,
    /// Tokens of skill files that were loaded on the way.
    pub tokens_loaded: u64,
    /// Tokens read by models.
    pub tokens_input: u64,
    /// Of them, from the provider's cache.
    pub tokens_cached: u64,
    /// Tokens written by models.
    pub tokens_output: u64,
    /// What it cost; nothing if a price is not known.
    pub cost: Option<Money>,
    /// The same by model.
    pub cost_by_model: BTreeMap<String, Money>,
    /// Skill files that were loaded.
    pub files_loaded: u64,
    /// Tokens that loading on demand saved against loading everything, in percent.
    pub saved_percent: Option<u64>,
    /// Milliseconds that models took.
    pub model_ms: u64,
    /// Milliseconds that tools took.
    pub tool_ms: u64,
    /// Milliseconds that people took to answer.
    pub person_ms: u64,
    /// Milliseconds from the first event to the last.
    pub total_ms: u64,
    /// Snapshots of the tree.
    pub snapshots: u64,
    /// Milliseconds that they took.
    pub snapshot_ms: u64,
    /// How often the conversation was made shorter.
    pub compactions: u64,
    /// Runs that it called.
    pub children: u64,
    /// What the runs below it took, which is no part of the numbers above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<MetricsBelow>,
}

/// What the runs took that a run called, and those that they called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MetricsBelow {
    /// How many there were.
    pub runs: u64,
    /// Tokens read and written by models.
    pub tokens: u64,
    /// What it cost; nothing if a price is not known.
    pub cost: Option<Money>,
}

impl RunMetrics {
    /// Returns the milliseconds that Artel itself took.
    pub fn own_ms(&self) -> u64 {
        let others = [
            self.model_ms,
            self.tool_ms,
            self.person_ms,
            self.snapshot_ms,
        ];
        let others = others
            .iter()
            .fold(0, |sum: u64, part| sum.saturating_add(*part));
        self.total_ms.saturating_sub(others)
    }
}

impl RunStarted {
    /// Stands for the call of a run that takes over from the one that it names as its parent.
    pub const HANDOVER: &str = "handover";

    /// Tells whether the run goes on with the work of its parent, instead of doing a part of it.
    pub fn takes_over(&self) -> bool {
        self.parent.is_some() && self.call.as_deref() == Some(Self::HANDOVER)
    }

    /// Says that a run of its own began.
    pub fn new(id: RunId, title: impl Into<String>) -> Self {
        Self {
            id,
            title: title.into(),
            skill: None,
            task: None,
            folder: None,
            parent: None,
            call: None,
            chain: None,
            depth: None,
            plan: None,
            step: None,
            inherits: None,
        }
    }
}

impl RunFinished {
    /// Says that a run ended, and nothing more.
    pub fn new(id: RunId, summary: impl Into<String>) -> Self {
        Self {
            id,
            summary: summary.into(),
            state: None,
            answer: None,
            why: None,
            objectives: None,
            changed: None,
            snapshot: None,
            metrics: None,
            left_out: None,
        }
    }
}
