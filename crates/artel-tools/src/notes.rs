//! The notes that a run keeps between calls, apart from files: its todo list, the things
//! that it wants to remember, and the tools that it found.

use serde::{Deserialize, Serialize};

/// The notes of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunNotes {
    /// The todo list.
    pub todo: Vec<TodoTask>,
    /// Knowledge for later steps, passed on once a verdict allows it.
    pub remembered: Vec<RememberedNote>,
    /// Tools whose schemas were found, in the order in which they were found. The list only
    /// grows, so that everything sent to a model before stays the same.
    pub found: Vec<String>,
    /// The shell's current folder, relative to the run's tree.
    pub cwd: String,
    /// The end of the run, in the agent's own words.
    pub finished: Option<RunFinish>,
}

/// One item of the todo list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TodoTask {
    /// A description of the task.
    pub text: String,
    pub state: TodoTaskState,
}

/// Progress of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoTaskState {
    /// Not begun.
    Pending,
    /// In progress; at most one task is.
    InProgress,
    Done,
}

/// A note to pass on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RememberedNote {
    /// The name under which later steps find it.
    pub key: String,
    pub value: String,
}

/// The end of a run, as the agent sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFinish {
    pub answer: String,
    /// Results by name, for the next step.
    #[serde(default)]
    pub outputs: std::collections::BTreeMap<String, String>,
}

impl Default for RunNotes {
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

impl RunNotes {
    /// Adds a note, and replaces one with the same key.
    pub fn remember(&mut self, memory: RememberedNote) {
        self.remembered.retain(|known| known.key != memory.key);
        self.remembered.push(memory);
    }
}
