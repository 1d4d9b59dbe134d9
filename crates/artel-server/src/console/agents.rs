//! The pages about roles.

use std::sync::Arc;

use artel_workshop::{AgentDetail, AgentRow, WorkshopFailures};
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::frame::{Frame, Named, Site, show};
use super::skills::{Figures, figures};
use crate::desk::Desk;
use crate::door::Who;

/// The page that lists all roles.
#[derive(Template)]
#[template(path = "agents.html")]
pub(super) struct Agents {
    pub(super) frame: Frame,
    pub(super) rows: Vec<(AgentRow, Option<Figures>)>,
}

#[derive(Template)]
#[template(path = "agent.html")]
pub(super) struct AgentPage {
    pub(super) frame: Frame,
    pub(super) it: AgentDetail,
    pub(super) stats: Option<Figures>,
    /// Whether the role's instructions are shown.
    pub(super) is_whole: bool,
}

/// Shows the list of roles.
pub(super) async fn page(State(desk): State<Arc<Desk>>, who: Who) -> Response {
    show(desk, who, |site: &Site| {
        let rows = site.workshop.caller().agents()?.into_iter();
        Ok(Agents {
            frame: site.frame("agents", "Agents"),
            rows: rows.map(|it| (it.clone(), stats(site, &it.id))).collect(),
        })
    })
    .await
}

/// Shows the page of one role.
pub(super) async fn one(State(desk): State<Arc<Desk>>, who: Who, Named(id): Named) -> Response {
    show(desk, who, move |site| gather(site, &id)).await
}

/// Returns the statistics of a role. They include cost, so only developers see them.
fn stats(site: &Site, id: &str) -> Option<Figures> {
    let board = site.desk.board();
    let stats = board.meter().roles.get(id).filter(|_| site.is_developer());
    stats.map(figures)
}

fn gather(site: &Site, id: &str) -> Result<AgentPage, WorkshopFailures> {
    let it = site.workshop.caller().agent(id)?;
    Ok(AgentPage {
        frame: site.frame("agents", format!("Agent: {}", it.row.name)),
        is_whole: site.is_developer(),
        stats: stats(site, id),
        it,
    })
}
