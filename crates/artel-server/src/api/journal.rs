//! The journal as a whole: proving it, and taking it elsewhere.

use std::sync::Arc;

use artel_journal::{Filter, JournalError, Query};
use artel_types::{Code, Failure, Timestamp};
use artel_workshop::{Eyes, seen};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::Troubled;
use super::runs::steer::Nothing;
use super::seat::{Answer, As, Asked, Developer, shaped};
use super::{Refusal, Told};
use crate::desk::Desk;

/// How many events are read at once.
const PAGE: u64 = 500;

/// The first event that does not fit.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct BadEvent {
    /// Its number.
    seq: u64,
    /// What is wrong with it.
    what: String,
}

/// Whether anything was changed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct JournalVerified {
    /// Whether everything fits.
    ok: bool,
    /// How many events fit before the first that does not.
    events: u64,
    /// How many signatures were checked.
    signatures: u64,
    /// The first event that does not fit.
    first_bad: Option<BadEvent>,
    /// The address of the stored value that is gone or changed, if that is what is wrong.
    bad_value: Option<String>,
}

/// Which events are wanted. Everything that is named must hold.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// How the kind begins.
    kind: Option<String>,
    /// How the trace begins.
    trace: Option<String>,
    /// How the run begins.
    run: Option<String>,
    /// `human:ada@example.org`, only the id, or only the sort.
    actor: Option<String>,
    /// How the session begins.
    session: Option<String>,
    /// The stream's whole name.
    stream: Option<String>,
    /// A pattern for the target: `*` any text, `?` one character, `[a-z]`.
    target: Option<String>,
    /// The outcome's word.
    outcome: Option<String>,
    /// Only events after this number.
    #[param(format = "uint64")]
    after: Option<u64>,
    /// Only events since a moment, or since a span ago such as `2h`.
    since: Option<String>,
    /// Only events before a moment.
    until: Option<String>,
}

/// Proves that nothing was changed, or names the first event that was.
#[utoipa::path(post, path = "/api/v1/journal/verify", tag = "journal",
    operation_id = "verifyJournal", request_body = Nothing,
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = JournalVerified), (status = "4XX", body = Troubled)))]
pub(super) async fn verify(
    by: As<Developer>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<JournalVerified> {
    let done = by.does(|workshop| Ok(shaped(workshop.verify()?)?));
    done.await.map(Json)
}

/// Writes events as JSON lines, an event each.
#[utoipa::path(get, path = "/api/v1/journal/export", tag = "journal",
    operation_id = "exportJournal", params(Wanted), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = String, content_type = "application/jsonl"),
        (status = "4XX", body = Troubled)))]
pub(super) async fn export(
    by: As<Developer>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, Refusal> {
    let eyes = by.eyes(Some("full"))?;
    let now = by.desk.workshop().caller().clock().now();
    let moment = |text: Option<String>| given(text).map(|it| moment(&it, now)).transpose();
    let filter = Filter {
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
    let reading = Reading {
        desk: Arc::clone(&by.desk),
        eyes,
        filter,
        after: Some(wanted.after.unwrap_or(0)),
    };
    // Page by page, so that a slow reader holds neither memory nor the journal.
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

/// A field of a form that was left empty says nothing.
fn given(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

/// Reads a moment, or a span back from now.
pub(crate) fn moment(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    Timestamp::parse_back_from(text, now).map_err(|error| {
        Failure::new(Code::C004, "that is no moment")
            .because(error.to_string())
            .advise("write `2026-11-15T22:00:00Z`, or a span back from now such as `2h`")
    })
}

struct Reading {
    desk: Arc<Desk>,
    eyes: Eyes,
    filter: Filter,
    /// Where to go on; nothing at the end.
    after: Option<u64>,
}

impl Reading {
    /// Returns the next page as lines. What cannot be read breaks the answer off, so that nobody
    /// takes a part for the whole.
    async fn next(&mut self) -> Option<Result<Bytes, JournalError>> {
        let after = self.after?;
        let (desk, eyes, filter) = (
            Arc::clone(&self.desk),
            self.eyes.clone(),
            self.filter.clone(),
        );
        let read = tokio::task::spawn_blocking(move || {
            let asked = Query::of(filter).after(after).limit(PAGE);
            let records = desk.reader().records(&asked)?;
            let next = records.last().map(|record| record.seq);
            let shown = records.iter().filter_map(|record| seen(&eyes, record));
            let lines = shown.filter_map(|record| serde_json::to_string(&record).ok());
            let text: String = lines.map(|line| line + "\n").collect();
            Ok((Bytes::from(text), next))
        });
        match read.await.ok()? {
            Ok((_, None)) => {
                self.after = None;
                None
            }
            Ok((lines, next)) => {
                self.after = next;
                Some(Ok(lines))
            }
            Err(error) => {
                self.after = None;
                Some(Err(error))
            }
        }
    }
}
