//! The actions that are possible on a piece of work, depending on its state.

use artel_types::plan::{PlanState, RequestSize};

use super::{ChangesetOrder, ChangesetState, WorkState};

/// An action that somebody wants to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkAction<'a> {
    /// The architect begins to explore, or to write again.
    Explore,
    /// The architect hands in a version.
    Draft,
    /// The architect gives up.
    Fail,
    /// A person hands in a version of their own.
    Edit,
    /// A person says what should be different.
    Comment,
    /// A person approves the version with this hash.
    Approve {
        /// The hash of the version that the person saw.
        hash: &'a str,
    },
    /// A person rejects the version.
    Reject,
    /// A person cancels the work.
    Cancel,
    /// The steps are begun, or begun again after they ended badly.
    Run,
    /// The steps are over.
    End,
    /// An agent proposes a change of the plan.
    Propose,
    /// A person decides about such a change.
    Decide {
        /// The id of the proposal.
        proposal: &'a str,
    },
    /// The run adopts another version that a person approved.
    Adopt {
        /// The hash of that version.
        hash: &'a str,
    },
    /// The run leaves its branch for review.
    Deliver,
    /// A person has the branch merged.
    Merge {
        /// The reason for merging although proofs do not hold.
        waiver: Option<&'a str>,
    },
    /// A person rejects the branch.
    Discard,
    /// A person has a merged branch reverted.
    Undo,
    /// A person has a reverted branch merged again.
    Redo,
}

/// The refusal of an action that is not possible now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {why}; {instead}")]
pub struct WorkActionError {
    /// The refused action.
    pub what: &'static str,
    /// The current state that prevents it.
    pub why: String,
    /// The alternative.
    pub instead: String,
}

impl WorkAction<'_> {
    /// Returns the action in a few words.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Draft => "draft",
            Self::Fail => "fail",
            Self::Edit => "edit",
            Self::Comment => "comment",
            Self::Approve { .. } => "approve",
            Self::Reject => "reject",
            Self::Cancel => "cancel",
            Self::Run => "run",
            Self::End => "end",
            Self::Propose => "propose",
            Self::Decide { .. } => "decide",
            Self::Adopt { .. } => "adopt",
            Self::Deliver => "deliver",
            Self::Merge { .. } => "merge",
            Self::Discard => "discard",
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }

    fn refusal(&self) -> &'static str {
        match self {
            Self::Explore => "no plan can be begun",
            Self::Draft | Self::Edit => "no version can be handed in",
            Self::Fail => "there is no draft to give up",
            Self::Comment => "the plan cannot be commented on",
            Self::Approve { .. } => "the plan cannot be approved",
            Self::Reject => "the plan cannot be rejected",
            Self::Cancel => "there is nothing to call off",
            Self::Run => "the steps cannot be begun",
            Self::End => "the steps cannot be ended",
            Self::Propose => "no change can be proposed",
            Self::Decide { .. } => "there is nothing to decide",
            Self::Adopt { .. } => "the version cannot be adopted",
            Self::Deliver => "no changeset can be made",
            Self::Merge { .. } => "the changeset cannot be approved",
            Self::Discard => "the changeset cannot be rejected",
            Self::Undo => "the changeset cannot be undone",
            Self::Redo => "the changeset cannot be brought back",
        }
    }
}

