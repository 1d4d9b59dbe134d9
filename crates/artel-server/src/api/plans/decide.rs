//! Decisions about plans and their steps. The daemon carries out what follows from them.

use std::sync::Arc;

use artel_workshop::{OutcomeWithNotes, PlanEditOutcome, Work};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::refusal::ApiErrorReply;
use crate::api::seat::{
    ApiPathParams, ApiResult, AuthorizedCaller, DeveloperInPerson, User, UserInPerson, unnamed,
    waited,
};
use crate::api::{ApiJsonBody, ModelName};
use crate::keeper::{SchedulerTask, TaskOptions};

/// Approves a plan as it was seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovePlanBody {
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
pub(crate) struct RevisePlanBody {
    /// The changes you want; at least one.
    #[schema(min_items = 1)]
    comments: Vec<String>,
    /// The model: an alias, or `provider:model`.
    model: Option<ModelName>,
}

/// A required reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectPlanBody {
    /// The reason, which is recorded.
    reason: String,
}

/// An optional reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionalReasonBody {
    /// The reason, which is recorded.
    #[serde(default)]
    pub(super) reason: String,
}

/// A new text for a plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditPlanBody {
    /// The whole text, as returned by `/markdown`, with your changes.
    text: String,
}

/// Retries steps of a plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetryPlanBody {
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
pub(crate) struct SkipStepBody {
    /// The step, by its number or name.
    step: String,
    /// The reason.
    reason: Option<String>,
}

/// Waives a check or finding, so that a step may pass without it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaiveStepCheckBody {
    /// The step, by its number or name.
    step: String,
    /// `inspector`, `tester`, `evaluator`, or a finding.
    what: String,
    /// The reason, which is shown in the changeset and the report.
    reason: String,
}

/// The state of a plan after a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlanDecisionReply {
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
pub(crate) struct EditPlanReply {
    /// Trace of the work.
    trace_id: String,
    /// `unchanged`, `review` or `adopted`.
    edited: String,
    /// The number of the new version.
    version: Option<u32>,
}

/// The steps that are retried.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RetryPlanReply {
    /// Trace of the work.
    trace_id: String,
    /// The run that retries them.
    run: String,
    /// The titles of the steps.
    steps: Vec<String>,
}

/// A decision about a step.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StepDecisionReply {
    /// Trace of the work.
    trace_id: String,
    /// The decision, such as `skipped`.
    did: String,
    /// The title of the step.
    step: String,
}

