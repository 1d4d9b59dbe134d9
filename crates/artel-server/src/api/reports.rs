//! Reports: the record of plans that were carried out, written for people.

use std::sync::Arc;

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Told;
use super::page::{PageWanted, Rows, page};
use super::refusal::Troubled;
use super::runs::steer::Nothing;
use super::seat::{Answer, As, Asked, At, Developer, User, shaped};

/// A report in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ReportListed {
    /// The report's id: the trace, shortened.
    id: String,
    /// Trace of the work.
    trace: String,
    /// The run it describes.
    run: String,
    /// When it was first written, as RFC 3339.
    at: String,
    /// One-line title of what was done.
    title: String,
    /// `completed` or `failed`.
    status: String,
    /// Its file, relative to the workshop.
    path: String,
}

/// A report with its text.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ReportSeen {
    #[serde(flatten)]
    row: ReportListed,
    /// The text, as Markdown.
    text: String,
}

/// Lists reports, newest first.
#[utoipa::path(get, path = "/api/v1/reports", tag = "reports", operation_id = "listReports",
    params(PageWanted), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Rows<ReportListed>), (status = "4XX", body = Troubled)))]
pub(super) async fn list(
    by: As<User>,
    Asked(wanted): Asked<PageWanted>,
) -> Answer<Rows<ReportListed>> {
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |_| {
        let rows = desk.glance(|board, _| board.reports())?;
        let cut = (wanted.limit, wanted.before.as_deref());
        let rows = page(rows, cut, |it| it.run.to_string())?;
        Ok(rows.each(shaped)?)
    });
    done.await.map(Json)
}

/// Shows a report.
#[utoipa::path(get, path = "/api/v1/reports/{id}", tag = "reports", operation_id = "showReport",
    params(("id" = String, Path, description = "The id of its request or run, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ReportSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn show(by: As<User>, At(id): At<String>) -> Answer<ReportSeen> {
    let done = by.does(move |workshop| Ok(shaped(workshop.report(&id)?)?));
    done.await.map(Json)
}

/// Writes a report again from the journal.
#[utoipa::path(post, path = "/api/v1/reports/{id}/rebuild", tag = "reports",
    operation_id = "rebuildReport", request_body = Nothing,
    params(("id" = String, Path, description = "The id of its request or run, or how it begins")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ReportSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn rebuild(
    by: As<Developer>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<ReportSeen> {
    let done = by.does(move |workshop| Ok(shaped(workshop.rebuild_report(&id)?)?));
    done.await.map(Json)
}
