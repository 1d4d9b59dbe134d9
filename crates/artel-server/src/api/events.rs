//! Events: a page of the journal, or a stream of new ones.

mod follow;
mod wanted;

use std::sync::Arc;

use artel_journal::EventQuery as Asked;
use artel_types::{Failure, FailureCode};
use artel_workshop::seen;
use axum::Json;
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use self::wanted::EventListQuery;
use super::refusal::ApiErrorReply;
use super::seat::{ApiCreatedResult, AuthorizedCaller, Developer, made};
use super::{ApiError, ApiJsonBody};
use crate::connections::ConnectionHandle;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// The actor of an event.
#[derive(Debug, ToSchema)]
#[expect(
    dead_code,
    reason = "the journal writes it; this says what it looks like"
)]
pub(super) struct JournalEventReplyActor {
    /// `human`, `agent`, `system` or `program`.
    kind: String,
    /// The actor's id.
    id: String,
    /// The surface through which a person acted.
    via: Option<String>,
}

/// An event, as it is recorded in the journal.
#[derive(Debug, ToSchema)]
#[schema(as = Event)]
#[expect(
    dead_code,
    reason = "the journal writes it; this says what it looks like"
)]
pub(super) struct JournalEventReply {
    /// Its number among all events, from 1.
    seq: u64,
    /// The stream it belongs to.
    stream: String,
    /// Its number in that stream, from 1.
    stream_seq: u64,
    /// When it was recorded, as RFC 3339.
    at: String,
    /// Trace of the work it belongs to.
    trace: String,
    /// The session, if any.
    session: Option<String>,
    /// The run, if any.
    run: Option<String>,
    /// The number of the event that caused this one.
    cause: Option<u64>,
    /// The actor.
    actor: JournalEventReplyActor,
    /// The kind, as dotted words.
    kind: String,
    /// The target of the action.
    target: Option<String>,
    /// The outcome.
    outcome: Option<String>,
    /// Who may see it: `summary`, `full` or `hidden`.
    visibility: String,
    /// The schema version of the payload.
    schema: u32,
    /// The content, whose form depends on the kind. Parts that the caller may not see are
    /// removed.
    payload: Value,
    /// The hash of the previous event, in hex.
    prev: String,
    /// The hash of this event, in hex.
    hash: String,
}

/// Live events as text. Each event is a message with its number as `id`, `record` as
/// `event`, and the event (`Event`) as one line of JSON in `data`. Lines that begin with a
/// colon are keep-alives.
#[derive(Debug, ToSchema)]
#[schema(value_type = String, example = json!("id: 7\nevent: record\ndata: {\"seq\":7,…}\n\n"))]
#[expect(
    dead_code,
    reason = "a stream is written piece by piece; this says what it looks like"
)]
pub(super) struct LiveEventsReply(String);

/// A page of events.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EventListReply {
    /// The events that the caller may see.
    #[schema(value_type = Vec<JournalEventReply>)]
    events: Vec<Value>,
    /// To continue, pass this as `after`, or as `before` with `order=desc`; absent on the
    /// last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// Returns events; with `Accept: text/event-stream`, keeps sending new ones as they happen.
///
/// A live stream begins with the events after `Last-Event-ID` or `after`. If neither is
/// given, it contains only events from now on.
#[utoipa::path(get, path = "/api/v1/events", tag = "events", operation_id = "listEvents",
    params(EventListQuery,
        ("Last-Event-ID" = Option<u64>, Header, format = "uint64",
            description = "For live events: the last one that was seen; what came since is told first")),
    extensions(("x-role" = json!("user"))),
    responses(
        (status = 200, description = "Events", content(
            (EventListReply = "application/json"),
            (LiveEventsReply = "text/event-stream"))),
        (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    connection: Option<Extension<ConnectionHandle>>,
    headers: HeaderMap,
    wanted: Result<Query<EventListQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(wanted) = wanted.map_err(|rejection| wanted::unreadable(&rejection))?;
    let last = headers.get("last-event-id").map(number).transpose()?;
    let is_live = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    if is_live.is_some_and(|accepted| accepted.contains("text/event-stream")) {
        return follow::follow(desk, &who, connection.map(|it| it.0), &wanted, last);
    }
    let page = page(&desk, &who, &wanted)?;
    Ok(Json(page).into_response())
}

/// Parses the number of an event. Text that is not a number is refused, even if the number
/// is not needed.
fn number(value: &HeaderValue) -> Result<u64, Failure> {
    let text = value.to_str().unwrap_or_default();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let read = text.parse().ok().filter(|_| is_plain);
    read.ok_or_else(|| Failure::new(FailureCode::C004, "`Last-Event-ID` is no number"))
}

fn page(
    desk: &ServerState,
    who: &AuthenticatedCaller,
    wanted: &EventListQuery,
) -> Result<EventListReply, Failure> {
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
    Ok(EventListReply {
        events: events.collect(),
        next,
    })
}

/// A note for the journal.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddNoteBody {
    /// The text.
    text: String,
    /// The trace of the work it is about, or the start of it.
    trace: Option<String>,
}

/// A recorded note.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AddNoteReply {
    /// The number of its event.
    seq: u64,
    /// The trace it belongs to.
    trace: String,
}

/// Records a note.
#[utoipa::path(post, path = "/api/v1/events", tag = "events", operation_id = "addNote",
    request_body = AddNoteBody, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = AddNoteReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn note(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(new): ApiJsonBody<AddNoteBody>,
) -> ApiCreatedResult<AddNoteReply> {
    let done = by.does(move |workshop| Ok(workshop.add_note(&new.text, new.trace.as_deref())?));
    let (seq, trace) = by.told(done.await?);
    Ok(made(AddNoteReply { seq, trace }))
}