/// Approves the version that was seen. The daemon carries it out.
#[utoipa::path(post, path = "/api/v1/plans/{id}/approve", tag = "plans",
    operation_id = "approvePlan", request_body = ApprovePlanBody,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user")), ("x-person" = json!(true))),
    responses((status = 200, body = PlanDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn approve(
    by: AuthorizedCaller<UserInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<ApprovePlanBody>,
) -> ApiResult<PlanDecisionReply> {
    let desk = Arc::clone(&by.desk);
    let manner = TaskOptions {
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
        let task = SchedulerTask::Work(workshop.work_named(&id)?.trace);
        waited(manner.check(workshop))?;
        let model = manner.model.clone();
        let before = desk.manners.set(task, manner);
        let approved = workshop.approve_plan(&id, Some(&told.hash), model.as_deref());
        let (work, run) = approved.inspect_err(|_| desk.manners.put_back(task, before))?;
        Ok(PlanDecisionReply {
            run: Some(run.to_string()),
            ..decided(&work)
        })
    });
    done.await.map(Json)
}

/// Asks the architect to write another version.
#[utoipa::path(post, path = "/api/v1/plans/{id}/revise", tag = "plans",
    operation_id = "revisePlan", request_body = RevisePlanBody,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = PlanDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn revise(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<RevisePlanBody>,
) -> ApiResult<PlanDecisionReply> {
    let desk = Arc::clone(&by.desk);
    let manner = TaskOptions {
        model: ModelName::admit(told.model)?,
        ..TaskOptions::default()
    };
    let done = by.does(move |workshop| {
        let task = SchedulerTask::Work(workshop.work_named(&id)?.trace);
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
    operation_id = "rejectPlan", request_body = RejectPlanBody,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = PlanDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn reject(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<RejectPlanBody>,
) -> ApiResult<PlanDecisionReply> {
    let done = by.does(move |workshop| {
        let work = workshop.reject_plan(&id, &told.reason)?;
        Ok(decided(&work))
    });
    done.await.map(Json)
}

/// Cancels a plan, whether it is being written, waits, or is being carried out.
#[utoipa::path(post, path = "/api/v1/plans/{id}/cancel", tag = "plans",
    operation_id = "cancelPlan", request_body = OptionalReasonBody,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = PlanDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn cancel(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<OptionalReasonBody>,
) -> ApiResult<PlanDecisionReply> {
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
    operation_id = "editPlan", request_body = EditPlanBody,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = EditPlanReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn edit(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<EditPlanBody>,
) -> ApiResult<EditPlanReply> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let (word, version) = match workshop.edit_plan(&work, &told.text)? {
            PlanEditOutcome::Unchanged => ("unchanged", None),
            PlanEditOutcome::InReview { version } => ("review", Some(version)),
            PlanEditOutcome::Adopted { version, .. } => ("adopted", Some(version)),
        };
        Ok(EditPlanReply {
            trace_id: work.trace.to_string(),
            edited: word.to_owned(),
            version,
        })
    });
    done.await.map(Json)
}

/// Retries steps that did not pass.
#[utoipa::path(post, path = "/api/v1/plans/{id}/retry", tag = "plans",
    operation_id = "retryPlan", request_body = RetryPlanBody,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = RetryPlanReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn retry(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<RetryPlanBody>,
) -> ApiResult<RetryPlanReply> {
    let desk = Arc::clone(&by.desk);
    let manner = TaskOptions {
        at_once: told.at_once,
        fail_fast: told.fail_fast,
        model: ModelName::admit(told.model)?,
    };
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        waited(manner.check(workshop))?;
        let model = manner.model.clone();
        desk.manners.set(SchedulerTask::Work(work.trace), manner);
        let again = workshop.retry_plan(&work, told.step.as_deref(), model.as_deref())?;
        let trace = work.trace;
        Ok((trace, again))
    });
    let (trace, again) = done.await?;
    by.desk.goes_on(trace);
    Ok(Json(RetryPlanReply {
        trace_id: trace.to_string(),
        run: again.run.to_string(),
        steps: again.steps,
    }))
}

/// Skips a step, and with it every step that needs it.
#[utoipa::path(post, path = "/api/v1/plans/{id}/skip", tag = "plans",
    operation_id = "skipStep", request_body = SkipStepBody,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = StepDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn skip(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<SkipStepBody>,
) -> ApiResult<StepDecisionReply> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let step = workshop.skip_step(&work, &told.step, told.reason.as_deref())?;
        Ok((work.trace, step))
    });
    let (trace, step) = done.await?;
    by.desk.goes_on(trace);
    Ok(Json(StepDecisionReply {
        trace_id: trace.to_string(),
        did: "skipped".to_owned(),
        step,
    }))
}

/// Lets a step pass although a check, or one of its findings, does not.
#[utoipa::path(post, path = "/api/v1/plans/{id}/waive", tag = "plans",
    operation_id = "waiveStep", request_body = WaiveStepCheckBody,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = StepDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn waive(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<WaiveStepCheckBody>,
) -> ApiResult<StepDecisionReply> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let step = workshop.waive_step(&work, &told.step, &told.what, &told.reason)?;
        Ok((work.trace, step, format!("waived {}", told.what)))
    });
    let (trace, step, did) = done.await?;
    by.desk.goes_on(trace);
    Ok(Json(StepDecisionReply {
        trace_id: trace.to_string(),
        did,
        step,
    }))
}

fn decided(work: &Work) -> PlanDecisionReply {
    PlanDecisionReply {
        trace_id: work.trace.to_string(),
        state: work.course.state().map(|it| it.as_str().to_owned()),
        run: work.course.run().map(|run| run.to_string()),
        version: work.course.newest().map(|it| it.number),
    }
}