impl WorkState {
    /// Checks whether an action is possible now. Anything that is not listed is refused.
    pub fn may(&self, act: WorkAction<'_>) -> Result<(), WorkActionError> {
        use PlanState as P;
        let state = self.state;
        let is_allowed = match act {
            WorkAction::Explore => match state {
                None => self.wants_plan(),
                Some(P::Exploring | P::Drafting) => true,
                Some(P::Approved | P::Running) => self.is_revised,
                Some(P::Failed) => self.has_no_plan(),
                Some(P::Review | P::Done | P::Rejected | P::Cancelled) => false,
            },
            WorkAction::Draft | WorkAction::Fail => self.is_awaiting_architect(),
            WorkAction::Comment if self.has_no_plan() => true,
            WorkAction::Edit | WorkAction::Comment => matches!(
                state,
                Some(P::Drafting | P::Review | P::Approved | P::Running)
            ),
            WorkAction::Approve { hash } => return self.may_approve(act, hash),
            WorkAction::Reject => self.in_review().is_some(),
            WorkAction::Cancel => {
                // The changeset decides about what a failed plan left on its branch.
                let left_nothing = state == Some(P::Failed) && self.changeset.is_none();
                left_nothing || state.map_or(self.is_before_plan(), |state| !state.is_over())
            }
            WorkAction::Run => {
                let may_again = state == Some(P::Failed) && self.approved.is_some();
                state == Some(P::Approved) || may_again
            }
            // A cancelled plan still has steps to end.
            WorkAction::End => matches!(state, Some(P::Approved | P::Running | P::Cancelled)),
            WorkAction::Propose => state == Some(P::Running),
            WorkAction::Decide { proposal } => {
                state == Some(P::Running) && self.proposals.contains_key(proposal)
            }
            WorkAction::Adopt { hash } => return self.may_adopt(act, hash),
            WorkAction::Deliver => {
                let has_run = matches!(state, Some(P::Running | P::Done | P::Failed));
                has_run && self.approved.is_some() && self.is_deliverable()
            }
            WorkAction::Merge { waiver } => return self.may_merge(act, waiver),
            WorkAction::Discard => self.changeset_is(ChangesetState::Open),
            WorkAction::Undo => self.changeset_is(ChangesetState::Merged),
            WorkAction::Redo => self.changeset_is(ChangesetState::Undone),
        };
        if is_allowed {
            Ok(())
        } else {
            Err(self.refused(act))
        }
    }

    /// Returns whether the architect gave up before there was a plan to approve.
    pub fn has_no_plan(&self) -> bool {
        self.state == Some(PlanState::Failed) && self.approved.is_none()
    }

    fn wants_plan(&self) -> bool {
        let request = self.request.as_ref();
        request.is_some_and(|request| request.settled.is_none())
    }

    /// Returns whether a plan is needed and nobody has begun it. A request that needs no
    /// plan is a run, and is cancelled as one.
    fn is_before_plan(&self) -> bool {
        let request = self.request.as_ref();
        self.wants_plan() && request.is_some_and(|request| request.size == RequestSize::Work)
    }

    fn may_approve(&self, act: WorkAction<'_>, hash: &str) -> Result<(), WorkActionError> {
        let Some(version) = self.in_review() else {
            return Err(self.refused(act));
        };
        if version.hash == hash {
            return Ok(());
        }
        Err(WorkActionError {
            what: act.refusal(),
            why: format!(
                "what was seen is not what stands now, version {} with hash {}",
                version.number,
                short(&version.hash)
            ),
            instead: "look at it again with `artel plan show` or `artel plan diff`, then approve"
                .to_owned(),
        })
    }

    fn may_adopt(&self, act: WorkAction<'_>, hash: &str) -> Result<(), WorkActionError> {
        let approved = self.approved.as_ref();
        let is_agreed = approved.is_some_and(|approved| approved.version.hash == hash);
        let is_running = self.state == Some(PlanState::Running);
        if is_running && is_agreed {
            return Ok(());
        }
        if is_running {
            return Err(WorkActionError {
                what: act.refusal(),
                why: "no person agreed to it".to_owned(),
                instead: "it has to be approved first".to_owned(),
            });
        }
        Err(self.refused(act))
    }

