//! The page that lists all runs, with filters.

use std::sync::Arc;

use artel_workshop::{ChildRunFilter, RunIndexQuery, RunStatus};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::frame::{PageContext, PageFrame, PageQueryParams, show};
use super::now::{RunTable, asking, listed};
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// Number of rows on a page.
const MOST: usize = 100;

/// The states that can be filtered by.
const STATES: [RunStatus; 8] = [
    RunStatus::Running,
    RunStatus::Paused,
    RunStatus::Waiting,
    RunStatus::Left,
    RunStatus::Complete,
    RunStatus::Partial,
    RunStatus::Failed,
    RunStatus::Cancelled,
];

#[derive(Template)]
#[template(path = "runs.html")]
pub(super) struct RunsPage {
    pub(super) frame: PageFrame,
    pub(super) runs: RunTable,
    pub(super) wanted: RunsPageQuery,
    pub(super) states: Vec<&'static str>,
    pub(super) total: u64,
    /// Where the next page begins.
    pub(super) next: Option<u64>,
}

/// Query parameters: filters and position.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RunsPageQuery {
    #[serde(default)]
    pub(super) state: String,
    #[serde(default)]
    pub(super) text: String,
    /// `on` to include runs that were called by other runs.
    #[serde(default)]
    pub(super) all: String,
    pub(super) before: Option<u64>,
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PageQueryParams(wanted): PageQueryParams<RunsPageQuery>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, wanted))).await
}

fn gather(site: &PageContext, wanted: RunsPageQuery) -> RunsPage {
    let state = STATES.iter().find(|it| it.words() == wanted.state);
    let page = site.runs(&RunIndexQuery {
        state: state.copied(),
        kinship: match wanted.all.as_str() {
            "on" => ChildRunFilter::All,
            _ => ChildRunFilter::TopLevel,
        },
        text: Some(wanted.text.clone()).filter(|text| !text.is_empty()),
        before: wanted.before,
        limit: MOST,
        ..RunIndexQuery::default()
    });
    let asking = asking(site.waiting());
    RunsPage {
        frame: site.frame("runs", "Runs"),
        runs: RunTable {
            caption: "Runs, the latest first",
            rows: page.rows.iter().map(|row| listed(row, &asking)).collect(),
        },
        total: page.total,
        next: page.next,
        wanted,
        states: STATES.iter().map(|it| it.words()).collect(),
    }
}
