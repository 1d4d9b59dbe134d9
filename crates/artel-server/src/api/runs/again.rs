//! Runs that are over, once more: played again from the recording, or kept as a test.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::steer::Nothing;
use crate::api::Told;
use crate::api::refusal::Troubled;
use crate::api::seat::{Answer, As, At, Developer, Made, made, shaped};

/// A recorded step that Artel would not take.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Divergence {
    /// The event.
    seq: u64,
    /// What is on record.
    recorded: String,
    /// What would be done.
    machine: String,
}

/// A call that policy would answer differently now.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Difference {
    /// The event.
    seq: u64,
    /// The tool.
    tool: String,
    /// What was decided then.
    then: String,
    /// What is decided now.
    now: String,
    /// The rule that decides now.
    rule: String,
    /// Why.
    why: String,
}

/// What came of playing a run again.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Replayed {
    /// How many steps were compared.
    steps: u64,
    /// How many turns there were.
    turns: u32,
    /// Where the record and Artel part; none if everything is as recorded.
    divergences: Vec<Divergence>,
    /// Calls that policy would answer differently now.
    differences: Vec<Difference>,
    /// How many calls were decided anew.
    decided: u64,
    /// Whether the run is over.
    is_over: bool,
}

/// What a test is called.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Promote {
    /// The name; made from the run if not given.
    name: Option<String>,
}

/// A test that was made from a run. It holds what the model said and what it read.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Promoted {
    /// The skill.
    skill: String,
    /// The file of the test.
    case: String,
    /// The recording.
    recording: String,
    /// Files that the test brings.
    files: Vec<String>,
    /// Files that were left out: no text, or too large.
    left_out: Vec<String>,
}

/// Plays a recorded run again, without a model and without effects.
#[utoipa::path(post, path = "/api/v1/runs/{id}/replay", tag = "runs", operation_id = "replayRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = Nothing, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = Replayed), (status = "4XX", body = Troubled)))]
pub(crate) async fn replay(
    by: As<Developer>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<Replayed> {
    let done = by.does(move |workshop| {
        let run = workshop.run_named(&id)?;
        Ok(shaped(workshop.replay_run(run)?)?)
    });
    done.await.map(Json)
}

/// Makes a test of a skill from a run of it.
#[utoipa::path(post, path = "/api/v1/runs/{id}/promote", tag = "runs", operation_id = "promoteRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = Promote, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = Promoted), (status = "4XX", body = Troubled)))]
pub(crate) async fn promote(
    by: As<Developer>,
    At(id): At<String>,
    Told(told): Told<Promote>,
) -> Made<Promoted> {
    let done =
        by.does(move |workshop| Ok(shaped(workshop.promote_run(&id, told.name.as_deref())?)?));
    done.await.map(made)
}
