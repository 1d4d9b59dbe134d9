//! What needs a person: plans, questions, changesets, work that was left, calls that wait for a yes.

use std::sync::Arc;

use artel_workshop::{Reply, Viewer};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Told;
use super::refusal::Troubled;
use super::seat::{Answer, As, At, Developer, User, shaped};

/// Something that needs a person.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct WaitRow {
    /// question, plan, changeset, failed or left.
    kind: String,
    /// What to name it by.
    id: String,
    /// The piece of work.
    trace: String,
    /// What it is about.
    title: String,
    /// What is asked, or how it stands.
    text: String,
    /// What can be answered; anything if empty.
    choices: Vec<String>,
    /// Since when, as RFC 3339.
    since: String,
    /// What to type in a terminal.
    commands: Vec<String>,
}

/// A call of an agent that waits for a yes.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CallWaits {
    /// Names it, for as long as the daemon runs.
    id: String,
    /// The piece of work.
    trace: String,
    /// The tool.
    tool: String,
    /// Why it is asked.
    why: String,
    /// What would be done, completely.
    what: String,
    /// The hash of that; an answer names it.
    hash: String,
}

/// Everything that needs a person.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Waiting {
    /// Questions first, each sort in the order in which it came.
    rows: Vec<WaitRow>,
    /// Calls that wait for a yes, the oldest first; none for the role `user`.
    calls: Vec<CallWaits>,
}

/// Whether a call may be done.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum YesNo {
    /// It is done, this once.
    Yes,
    /// It is not.
    No,
}

/// An answer to a call.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallAnswer {
    /// The hash of what was seen.
    hash: String,
    /// Whether it may be done.
    answer: YesNo,
    /// Why not; the agent is told.
    reason: Option<String>,
}

/// What was answered.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CallAnswered {
    /// Which call.
    id: String,
    /// The piece of work.
    trace: String,
}

/// Lists what needs a person.
#[utoipa::path(get, path = "/api/v1/waiting", tag = "waiting", operation_id = "listWaiting",
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Waiting), (status = "4XX", body = Troubled)))]
pub(super) async fn list(by: As<User>) -> Answer<Waiting> {
    let desk = Arc::clone(&by.desk);
    let rows = by.does(move |_| {
        let waits = desk
            .glance(|board, drivers| board.waiting(drivers))?
            .into_iter();
        let rows: Result<Vec<WaitRow>, _> = waits.map(shaped).collect();
        Ok(rows?)
    });
    let rows = rows.await?;
    let calls = match by.who.pass.role >= Viewer::Developer {
        true => by.desk.asks.list(),
        false => Vec::new(),
    };
    let calls = calls.into_iter().map(|ask| CallWaits {
        id: ask.id,
        trace: ask.trace.to_string(),
        tool: ask.tool,
        why: ask.why,
        what: ask.what,
        hash: ask.hash,
    });
    Ok(Json(Waiting {
        rows,
        calls: calls.collect(),
    }))
}

/// Answers a call that waits for a yes.
#[utoipa::path(post, path = "/api/v1/waiting/calls/{id}", tag = "waiting",
    operation_id = "answerCall", request_body = CallAnswer,
    params(("id" = String, Path, description = "The call")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = CallAnswered), (status = "4XX", body = Troubled)))]
pub(super) async fn answer(
    by: As<Developer>,
    At(id): At<String>,
    Told(told): Told<CallAnswer>,
) -> Answer<CallAnswered> {
    let reply = match told.answer {
        YesNo::Yes => Reply::Yes { grants: Vec::new() },
        YesNo::No => Reply::No {
            reason: told.reason.unwrap_or_else(|| "a person said no".to_owned()),
        },
    };
    let said = reply.by(by.who.workshop(&by.desk)?.caller().actor());
    let ask = by.desk.asks.answer(&id, &told.hash, said)?;
    Ok(Json(CallAnswered {
        id: ask.id,
        trace: ask.trace.to_string(),
    }))
}
