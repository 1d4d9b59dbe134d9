//! The decisions of people about plans. Each one is checked against the plan's present
//! state and recorded only if nothing came in between: of two people who decide at once,
//! one succeeds.

mod again;
mod background;
mod edit;
mod hold;
mod steps;

use std::sync::Arc;

use artel_journal::{EventBatch, Journal};
use artel_rules::conduct::{PlanRun, PlanRunRules};
use artel_rules::plan::RoleAccess;
use artel_rules::plan::state::WorkAction;
use artel_types::plan::{Plan, PlanState, StepVerification};
use artel_types::{
    Actor, ActorSurface, EventDraft, EventOutcome, Fact, Failure, FailureCode, PlanAdopted,
    PlanApproved, PlanCancelled, PlanCommented, PlanRejected, PortalRefused, RunId, StreamName,
};

use super::ask::RequestOutcome;
use super::carry::refused;
use super::sheets::{hash_of, keep};
use super::work::Work;
use crate::caller::random_run;
use crate::portals::PortalOperation;
use crate::runs::{RunEnvironment, RunObservers, SteeringCommand, SteeringDelivery};
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

pub use again::PlanRetry;
pub use edit::PlanEditOutcome;

pub(crate) use edit::free_beside;

/// The rules for looking at a plan without beginning anything.
pub(crate) const LOOKING: PlanRunRules = PlanRunRules {
    at_once: 1,
    failure: artel_rules::conduct::StepFailurePolicy::Continue,
};

/// The difference between two versions of a plan.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PlanDifference {
    /// The older version.
    pub from: u32,
    /// The newer version.
    pub to: u32,
    /// The difference as text, empty if the versions are equal.
    pub text: String,
}

/// An approval to be recorded.
struct PlanApprovalDraft<'a> {
    version: u32,
    hash: &'a str,
    plan: &'a Plan,
    by: Actor,
    /// The model that the person names for the run.
    model: Option<&'a str>,
    /// Facts that are recorded before the approval, in the same batch.
    before: Vec<Fact>,
}

impl Workshop {
    /// Approves the version of a plan that is in review, as the person saw it. If another
    /// version is being carried out, its run continues with this one from now on. The named
    /// model holds for the whole run, in every process that carries it out.
    pub fn approve_plan(
        &self,
        id: &str,
        hash: Option<&str>,
        model: Option<&str>,
    ) -> Result<(Work, RunId), Failure> {
        let work = self.work_named(id)?;
        self.ensure_read(&work)?;
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let by = self.caller.actor();
        let run = self.approve_as(&journal, &work, hash, model, by)?;
        Ok((self.work(work.trace)?, run))
    }

    /// Returns whether a plan could be approved now, as the person saw it. This is asked
    /// before the person is shown what approval takes.
    pub fn may_approve_plan(&self, work: &Work, hash: Option<&str>) -> Result<(), Failure> {
        self.ensure_read(work)?;
        self.permit_approval(work, hash)
    }

    fn permit_approval(&self, work: &Work, hash: Option<&str>) -> Result<(), Failure> {
        let newest = work.course.newest().map(|it| it.hash.clone());
        let review = work.course.in_review().map(|it| it.hash.clone());
        let stands = review.or(newest).unwrap_or_default();
        let hash = &named(&stands, hash);
        self.permit(work, WorkAction::Approve { hash })
    }

    /// Approves a plan on behalf of `by` and updates its files.
    pub(crate) fn approve_as(
        &self,
        journal: &Journal,
        work: &Work,
        hash: Option<&str>,
        model: Option<&str>,
        by: Actor,
    ) -> Result<RunId, Failure> {
        self.permit_approval(work, hash)?;
        let (drafted, plan) = self.plan_of(work, None)?;
        let agreed = PlanApprovalDraft {
            version: drafted.fact.version,
            hash: &drafted.fact.hash,
            plan: &plan,
            by,
            model,
            before: Vec::new(),
        };
        let run = self.agree(journal, work, agreed)?;
        self.refresh_sheets(work.trace, LOOKING);
        Ok(run)
    }

