//! The loop of one agent: think, act, observe, try another way, stop in time.
//!
//! The state machine is folded from the events of a run and decides what comes next. Live
//! and resumed runs work in the same way: the driver does what [`AgentRun::next`] says,
//! appends the result, and folds it. A request to a model is made from folded events
//! alone, so that a process that takes over sends the same request.

mod approach;
mod call;
mod ending;
mod fold;
mod mend;
mod next;
mod react;
mod strikes;
mod stuck;
mod words;

use std::collections::{BTreeMap, VecDeque};

use artel_types::model::{ModelMessage, ModelRequest};
use artel_types::{RunAsked, RunId, RunObjective};

use crate::context::CompactionHistory;
use approach::FailedToolCalls;
use call::PendingToolCall;
use strikes::FailureStreaks;
use stuck::StuckDetector;

pub use approach::{CanonicalToolCall, normal};
pub use ending::AgentRunEnding;
pub use fold::RunEventFoldError;
pub use react::{ParsedTextReply, read_text};
pub use stuck::StuckPattern;
pub use words::{directive_of_text_calls, tools_as_text};

/// The form in which the model calls tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolCallStyle {
    /// In the provider's own form.
    #[default]
    Native,
    /// As text: Thought, Action, Action Input.
    Text,
}

/// The properties of a tool that the state machine must know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolTraits {
    /// Whether it changes nothing: several such calls run at once, and an interrupted one
    /// is run again.
    pub is_pure: bool,
    /// Whether it changes files.
    pub is_edit: bool,
    /// Whether it builds or tests.
    pub is_check: bool,
    /// Whether it starts processes whose commands decide what it is.
    pub is_shell: bool,
}

/// The rules for one run.
#[derive(Debug, Clone, Default)]
pub struct AgentRunRules {
    /// Number of turns.
    pub turns: u32,
    /// How often one approach may fail.
    pub retries: u32,
    /// Whether the answer is reviewed once before it counts.
    pub checks_itself: bool,
    /// The form in which the model calls tools.
    pub calls: ToolCallStyle,
    /// The tools, by name.
    pub tools: BTreeMap<String, ToolTraits>,
    /// Keeps a step of a plan on course.
    pub guard: Option<StepGuardrails>,
}

/// Keeps a step of a plan on course.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepGuardrails {
    /// Number of calls after which the step must begin again.
    pub calls: u32,
    /// Number of calls between reminders; 0 for none.
    pub every: u32,
    /// The text of the reminder.
    pub directive: String,
}

/// Prefix of the names of questions that an agent asks.
pub const ASKED: &str = "asked-";

/// The next thing for the driver to do.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentRunAction {
    /// Call the model with the conversation.
    Ask,
    /// Carry out these calls; more than one only if none changes anything.
    Act(Vec<RunnableToolCall>),
    /// Answer a call without carrying it out.
    Refuse {
        /// The call.
        act: RunnableToolCall,
        /// The kind of error.
        trouble: &'static str,
        /// The text for the model.
        text: String,
    },
    /// Pass a person's answer to the call that asked.
    Tell {
        /// The call.
        act: RunnableToolCall,
        /// The person's answer.
        text: String,
    },
    /// Say something to the model.
    Say {
        /// The text.
        text: String,
        /// The reason, as recorded in the journal.
        why: &'static str,
    },
    /// Ask the person about a call whose outcome is unknown.
    AskPerson { act: RunnableToolCall },
    /// Restore the tree and call for help.
    Escalate {
        /// The last good snapshot, or `None` if there is no tree.
        snapshot: Option<String>,
        /// The reason for the call for help.
        why: String,
        /// The failures in a row.
        failures: Vec<String>,
    },
    /// Wait for the run that took over the work, and end as it ends.
    Follow(RunId),
    /// Wait for a person.
    Wait(AgentRunWait),
    /// The run is over.
    End(AgentRunEnding),
}

/// The reason why a run waits.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentRunWait {
    /// A person paused the run.
    Resume,
    /// A question is open.
    Answer(Box<RunAsked>),
}

/// A call to carry out.
#[derive(Debug, Clone, PartialEq)]
pub struct RunnableToolCall {
    /// The run's own name of the call in the journal, because providers reuse their ids.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub input: serde_json::Value,
}

/// A call with a recorded intent and no recorded result.
#[derive(Debug, Clone, PartialEq)]
pub struct InFlightToolCall {
    pub act: RunnableToolCall,
    /// The tool's rule for an unknown outcome.
    pub unknown: String,
    /// Whether the call had been allowed; otherwise nothing was begun.
    pub was_allowed: bool,
}

