//! Everything that one id joins: the story of a work or a run, and its calls as a
//! recording.

use artel_types::{Failure, FailureCode};
use artel_workshop::{TraceView, TraceViewQuery};
use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::refusal::ApiErrorReply;
use super::seat::{
    Admin, ApiPathParams, ApiQueryParams, ApiResult, AuthorizedCaller, User, shaped,
};

/// A decision or a result in the story of a work.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct TraceReplyChapter {
    /// One word that says what it is about.
    label: String,
    /// Whether it is good: `done`, `bad`, `waits`, `plain`, …
    mark: String,
    /// The text.
    text: String,
    /// When it happened, as RFC 3339.
    at: String,
    /// The actor.
    by: Value,
}

/// A step with everything that was done for it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct TraceReplyStep {
    /// Its number.
    number: u64,
    /// Its name.
    id: String,
    /// Its title.
    title: String,
    /// `waiting`, `running`, `verifying`, `done`, `failed` or `skipped`.
    state: String,
    /// The number of the current attempt.
    round: u32,
    /// Number of attempts allowed.
    allowed: u32,
    /// Number of turns that its agents took.
    turns: u64,
    /// Its duration in seconds.
    seconds: Option<f64>,
    /// Whether it waits for a person.
    is_waiting: bool,
    /// Whether a person paused it.
    is_held: bool,
    /// The activity that is going on in it now.
    doing: Option<String>,
    /// Remarks about it.
    remarks: Vec<Value>,
    /// Failures on the way, for a step that passed in the end.
    recovered: Vec<String>,
    /// The resulting commit.
    commit: Option<String>,
    /// Its attempts: agents with their turns, and the evidence.
    attempts: Vec<Value>,
}

/// The story of a piece of work.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct TraceReplyWork {
    /// The trace.
    trace: String,
    /// One-line title of what was done.
    title: String,
    /// The status of the request.
    status: String,
    /// The chapters before the steps: the request, versions of the plan, decisions.
    before: Vec<TraceReplyChapter>,
    /// The steps in their present state.
    steps: Vec<TraceReplyStep>,
    /// Agents that belong to no step.
    beside: Vec<Value>,
    /// The chapters after the steps: proofs, the changeset, decisions about it, the report.
    after: Vec<TraceReplyChapter>,
}

/// A line about a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct TraceReplyLine {
    /// `head`, `turn`, `plain`, `done`, `bad`, `waits`, `words`, `call`, `result`, `failed`
    /// or `detail`.
    mark: String,
    /// The text, which may contain what agents and files wrote.
    text: String,
    /// The number of runs above its run.
    depth: u64,
    /// The turn it belongs to, from 1; 0 before the first.
    turn: u32,
    /// The run it is about.
    run: String,
}

/// Everything that an id joins. Exactly one of the fields is present.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct TraceReply {
    /// A piece of work, from the request to the merge.
    #[serde(skip_serializing_if = "Option::is_none")]
    story: Option<TraceReplyWork>,
    /// One step of a piece of work.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<TraceReplyStep>,
    /// A run, line by line.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<TraceReplyLine>>,
}

/// Query parameters for a trace.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct TraceDetailsQuery {
    /// `summary`, or `full` if the role may have it.
    view: Option<String>,
    /// Only this step of the plan, by its number or name.
    step: Option<String>,
    /// Only this turn.
    turn: Option<u32>,
}

/// Returns everything that happened in a piece of work or a run.
#[utoipa::path(get, path = "/api/v1/traces/{id}", tag = "traces", operation_id = "showTrace",
    params(("id" = String, Path,
        description = "The id of a trace, run or session, or how it begins"), TraceDetailsQuery),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = TraceReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiQueryParams(wanted): ApiQueryParams<TraceDetailsQuery>,
) -> ApiResult<TraceReply> {
    let eyes = by.eyes(wanted.view.as_deref())?;
    let wanted = TraceViewQuery {
        step: wanted.step,
        turn: wanted.turn,
    };
    let done = by.does(move |workshop| {
        let mut told = TraceReply::default();
        match workshop.traced(&id, &wanted, &eyes)? {
            TraceView::Work(story) => told.story = Some(shaped(story)?),
            TraceView::Step(_, step) => told.step = Some(shaped(step)?),
            TraceView::Lines(lines) => {
                let lines: Result<_, _> = lines.into_iter().map(shaped).collect();
                told.lines = Some(lines?);
            }
        }
        Ok(told)
    });
    done.await.map(Json)
}

/// Exports the answered model calls of a piece of work as a recording that can be played
/// again.
#[utoipa::path(get, path = "/api/v1/traces/{id}/recording", tag = "traces",
    operation_id = "recordTrace",
    params(("id" = String, Path,
        description = "The id of a trace, run or session, or how it begins")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = String, content_type = "application/jsonl"),
        (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn record(
    by: AuthorizedCaller<Admin>,
    ApiPathParams(id): ApiPathParams<String>,
) -> Result<Response, ApiError> {
    let eyes = by.eyes(Some("full"))?;
    if !eyes.hidden.is_empty() {
        // It contains everything that models were told, including the output of the hidden
        // tools.
        return Err(
            Failure::new(FailureCode::H004, "recordings are not handed out here")
                .because("`visibility.hidden_tools` names tools whose output nobody is shown")
                .advise("`artel model record` makes it in a terminal on the machine itself")
                .into(),
        );
    }
    let done = by.does(move |workshop| {
        let text = workshop.cassette(&id)?.write_jsonl()?;
        Ok(workshop.caller().redactor().redact(&text).into_owned())
    });
    let kind = [
        (header::CONTENT_TYPE, "application/jsonl"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"recording.jsonl\"",
        ),
    ];
    Ok((kind, done.await?).into_response())
}
