//! Events: a page of the journal, or the journal as it grows.

mod follow;
mod wanted;

use std::sync::Arc;

use artel_journal::Query as Asked;
use artel_types::{Code, Failure};
use artel_workshop::seen;
use axum::Json;
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
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

/// Who did something.
#[derive(Debug, ToSchema)]
#[expect(
    dead_code,
    reason = "the journal writes it; this says what it looks like"
)]
pub(super) struct EventActor {
    /// human, agent, system or program.
    kind: String,
    /// Which one.
    id: String,
    /// Through which surface, where a person did it.
    via: Option<String>,
}

/// An event, as it stands in the journal.
#[derive(Debug, ToSchema)]
#[schema(as = Event)]
#[expect(
    dead_code,
    reason = "the journal writes it; this says what it looks like"
)]
pub(super) struct EventSeen {
    /// Its place among all events, from 1.
    seq: u64,
    /// The line of events it belongs to.
    stream: String,
    /// Its place in that line, from 1.
    stream_seq: u64,
    /// When it was recorded, as RFC 3339.
    at: String,
    /// The piece of work it belongs to.
    trace: String,
    /// The session, if any.
    session: Option<String>,
    /// The run, if any.
    run: Option<String>,
    /// The event that led to this one.
    cause: Option<u64>,
    /// Who did it.
    actor: EventActor,
    /// The dotted kind.
    kind: String,
    /// What it was done to.
    target: Option<String>,
    /// How it ended.
    outcome: Option<String>,
    /// Who is shown it: summary, full or hidden.
    visibility: String,
    /// The schema of the payload.
    schema: u32,
    /// What happened, in the form of its kind; what is not the asker's to see is taken out.
    payload: Value,
    /// The hash of the event before, in hex.
    prev: String,
    /// The hash of this event, in hex.
    hash: String,
}

/// Live events as text: for each a message with the event's number as `id`, `record` as `event`, and
/// the event (`Event`) as JSON in one line of `data`. Lines that begin with a colon say that the
/// stream lives.
#[derive(Debug, ToSchema)]
#[schema(value_type = String, example = json!("id: 7\nevent: record\ndata: {\"seq\":7,…}\n\n"))]
#[expect(
    dead_code,
    reason = "a stream is written piece by piece; this says what it looks like"
)]
pub(super) struct LiveEvents(String);

/// A page of events.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EventPage {
    /// The events, as far as they are the asker's to see.
    #[schema(value_type = Vec<EventSeen>)]
    events: Vec<Value>,
    /// Ask for what comes `after` this to go on, or with `order=desc` for what comes `before` it;
    /// absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// Returns events; with `Accept: text/event-stream` they go on to come as they happen: first what
/// there is after `Last-Event-ID` or `after`, or from now on where neither is said.
#[utoipa::path(get, path = "/api/v1/events", tag = "events", operation_id = "listEvents",
    params(Wanted,
        ("Last-Event-ID" = Option<u64>, Header, format = "uint64",
            description = "For live events: the last one that was seen; what came since is told first")),
    extensions(("x-role" = json!("user"))),
    responses(
        (status = 200, description = "Events", content(
            (EventPage = "application/json"),
            (LiveEvents = "text/event-stream"))),
        (status = "4XX", body = Troubled)))]
pub(super) async fn list(
    State(desk): State<Arc<Desk>>,
    who: Who,
    connection: Option<Extension<Connection>>,
    headers: HeaderMap,
    wanted: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(wanted) = wanted.map_err(|rejection| wanted::unreadable(&rejection))?;
    let last = headers.get("last-event-id").map(number).transpose()?;
    let is_live = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    if is_live.is_some_and(|accepted| accepted.contains("text/event-stream")) {
        return follow::follow(desk, &who, connection.map(|it| it.0), &wanted, last);
    }
    let page = page(&desk, &who, &wanted)?;
    Ok(Json(page).into_response())
}

/// Reads the number of an event; what is none is refused, also where nothing comes of it.
fn number(value: &HeaderValue) -> Result<u64, Failure> {
    let text = value.to_str().unwrap_or_default();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let read = text.parse().ok().filter(|_| is_plain);
    read.ok_or_else(|| Failure::new(Code::C004, "`Last-Event-ID` is no number"))
}

fn page(desk: &Desk, who: &Who, wanted: &Wanted) -> Result<EventPage, Failure> {
    let eyes = wanted.eyes(desk, who)?;
    let limit = wanted.limit();
    let now = desk.workshop().caller().clock().now();
    let mut asked = Asked::of(wanted.filter(now)?)
        .after(wanted.after())
        .limit(limit);
    asked.before = wanted.before;
    if wanted.is_newest_first() {
        asked = asked.newest_first();
    }
    let records = desk.reader().records(&asked)?;
    let is_full = records.len() as u64 == limit;
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