/// The state of one run.
#[derive(Debug, Clone)]
pub struct AgentRun {
    rules: AgentRunRules,
    messages: Vec<ModelMessage>,
    /// The calls of the last reply, in its order.
    pending: Vec<PendingToolCall>,
    /// Texts to be put beside the results of the pending calls.
    beside: Vec<String>,
    turns: u32,
    replies: u32,
    /// The text of replies that were cut off.
    cut: String,
    cuts: u32,
    answer: Option<String>,
    ended: Option<AgentRunEnding>,
    has_checked: bool,
    closing: AgentRunClosing,
    silent: u32,
    nudges_due: bool,
    approaches: FailedToolCalls,
    strikes: FailureStreaks,
    stuck: StuckDetector,
    hints: VecDeque<String>,
    is_paused: bool,
    is_cancelled: bool,
    question: Option<RunAsked>,
    objectives: Vec<RunObjective>,
    snapshot: Option<String>,
    last_call: Option<String>,
    shortened: CompactionHistory,
    /// The run that took over the work.
    heir: Option<RunId>,
    /// Number of finished calls; `reminded` is the number at the last reminder.
    calls: u32,
    reminded: u32,
}

/// The progress of the announced end of the turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum AgentRunClosing {
    #[default]
    No,
    /// The model was told.
    Said,
    /// The model's last reply has arrived.
    Over,
}

impl AgentRun {
    /// Begins with the first message of the conversation.
    pub fn new(rules: AgentRunRules, opening: impl Into<String>) -> Self {
        Self {
            rules,
            messages: vec![ModelMessage::user(opening)],
            pending: Vec::new(),
            beside: Vec::new(),
            turns: 0,
            replies: 0,
            cut: String::new(),
            cuts: 0,
            answer: None,
            ended: None,
            has_checked: false,
            closing: AgentRunClosing::No,
            silent: 0,
            nudges_due: false,
            approaches: FailedToolCalls::default(),
            strikes: FailureStreaks::default(),
            stuck: StuckDetector::default(),
            hints: VecDeque::new(),
            is_paused: false,
            is_cancelled: false,
            question: None,
            objectives: Vec::new(),
            snapshot: None,
            last_call: None,
            shortened: CompactionHistory::default(),
            heir: None,
            calls: 0,
            reminded: 0,
        }
    }

    /// Returns the conversation so far.
    pub fn messages(&self) -> &[ModelMessage] {
        &self.messages
    }

    /// Returns the number of turns taken.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns the number of turns left.
    pub fn left(&self) -> u32 {
        self.rules.turns.saturating_sub(self.turns)
    }

    pub fn rules(&self) -> &AgentRunRules {
        &self.rules
    }

    /// Returns the objectives that the run has stated.
    pub fn objectives(&self) -> &[RunObjective] {
        &self.objectives
    }

    /// Returns the newest snapshot of the tree.
    pub fn snapshot(&self) -> Option<&str> {
        self.snapshot.as_deref()
    }

    /// Returns the last model call that was answered: the next request begins with its
    /// own.
    pub fn last_call(&self) -> Option<&str> {
        self.last_call.as_deref()
    }

    /// Returns how often, and how well, the conversation was shortened.
    pub fn shortened(&self) -> CompactionHistory {
        self.shortened
    }

    /// Returns the run that took over the work.
    pub fn heir(&self) -> Option<RunId> {
        self.heir
    }

    /// Takes over the ending and the objectives of the run that took over the work.
    pub fn followed(&mut self, ending: AgentRunEnding, objectives: Vec<RunObjective>) {
        self.ended = Some(ending);
        if !objectives.is_empty() {
            self.objectives = objectives;
        }
    }

    /// Returns the failed approaches, for reports.
    pub fn failed_approaches(&self) -> Vec<String> {
        self.approaches.list()
    }

    /// Returns whether a person cancelled the run.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// Returns the calls with a recorded intent and no result, after a crash.
    pub fn in_flight(&self) -> Vec<InFlightToolCall> {
        self.pending
            .iter()
            .filter_map(PendingToolCall::in_flight)
            .collect()
    }

    /// Puts the conversation into a request that already has its standing parts.
    pub fn fill(&self, request: &mut ModelRequest) {
        request.messages.clone_from(&self.messages);
    }
}

#[cfg(test)]
mod tests;
