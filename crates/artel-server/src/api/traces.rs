//! Whatever one id joins: the story of a piece of work or a run, and its calls as a recording.

use artel_types::{Code, Failure};
use artel_workshop::{TraceWanted, Traced};
use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::Refusal;
use super::refusal::Troubled;
use super::seat::{Admin, Answer, As, Asked, At, User, shaped};

/// Something that was decided or came of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ChapterTold {
    /// What it is about, in a word.
    label: String,
    /// Whether it is good: done, bad, waits, plain, …
    mark: String,
    /// What it says.
    text: String,
    /// When, as RFC 3339.
    at: String,
    /// Whose act it was.
    by: Value,
}

/// A step with everything that was done at it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct StepTold {
    /// Its number.
    number: u64,
    /// Its name.
    id: String,
    /// What it does.
    title: String,
    /// waiting, running, verifying, done, failed or skipped.
    state: String,
    /// Which attempt it is.
    round: u32,
    /// How many attempts there are.
    allowed: u32,
    /// How many turns its agents took.
    turns: u64,
    /// How long it has taken.
    seconds: Option<f64>,
    /// Whether it waits for a person.
    is_waiting: bool,
    /// Whether a person holds it.
    is_held: bool,
    /// What goes on in it now.
    doing: Option<String>,
    /// What was found in it.
    remarks: Vec<Value>,
    /// What failed on the way, where it passed in the end.
    recovered: Vec<String>,
    /// The commit that came of it.
    commit: Option<String>,
    /// The attempts: agents with their turns, and the evidence.
    attempts: Vec<Value>,
}

/// The story of a piece of work.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct WorkTold {
    /// The piece of work.
    trace: String,
    /// What was done, in a line.
    title: String,
    /// How the request stands.
    status: String,
    /// What came before the steps: the request, versions of the plan, decisions.
    before: Vec<ChapterTold>,
    /// The steps as they stand.
    steps: Vec<StepTold>,
    /// Agents that belong to no step.
    beside: Vec<Value>,
    /// What came of it: proofs, the changeset, what was decided about it, the report.
    after: Vec<ChapterTold>,
}

/// A line about a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct LineTold {
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
}

/// What an id joins: one of these.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct TraceTold {
    /// A piece of work, from the request to the merge.
    #[serde(skip_serializing_if = "Option::is_none")]
    story: Option<WorkTold>,
    /// One step of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<StepTold>,
    /// A run, line by line.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<LineTold>>,
}

/// How much of it is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// `summary`, or `full` where the role allows it.
    view: Option<String>,
    /// Only this step of the plan, by its number or name.
    step: Option<String>,
    /// Only this turn.
    turn: Option<u32>,
}

/// Tells everything that happened in a piece of work or a run.
#[utoipa::path(get, path = "/api/v1/traces/{id}", tag = "traces", operation_id = "showTrace",
    params(("id" = String, Path,
        description = "The id of a trace, run or session, or how it begins"), Wanted),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = TraceTold), (status = "4XX", body = Troubled)))]
pub(super) async fn show(
    by: As<User>,
    At(id): At<String>,
    Asked(wanted): Asked<Wanted>,
) -> Answer<TraceTold> {
    let eyes = by.eyes(wanted.view.as_deref())?;
    let wanted = TraceWanted {
        step: wanted.step,
        turn: wanted.turn,
    };
    let done = by.does(move |workshop| {
        let mut told = TraceTold::default();
        match workshop.traced(&id, &wanted, &eyes)? {
            Traced::Work(story) => told.story = Some(shaped(story)?),
            Traced::Step(_, step) => told.step = Some(shaped(step)?),
            Traced::Lines(lines) => {
                let lines: Result<_, _> = lines.into_iter().map(shaped).collect();
                told.lines = Some(lines?);
            }
        }
        Ok(told)
    });
    done.await.map(Json)
}

/// Writes the answered calls of a piece of work as a recording that can be played again.
#[utoipa::path(get, path = "/api/v1/traces/{id}/recording", tag = "traces",
    operation_id = "recordTrace",
    params(("id" = String, Path,
        description = "The id of a trace, run or session, or how it begins")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = String, content_type = "application/jsonl"),
        (status = "4XX", body = Troubled)))]
pub(super) async fn record(by: As<Admin>, At(id): At<String>) -> Result<Response, Refusal> {
    let eyes = by.eyes(Some("full"))?;
    if !eyes.hidden.is_empty() {
        // It holds whatever models were told, the output of those tools with it.
        return Err(
            Failure::new(Code::H004, "recordings are not handed out here")
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