    fn may_merge(&self, act: WorkAction<'_>, waiver: Option<&str>) -> Result<(), WorkActionError> {
        let Some(changeset) = &self.changeset else {
            return Err(self.refused(act));
        };
        if changeset.state != ChangesetState::Open {
            return Err(self.refused(act));
        }
        let has_waiver = waiver.is_some_and(|reason| !reason.trim().is_empty());
        if changeset.is_proven || has_waiver {
            return Ok(());
        }
        Err(WorkActionError {
            what: act.refusal(),
            why: "its proofs do not hold on a clean checkout".to_owned(),
            instead: "reject it, or approve it with a waiver that says why".to_owned(),
        })
    }

    fn changeset_is(&self, state: ChangesetState) -> bool {
        let changeset = self.changeset.as_ref();
        changeset.is_some_and(|changeset| changeset.state == state)
    }

    /// Returns whether a changeset can be delivered. It may replace an undecided one, as
    /// after a failed run that was continued.
    fn is_deliverable(&self) -> bool {
        self.changeset.is_none() || self.changeset_is(ChangesetState::Open)
    }

    fn refused(&self, act: WorkAction<'_>) -> WorkActionError {
        let is_about_changeset = matches!(
            act,
            WorkAction::Merge { .. } | WorkAction::Discard | WorkAction::Undo | WorkAction::Redo
        );
        let (why, instead) = if is_about_changeset {
            self.changeset_stands()
        } else {
            self.plan_stands()
        };
        WorkActionError {
            what: act.refusal(),
            why,
            instead: instead.to_owned(),
        }
    }

    fn plan_stands(&self) -> (String, &'static str) {
        use PlanState as P;
        let Some(state) = self.state else {
            return self.request_stands();
        };
        let instead = match state {
            P::Exploring => "wait for the architect, or cancel",
            P::Drafting => "wait for the architect, edit, comment or cancel",
            P::Review => "approve, revise, edit or reject it",
            P::Approved => "run it, or edit, revise or cancel it",
            P::Running if self.beside().is_some() => {
                "approve or reject the version in review, edit, revise or cancel"
            }
            P::Running => "wait for its steps, edit, revise or cancel",
            P::Done => "look at its changeset, or ask for something else",
            P::Failed if self.approved.is_some() => {
                "`artel plan retry` goes on with it, `artel changeset reject` discards what it left"
            }
            P::Failed => "say with a comment what should be different, or cancel it",
            P::Rejected | P::Cancelled => "ask again",
        };
        (format!("the plan is in state `{state}`"), instead)
    }

    fn request_stands(&self) -> (String, &'static str) {
        match &self.request {
            None => ("there is no request".to_owned(), "ask for something first"),
            Some(asked) => match (&asked.settled, asked.size) {
                (Some(state), _) => (format!("the request is {state}"), "ask again"),
                (None, RequestSize::Work) => (
                    "there is no plan yet".to_owned(),
                    "wait for the architect, or cancel",
                ),
                (None, size) => (
                    format!("the request is taken as `{size}` and has no plan"),
                    "ask with `--plan` for one",
                ),
            },
        }
    }

    fn changeset_stands(&self) -> (String, &'static str) {
        let Some(changeset) = &self.changeset else {
            let (why, instead) = self.plan_stands();
            return (format!("there is no changeset, {why}"), instead);
        };
        let (state, instead) = match changeset.state {
            ChangesetState::Open => ("waits for a decision", "approve or reject it"),
            ChangesetState::Ordered(ChangesetOrder::Approve) => {
                ("is being merged", "let that end first")
            }
            ChangesetState::Ordered(ChangesetOrder::Undo) => {
                ("is being undone", "let that end first")
            }
            ChangesetState::Ordered(ChangesetOrder::Redo) => {
                ("is being brought back", "let that end first")
            }
            ChangesetState::Merged => ("is merged", "undo it"),
            ChangesetState::Undone => ("is undone", "bring it back with redo"),
            ChangesetState::Rejected => ("is rejected", "ask again"),
        };
        (format!("the changeset {state}"), instead)
    }
}

fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}