    /// Records the changes that a person wants in a plan, and the model for the next version
    /// if they name one. The architect is asked later.
    pub fn comment_plan(
        &self,
        id: &str,
        comments: &[String],
        model: Option<&str>,
    ) -> Result<Work, Failure> {
        let comments: Vec<String> = comments.iter().map(|it| it.trim().to_owned()).collect();
        if comments.is_empty() || comments.iter().any(String::is_empty) {
            return Err(
                Failure::new(FailureCode::C005, "there is nothing said to change")
                    .advise(format!("`artel plan revise {id} --comment \"…\"`")),
            );
        }
        let work = self.work_named(id)?;
        self.ensure_read(&work)?;
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let by = self.caller.actor();
        self.comment_as(&journal, &work, comments, model, by)?;
        self.work(work.trace)
    }

    pub(crate) fn comment_as(
        &self,
        journal: &Journal,
        work: &Work,
        comments: Vec<String>,
        model: Option<&str>,
        by: Actor,
    ) -> Result<(), Failure> {
        self.permit(work, WorkAction::Comment)?;
        for comment in &comments {
            self.refuse_secret_in(comment)?;
        }
        let commented = PlanCommented {
            version: work.course.newest().map_or(0, |newest| newest.number),
            comments,
            model: model.map(str::to_owned),
        };
        self.decide(journal, work, by, vec![commented.into()])?;
        self.refresh_sheets(work.trace, LOOKING);
        Ok(())
    }

    /// Has the architect write the version that comments ask for, or the first version if
    /// there is none.
    pub async fn revise_plan(
        self: &Arc<Self>,
        work: &Work,
        model: Option<&str>,
        company: RunObservers,
    ) -> Result<RequestOutcome, Failure> {
        let folder = self.run_folder(Some(work.request.folder.as_ref()))?;
        let house = RunEnvironment::open(self, &folder, model, company).await?;
        let settled = house.plan(work).await;
        house.gateway.rest(crate::runs::LAST_REST).await;
        self.refresh_sheets(work.trace, LOOKING);
        settled
    }

    /// Rejects the version in review.
    pub fn reject_plan(&self, id: &str, reason: &str) -> Result<Work, Failure> {
        let work = self.work_named(id)?;
        let reason = reason.trim();
        if reason.is_empty() {
            return Err(
                Failure::new(FailureCode::C005, "a rejection needs a reason")
                    .because("it stays on record with the plan")
                    .advise(format!("`artel plan reject {id} --reason \"…\"`")),
            );
        }
        self.permit(&work, WorkAction::Reject)?;
        self.ensure_read(&work)?;
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        self.reject_as(&journal, &work, reason, self.caller.actor())?;
        self.work(work.trace)
    }

    /// Rejects a plan on behalf of `by` and updates its files.
    pub(crate) fn reject_as(
        &self,
        journal: &Journal,
        work: &Work,
        reason: &str,
        by: Actor,
    ) -> Result<(), Failure> {
        self.permit(work, WorkAction::Reject)?;
        self.refuse_secret_in(reason)?;
        let rejected = PlanRejected {
            version: work.course.in_review().map_or(0, |it| it.number),
            reason: reason.to_owned(),
        };
        self.decide(journal, work, by, vec![rejected.into()])?;
        self.refresh_sheets(work.trace, LOOKING);
        Ok(())
    }

