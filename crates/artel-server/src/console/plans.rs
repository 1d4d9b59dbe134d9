//! The page that lists all requests and their plans, with filters.

use std::sync::Arc;

use artel_workshop::{RequestStatus, WorkIndexQuery, WorkRow};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::frame::{PageContext, PageFrame, PageQueryParams, show};
use super::words::{self, TimeLabel};
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// Number of rows on a page.
const MOST: usize = 100;

#[derive(Template)]
#[template(path = "plans.html")]
pub(super) struct PlansPage {
    pub(super) frame: PageFrame,
    pub(super) rows: Vec<PlansPageRow>,
    pub(super) wanted: PlansPageQuery,
    pub(super) statuses: Vec<&'static str>,
    pub(super) total: u64,
    /// Where the next page begins.
    pub(super) next: Option<u64>,
}

/// A piece of work in the list.
#[derive(Debug, Clone)]
pub(super) struct PlansPageRow {
    pub(super) href: String,
    pub(super) title: String,
    pub(super) state: words::StateLabel,
    pub(super) portal: String,
    pub(super) by: String,
    pub(super) tokens: String,
    pub(super) cost: String,
    pub(super) at: TimeLabel,
}

/// Query parameters: filters and position.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PlansPageQuery {
    #[serde(default)]
    pub(super) status: String,
    #[serde(default)]
    pub(super) text: String,
    pub(super) before: Option<u64>,
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PageQueryParams(wanted): PageQueryParams<PlansPageQuery>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, wanted))).await
}

fn gather(site: &PageContext, wanted: PlansPageQuery) -> PlansPage {
    let mut all = RequestStatus::ALL.into_iter();
    let page = site.works(&WorkIndexQuery {
        status: all.find(|it| it.as_str() == wanted.status),
        text: Some(wanted.text.clone()).filter(|text| !text.is_empty()),
        before: wanted.before,
        limit: MOST,
        ..WorkIndexQuery::default()
    });
    PlansPage {
        frame: site.frame("plans", "Plans"),
        rows: page.rows.into_iter().map(row).collect(),
        statuses: RequestStatus::ALL.iter().map(|it| it.as_str()).collect(),
        total: page.total,
        next: page.next,
        wanted,
    }
}

fn row(it: WorkRow) -> PlansPageRow {
    // Work without a plan links to its run: the one that answered it, or one that is still
    // to come.
    let href = match it.version {
        Some(_) => format!("/plans/{}", it.id),
        None => format!("/runs/{}", it.id),
    };
    PlansPageRow {
        href,
        title: words::short(&it.title, 160),
        state: words::state(it.status),
        portal: it.portal.unwrap_or_default(),
        by: it.by,
        tokens: words::tokens(it.tokens),
        cost: words::cost(it.cost, it.tokens),
        at: words::when(it.at),
    }
}
