//! Reports: the record of plans that were carried out, written for people.

use std::sync::Arc;

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ApiJsonBody;
use super::page::{ApiPageQuery, ApiPageReply, page};
use super::refusal::ApiErrorReply;
use super::runs::steer::EmptyBody;
use super::seat::{
    ApiPathParams, ApiQueryParams, ApiResult, AuthorizedCaller, Developer, User, shaped,
};

/// A report in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ReportListReplyRow {
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
pub(super) struct ReportDetailsReply {
    #[serde(flatten)]
    row: ReportListReplyRow,
    /// The text, as Markdown.
    text: String,
}

/// Lists reports, newest first.
#[utoipa::path(get, path = "/api/v1/reports", tag = "reports", operation_id = "listReports",
    params(ApiPageQuery), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ApiPageReply<ReportListReplyRow>), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<User>,
    ApiQueryParams(wanted): ApiQueryParams<ApiPageQuery>,
) -> ApiResult<ApiPageReply<ReportListReplyRow>> {
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
    responses((status = 200, body = ReportDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
) -> ApiResult<ReportDetailsReply> {
    let done = by.does(move |workshop| Ok(shaped(workshop.report(&id)?)?));
    done.await.map(Json)
}

/// Writes a report again from the journal.
#[utoipa::path(post, path = "/api/v1/reports/{id}/rebuild", tag = "reports",
    operation_id = "rebuildReport", request_body = EmptyBody,
    params(("id" = String, Path, description = "The id of its request or run, or how it begins")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ReportDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn rebuild(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<ReportDetailsReply> {
    let done = by.does(move |workshop| Ok(shaped(workshop.rebuild_report(&id)?)?));
    done.await.map(Json)
}
