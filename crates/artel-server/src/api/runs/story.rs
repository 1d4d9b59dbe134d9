//! What happened in a run, told a page at a time: the story of a long one is no single answer.

use artel_workshop::StoryWanted;
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::api::page::Limit;
use crate::api::refusal::Troubled;
use crate::api::seat::{Answer, As, Asked, At, User, shaped};

/// One line of a run's story.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct StoryLine {
    /// The event it tells of.
    seq: u64,
    /// When, as RFC 3339.
    at: String,
    /// head, turn, plain, done, bad, waits, words, call, result, failed or detail.
    mark: String,
    /// The words. They may hold what agents and files wrote.
    text: String,
    /// How many runs lie above its own.
    depth: u64,
    /// The turn it belongs to, from 1; 0 before the first.
    turn: u32,
    /// The run it is about.
    run: String,
    /// How far the run has come, where it is about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Value>,
}

/// What happened in a run, told.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Story {
    /// The lines, in order. What one event tells is on one page, so there may be a few more than
    /// were asked for.
    lines: Vec<StoryLine>,
    /// Ask for what comes `after` this to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// How closely a run is looked at.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Closely {
    /// `summary`, or `full` where the role allows it.
    view: Option<String>,
    /// How many lines, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: Limit,
    /// Only what events after this one tell.
    #[param(format = "uint64")]
    after: Option<u64>,
}

/// Tells what happened in a run, a page at a time.
#[utoipa::path(get, path = "/api/v1/runs/{id}/story", tag = "runs", operation_id = "tellRun",
    params(("id" = String, Path, description = "Its id, or how it begins"), Closely),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Story), (status = "4XX", body = Troubled)))]
pub(crate) async fn story(
    by: As<User>,
    At(id): At<String>,
    Asked(wanted): Asked<Closely>,
) -> Answer<Story> {
    let eyes = by.eyes(wanted.view.as_deref())?;
    let wanted = StoryWanted {
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
        Ok(Story { lines, next })
    });
    done.await.map(Json)
}
