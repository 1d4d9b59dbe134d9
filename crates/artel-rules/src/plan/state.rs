//! The state of a piece of work, and what may happen to it next.
//!
//! [`WorkState`] is folded from the facts of the `work/<trace>` stream. Before something is
//! recorded there, [`WorkState::may`] is asked. It refuses every action that it does not
//! list, and says what can be done instead.
//!
//! The plan may change while its steps are being done. A new version is drafted beside the
//! running one and waits until a person approves it and the run adopts it.

mod acts;
mod fold;

use std::collections::BTreeMap;

use artel_types::RunId;
use artel_types::plan::{PlanState, RequestSize};

pub use acts::{WorkAction, WorkActionError};

/// A piece of work: its request, its plan, its changeset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkState {
    request: Option<WorkRequestState>,
    state: Option<PlanState>,
    newest: Option<PlanVersion>,
    approved: Option<PlanApproval>,
    /// Whether the architect has to write, or is writing, while another version is being
    /// carried out.
    is_revised: bool,
    comments: Vec<PlanComment>,
    proposals: BTreeMap<String, PlanProposal>,
    changeset: Option<ChangesetProgress>,
    why: Option<String>,
}

/// The state of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkRequestState {
    /// Size of the request.
    pub size: RequestSize,
    /// The outcome of a request that needed no plan: answered, done or failed.
    pub settled: Option<String>,
}

/// One version of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanVersion {
    /// Number of the version, from 1.
    pub number: u32,
    pub hash: String,
}

/// The version that a person approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanApproval {
    pub version: PlanVersion,
    /// The run that carries it out.
    pub run: RunId,
    /// Whether the run follows this version: at once for the first one, after its adoption
    /// for a later one.
    pub is_adopted: bool,
}

/// A person's comment on a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanComment {
    /// Number of the version.
    pub version: u32,
    pub text: String,
}

/// A plan change that an agent asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanProposal {
    /// The step that needs the change.
    pub step: String,
    /// The hash of the changed plan.
    pub hash: String,
    /// Whether the step cannot continue without the change.
    pub is_blocking: bool,
}

/// The progress of a changeset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesetProgress {
    pub state: ChangesetState,
    /// Whether every proof holds on a clean checkout.
    pub is_proven: bool,
}

/// The state of a changeset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesetState {
    /// A person has to decide.
    Open,
    /// A person decided, and git has not finished.
    Ordered(ChangesetOrder),
    /// It is merged into the branch it started from.
    Merged,
    /// It was merged and then reverted.
    Undone,
    /// A person rejected it, and it is gone.
    Rejected,
}

/// A person's order to git about a changeset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesetOrder {
    /// Merge it.
    Approve,
    /// Revert it.
    Undo,
    /// Merge it again.
    Redo,
}

impl WorkState {
    /// Returns the state of the request.
    pub fn request(&self) -> Option<&WorkRequestState> {
        self.request.as_ref()
    }

    /// Returns the state of the plan, or `None` if none was begun.
    pub fn state(&self) -> Option<PlanState> {
        self.state
    }

    /// Returns the newest version.
    pub fn newest(&self) -> Option<&PlanVersion> {
        self.newest.as_ref()
    }

    /// Returns the number for the next version.
    pub fn next_version(&self) -> u32 {
        self.newest
            .as_ref()
            .map_or(1, |newest| newest.number.saturating_add(1))
    }

    /// Returns the version that a person approved last.
    pub fn approved(&self) -> Option<&PlanApproval> {
        self.approved.as_ref()
    }

    /// Returns the run that carries out the plan, or will.
    pub fn run(&self) -> Option<RunId> {
        self.approved.as_ref().map(|approved| approved.run)
    }

    /// Returns the version that a person has to decide about.
    pub fn in_review(&self) -> Option<&PlanVersion> {
        match self.state {
            Some(PlanState::Review) => self.newest.as_ref(),
            Some(PlanState::Running | PlanState::Approved) => self.beside(),
            _ => None,
        }
    }

    /// Returns whether the architect has to write another version, or is writing it.
    pub fn is_awaiting_architect(&self) -> bool {
        matches!(self.state, Some(PlanState::Exploring | PlanState::Drafting)) || self.is_revised
    }

    /// Returns all comments of people on versions, oldest first.
    pub fn comments(&self) -> &[PlanComment] {
        &self.comments
    }

    /// Returns the changes that agents asked for and nobody has decided about, by id.
    pub fn proposals(&self) -> &BTreeMap<String, PlanProposal> {
        &self.proposals
    }

    /// Returns the progress of the changeset.
    pub fn changeset(&self) -> Option<&ChangesetProgress> {
        self.changeset.as_ref()
    }

    /// Returns why the work failed or was cancelled.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Returns the newest version if it is newer than the approved one.
    fn beside(&self) -> Option<&PlanVersion> {
        let approved = self.approved.as_ref()?;
        let newest = self.newest.as_ref()?;
        (newest.number > approved.version.number).then_some(newest)
    }
}

#[cfg(test)]
mod tests;
