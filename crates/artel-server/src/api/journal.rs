//! The journal as a whole: verifying and exporting it.

use std::sync::Arc;

use artel_journal::{EventFilter, EventQuery};
use artel_types::{Failure, FailureCode, Timestamp};
use artel_workshop::{RunVisibility, seen};
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::{BoxError, Json};
use futures_util::stream::unfold;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::ApiErrorReply;
use super::runs::steer::EmptyBody;
use super::seat::{ApiQueryParams, ApiResult, AuthorizedCaller, Developer, shaped};
use super::{ApiError, ApiJsonBody};
use crate::desk::ServerState;

/// Number of events that are read at once.
const PAGE: u64 = 500;

/// The first event that fails verification.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct VerifyJournalReplyEvent {
    /// The event's number.
    seq: u64,
    /// A description of the defect.
    what: String,
}

/// The result of verifying the journal.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct VerifyJournalReply {
    /// Whether everything is intact.
    ok: bool,
    /// Number of intact events before the first bad one.
    events: u64,
    /// Number of signatures that were checked.
    signatures: u64,
    /// The first event that fails verification.
    first_bad: Option<VerifyJournalReplyEvent>,
    /// The address of a stored value that is missing or changed, if that is what failed.
    bad_value: Option<String>,
}

/// Query parameters for exporting the journal. An event must match all of them.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportJournalQuery {
    /// Start of the kind.
    kind: Option<String>,
    /// Start of the trace.
    trace: Option<String>,
    /// Start of the run's id.
    run: Option<String>,
    /// `human:ada@example.org`, only the id, or only the kind of actor.
    actor: Option<String>,
    /// Start of the session's id.
    session: Option<String>,
    /// Full name of the stream.
    stream: Option<String>,
    /// A pattern for the target: `*` any text, `?` one character, `[a-z]`.
    target: Option<String>,
    /// The outcome.
    outcome: Option<String>,
    /// Only events after this number.
    #[param(format = "uint64")]
    after: Option<u64>,
    /// Only events since this time, or since a duration ago such as `2h`.
    since: Option<String>,
    /// Only events before this time.
    until: Option<String>,
}

/// Verifies that nothing in the journal was changed, or names the first event that was.
#[utoipa::path(post, path = "/api/v1/journal/verify", tag = "journal",
    operation_id = "verifyJournal", request_body = EmptyBody,
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = VerifyJournalReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn verify(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<VerifyJournalReply> {
    let done = by.does(|workshop| Ok(shaped(workshop.verify()?)?));
    done.await.map(Json)
}

/// Exports events as JSON lines, one event per line.
#[utoipa::path(get, path = "/api/v1/journal/export", tag = "journal",
    operation_id = "exportJournal", params(ExportJournalQuery), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = String, content_type = "application/jsonl"),
        (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn export(
    by: AuthorizedCaller<Developer>,
    ApiQueryParams(wanted): ApiQueryParams<ExportJournalQuery>,
) -> Result<Response, ApiError> {
    let eyes = by.eyes(Some("full"))?;
    let now = by.desk.workshop().caller().clock().now();
    let moment = |text: Option<String>| given(text).map(|it| moment(&it, now)).transpose();
    let filter = EventFilter {
        kind: given(wanted.kind),
        trace: given(wanted.trace).map(|text| text.to_ascii_lowercase()),
        run: given(wanted.run),
        actor: given(wanted.actor),
        since: moment(wanted.since)?,
        until: moment(wanted.until)?,
        session: given(wanted.session),
        stream: given(wanted.stream),
        target: given(wanted.target),
        outcome: given(wanted.outcome),
    };
    let reading = JournalExportReader {
        desk: Arc::clone(&by.desk),
        eyes,
        filter,
        after: Some(wanted.after.unwrap_or(0)),
    };
    // Read page by page, so that a slow reader ties up neither memory nor the journal.
    let pages = unfold(reading, async |mut reading| {
        let lines = reading.next().await?;
        Some((lines, reading))
    });
    let kind = [
        (header::CONTENT_TYPE, "application/jsonl"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"journal.jsonl\"",
        ),
    ];
    Ok((kind, Body::from_stream(pages)).into_response())
}

/// Returns the trimmed text, or `None` if it is empty: forms send fields that were left
/// empty.
fn given(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

/// Parses a time, or a duration back from now.
pub(crate) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    Timestamp::parse_back_from(text, now).map_err(|error| {
        Failure::new(FailureCode::C004, "that is no moment")
            .because(error.to_string())
            .advise("write `2026-11-15T22:00:00Z`, or a span back from now such as `2h`")
    })
}

struct JournalExportReader {
    desk: Arc<ServerState>,
    eyes: RunVisibility,
    filter: EventFilter,
    /// The number of the last event read; `None` at the end.
    after: Option<u64>,
}

/// A page of the journal as JSON lines, with the number of its last event. The number is `None`
/// at the end of the journal.
type Page = (Bytes, Option<u64>);

impl JournalExportReader {
    /// Returns the next page as JSON lines.
    ///
    /// A read error aborts the response, so that nobody mistakes a part of the journal for
    /// the whole.
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        let after = self.after?;
        let (desk, eyes, filter) = (
            Arc::clone(&self.desk),
            self.eyes.clone(),
            self.filter.clone(),
        );
        let read = move || -> Result<Page, BoxError> {
            let asked = EventQuery::of(filter).after(after).limit(PAGE);
            let records = desk.reader().records(&asked)?;
            let next = records.last().map(|record| record.seq);
            let shown = records.iter().filter_map(|record| seen(&eyes, record));
            let lines = shown.map(|record| Ok(serde_json::to_string(&record)? + "\n"));
            let text = lines.collect::<Result<String, serde_json::Error>>()?;
            Ok((Bytes::from(text), next))
        };
        let read = whole(read).await;
        self.after = read.as_ref().map_or(None, |(_, next)| *next);
        match read {
            Ok((_, None)) => None,
            Ok((lines, Some(_))) => Some(Ok(lines)),
            Err(error) => Some(Err(error)),
        }
    }
}

/// Reads on a thread that may block. A panic there is returned as an error, so that it does not
/// look like the end of the journal.
async fn whole<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, BoxError> + Send + 'static,
) -> Result<T, BoxError> {
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read,
        Err(stopped) => Err(stopped.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_while_a_page_is_read_is_no_end_of_the_journal() {
        let read = whole(|| -> Result<Page, BoxError> { panic!("the disk is gone") }).await;
        assert!(read.unwrap_err().to_string().contains("panic"));
        let read = whole(|| Ok((Bytes::new(), None::<u64>))).await;
        assert_eq!(read.unwrap().1, None);
    }
}
