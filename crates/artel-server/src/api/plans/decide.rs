//! Decisions about plans and their steps. The daemon carries out what follows from them.

use std::sync::Arc;

use artel_workshop::{OutcomeWithNotes, PlanEditOutcome, Work};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::refusal::Troubled;
use crate::api::seat::{Answer, As, At, DeveloperInPerson, User, UserInPerson, unnamed, waited};
use crate::api::{ModelName, Told};
use crate::keeper::{Manner, Task};

/// Approves a plan as it was seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approve {
    /// The hash of the version you saw, or at least its first 8 letters.
    #[serde(default)]
    #[schema(required = true, min_length = 8)]
    hash: String,
    /// Maximum number of steps that run at once, from 1 to 64; the number of processors if
    /// omitted.
    #[schema(minimum = 1, maximum = 64)]
    at_once: Option<u16>,
    /// Whether no further step starts after a step has failed.
    fail_fast: Option<bool>,
    /// The model: an alias, or `provider:model`.
    model: Option<ModelName>,
}

/// Asks for a revised plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Revise {
    /// The changes you want; at least one.
    #[schema(min_items = 1)]
    comments: Vec<String>,
    /// The model: an alias, or `provider:model`.
    model: Option<ModelName>,
}

/// A required reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// The reason, which is recorded.
    reason: String,
}

/// An optional reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaybeReason {
    /// The reason, which is recorded.
    #[serde(default)]
    pub(super) reason: String,
}

/// A new text for a plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The whole text, as returned by `/markdown`, with your changes.
    text: String,
}

/// Retries steps of a plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retry {
    /// The step, by its number or name; every step that did not pass if omitted.
    step: Option<String>,
    /// Maximum number of steps that run at once, from 1 to 64; the number of processors if
    /// omitted.
    #[schema(minimum = 1, maximum = 64)]
    at_once: Option<u16>,
    /// Whether no further step starts after a step has failed.
    fail_fast: Option<bool>,
    /// The model: an alias, or `provider:model`.
    model: Option<ModelName>,
}

/// Skips a step.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Skip {
    /// The step, by its number or name.
    step: String,
    /// The reason.
    reason: Option<String>,
}

/// Waives a check or finding, so that a step may pass without it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Waive {
    /// The step, by its number or name.
    step: String,
    /// `inspector`, `tester`, `evaluator`, or a finding.
    what: String,
    /// The reason, which is shown in the changeset and the report.
    reason: String,
}

/// The state of a plan after a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Decided {
    /// Trace of the work.
    trace_id: String,
    /// The plan's state.
    state: Option<String>,
    /// The run that carries it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    /// The version now in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
}

/// The result of editing a plan.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EditDone {
    /// Trace of the work.
    trace_id: String,
    /// `unchanged`, `review` or `adopted`.
    edited: String,
    /// The number of the new version.
    version: Option<u32>,
}

/// The steps that are retried.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RetryDone {
    /// Trace of the work.
    trace_id: String,
    /// The run that retries them.
    run: String,
    /// The titles of the steps.
    steps: Vec<String>,
}

/// A decision about a step.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StepDone {
    /// Trace of the work.
    trace_id: String,
    /// The decision, such as `skipped`.
    did: String,
    /// The title of the step.
    step: String,
}

/// Approves the version that was seen. The daemon carries it out.
#[utoipa::path(post, path = "/api/v1/plans/{id}/approve", tag = "plans",
    operation_id = "approvePlan", request_body = Approve,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user")), ("x-person" = json!(true))),
    responses((status = 200, body = Decided), (status = "4XX", body = Troubled)))]
pub(crate) async fn approve(
    by: As<UserInPerson>,
    At(id): At<String>,
    Told(told): Told<Approve>,
) -> Answer<Decided> {
    let desk = Arc::clone(&by.desk);
    let manner = Manner {
        at_once: told.at_once,
        fail_fast: told.fail_fast,
        model: ModelName::admit(told.model)?,
    };
    let done = by.does(move |workshop| {
        if told.hash.len() < 8 {
            return Err(unnamed("hash", "that of the version").into());
        }
        // The options are set before the approval is recorded: the scheduler starts as soon
        // as it sees that.
        let task = Task::Work(workshop.work_named(&id)?.trace);
        waited(manner.check(workshop))?;
        let model = manner.model.clone();
        let before = desk.manners.set(task, manner);
        let approved = workshop.approve_plan(&id, Some(&told.hash), model.as_deref());
        let (work, run) = approved.inspect_err(|_| desk.manners.put_back(task, before))?;
        Ok(Decided {
            run: Some(run.to_string()),
            ..decided(&work)
        })
    });
    done.await.map(Json)
}

/// Asks the architect to write another version.
#[utoipa::path(post, path = "/api/v1/plans/{id}/revise", tag = "plans",
    operation_id = "revisePlan", request_body = Revise,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Decided), (status = "4XX", body = Troubled)))]
pub(crate) async fn revise(
    by: As<User>,
    At(id): At<String>,
    Told(told): Told<Revise>,
) -> Answer<Decided> {
    let desk = Arc::clone(&by.desk);
    let manner = Manner {
        model: ModelName::admit(told.model)?,
        ..Manner::default()
    };
    let done = by.does(move |workshop| {
        let task = Task::Work(workshop.work_named(&id)?.trace);
        waited(manner.check(workshop))?;
        let model = manner.model.clone();
        let before = desk.manners.set(task, manner);
        let commented = workshop.comment_plan(&id, &told.comments, model.as_deref());
        let work = commented.inspect_err(|_| desk.manners.put_back(task, before))?;
        Ok(decided(&work))
    });
    done.await.map(Json)
}

