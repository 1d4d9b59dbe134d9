//! Facts about a run as a whole: how it ended, what it took, what it changed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{BlobRef, Money, RunFinished, RunId, RunStarted};

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunOutcome {
    /// The agent says that it finished.
    Complete,
    /// Part of the goal was achieved.
    Partial,
    /// Nothing was achieved.
    Failed,
    /// A person ended it.
    Cancelled,
}

impl RunOutcome {
    const ALL: [Self; 4] = [Self::Complete, Self::Partial, Self::Failed, Self::Cancelled];

    /// Returns the word that the journal stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl FromStr for RunOutcome {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or(())
    }
}

impl fmt::Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One part of a prompt, with its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPart {
    /// The name of the part: role, skill, tools, standing, task, lessons.
    pub name: String,
    /// Estimated size in tokens.
    pub tokens: u64,
}

/// Something that a run set out to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunObjective {
    /// The objective, in words.
    pub text: String,
    /// Whether it was done.
    pub done: bool,
}

/// The kind of change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    /// The file is new.
    Made,
    /// The contents differ.
    Changed,
    /// The file was deleted.
    Deleted,
    /// The file was moved, and possibly changed.
    Renamed,
    /// Only its executable permission differs.
    Mode,
}

/// A file that a run created or changed in its own tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The path relative to the tree; bytes that are not text are shown as well as
    /// possible.
    pub path: String,
    /// The path before the file was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What happened.
    pub kind: FileChangeKind,
    /// Number of lines added, or `None` if the file is not text.
    pub added: Option<u64>,
    /// Number of lines removed, or `None` if the file is not text.
    pub removed: Option<u64>,
    /// The current size in bytes.
    pub bytes: u64,
}

impl FileChange {
    /// Returns the path for people to read, with the earlier path if the file was moved.
    pub fn name(&self) -> String {
        match &self.from {
            Some(from) => format!("{from} → {}", self.path),
            None => self.path.clone(),
        }
    }
}

/// Something in a run's tree that no snapshot holds and that is never applied to the
/// folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutPath {
    /// The path relative to the tree, or the beginning of a very long path.
    pub path: String,
    /// Why it is left out.
    pub why: LeftOutReason,
    /// Number of bytes or files, if that is the reason.
    pub amount: Option<u64>,
}

/// The reason why something in a run's tree is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// It is called `.git`, or takes the place of one of git's files.
    GitMetadata,
    /// Git takes the folder for a repository because of its contents.
    Repository,
    /// It is a pipe, a socket or a device.
    SpecialFile,
    /// It lies too deep below the root.
    TooDeep,
    /// It has more bytes than are stored.
    TooLarge,
    /// It holds too many new files.
    TooMany,
}

/// A picture that a tool returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptImage {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// Where its bytes are stored.
    pub at: BlobRef,
}

/// What a run took. This is a fold over its events and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunMetrics {
    /// Number of turns: replies that called tools, with those calls.
    pub turns: u64,
    /// Number of replies received.
    pub model_calls: u64,
    /// Number of failed attempts at a model call.
    pub model_failures: u64,
    /// Number of tool calls that were carried out or refused.
    pub tool_calls: u64,
    /// Number of tool calls that failed, out of `tool_calls`.
    pub tool_failures: u64,
    /// Number of calls that were repeated unchanged.
    pub retries: u64,
    /// Number of failures after which the same goal was reached another way, by the kind of
    /// failure.
    pub recoveries: BTreeMap<String, u64>,
    /// Tokens of the skill and standing parts of the first request.
    pub tokens_initial: u64,
    /// Tokens of skill files that were loaded along the way.
    pub tokens_loaded: u64,
    /// Tokens read by models.
    pub tokens_input: u64,
    /// The part of `tokens_input` that came from the provider's cache.
    pub tokens_cached: u64,
    /// Tokens written by models.
    pub tokens_output: u64,
    /// The cost, or `None` if a price is not known.
    pub cost: Option<Money>,
    /// The cost by model.
    pub cost_by_model: BTreeMap<String, Money>,
    /// Number of skill files that were loaded.
    pub files_loaded: u64,
    /// Tokens saved by loading on demand instead of loading everything, in percent.
    pub saved_percent: Option<u64>,
    /// Milliseconds spent in model calls.
    pub model_ms: u64,
    /// Milliseconds spent in tools.
    pub tool_ms: u64,
    /// Milliseconds spent waiting for people to answer.
    pub person_ms: u64,
    /// Milliseconds from the first event to the last.
    pub total_ms: u64,
    /// Number of snapshots of the tree.
    pub snapshots: u64,
    /// Milliseconds spent on snapshots.
    pub snapshot_ms: u64,
    /// Number of times that the conversation was shortened.
    pub compactions: u64,
    /// Number of runs that it called.
    pub children: u64,
    /// What the runs below it took, which is not included in the numbers above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<ChildRunMetrics>,
}

/// What the runs called by a run took, including the runs that those called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChildRunMetrics {
    /// Number of runs.
    pub runs: u64,
    /// Tokens read and written by models.
    pub tokens: u64,
    /// The cost, or `None` if a price is not known.
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
    /// The value of `call` in a run that takes over from its parent.
    pub const HANDOVER: &str = "handover";

    /// Returns whether the run continues its parent's work, instead of doing a part of it.
    pub fn takes_over(&self) -> bool {
        self.parent.is_some() && self.call.as_deref() == Some(Self::HANDOVER)
    }

    /// Creates the event for the start of a run that nothing else started.
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
    /// Creates the event for the end of a run, with only the required fields set.
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