    /// Cancels a plan while it is written, waits, or is carried out. Returns the driver of its
    /// run, if another process drives it and was notified.
    pub async fn cancel_plan(
        &self,
        id: &str,
        reason: &str,
    ) -> Result<OutcomeWithNotes<(Work, Option<String>)>, Failure> {
        let work = self.work_named(id)?;
        self.permit(&work, WorkAction::Cancel)?;
        self.refuse_secret_in(reason)?;
        let cancelled = PlanCancelled {
            reason: reason.trim().to_owned(),
        };
        let OpenWorkshopJournal { journal, mut notes } = self.open()?;
        // The process that drives the plan writes the file as soon as it is notified.
        let kept = self.keep_unread(&work)?;
        let decided = self.decide(&journal, &work, self.caller.actor(), vec![cancelled.into()]);
        if decided.is_err() {
            kept.discard();
        }
        decided?;
        notes.extend(kept.notes());
        let mut driver = None;
        for run in self.open_runs(&work)? {
            // A run that ended meanwhile needs no cancelling.
            if let Ok(noted) = self.steer_run(run, &SteeringCommand::Cancel).await
                && let SteeringDelivery::Sent(by) = noted.done
            {
                driver = Some(by);
            }
        }
        self.refresh_sheets(work.trace, LOOKING);
        let done = (self.work(work.trace)?, driver);
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Compares two versions: those named, or the newest version with the one being carried
    /// out, or else with the one before it.
    pub fn plan_difference(
        &self,
        work: &Work,
        versions: Option<(u32, u32)>,
    ) -> Result<PlanDifference, Failure> {
        let newest = self.plan_of(work, None)?.0.fact.version;
        let approved = work.course.approved().map(|it| it.version.number);
        let before = approved.filter(|number| *number < newest);
        let (from, to) = versions.unwrap_or((before.unwrap_or(newest.saturating_sub(1)), newest));
        if from == 0 {
            let short = work.trace.short();
            return Err(Failure::new(FailureCode::C004, "there is only one version")
                .advise(format!("`artel plan show {short}`")));
        }
        let (_, old) = self.plan_of(work, Some(from))?;
        let (_, new) = self.plan_of(work, Some(to))?;
        let text = artel_rules::plan::difference(&old, &new);
        Ok(PlanDifference { from, to, text })
    }

    /// Returns the progress of a plan's steps, once the plan is approved.
    pub fn progress_of(&self, work: &Work) -> Result<Option<PlanRun>, Failure> {
        self.conduct_of(work, LOOKING)
    }

    /// Refuses an act that is not possible now. If somebody else decided already, the failure
    /// says so.
    pub(crate) fn permit(&self, work: &Work, act: WorkAction<'_>) -> Result<(), Failure> {
        work.course.may(act).map_err(|no| {
            let is_decision = matches!(act, WorkAction::Approve { .. } | WorkAction::Reject);
            let failure = refused(no);
            match decision(work).filter(|_| is_decision && work.course.in_review().is_none()) {
                Some(who) => Failure {
                    what: format!("the plan is already decided: {who}"),
                    ..failure
                },
                None => failure,
            }
        })
    }

    /// Records a decision. If somebody else was faster, their decision counts.
    pub(crate) fn decide(
        &self,
        journal: &Journal,
        work: &Work,
        by: Actor,
        facts: Vec<Fact>,
    ) -> Result<(), Failure> {
        let recorded = self.record_for(journal, work, by, facts);
        recorded.map_err(|failure| self.or_faster(work, failure))
    }

    fn or_faster(&self, work: &Work, failure: Failure) -> Failure {
        if failure.code != FailureCode::J009 {
            return failure;
        }
        let now = self.work(work.trace).ok();
        let who = now.as_ref().and_then(decision);
        let state = now.and_then(|work| work.course.state());
        let state = state.map_or("unknown", PlanState::as_str);
        let who = who.map_or(String::new(), |who| format!(", {who}"));
        Failure::new(FailureCode::R008, "the plan is already decided")
            .because(format!(
                "somebody was faster: it is in state `{state}` now{who}"
            ))
            .advise(format!("`artel plan show {}`", work.trace.short()))
    }

    /// Refuses a plan whose roles lack the rights in the portal that their steps need. The
    /// person learns this before anything begins, instead of from every call that fails. The
    /// refusal is on record.
    pub(crate) fn admit_plan(
        &self,
        journal: &Journal,
        work: &Work,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let Some(portal) = &work.request.portal else {
            return Ok(());
        };
        let mut wants = self.wants_of(plan);
        // The branch and its commits are made in the person's repository, if there is one.
        let folder = self.portal(portal)?.path;
        if self.caller.is_in_repository(&folder) {
            wants.push(("tester", PortalOperation::Git));
        }
        for (role, operation) in wants {
            let Err(failure) = self.admit(portal, role, operation) else {
                continue;
            };
            if failure.code == FailureCode::F002 {
                let why = failure.why.clone();
                let refused = PortalRefused {
                    name: portal.clone(),
                    role: role.to_owned(),
                    wanted: operation.as_str().to_owned(),
                    why: why.unwrap_or_else(|| failure.what.clone()),
                    call: None,
                };
                let by = self.caller.actor();
                let draft = EventDraft::new(StreamName::work(work.trace), work.trace, by, refused);
                journal.append(draft.ending(EventOutcome::Denied)).wait()?;
            }
            return Err(failure);
        }
        Ok(())
    }

    /// Returns the operations that the roles of a plan need in its portal.
    fn wants_of<'p>(&self, plan: &'p Plan) -> Vec<(&'p str, PortalOperation)> {
        let roles = self.known().roles;
        // Artel's own proofs run as the tester.
        let mut wants = vec![("tester", PortalOperation::Write)];
        for step in &plan.steps {
            let operation = match roles.get(&step.role) {
                Some(RoleAccess::Reads) => PortalOperation::Read,
                _ => PortalOperation::Write,
            };
            wants.push((&step.role, operation));
            if step.verify != StepVerification::None {
                wants.push(("inspector", PortalOperation::Read));
            }
        }
        wants
    }

