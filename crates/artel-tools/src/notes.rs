//! What a run keeps between calls besides files: its list of things to do, what it wants to
//! remember, which tools it found.

use serde::{Deserialize, Serialize};

/// The notes of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notes {
    /// What is to be done.
    pub todo: Vec<Task>,
    /// What later steps should know, once a verdict passes it on.
    pub remembered: Vec<Memory>,
    /// Tools whose schemas were found, in the order in which they were; it only grows, so that
    /// what was sent to a model before stays as it was.
    pub found: Vec<String>,
    /// Where the shell stands, relative to the run's tree.
    pub cwd: String,
    /// How the run ended, in its own words.
    pub finished: Option<Finish>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What it is.
    pub text: String,
    /// How far it is.
    pub state: TaskState,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Not begun.
    Pending,
    /// Being done; at most one is.
    InProgress,
    /// Done.
    Done,
}

/// Something to pass on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The name under which later steps find it.
    pub key: String,
    /// What it says.
    pub value: String,
}

/// The end of a run, as the agent sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// The answer.
    pub answer: String,
    /// Results by name, for whoever comes next.
    #[serde(default)]
    pub outputs: std::collections::BTreeMap<String, String>,
}

impl Default for Notes {
    fn default() -> Self {
        Self {
            todo: Vec::new(),
            remembered: Vec::new(),
            found: Vec::new(),
            cwd: ".".to_owned(),
            finished: None,
        }
    }
}

impl Notes {
    /// Adds a memory; one of the same key is replaced.
    pub fn remember(&mut self, memory: Memory) {
        self.remembered.retain(|known| known.key != memory.key);
        self.remembered.push(memory);
    }
}
