//! One agent at work: think, act, observe, change the approach, stop in time.
//!
//! The machine is folded from the events of a run and says what comes next. Live and resumed runs
//! take the same way: the driver carries out what [`Turn::next`] says, appends what came of it, and
//! folds that. What is sent to a model is made of folded events alone, so that a process that
//! takes over says the same words.

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

use artel_types::model::{Message, Request};
use artel_types::{Objective, RunAsked, RunId};

use crate::context::Shortened;
use approach::Approaches;
use call::Pending;
use strikes::Strikes;
use stuck::Stuck;

pub use approach::{Approach, normal};
pub use ending::Ending;
pub use fold::Unreadable;
pub use react::{TextReply, read_text};
pub use stuck::Rut;
pub use words::{directive_of_text_calls, tools_as_text};

/// How tools are called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Calls {
    /// In the provider's own form.
    #[default]
    Native,
    /// As text: Thought, Action, Action Input.
    Text,
}

/// What the machine has to know about a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kind {
    /// It changes nothing: several run at once, and one that was cut off is run again.
    pub is_pure: bool,
    /// It changes files.
    pub is_edit: bool,
    /// It builds or tests.
    pub is_check: bool,
    /// It starts processes whose commands say what they are.
    pub is_shell: bool,
}

/// What holds for one run.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// How many turns there are.
    pub turns: u32,
    /// How often one approach may fail.
    pub retries: u32,
    /// Whether the answer is looked over once before it counts.
    pub checks_itself: bool,
    /// How tools are called.
    pub calls: Calls,
    /// The tools, by name.
    pub tools: BTreeMap<String, Kind>,
    /// What keeps a step of a plan from going astray.
    pub guard: Option<Guard>,
}

/// What keeps a step of a plan from going astray.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// How many calls there are before the step is begun anew.
    pub calls: u32,
    /// After how many calls it is reminded; never if 0.
    pub every: u32,
    /// What it is reminded of.
    pub directive: String,
}

/// How the name of a question begins that an agent itself asks.
pub const ASKED: &str = "asked-";

/// What the driver does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Put the conversation to the model.
    Ask,
    /// Carry out these calls; more than one only where none changes anything.
    Act(Vec<Act>),
    /// Answer a call without carrying it out.
    Refuse {
        /// Which one.
        act: Act,
        /// The kind of trouble.
        trouble: &'static str,
        /// What the model is told.
        text: String,
    },
    /// Hand on what a person answered to a call that asks.
    Tell {
        /// Which one.
        act: Act,
        /// The answer.
        text: String,
    },
    /// Say something to the model.
    Say {
        /// The words.
        text: String,
        /// Why, as in the journal.
        why: &'static str,
    },
    /// Ask the person about a call of which nobody knows whether it happened.
    AskPerson {
        /// The call.
        act: Act,
    },
    /// Put the tree back and say that help is needed.
    Escalate {
        /// The last good snapshot; nothing where there is no tree.
        snapshot: Option<String>,
        /// Why.
        why: String,
        /// What failed.
        failures: Vec<String>,
    },
    /// The work goes on in another run: wait for that, and end as it ends.
    Follow(RunId),
    /// Wait for a person.
    Wait(Wait),
    /// The run is over.
    End(Ending),
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq)]
pub enum Wait {
    /// A person paused the run.
    Resume,
    /// A question is open.
    Answer(Box<RunAsked>),
}

/// A call to carry out.
#[derive(Debug, Clone, PartialEq)]
pub struct Act {
    /// Names it in the journal; the run's own, for providers repeat theirs.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The input.
    pub input: serde_json::Value,
}

/// A call whose intent is on record and whose result is not.
#[derive(Debug, Clone, PartialEq)]
pub struct InFlight {
    /// The call.
    pub act: Act,
    /// What its tool says about an unknown outcome.
    pub unknown: String,
    /// Whether it had been allowed: otherwise nothing was begun.
    pub was_allowed: bool,
}

