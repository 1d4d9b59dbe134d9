//! How far a piece of work has come, and what may happen to it next.
//!
//! [`Course`] is folded from the facts of the `work/<trace>` stream. Before something is recorded
//! there, [`Course::may`] is asked; what it does not list is refused with what can be done instead.
//!
//! While the steps of a plan are being done, the plan may change: a version that is drafted then
//! waits beside the running one until a person approves it and the run adopts it.

mod acts;
mod fold;

use std::collections::BTreeMap;

use artel_types::RunId;
use artel_types::plan::{PlanState, Size};

pub use acts::{Act, Refused};

/// A piece of work: its request, its plan, its changeset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    request: Option<Asked>,
    state: Option<PlanState>,
    newest: Option<Version>,
    approved: Option<Approved>,
    /// Whether the architect is to write, or writes, while another version is being done.
    is_revised: bool,
    comments: Vec<Comment>,
    proposals: BTreeMap<String, Proposal>,
    changeset: Option<Changeset>,
    why: Option<String>,
}

/// What is known of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// How large it is.
    pub size: Size,
    /// How it ended, where it needed no plan: answered, done or failed.
    pub settled: Option<String>,
}

/// One version of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its number, from 1.
    pub number: u32,
    /// Its hash.
    pub hash: String,
}

/// What a person agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    /// The version.
    pub version: Version,
    /// The run that carries it out.
    pub run: RunId,
    /// Whether the run goes by it: at once for the first one, after its adoption for a later one.
    pub is_adopted: bool,
}

/// What a person said about a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The version.
    pub version: u32,
    /// What they said.
    pub text: String,
}

/// A change that an agent asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The step that needs it.
    pub step: String,
    /// The hash of the plan as it would be.
    pub hash: String,
    /// Whether the step cannot go on without it.
    pub is_blocking: bool,
}

/// How far a changeset has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changeset {
    /// Where it is.
    pub state: ChangesetState,
    /// Whether every proof holds on a clean checkout.
    pub is_proven: bool,
}

/// Where a changeset is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesetState {
    /// A person has to decide.
    Open,
    /// A person decided, and git is not done with it.
    Ordered(Order),
    /// It is in the branch it started from.
    Merged,
    /// It was, and was taken back.
    Undone,
    /// It is gone.
    Rejected,
}

/// What a person had git do with a changeset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Merge it.
    Approve,
    /// Take it back.
    Undo,
    /// Bring it back.
    Redo,
}

impl Course {
    /// Returns what is known of the request.
    pub fn request(&self) -> Option<&Asked> {
        self.request.as_ref()
    }

    /// Returns how far the plan has come; nothing where none was begun.
    pub fn state(&self) -> Option<PlanState> {
        self.state
    }

    /// Returns the newest version.
    pub fn newest(&self) -> Option<&Version> {
        self.newest.as_ref()
    }

    /// Returns the number that the next version gets.
    pub fn next_version(&self) -> u32 {
        self.newest
            .as_ref()
            .map_or(1, |newest| newest.number.saturating_add(1))
    }

    /// Returns what a person agreed to last.
    pub fn approved(&self) -> Option<&Approved> {
        self.approved.as_ref()
    }

    /// Returns the run that carries the plan out, or is to.
    pub fn run(&self) -> Option<RunId> {
        self.approved.as_ref().map(|approved| approved.run)
    }

    /// Returns the version that a person has to decide about.
    pub fn in_review(&self) -> Option<&Version> {
        match self.state {
            Some(PlanState::Review) => self.newest.as_ref(),
            Some(PlanState::Running | PlanState::Approved) => self.beside(),
            _ => None,
        }
    }

    /// Returns whether the architect is to write another version, or is at it.
    pub fn is_awaiting_architect(&self) -> bool {
        matches!(self.state, Some(PlanState::Exploring | PlanState::Drafting)) || self.is_revised
    }

    /// Returns everything that people said about versions, oldest first.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// Returns the changes that agents asked for and nobody decided about, by name.
    pub fn proposals(&self) -> &BTreeMap<String, Proposal> {
        &self.proposals
    }

    /// Returns how far the changeset has come.
    pub fn changeset(&self) -> Option<&Changeset> {
        self.changeset.as_ref()
    }

    /// Returns why it failed or was called off.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Returns the newest version while nobody agreed to it and another one is agreed to.
    fn beside(&self) -> Option<&Version> {
        let approved = self.approved.as_ref()?;
        let newest = self.newest.as_ref()?;
        (newest.number > approved.version.number).then_some(newest)
    }
}

#[cfg(test)]
mod tests;
