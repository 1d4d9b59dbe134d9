//! Folds facts into the state of a piece of work.

use artel_types::plan::PlanState;
use artel_types::{ChangesetMerged, ChangesetOrdered, Fact, PlanApproved};

use super::{
    ChangesetOrder, ChangesetProgress, ChangesetState, PlanApproval, PlanComment, PlanProposal,
    PlanVersion, WorkRequestState, WorkState,
};

impl WorkState {
    /// Folds a fact of the stream. Facts about other things are ignored.
    pub fn fold(&mut self, fact: &Fact) {
        match fact {
            Fact::RequestCreated(created) => {
                self.request = Some(WorkRequestState {
                    size: created.size,
                    settled: None,
                });
            }
            Fact::RequestSettled(settled) => {
                if let Some(request) = &mut self.request {
                    request.settled = Some(settled.state.clone());
                }
            }
            Fact::PlanExplored(_) => self.explored(),
            Fact::PlanDrafted(drafted) => self.drafted(drafted.version, &drafted.hash),
            Fact::PlanFailed(failed) => self.failed(&failed.why),
            Fact::PlanCommented(commented) => {
                let comment = |text: &String| PlanComment {
                    version: commented.version,
                    text: text.clone(),
                };
                self.comments.extend(commented.comments.iter().map(comment));
                self.revised();
            }
            Fact::PlanApproved(approved) => self.agreed(approved),
            Fact::PlanRejected(rejected) => self.rejected(&rejected.reason),
            Fact::PlanCancelled(cancelled) => self.over(PlanState::Cancelled, &cancelled.reason),
            Fact::PlanRunning(_) => {
                self.state = Some(PlanState::Running);
                self.why = None;
            }
            Fact::PlanEnded(ended) => {
                self.over(ended.state, ended.why.as_deref().unwrap_or_default());
            }
            Fact::PlanProposed(proposed) => {
                let proposal = PlanProposal {
                    step: proposed.step.clone(),
                    hash: proposed.hash.clone(),
                    is_blocking: proposed.blocking,
                };
                self.proposals.insert(proposed.id.clone(), proposal);
            }
            Fact::PlanDecided(decided) => self.decided(&decided.id, decided.version),
            Fact::PlanAdopted(adopted) => self.adopted(adopted.version, &adopted.hash),
            Fact::ChangesetCreated(created) => {
                self.changeset = Some(ChangesetProgress {
                    state: ChangesetState::Open,
                    is_proven: created.proven,
                });
            }
            Fact::ChangesetOrdered(ordered) => self.ordered(ordered),
            Fact::ChangesetMerged(merged) => self.merged(merged),
            Fact::ChangesetRefused(refused) => self.turned_away(&refused.act),
            Fact::ChangesetRejected(_) => self.moved(ChangesetState::Rejected),
            _ => {}
        }
    }

    fn explored(&mut self) {
        match self.state {
            Some(PlanState::Running | PlanState::Approved) => self.is_revised = true,
            _ if self.newest.is_some() => self.state = Some(PlanState::Drafting),
            _ => self.state = Some(PlanState::Exploring),
        }
        self.why = None;
    }

    fn drafted(&mut self, number: u32, hash: &str) {
        self.newest = Some(PlanVersion {
            number,
            hash: hash.to_owned(),
        });
        self.is_revised = false;
        if !matches!(self.state, Some(PlanState::Running | PlanState::Approved)) {
            self.state = Some(PlanState::Review);
        }
    }

    /// Folds a failed revision. An existing plan stays as it was.
    fn failed(&mut self, why: &str) {
        self.is_revised = false;
        self.why = Some(why.to_owned());
        match self.state {
            Some(PlanState::Running | PlanState::Approved) => {}
            _ if self.newest.is_some() => self.state = Some(PlanState::Review),
            _ => self.state = Some(PlanState::Failed),
        }
    }

    fn revised(&mut self) {
        match self.state {
            Some(PlanState::Running | PlanState::Approved) => self.is_revised = true,
            _ => self.state = Some(PlanState::Drafting),
        }
    }

    fn agreed(&mut self, approved: &PlanApproved) {
        let is_later = matches!(self.state, Some(PlanState::Running));
        self.approved = Some(PlanApproval {
            version: PlanVersion {
                number: approved.version,
                hash: approved.hash.clone(),
            },
            run: approved.run,
            is_adopted: !is_later,
        });
        if !is_later {
            self.state = Some(PlanState::Approved);
        }
    }

    /// Folds a rejection. If another version is approved, the rejected one is only put
    /// aside.
    fn rejected(&mut self, reason: &str) {
        match (self.state, &self.approved) {
            (Some(PlanState::Running | PlanState::Approved), Some(approved)) => {
                self.newest = Some(approved.version.clone());
                self.is_revised = false;
            }
            _ => self.over(PlanState::Rejected, reason),
        }
    }

    fn over(&mut self, state: PlanState, why: &str) {
        self.state = Some(state);
        self.why = (!why.is_empty()).then(|| why.to_owned());
        self.is_revised = false;
        self.proposals.clear();
    }

    /// Folds a decision about a proposal. An accepted proposal becomes an approved
    /// version.
    fn decided(&mut self, id: &str, version: Option<u32>) {
        let proposal = self.proposals.remove(id);
        if let (Some(proposal), Some(number), Some(approved)) =
            (proposal, version, &mut self.approved)
        {
            let version = PlanVersion {
                number,
                hash: proposal.hash,
            };
            self.newest = Some(version.clone());
            approved.version = version;
            approved.is_adopted = false;
        }
    }

    fn adopted(&mut self, number: u32, hash: &str) {
        let version = PlanVersion {
            number,
            hash: hash.to_owned(),
        };
        if self
            .newest
            .as_ref()
            .is_none_or(|newest| newest.number <= number)
        {
            self.newest = Some(version.clone());
        }
        if let Some(approved) = &mut self.approved {
            approved.version = version;
            approved.is_adopted = true;
        }
    }

    fn ordered(&mut self, ordered: &ChangesetOrdered) {
        if let Some(order) = ChangesetOrder::read(&ordered.act) {
            self.moved(ChangesetState::Ordered(order));
        }
    }

    fn merged(&mut self, merged: &ChangesetMerged) {
        match ChangesetOrder::read(&merged.act) {
            Some(ChangesetOrder::Approve | ChangesetOrder::Redo) => {
                self.moved(ChangesetState::Merged)
            }
            Some(ChangesetOrder::Undo) => self.moved(ChangesetState::Undone),
            None => {}
        }
    }

    /// Folds a failed order, which leaves everything as it was.
    fn turned_away(&mut self, act: &str) {
        match ChangesetOrder::read(act) {
            Some(ChangesetOrder::Approve) => self.moved(ChangesetState::Open),
            Some(ChangesetOrder::Undo) => self.moved(ChangesetState::Merged),
            Some(ChangesetOrder::Redo) => self.moved(ChangesetState::Undone),
            None => {}
        }
    }

    fn moved(&mut self, state: ChangesetState) {
        if let Some(changeset) = &mut self.changeset {
            changeset.state = state;
        }
    }
}

impl ChangesetOrder {
    fn read(word: &str) -> Option<Self> {
        match word {
            "approve" => Some(Self::Approve),
            "undo" => Some(Self::Undo),
            "redo" => Some(Self::Redo),
            _ => None,
        }
    }
}
