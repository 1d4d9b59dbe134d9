//! Requests and plans as they are shown: gathered once, in the one form that programs read, whichever
//! surface they ask.

use artel_rules::conduct::Conduct;
use artel_rules::request::file::Status;
use artel_types::plan::{Plan, PlanState};
use artel_types::{Failure, Money, PlanAdopted, RequestCreated, Text, TraceId};
use serde_json::{Value, json};

use super::ask::Prospect;
use super::estimate::Estimate;
use super::sheets::hash_of;
use super::work::{Drafted, Work};
use crate::workshop::Workshop;

/// A version of a plan with all that is shown of it.
pub struct PlanLook {
    /// The piece of work.
    pub work: Work,
    /// The version.
    pub drafted: Drafted,
    /// The plan; one that is being done may have grown since it was approved.
    pub plan: Plan,
    /// What its steps are expected to take.
    pub estimates: Vec<Estimate>,
    /// What it is expected to take beyond what is left of budgets, a sentence each.
    pub short: Vec<String>,
    /// How far it is, if it is this version that is being done, or that would go on with it.
    pub progress: Option<Conduct>,
}

impl Workshop {
    /// Gathers what is shown of a plan: the newest version, or the one that is named.
    pub async fn plan_look(&self, work: Work, version: Option<u32>) -> Result<PlanLook, Failure> {
        self.plan_look_with(work, version, None).await
    }

    /// The same, for whoever would have it done by a model of their own; otherwise it is the one
    /// that was asked for, or those of the roles.
    pub async fn plan_look_with(
        &self,
        work: Work,
        version: Option<u32>,
        model: Option<&str>,
    ) -> Result<PlanLook, Failure> {
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
            // What is done stays done with the version that waits.
            let (json, hash) = hash_of(&plan)?;
            let adopted = PlanAdopted {
                version: number,
                plan: Text::Inline(json),
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
        let mut look = PlanLook {
            work,
            drafted,
            plan,
            estimates,
            short: Vec::new(),
            progress,
        };
        // What is being done has its share set aside, and what is over needs none.
        if look.work.course.in_review().is_some() {
            let (tokens, cost) = look.total();
            look.short = self.shortages(tokens, cost)?;
        }
        Ok(look)
    }

    /// Returns a request as programs read it.
    pub fn request_value(&self, work: &Work) -> Value {
        let mut value = self.asked_value(&work.request, work.trace);
        value["status"] = json!(work.status().as_str());
        value["created"] = json!(work.at);
        value["created_by"] = json!(work.by.label());
        value["plan_state"] = json!(work.course.state().map(PlanState::as_str));
        value["plan_version"] = json!(work.course.newest().map(|it| it.number));
        value
    }

    /// Returns a request that nobody has filed, as programs read it.
    pub fn prospect_value(&self, prospect: &Prospect) -> Value {
        let mut value = self.asked_value(&prospect.request, prospect.trace);
        value["status"] = json!(Status::Pending.as_str());
        value["created"] = json!(self.caller.clock().now());
        value["created_by"] = json!(self.caller.actor().label());
        value["dry_run"] = json!(true);
        value
    }

    /// Returns what was asked, however far it has come.
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

impl PlanLook {
    /// Sums up what the steps are expected to take; no cost where a price is not known.
    pub fn total(&self) -> (u64, Option<Money>) {
        let estimates = self.estimates.iter();
        let tokens = estimates.clone().map(|it| it.tokens).sum();
        let costs: Option<Vec<u64>> = estimates.map(|it| it.cost.map(|cost| cost.0)).collect();
        (tokens, costs.map(|costs| Money(costs.iter().sum())))
    }

    /// Returns it as programs read it.
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
