//! Steering runs, whichever process drives them.

use std::sync::Arc;

use artel_types::{Failure, RunId};
use artel_workshop::{
    OutcomeWithNotes, RunForkOptions, RunStatus, SteeringCommand, SteeringDelivery,
};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::refusal::ApiErrorReply;
use crate::api::seat::{
    ApiCreatedResult, ApiPathParams, ApiResult, AuthorizedCaller, Developer, DeveloperInPerson,
    UserInPerson, made, shaped, waited,
};
use crate::api::{ApiError, ApiJsonBody, ModelName};
use crate::keeper::{SchedulerTask, TaskOptions};
use crate::rights::needed_to_answer;

/// An empty body.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyBody {}

/// A hint for a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HintRunBody {
    /// The hint.
    text: String,
}

/// An answer to a question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerQuestionBody {
    /// One of the choices, or free text. A choice may be followed by a colon and a reason.
    answer: String,
    /// The question's id, if the run asks several.
    question: Option<String>,
}

/// Forks a run at an event.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkRunBody {
    /// The number of the last event to keep.
    at: u64,
    /// A hint that the new run gets first.
    hint: Option<String>,
    /// Replaces the model that the run began with: an alias, or `provider:model`.
    model: Option<ModelName>,
}

/// Where a steering order was delivered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SteerRunReply {
    /// The run's id.
    run: String,
    /// The process that drives it, to which the order was sent.
    driver: Option<String>,
    /// A sentence that says what happens next.
    text: String,
}

/// A question that was answered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnswerQuestionReply {
    /// The run's id.
    run: String,
    /// The question's id.
    question: String,
    /// The process that drives the run.
    goes_on_in: Option<String>,
}

/// A run that was forked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ForkRunReply {
    /// The new run's id.
    run: String,
    /// Trace of the work it belongs to.
    trace: String,
}

/// The files of a run that were put in place.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ApplyRunReply {
    /// The run's id.
    run: String,
    /// The folder.
    folder: String,
    /// Files that were created or changed.
    written: Vec<String>,
    /// Files that were deleted.
    deleted: Vec<String>,
    /// Files that already were as the run left them.
    already: Vec<String>,
}

/// Options for resuming something that no process drives.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeOptionsBody {
    /// Replaces the model that it began with: an alias, or `provider:model`.
    model: Option<ModelName>,
    /// For a plan: maximum number of steps that run at once, from 1 to 64.
    #[schema(minimum = 1, maximum = 64)]
    at_once: Option<u16>,
    /// For a plan: whether no further step starts after a step has failed.
    fail_fast: Option<bool>,
}

impl TryFrom<ResumeOptionsBody> for TaskOptions {
    type Error = Failure;

    fn try_from(how: ResumeOptionsBody) -> Result<Self, Failure> {
        Ok(Self {
            at_once: how.at_once,
            fail_fast: how.fail_fast,
            model: ModelName::admit(how.model)?,
        })
    }
}

/// Pauses a run: it starts nothing new until it is resumed.
#[utoipa::path(post, path = "/api/v1/runs/{id}/pause", tag = "runs", operation_id = "pauseRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = EmptyBody, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SteerRunReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn pause(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<SteerRunReply> {
    steer(&by, id, SteeringCommand::Pause).await
}

/// Resumes a run that is paused or that no process drives.
#[utoipa::path(post, path = "/api/v1/runs/{id}/resume", tag = "runs", operation_id = "resumeRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = ResumeOptionsBody, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SteerRunReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn resume(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(how): ApiJsonBody<ResumeOptionsBody>,
) -> ApiResult<SteerRunReply> {
    let named = id.clone();
    let (desk, manner) = (Arc::clone(&by.desk), TaskOptions::try_from(how)?);
    let found = by.does(move |workshop| {
        let run = workshop.run_named(&named)?;
        let trace = workshop.trace_of_run(run)?;
        let (standing, _) = workshop.standing_of(run)?;
        let task = if workshop.work(trace).is_ok() {
            SchedulerTask::Work(trace)
        } else {
            SchedulerTask::Run(run)
        };
        waited(manner.check(workshop))?;
        desk.manners.set(task, manner);
        Ok((run, standing, task))
    });
    let (run, standing, task) = found.await?;
    if standing != RunStatus::Left {
        return steer(&by, id, SteeringCommand::Resume).await;
    }
    by.desk.orders.go_on(task);
    Ok(Json(SteerRunReply {
        run: run.to_string(),
        driver: None,
        text: by.desk.takes_up(&run.short())?,
    }))
}

