//! Finished runs: replaying one from its record, and keeping one as a test.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::steer::EmptyBody;
use crate::api::ApiJsonBody;
use crate::api::refusal::ApiErrorReply;
use crate::api::seat::{
    ApiCreatedResult, ApiPathParams, ApiResult, AuthorizedCaller, Developer, made, shaped,
};

/// A recorded step that Artel would not take now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ReplayRunReplyDivergence {
    /// The number of the event.
    seq: u64,
    /// The recorded step.
    recorded: String,
    /// The step that would be taken now.
    machine: String,
}

/// A call that policy would decide differently now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ReplayRunReplyDecision {
    /// The number of the event.
    seq: u64,
    /// The tool.
    tool: String,
    /// The decision at that time.
    then: String,
    /// The decision now.
    now: String,
    /// The rule that decides now.
    rule: String,
    /// The reason.
    why: String,
}

/// The result of replaying a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ReplayRunReply {
    /// Number of steps that were compared.
    steps: u64,
    /// Number of turns.
    turns: u32,
    /// Where Artel would now depart from the record; empty if nowhere.
    divergences: Vec<ReplayRunReplyDivergence>,
    /// Calls that policy would decide differently now.
    differences: Vec<ReplayRunReplyDecision>,
    /// Number of calls that were decided again.
    decided: u64,
    /// Whether the run is finished.
    is_over: bool,
}

/// The name for a test.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromoteRunBody {
    /// The name; derived from the run if omitted.
    name: Option<String>,
}

/// A test that was made from a run. It contains what the model said and read.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct PromoteRunReply {
    /// The skill.
    skill: String,
    /// The file of the test.
    case: String,
    /// The recording.
    recording: String,
    /// The files that the test contains.
    files: Vec<String>,
    /// Files that were left out because they are not text or too large.
    left_out: Vec<String>,
}

/// Replays a recorded run, without a model and without effects.
#[utoipa::path(post, path = "/api/v1/runs/{id}/replay", tag = "runs", operation_id = "replayRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = EmptyBody, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ReplayRunReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn replay(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<ReplayRunReply> {
    let done = by.does(move |workshop| {
        let run = workshop.run_named(&id)?;
        Ok(shaped(workshop.replay_run(run)?)?)
    });
    done.await.map(Json)
}

/// Makes a test of a skill from one of its runs.
#[utoipa::path(post, path = "/api/v1/runs/{id}/promote", tag = "runs", operation_id = "promoteRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = PromoteRunBody, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = PromoteRunReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn promote(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<PromoteRunBody>,
) -> ApiCreatedResult<PromoteRunReply> {
    let done =
        by.does(move |workshop| Ok(shaped(workshop.promote_run(&id, told.name.as_deref())?)?));
    done.await.map(made)
}
