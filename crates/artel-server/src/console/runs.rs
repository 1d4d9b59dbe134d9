//! All runs, with filters.

use std::sync::Arc;

use artel_types::Failure;
use artel_workshop::{RunRow, Which};
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

use super::frame::{Frame, Site, show};
use super::now::{Listed, listed};
use crate::desk::Desk;
use crate::door::Who;

/// So many stand on a page.
const MOST: usize = 100;

/// The page.
#[derive(Template)]
#[template(path = "runs.html")]
pub(super) struct Runs {
    pub(super) frame: Frame,
    pub(super) runs: Listed,
    pub(super) wanted: Wanted,
    pub(super) states: &'static [&'static str],
    pub(super) total: usize,
    /// From where the next page goes on.
    pub(super) next: Option<usize>,
}

/// Which runs are wanted.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    pub(super) state: String,
    #[serde(default)]
    pub(super) text: String,
    /// `on` for those that runs called, too.
    #[serde(default)]
    pub(super) all: String,
    #[serde(default)]
    pub(super) skip: usize,
}

/// Shows the page.
pub(super) async fn page(
    State(desk): State<Arc<Desk>>,
    who: Who,
    Query(wanted): Query<Wanted>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, wanted)?)).await
}

fn gather(site: &Site, wanted: Wanted) -> Result<Runs, Failure> {
    let text = wanted.text.to_lowercase();
    let fits = |row: &RunRow| {
        (wanted.all == "on" || row.parent.is_none())
            && (wanted.state.is_empty() || row.state.words() == wanted.state)
            && (text.is_empty() || row.title.to_lowercase().contains(&text))
    };
    let rows: Vec<RunRow> = site.workshop.runs(Which::All)?;
    let rows: Vec<&RunRow> = rows.iter().filter(|row| fits(row)).collect();
    let next = wanted.skip.saturating_add(MOST);
    let shown = rows.iter().skip(wanted.skip).take(MOST);
    Ok(Runs {
        frame: site.frame("runs", "Runs"),
        runs: Listed {
            caption: "Runs, the latest first",
            rows: shown.map(|row| listed(row)).collect(),
        },
        total: rows.len(),
        next: (rows.len() > next).then_some(next),
        wanted,
        states: &[
            "running",
            "paused",
            "waiting for you",
            "left",
            "complete",
            "partial",
            "failed",
            "cancelled",
        ],
    })
}
