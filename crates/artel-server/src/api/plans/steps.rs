//! Pausing, resuming and cancelling one step of a plan.

use artel_workshop::{SteeringCommand, SteeringDelivery};
use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::decide::MaybeReason;
use crate::api::Told;
use crate::api::refusal::Troubled;
use crate::api::runs::steer::Nothing;
use crate::api::seat::{Answer, As, At, Developer, DeveloperInPerson, waited};

/// Where an order about a step was delivered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StepSteered {
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
    operation_id = "pauseStep", request_body = Nothing,
    params(("id" = String, Path, description = "Its trace, or how it begins"),
        ("step" = String, Path, description = "The step, by its number or name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = StepSteered), (status = "4XX", body = Troubled)))]
pub(crate) async fn pause(
    by: As<Developer>,
    At(named): At<(String, String)>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<StepSteered> {
    steer(by, named, SteeringCommand::Pause, String::new()).await
}

/// Resumes a paused step.
#[utoipa::path(post, path = "/api/v1/plans/{id}/steps/{step}/resume", tag = "plans",
    operation_id = "resumeStep", request_body = Nothing,
    params(("id" = String, Path, description = "Its trace, or how it begins"),
        ("step" = String, Path, description = "The step, by its number or name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = StepSteered), (status = "4XX", body = Troubled)))]
pub(crate) async fn resume(
    by: As<Developer>,
    At(named): At<(String, String)>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<StepSteered> {
    steer(by, named, SteeringCommand::Resume, String::new()).await
}

/// Cancels a step, and with it every step that needs it. The other steps continue.
#[utoipa::path(post, path = "/api/v1/plans/{id}/steps/{step}/cancel", tag = "plans",
    operation_id = "cancelStep", request_body = MaybeReason,
    params(("id" = String, Path, description = "Its trace, or how it begins"),
        ("step" = String, Path, description = "The step, by its number or name")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = StepSteered), (status = "4XX", body = Troubled)))]
pub(crate) async fn cancel(
    by: As<DeveloperInPerson>,
    At(named): At<(String, String)>,
    Told(told): Told<MaybeReason>,
) -> Answer<StepSteered> {
    steer(by, named, SteeringCommand::Cancel, told.reason).await
}

async fn steer<R>(
    by: As<R>,
    (id, step): (String, String),
    wish: SteeringCommand,
    reason: String,
) -> Answer<StepSteered> {
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
    Ok(Json(StepSteered {
        trace_id: trace.to_string(),
        step: steered.title,
        driver: steered.arrived.into_driver(),
        text,
    }))
}
