//! Requests and plans as they are shown: gathered once, in the one form that programs read, whichever
//! surface they ask.

use artel_rules::conduct::Conduct;
use artel_types::plan::{Plan, PlanState};
use artel_types::{Failure, Money};
use serde_json::{Value, json};

use super::estimate::Estimate;
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
    /// How far it is, if it is this version that is being done.
    pub progress: Option<Conduct>,
}

impl Workshop {
    /// Gathers what is shown of a plan: the newest version, or the one that is named.
    pub async fn plan_look(&self, work: Work, version: Option<u32>) -> Result<PlanLook, Failure> {
        let (drafted, plan) = self.plan_of(&work, version)?;
        let done = work.course.approved().map(|it| it.version.number);
        let progress = self.progress_of(&work)?;
        let progress = progress.filter(|_| done == Some(drafted.fact.version));
        let plan = match &progress {
            Some(progress) => progress.plan().clone(),
            None => plan,
        };
        let estimates = self.estimate(&plan, None).await?;
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
        let request = &work.request;
        let path = self.root.join(&request.file);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        json!({
            "trace_id": work.trace.to_string(),
            "filename": name,
            "path": path.display().to_string(),
            "status": work.status().as_str(),
            "priority": request.urgency,
            "agent": request.agent,
            "created": work.at,
            "created_by": work.by.id,
            "source": request.source,
            "title": request.title,
            "portal": request.portal,
            "size": request.size,
            "why_size": request.why,
            "constraints": request.constraints,
            "criteria": request.criteria,
            "verify": request.verify,
            "skill": request.skill,
            "plan_state": work.course.state().map(PlanState::as_str),
            "plan_version": work.course.newest().map(|it| it.number),
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
            .map(|it| json!({ "version": it.fact.version, "hash": it.fact.hash, "by": it.by.id, "at": it.at }))
            .collect();
        json!({
            "trace_id": work.trace.to_string(),
            "state": work.course.state(),
            "why": work.course.why(),
            "version": drafted.fact.version,
            "hash": drafted.fact.hash,
            "by": drafted.by.id,
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
