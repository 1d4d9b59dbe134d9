//! The pages about reports: what was done and why, for people.

use std::sync::Arc;

use artel_types::Failure;
use artel_workshop::ReportRow;
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::frame::{PageContext, PageFrame, PagePathParams, PageQueryParams, show};
use super::older::{ConsoleListQuery, part};
use super::prose::{ProseView, prose};
use super::words::{self, TimeLabel};
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// The page that lists all reports.
#[derive(Template)]
#[template(path = "reports.html")]
pub(super) struct ReportsPage {
    pub(super) frame: PageFrame,
    pub(super) rows: Vec<ReportsPageRow>,
    pub(super) total: usize,
    /// Where the next page begins.
    pub(super) next: Option<String>,
}

/// A report in the list.
#[derive(Debug, Clone)]
pub(super) struct ReportsPageRow {
    pub(super) href: String,
    pub(super) title: String,
    pub(super) state: words::StateLabel,
    pub(super) at: TimeLabel,
}

#[derive(Template)]
#[template(path = "report.html")]
pub(super) struct ReportPage {
    pub(super) frame: PageFrame,
    pub(super) row: ReportsPageRow,
    pub(super) id: String,
    pub(super) run: String,
    pub(super) path: String,
    pub(super) text: ProseView,
}

/// Shows the list of reports.
pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PageQueryParams(wanted): PageQueryParams<ConsoleListQuery>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, &wanted))).await
}

fn gather(site: &PageContext, wanted: &ConsoleListQuery) -> ReportsPage {
    let all = site.desk.board().reports();
    let part = part(all, wanted, |it| it.run.to_string());
    ReportsPage {
        frame: site.frame("reports", "Reports"),
        rows: part.rows.iter().map(row).collect(),
        total: part.total,
        next: part.next,
    }
}

/// Shows the page of one report.
pub(super) async fn one(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PagePathParams(id): PagePathParams,
) -> Response {
    show(desk, who, move |site| Ok(gather_one(site, &id)?)).await
}

fn gather_one(site: &PageContext, id: &str) -> Result<ReportPage, Failure> {
    let shown = site.workshop.report(id)?;
    Ok(ReportPage {
        frame: site.frame("reports", format!("Report: {}", shown.row.title)),
        row: row(&shown.row),
        id: shown.row.id,
        run: shown.row.run.to_string(),
        path: shown.row.path,
        text: prose(&shown.text),
    })
}

fn row(it: &ReportRow) -> ReportsPageRow {
    ReportsPageRow {
        href: format!("/reports/{}", it.run),
        title: it.title.clone(),
        state: match it.status.as_str() {
            "completed" => words::state("completed"),
            _ => words::state("failed"),
        },
        at: words::when(it.at),
    }
}