/// The state of one run.
#[derive(Debug, Clone)]
pub struct Turn {
    rules: Rules,
    messages: Vec<Message>,
    /// The calls of the last reply, in its order.
    pending: Vec<Pending>,
    /// Words that are put beside the results of the pending calls.
    beside: Vec<String>,
    turns: u32,
    replies: u32,
    /// Text of answers that were cut off.
    cut: String,
    cuts: u32,
    answer: Option<String>,
    ended: Option<Ending>,
    has_checked: bool,
    closing: Closing,
    silent: u32,
    nudges_due: bool,
    approaches: Approaches,
    strikes: Strikes,
    stuck: Stuck,
    hints: VecDeque<String>,
    is_paused: bool,
    is_cancelled: bool,
    question: Option<RunAsked>,
    objectives: Vec<Objective>,
    snapshot: Option<String>,
    last_call: Option<String>,
    shortened: Shortened,
    /// The run that goes on with the work.
    heir: Option<RunId>,
    /// How many calls are done, and how many were when it was last reminded.
    calls: u32,
    reminded: u32,
}

/// How far the end of the turns is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Closing {
    #[default]
    No,
    /// The model was told.
    Said,
    /// Its last reply has come.
    Over,
}

impl Turn {
    /// Begins with the first words of the conversation.
    pub fn new(rules: Rules, opening: impl Into<String>) -> Self {
        Self {
            rules,
            messages: vec![Message::user(opening)],
            pending: Vec::new(),
            beside: Vec::new(),
            turns: 0,
            replies: 0,
            cut: String::new(),
            cuts: 0,
            answer: None,
            ended: None,
            has_checked: false,
            closing: Closing::No,
            silent: 0,
            nudges_due: false,
            approaches: Approaches::default(),
            strikes: Strikes::default(),
            stuck: Stuck::default(),
            hints: VecDeque::new(),
            is_paused: false,
            is_cancelled: false,
            question: None,
            objectives: Vec::new(),
            snapshot: None,
            last_call: None,
            shortened: Shortened::default(),
            heir: None,
            calls: 0,
            reminded: 0,
        }
    }

    /// Returns the conversation so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns how many turns were taken.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns how many turns are left.
    pub fn left(&self) -> u32 {
        self.rules.turns.saturating_sub(self.turns)
    }

    /// Returns what holds for the run.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns what the run set out to do, as far as it said.
    pub fn objectives(&self) -> &[Objective] {
        &self.objectives
    }

    /// Returns the newest snapshot of the tree.
    pub fn snapshot(&self) -> Option<&str> {
        self.snapshot.as_deref()
    }

    /// Returns the model call that was answered last: the next request begins with its own.
    pub fn last_call(&self) -> Option<&str> {
        self.last_call.as_deref()
    }

    /// Returns how often, and how well, the conversation was made shorter.
    pub fn shortened(&self) -> Shortened {
        self.shortened
    }

    /// Returns the run that goes on with the work.
    pub fn heir(&self) -> Option<RunId> {
        self.heir
    }

    /// Ends as the run ended that went on with the work.
    pub fn followed(&mut self, ending: Ending, objectives: Vec<Objective>) {
        self.ended = Some(ending);
        if !objectives.is_empty() {
            self.objectives = objectives;
        }
    }

    /// Returns the failed approaches, for reports.
    pub fn failed_approaches(&self) -> Vec<String> {
        self.approaches.list()
    }

    /// Tells whether a person ended the run.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// Returns the calls whose intents are on record without results, after a crash.
    pub fn in_flight(&self) -> Vec<InFlight> {
        self.pending.iter().filter_map(Pending::in_flight).collect()
    }

    /// Puts the conversation into a request that has the standing parts already.
    pub fn fill(&self, request: &mut Request) {
        request.messages.clone_from(&self.messages);
    }
}

#[cfg(test)]
mod tests;