    /// Records an approval and, if a run is under way, the version that it continues with.
    fn agree(
        &self,
        journal: &Journal,
        work: &Work,
        agreed: PlanApprovalDraft<'_>,
    ) -> Result<RunId, Failure> {
        self.admit_plan(journal, work, agreed.plan)?;
        let state = work.course.state();
        let is_running = state == Some(PlanState::Running);
        let known = work.course.run();
        let known = known.filter(|_| is_running || state == Some(PlanState::Approved));
        let run = match known {
            Some(run) => run,
            None => random_run()?,
        };
        let mut facts = agreed.before;
        let approved = PlanApproved {
            version: agreed.version,
            hash: agreed.hash.to_owned(),
            run,
            model: agreed.model.map(str::to_owned),
        };
        facts.push(approved.into());
        let (json, _) = hash_of(agreed.plan)?;
        let adopted = PlanAdopted {
            version: agreed.version,
            plan: keep(journal, json)?,
            hash: agreed.hash.to_owned(),
        };
        if is_running {
            facts.push(adopted.clone().into());
        }
        let stream = StreamName::work(work.trace);
        let draft = |fact| EventDraft::new(stream.clone(), work.trace, agreed.by.clone(), fact);
        let mut drafts: Vec<EventDraft> = facts.into_iter().map(draft).collect();
        if known.is_some() {
            // The driver of the run gets the version there; a run that nobody has begun reads it
            // first.
            let by = agreed.by.clone();
            let told = EventDraft::new(StreamName::run(run), work.trace, by, adopted).in_run(run);
            drafts.push(told);
        }
        let batch = EventBatch::of(drafts).expecting(stream.clone(), work.position);
        let appended = journal.append(batch).wait();
        appended.map_err(|error| self.or_faster(work, error.into()))?;
        Ok(run)
    }

    /// Returns the person as an actor through the workshop's files.
    pub(crate) fn by_file(&self) -> Actor {
        Actor::human(self.caller.actor().id, ActorSurface::File)
    }

    /// Returns the open top-level runs of a piece of work.
    pub(crate) fn open_runs(&self, work: &Work) -> Result<Vec<RunId>, Failure> {
        let reader = self.reader()?;
        let all = crate::runs::started_runs_of(&reader, work.trace)?;
        let mut open = Vec::new();
        for (started, _) in all.into_iter().filter(|(it, _)| it.parent.is_none()) {
            if self.state_of(started.id)?.finished().is_none() {
                open.push(started.id);
            }
        }
        Ok(open)
    }
}

/// Returns the full hash that the person means, or the current one if they name none.
fn named(stands: &str, hash: Option<&str>) -> String {
    match hash {
        // A long enough prefix of the hash identifies it.
        Some(hash) if hash.len() >= 8 && stands.starts_with(hash) => stands.to_owned(),
        Some(hash) => hash.to_owned(),
        None => stands.to_owned(),
    }
}

/// Describes the last decision about a plan, and who made it.
fn decision(work: &Work) -> Option<String> {
    work.events.iter().rev().find_map(|event| {
        let did = match &event.fact {
            Fact::PlanApproved(it) => format!("approved version {}", it.version),
            Fact::PlanRejected(_) => "rejected it".to_owned(),
            Fact::PlanCancelled(_) => "called it off".to_owned(),
            _ => return None,
        };
        Some(format!("{} {did}", event.actor.label()))
    })
}