/// Cancels a run and the runs that it called.
#[utoipa::path(post, path = "/api/v1/runs/{id}/cancel", tag = "runs", operation_id = "cancelRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = EmptyBody, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SteerRunReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn cancel(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<SteerRunReply> {
    steer(&by, id, SteeringCommand::Cancel).await
}

/// Gives a run a hint while it works.
#[utoipa::path(post, path = "/api/v1/runs/{id}/hint", tag = "runs", operation_id = "hintRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = HintRunBody, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SteerRunReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn hint(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<HintRunBody>,
) -> ApiResult<SteerRunReply> {
    steer(&by, id, SteeringCommand::Hint(told.text)).await
}

/// Answers a question of a run or a plan.
#[utoipa::path(post, path = "/api/v1/runs/{id}/answer", tag = "runs", operation_id = "answerRun",
    params(("id" = String, Path, description = "The id of the run or its piece of work, or how it begins")),
    request_body = AnswerQuestionBody, extensions(("x-role" = json!("user")), ("x-person" = json!(true))),
    responses((status = 200, body = AnswerQuestionReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn answer(
    by: AuthorizedCaller<UserInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<AnswerQuestionBody>,
) -> ApiResult<AnswerQuestionReply> {
    let who = by.who.clone();
    let done = by.does(move |workshop| {
        let name = match &told.question {
            Some(question) => format!("{id}/{question}"),
            None => id,
        };
        let question = workshop.question_named(&name)?;
        who.needs(needed_to_answer(&question.asked, &told.answer))?;
        let noted = workshop.answer_question(&question, &told.answer)?;
        Ok((question, noted))
    });
    let (question, noted) = done.await?;
    Ok(Json(AnswerQuestionReply {
        run: question.run.to_string(),
        question: question.asked.question,
        goes_on_in: match by.told(noted) {
            SteeringDelivery::Sent(driver) => Some(driver),
            SteeringDelivery::Kept | SteeringDelivery::Ended => None,
        },
    }))
}

/// Forks a run at any of its events. The original run stays unchanged.
#[utoipa::path(post, path = "/api/v1/runs/{id}/fork", tag = "runs", operation_id = "forkRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = ForkRunBody, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = ForkRunReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn fork(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<ForkRunBody>,
) -> ApiCreatedResult<ForkRunReply> {
    let model = ModelName::admit(told.model)?;
    let done = by.does(move |workshop| {
        let order = RunForkOptions {
            from: workshop.run_named(&id)?,
            at: told.at,
            hint: told.hint,
            model,
        };
        let run = waited(workshop.fork_run(&order))?;
        Ok((run, workshop.trace_of_run(run)?))
    });
    let (run, trace) = done.await?;
    by.desk.orders.go_on(SchedulerTask::Run(run));
    Ok(made(ForkRunReply {
        run: run.to_string(),
        trace: trace.to_string(),
    }))
}

/// Puts the files that a run created or changed in place: all of them, or none.
#[utoipa::path(post, path = "/api/v1/runs/{id}/apply", tag = "runs", operation_id = "applyRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = EmptyBody, extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = ApplyRunReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn apply(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<ApplyRunReply> {
    let done = by.does(move |workshop| {
        let run = workshop.run_named(&id)?;
        Ok(waited(workshop.apply_run(run))?)
    });
    let placed = by.told(done.await?);
    Ok(Json(shaped(placed)?))
}

async fn steer(
    by: &AuthorizedCaller<Developer>,
    id: String,
    wish: SteeringCommand,
) -> ApiResult<SteerRunReply> {
    let asked = wish.clone();
    let done = by.does(
        move |workshop| -> Result<(RunId, OutcomeWithNotes<SteeringDelivery>), ApiError> {
            let run = workshop.run_named(&id)?;
            let noted = waited(workshop.steer_run(run, &wish))?;
            Ok((run, noted))
        },
    );
    let (run, noted) = done.await?;
    let steered = by.told(noted);
    let text = asked.told(run, &steered);
    let driver = match steered {
        SteeringDelivery::Sent(driver) => Some(driver),
        SteeringDelivery::Kept | SteeringDelivery::Ended => None,
    };
    Ok(Json(SteerRunReply {
        run: run.to_string(),
        driver,
        text,
    }))
}