/// Rejects the version in review.
#[utoipa::path(post, path = "/api/v1/plans/{id}/reject", tag = "plans",
    operation_id = "rejectPlan", request_body = Reason,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Decided), (status = "4XX", body = Troubled)))]
pub(crate) async fn reject(
    by: As<User>,
    At(id): At<String>,
    Told(told): Told<Reason>,
) -> Answer<Decided> {
    let done = by.does(move |workshop| {
        let work = workshop.reject_plan(&id, &told.reason)?;
        Ok(decided(&work))
    });
    done.await.map(Json)
}

/// Cancels a plan, whether it is being written, waits, or is being carried out.
#[utoipa::path(post, path = "/api/v1/plans/{id}/cancel", tag = "plans",
    operation_id = "cancelPlan", request_body = MaybeReason,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Decided), (status = "4XX", body = Troubled)))]
pub(crate) async fn cancel(
    by: As<User>,
    At(id): At<String>,
    Told(told): Told<MaybeReason>,
) -> Answer<Decided> {
    let done = by.does(move |workshop| {
        let noted = waited(workshop.cancel_plan(&id, &told.reason))?;
        let (work, _) = noted.done;
        let (done, notes) = (decided(&work), noted.notes);
        Ok(OutcomeWithNotes { done, notes })
    });
    let done = by.told(done.await?);
    Ok(Json(done))
}

/// Takes a person's text as the next version.
///
/// While the plan is being carried out, the edit also counts as approval of that version.
#[utoipa::path(post, path = "/api/v1/plans/{id}/edit", tag = "plans",
    operation_id = "editPlan", request_body = Edit,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = EditDone), (status = "4XX", body = Troubled)))]
pub(crate) async fn edit(
    by: As<DeveloperInPerson>,
    At(id): At<String>,
    Told(told): Told<Edit>,
) -> Answer<EditDone> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let (word, version) = match workshop.edit_plan(&work, &told.text)? {
            PlanEditOutcome::Unchanged => ("unchanged", None),
            PlanEditOutcome::InReview { version } => ("review", Some(version)),
            PlanEditOutcome::Adopted { version, .. } => ("adopted", Some(version)),
        };
        Ok(EditDone {
            trace_id: work.trace.to_string(),
            edited: word.to_owned(),
            version,
        })
    });
    done.await.map(Json)
}

/// Retries steps that did not pass.
#[utoipa::path(post, path = "/api/v1/plans/{id}/retry", tag = "plans",
    operation_id = "retryPlan", request_body = Retry,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = RetryDone), (status = "4XX", body = Troubled)))]
pub(crate) async fn retry(
    by: As<DeveloperInPerson>,
    At(id): At<String>,
    Told(told): Told<Retry>,
) -> Answer<RetryDone> {
    let desk = Arc::clone(&by.desk);
    let manner = Manner {
        at_once: told.at_once,
        fail_fast: told.fail_fast,
        model: ModelName::admit(told.model)?,
    };
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        waited(manner.check(workshop))?;
        let model = manner.model.clone();
        desk.manners.set(Task::Work(work.trace), manner);
        let again = workshop.retry_plan(&work, told.step.as_deref(), model.as_deref())?;
        let trace = work.trace;
        Ok((trace, again))
    });
    let (trace, again) = done.await?;
    by.desk.goes_on(trace);
    Ok(Json(RetryDone {
        trace_id: trace.to_string(),
        run: again.run.to_string(),
        steps: again.steps,
    }))
}

/// Skips a step, and with it every step that needs it.
#[utoipa::path(post, path = "/api/v1/plans/{id}/skip", tag = "plans",
    operation_id = "skipStep", request_body = Skip,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = StepDone), (status = "4XX", body = Troubled)))]
pub(crate) async fn skip(
    by: As<DeveloperInPerson>,
    At(id): At<String>,
    Told(told): Told<Skip>,
) -> Answer<StepDone> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let step = workshop.skip_step(&work, &told.step, told.reason.as_deref())?;
        Ok((work.trace, step))
    });
    let (trace, step) = done.await?;
    by.desk.goes_on(trace);
    Ok(Json(StepDone {
        trace_id: trace.to_string(),
        did: "skipped".to_owned(),
        step,
    }))
}

/// Lets a step pass although a check, or one of its findings, does not.
#[utoipa::path(post, path = "/api/v1/plans/{id}/waive", tag = "plans",
    operation_id = "waiveStep", request_body = Waive,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = StepDone), (status = "4XX", body = Troubled)))]
pub(crate) async fn waive(
    by: As<DeveloperInPerson>,
    At(id): At<String>,
    Told(told): Told<Waive>,
) -> Answer<StepDone> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let step = workshop.waive_step(&work, &told.step, &told.what, &told.reason)?;
        Ok((work.trace, step, format!("waived {}", told.what)))
    });
    let (trace, step, did) = done.await?;
    by.desk.goes_on(trace);
    Ok(Json(StepDone {
        trace_id: trace.to_string(),
        did,
        step,
    }))
}

fn decided(work: &Work) -> Decided {
    Decided {
        trace_id: work.trace.to_string(),
        state: work.course.state().map(|it| it.as_str().to_owned()),
        run: work.course.run().map(|run| run.to_string()),
        version: work.course.newest().map(|it| it.number),
    }
}
