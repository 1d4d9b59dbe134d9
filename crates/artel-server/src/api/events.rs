//! Events: a page of the journal, or the journal as it grows.

mod follow;
mod wanted;

use std::sync::Arc;

use artel_journal::Query as Asked;
use artel_types::Failure;
use artel_workshop::seen;
use axum::Json;
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use self::wanted::Wanted;
use super::refusal::Troubled;
use super::seat::{As, Developer, Made, made};
use super::{Refusal, Told};
use crate::connections::Connection;
use crate::desk::Desk;
use crate::door::Who;

/// A page of events.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EventPage {
    /// The events, as far as they are the asker's to see.
    events: Vec<Value>,
    /// Ask for what comes after this to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// Returns events; with `Accept: text/event-stream` they go on to come as they happen.
#[utoipa::path(get, path = "/api/v1/events", tag = "events", params(Wanted), operation_id = "listEvents",
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = EventPage), (status = "4XX", body = Troubled)))]
pub(super) async fn list(
    State(desk): State<Arc<Desk>>,
    who: Who,
    connection: Option<Extension<Connection>>,
    headers: HeaderMap,
    wanted: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(wanted) = wanted.map_err(|rejection| wanted::unreadable(&rejection))?;
    let is_live = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    if is_live.is_some_and(|accepted| accepted.contains("text/event-stream")) {
        let after = headers.get("last-event-id").and_then(|it| it.to_str().ok());
        let after = after.map(str::to_owned);
        return follow::follow(
            desk,
            &who,
            connection.map(|it| it.0),
            &wanted,
            after.as_deref(),
        );
    }
    let page = page(&desk, &who, &wanted)?;
    Ok(Json(page).into_response())
}

fn page(desk: &Desk, who: &Who, wanted: &Wanted) -> Result<EventPage, Failure> {
    let eyes = wanted.eyes(desk, who)?;
    let limit = wanted.limit();
    let now = desk.workshop().caller().clock().now();
    let mut asked = Asked::of(wanted.filter(now)?)
        .after(wanted.after())
        .limit(limit);
    if wanted.is_newest_first() {
        asked = asked.newest_first();
    }
    let records = desk.reader().records(&asked)?;
    let is_full = records.len() as u64 == limit && !wanted.is_newest_first();
    let next = records.last().map(|record| record.seq).filter(|_| is_full);
    let shown = records.iter().filter_map(|record| seen(&eyes, record));
    let events = shown.filter_map(|record| serde_json::to_value(record).ok());
    Ok(EventPage {
        events: events.collect(),
        next,
    })
}

/// Something to be put on record.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewNote {
    /// The words.
    text: String,
    /// The piece of work it is about, or how its id begins.
    trace: Option<String>,
}

/// Something that is on record.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct NoteKept {
    /// The event.
    seq: u64,
    /// The trace it belongs to.
    trace: String,
}

/// Puts a note on record.
#[utoipa::path(post, path = "/api/v1/events", tag = "events", operation_id = "addNote",
    request_body = NewNote, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = NoteKept), (status = "4XX", body = Troubled)))]
pub(super) async fn note(by: As<Developer>, Told(new): Told<NewNote>) -> Made<NoteKept> {
    let done = by.does(move |workshop| Ok(workshop.add_note(&new.text, new.trace.as_deref())?));
    let (seq, trace) = by.told(done.await?);
    Ok(made(NoteKept { seq, trace }))
}
