//! Requests and plans for display, gathered in one place and in one format for programs,
//! on every surface.

use artel_rules::conduct::PlanRun;
use artel_rules::request::file::RequestStatus;
use artel_types::plan::{Plan, PlanState};
use artel_types::{Failure, Money, PlanAdopted, RecordedText, RequestCreated, TraceId};
use serde_json::{Value, json};

use super::ask::UnrecordedRequest;
use super::estimate::StepEstimate;
use super::sheets::hash_of;
use super::work::{DraftedPlanVersion, Work};
use crate::workshop::Workshop;

/// A version of a plan with everything shown about it.
pub struct PlanVersionDetail {
    pub work: Work,
    /// The version as it was handed in.
    pub drafted: DraftedPlanVersion,
    /// The plan. If it is being carried out, it may have grown since its approval.
    pub plan: Plan,
    /// The expected usage of its steps.
    pub estimates: Vec<StepEstimate>,
    /// Sentences about budgets that the expected usage exceeds.
    pub short: Vec<String>,
    /// The progress, if this version is being carried out or would take over from the one that
    /// is.
    pub progress: Option<PlanRun>,
}

impl Workshop {
    /// Gathers the details of a plan's version: the named one, or the newest.
    pub async fn plan_look(
        &self,
        work: Work,
        version: Option<u32>,
    ) -> Result<PlanVersionDetail, Failure> {
        self.plan_look_with(work, version, None).await
    }

    /// Like `plan_look`, with estimates for the named model. Without one, they are for the
    /// model of the request or run, or else those of the roles.
    pub async fn plan_look_with(
        &self,
        work: Work,
        version: Option<u32>,
        model: Option<&str>,
    ) -> Result<PlanVersionDetail, Failure> {
        let (drafted, plan) = self.plan_of(&work, version)?;
        let done = work.course.approved().map(|it| it.version.number);
        let number = drafted.fact.version;
        let goes_on = work.course.state() == Some(PlanState::Running)
            && work
                .course
                .in_review()
                .is_some_and(|it| it.number == number);
        let mut progress = self.progress_of(&work)?;
        progress = progress.filter(|_| done == Some(number) || goes_on);
        if let Some(progress) = progress.as_mut().filter(|_| goes_on) {
            // Finished steps stay finished in the version that waits.
            let (json, hash) = hash_of(&plan)?;
            let adopted = PlanAdopted {
                version: number,
                plan: RecordedText::Inline(json),
                hash,
            };
            progress.fold(&adopted.into());
        }
        let plan = match &progress {
            Some(progress) => progress.plan().clone(),
            None => plan,
        };
        let is_open = |state| matches!(state, PlanState::Approved | PlanState::Running);
        let run = work
            .course
            .run()
            .filter(|_| work.course.state().is_some_and(is_open));
        let named = run.map_or(work.request.model.as_deref(), |run| work.model_of(run));
        let model = model.or(named);
        let estimates = self.estimate(&plan, model).await?;
        let mut look = PlanVersionDetail {
            work,
            drafted,
            plan,
            estimates,
            short: Vec::new(),
            progress,
        };
        // A plan being carried out has its share set aside already, and a finished one needs none.
        if look.work.course.in_review().is_some() {
            let (tokens, cost) = look.total();
            look.short = self.shortages(tokens, cost)?;
        }
        Ok(look)
    }

    /// Returns a request in the format for programs.
    pub fn request_value(&self, work: &Work) -> Value {
        let mut value = self.asked_value(&work.request, work.trace);
        value["status"] = json!(work.status().as_str());
        value["created"] = json!(work.at);
        value["created_by"] = json!(work.by.label());
        value["plan_state"] = json!(work.course.state().map(PlanState::as_str));
        value["plan_version"] = json!(work.course.newest().map(|it| it.number));
        value
    }

    /// Returns an unrecorded request in the format for programs.
    pub fn prospect_value(&self, prospect: &UnrecordedRequest) -> Value {
        let mut value = self.asked_value(&prospect.request, prospect.trace);
        value["status"] = json!(RequestStatus::Pending.as_str());
        value["created"] = json!(self.caller.clock().now());
        value["created_by"] = json!(self.caller.actor().label());
        value["dry_run"] = json!(true);
        value
    }

    /// Returns the fields of a request that do not depend on its progress.
    fn asked_value(&self, request: &RequestCreated, trace: TraceId) -> Value {
        let path = self.root.join(&request.file);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        json!({
            "trace_id": trace.to_string(),
            "filename": name,
            "path": path.display().to_string(),
            "priority": request.urgency,
            "agent": request.agent,
            "source": request.source,
            "title": request.title,
            "portal": request.portal,
            "size": request.size,
            "why_size": request.why,
            "constraints": request.constraints,
            "criteria": request.criteria,
            "verify": request.verify,
            "skill": request.skill,
        })
    }
}

impl PlanVersionDetail {
    /// Returns the sum of the estimates, with `None` as the cost if a price is unknown.
    pub fn total(&self) -> (u64, Option<Money>) {
        let estimates = self.estimates.iter();
        let tokens = estimates.clone().map(|it| it.tokens).sum();
        let costs: Option<Vec<u64>> = estimates.map(|it| it.cost.map(|cost| cost.0)).collect();
        (tokens, costs.map(|costs| Money(costs.iter().sum())))
    }

    /// Returns the plan in the format for programs.
    pub fn value(&self) -> Value {
        let (work, drafted) = (&self.work, &self.drafted);
        let (tokens, cost) = self.total();
        let steps: Option<Vec<_>> = self.progress.as_ref().map(|progress| {
            let steps = progress.steps();
            steps
                .map(|(spec, step)| json!({ "id": spec.id, "state": step.state, "round": step.round, "why": step.why }))
                .collect()
        });
        let comments = work.course.comments().iter();
        let comments: Vec<_> = comments
            .map(|it| json!({ "version": it.version, "text": it.text }))
            .collect();
        let versions = work.versions.iter();
        let versions: Vec<_> = versions
            .map(|it| json!({ "version": it.fact.version, "hash": it.fact.hash, "by": it.by.label(), "at": it.at }))
            .collect();
        json!({
            "trace_id": work.trace.to_string(),
            "state": work.course.state(),
            "why": work.course.why(),
            "version": drafted.fact.version,
            "hash": drafted.fact.hash,
            "by": drafted.by.label(),
            "at": drafted.at,
            "in_review": work.course.in_review().map(|it| it.number),
            "run": work.course.run().map(|run| run.to_string()),
            "plan": self.plan,
            "estimates": self.estimates,
            "tokens": tokens,
            "cost": cost,
            "short": self.short,
            "steps": steps,
            "comments": comments,
            "versions": versions,
        })
    }
}
