//! Options for starting a run, and its outcome.

use std::path::PathBuf;

use artel_engine::RunSuspendReason;
use artel_skills::SkillRunMode;
use artel_types::{Money, RunFinished, RunId, TraceId};

/// A run to start.
#[derive(Debug, Clone, Default)]
pub struct RunStartOptions {
    /// The skill, or `None` for a task in free text.
    pub skill: Option<String>,
    /// The arguments of the skill, or the words of the task.
    pub arguments: Vec<String>,
    /// The model; takes precedence over the skill's.
    pub model: Option<String>,
    /// The mode; takes precedence over the skill's.
    pub mode: Option<SkillRunMode>,
    /// The maximum number of turns; takes precedence over the skill's.
    pub max_turns: Option<u32>,
    /// The cost limit; takes precedence over the skill's.
    pub max_cost: Option<Money>,
    /// The folder that the run works on; the current folder if `None`.
    pub folder: Option<PathBuf>,
}

/// The outcome of driving a run.
#[derive(Debug)]
pub struct RunDriveOutcome {
    pub run: RunId,
    /// The piece of work it belongs to.
    pub trace: TraceId,
    /// The final record, or `None` if the run was suspended.
    pub finished: Option<Box<RunFinished>>,
    /// The reason for the suspension, or `None` if the run is over.
    pub left: Option<RunSuspendReason>,
    /// The complete answer.
    pub answer: Option<String>,
}

impl RunDriveOutcome {
    /// Returns what came of a run that was left.
    pub(crate) fn left(run: RunId, trace: TraceId, left: RunSuspendReason) -> Self {
        Self {
            run,
            trace,
            finished: None,
            left: Some(left),
            answer: None,
        }
    }
}
