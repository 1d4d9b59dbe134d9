//! Pausing, resuming and cancelling one step of a plan.

use artel_workshop::{SteeringCommand, SteeringDelivery};
use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::decide::OptionalReasonBody;
use crate::api::ApiJsonBody;
use crate::api::refusal::ApiErrorReply;
use crate::api::runs::steer::EmptyBody;
use crate::api::seat::{
    ApiPathParams, ApiResult, AuthorizedCaller, Developer, DeveloperInPerson, waited,
};

/// Where an order about a step was delivered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SteerStepReply {
    /// Trace of the work.
    trace_id: String,
    /// The title of the step.
    step: String,
    /// The process that carries out the plan, to which the order was sent.
    driver: Option<String>,
    /// A sentence that says what happens next.
    text: String,
}

/// Pauses a step: nothing more of it starts until it is resumed. The other steps continue.
#[utoipa::path(post, path = "/api/v1/plans/{id}/steps/{step}/pause", tag = "plans",
    operation_id = "pauseStep", request_body = EmptyBody,
    params(("id" = String, Path, description = "Its trace, or how it begins"),
        ("step" = String, Path, description = "The step, by its number or name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SteerStepReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn pause(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(named): ApiPathParams<(String, String)>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<SteerStepReply> {
    steer(by, named, SteeringCommand::Pause, String::new()).await
}

/// Resumes a paused step.
#[utoipa::path(post, path = "/api/v1/plans/{id}/steps/{step}/resume", tag = "plans",
    operation_id = "resumeStep", request_body = EmptyBody,
    params(("id" = String, Path, description = "Its trace, or how it begins"),
        ("step" = String, Path, description = "The step, by its number or name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SteerStepReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn resume(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(named): ApiPathParams<(String, String)>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<SteerStepReply> {
    steer(by, named, SteeringCommand::Resume, String::new()).await
}

/// Cancels a step, and with it every step that needs it. The other steps continue.
#[utoipa::path(post, path = "/api/v1/plans/{id}/steps/{step}/cancel", tag = "plans",
    operation_id = "cancelStep", request_body = OptionalReasonBody,
    params(("id" = String, Path, description = "Its trace, or how it begins"),
        ("step" = String, Path, description = "The step, by its number or name")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = SteerStepReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn cancel(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(named): ApiPathParams<(String, String)>,
    ApiJsonBody(told): ApiJsonBody<OptionalReasonBody>,
) -> ApiResult<SteerStepReply> {
    steer(by, named, SteeringCommand::Cancel, told.reason).await
}

async fn steer<R>(
    by: AuthorizedCaller<R>,
    (id, step): (String, String),
    wish: SteeringCommand,
    reason: String,
) -> ApiResult<SteerStepReply> {
    let asked = wish.clone();
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let noted = waited(workshop.steer_step(&work, &step, &wish, Some(&reason)))?;
        Ok((work.trace, noted, workshop.is_resting(work.trace)?))
    });
    let (trace, noted, is_resting) = done.await?;
    let steered = by.told(noted);
    by.desk.goes_on(trace);
    let is_taken_up = asked == SteeringCommand::Resume
        && steered.arrived == SteeringDelivery::Kept
        && !is_resting;
    let text = if is_taken_up {
        by.desk.takes_up(&format!("`{}`", steered.title))?
    } else {
        asked.told_of_step(trace, &steered)
    };
    Ok(Json(SteerStepReply {
        trace_id: trace.to_string(),
        step: steered.title,
        driver: steered.arrived.into_driver(),
        text,
    }))
}
