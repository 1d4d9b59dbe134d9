//! The pages about reports: what was done and why, for people.

use std::sync::Arc;

use artel_types::Failure;
use artel_workshop::ReportRow;
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::frame::{Frame, Named, Site, Sought, show};
use super::older::{Wanted, part};
use super::prose::{Prose, prose};
use super::words::{self, When};
use crate::desk::Desk;
use crate::door::Who;

/// The page that lists all reports.
#[derive(Template)]
#[template(path = "reports.html")]
pub(super) struct Reports {
    pub(super) frame: Frame,
    pub(super) rows: Vec<Row>,
    pub(super) total: usize,
    /// Where the next page begins.
    pub(super) next: Option<String>,
}

/// A report in the list.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) href: String,
    pub(super) title: String,
    pub(super) state: words::State,
    pub(super) at: When,
}

#[derive(Template)]
#[template(path = "report.html")]
pub(super) struct ReportPage {
    pub(super) frame: Frame,
    pub(super) row: Row,
    pub(super) id: String,
    pub(super) run: String,
    pub(super) path: String,
    pub(super) text: Prose,
}

/// Shows the list of reports.
pub(super) async fn page(
    State(desk): State<Arc<Desk>>,
    who: Who,
    Sought(wanted): Sought<Wanted>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, &wanted))).await
}

fn gather(site: &Site, wanted: &Wanted) -> Reports {
    let all = site.desk.board().reports();
    let part = part(all, wanted, |it| it.run.to_string());
    Reports {
        frame: site.frame("reports", "Reports"),
        rows: part.rows.iter().map(row).collect(),
        total: part.total,
        next: part.next,
    }
}

/// Shows the page of one report.
pub(super) async fn one(State(desk): State<Arc<Desk>>, who: Who, Named(id): Named) -> Response {
    show(desk, who, move |site| Ok(gather_one(site, &id)?)).await
}

fn gather_one(site: &Site, id: &str) -> Result<ReportPage, Failure> {
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

fn row(it: &ReportRow) -> Row {
    Row {
        href: format!("/reports/{}", it.run),
        title: it.title.clone(),
        state: match it.status.as_str() {
            "completed" => words::state("completed"),
            _ => words::state("failed"),
        },
        at: words::when(it.at),
    }
}
