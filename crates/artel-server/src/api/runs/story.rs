//! The story of a run, in pages, because a long one does not fit into a single response.

use artel_workshop::TimelineQuery;
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::api::page::ApiPageLimit;
use crate::api::refusal::ApiErrorReply;
use crate::api::seat::{ApiPathParams, ApiQueryParams, ApiResult, AuthorizedCaller, User, shaped};

/// One line of a run's story.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RunStoryReplyLine {
    /// The number of the event it describes.
    seq: u64,
    /// The time of the event, as RFC 3339.
    at: String,
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
    /// The progress of the run, if the line is about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Value>,
}

/// A page of a run's story.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunStoryReply {
    /// The lines, in order. The lines of one event are never split between pages, so there
    /// may be a few more than `limit`.
    lines: Vec<RunStoryReplyLine>,
    /// To continue, pass this as `after`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// Query parameters for a run's story.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunStoryQuery {
    /// `summary`, or `full` if the role may have it.
    view: Option<String>,
    /// Maximum number of lines, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: ApiPageLimit,
    /// Only the lines of events after this number.
    #[param(format = "uint64")]
    after: Option<u64>,
}

/// Returns what happened in a run, page by page.
#[utoipa::path(get, path = "/api/v1/runs/{id}/story", tag = "runs", operation_id = "tellRun",
    params(("id" = String, Path, description = "Its id, or how it begins"), RunStoryQuery),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = RunStoryReply), (status = "4XX", body = ApiErrorReply)))]
pub(crate) async fn story(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiQueryParams(wanted): ApiQueryParams<RunStoryQuery>,
) -> ApiResult<RunStoryReply> {
    let eyes = by.eyes(wanted.view.as_deref())?;
    let wanted = TimelineQuery {
        after: wanted.after.unwrap_or(0),
        limit: wanted.limit.0,
    };
    let done = by.does(move |workshop| {
        let page = workshop.run_story(&id, eyes, wanted)?;
        let mut lines = Vec::with_capacity(page.lines.len());
        for told in page.lines {
            let mut value = json!(told.line);
            value["seq"] = json!(told.seq);
            value["at"] = json!(told.at);
            lines.push(shaped(value)?);
        }
        let next = page.next;
        Ok(RunStoryReply { lines, next })
    });
    done.await.map(Json)
}
