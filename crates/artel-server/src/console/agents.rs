//! The pages about roles.

use std::sync::Arc;

use artel_workshop::{AgentDetail, AgentRow, WorkshopFailures};
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::frame::{PageContext, PageFrame, PagePathParams, show};
use super::skills::{PerformanceFigures, figures};
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// The page that lists all roles.
#[derive(Template)]
#[template(path = "agents.html")]
pub(super) struct AgentsPage {
    pub(super) frame: PageFrame,
    pub(super) rows: Vec<(AgentRow, Option<PerformanceFigures>)>,
}

#[derive(Template)]
#[template(path = "agent.html")]
pub(super) struct AgentPage {
    pub(super) frame: PageFrame,
    pub(super) it: AgentDetail,
    pub(super) stats: Option<PerformanceFigures>,
    /// Whether the role's instructions are shown.
    pub(super) is_whole: bool,
}

/// Shows the list of roles.
pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
) -> Response {
    show(desk, who, |site: &PageContext| {
        let rows = site.workshop.caller().agents()?.into_iter();
        Ok(AgentsPage {
            frame: site.frame("agents", "Agents"),
            rows: rows.map(|it| (it.clone(), stats(site, &it.id))).collect(),
        })
    })
    .await
}

/// Shows the page of one role.
pub(super) async fn one(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PagePathParams(id): PagePathParams,
) -> Response {
    show(desk, who, move |site| gather(site, &id)).await
}

/// Returns the statistics of a role. They include cost, so only developers see them.
fn stats(site: &PageContext, id: &str) -> Option<PerformanceFigures> {
    let board = site.desk.board();
    let stats = board.meter().roles.get(id).filter(|_| site.is_developer());
    stats.map(figures)
}

fn gather(site: &PageContext, id: &str) -> Result<AgentPage, WorkshopFailures> {
    let it = site.workshop.caller().agent(id)?;
    Ok(AgentPage {
        frame: site.frame("agents", format!("Agent: {}", it.row.name)),
        is_whole: site.is_developer(),
        stats: stats(site, id),
        it,
    })
}
