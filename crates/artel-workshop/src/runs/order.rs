//! What is asked of a run, and what comes back.

use std::path::PathBuf;

use artel_engine::Left;
use artel_skills::Mode;
use artel_types::{Money, RunFinished, RunId, TraceId};

/// A run to begin.
#[derive(Debug, Clone, Default)]
pub struct RunOrder {
    /// The skill; a task in free words if not given.
    pub skill: Option<String>,
    /// What it works on, or the task.
    pub arguments: Vec<String>,
    /// The model, which beats what the skill says.
    pub model: Option<String>,
    /// How it goes, which beats what the skill says.
    pub mode: Option<Mode>,
    /// How many turns it has, which beats what the skill says.
    pub max_turns: Option<u32>,
    /// What it may cost, which beats what the skill says.
    pub max_cost: Option<Money>,
    /// The folder whose files it works on; where the caller stands if not given.
    pub folder: Option<PathBuf>,
}

/// What came of driving a run.
#[derive(Debug)]
pub struct RunDone {
    /// Which run.
    pub run: RunId,
    /// The piece of work it belongs to.
    pub trace: TraceId,
    /// How it ended; nothing if it was left.
    pub finished: Option<Box<RunFinished>>,
    /// Why it was left; nothing if it is over.
    pub left: Option<Left>,
    /// The whole answer.
    pub answer: Option<String>,
}

impl RunDone {
    /// Returns what came of a run that was left.
    pub(crate) fn left(run: RunId, trace: TraceId, left: Left) -> Self {
        Self {
            run,
            trace,
            finished: None,
            left: Some(left),
            answer: None,
        }
    }
}
