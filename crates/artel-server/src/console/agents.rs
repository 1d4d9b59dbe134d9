//! Roles that agents play.

use std::sync::Arc;

use artel_workshop::{AgentRow, AgentShown, Problems};
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;

use super::frame::{Frame, Site, show};
use crate::desk::Desk;
use crate::door::Who;

/// The page of all roles.
#[derive(Template)]
#[template(path = "agents.html")]
pub(super) struct Agents {
    pub(super) frame: Frame,
    pub(super) rows: Vec<AgentRow>,
}

/// The page of one role.
#[derive(Template)]
#[template(path = "agent.html")]
pub(super) struct AgentPage {
    pub(super) frame: Frame,
    pub(super) it: AgentShown,
    /// Whether how it works is shown, in its own words.
    pub(super) is_whole: bool,
}

/// Shows all roles.
pub(super) async fn page(State(desk): State<Arc<Desk>>, who: Who) -> Response {
    show(desk, who, |site: &Site| {
        Ok(Agents {
            frame: site.frame("agents", "Agents"),
            rows: site.workshop.caller().agents()?,
        })
    })
    .await
}

/// Shows one role.
pub(super) async fn one(
    State(desk): State<Arc<Desk>>,
    who: Who,
    Path(id): Path<String>,
) -> Response {
    show(desk, who, move |site| gather(site, &id)).await
}

fn gather(site: &Site, id: &str) -> Result<AgentPage, Problems> {
    let it = site.workshop.caller().agent(id)?;
    Ok(AgentPage {
        frame: site.frame("agents", format!("Agent: {}", it.row.name)),
        is_whole: site.is_developer(),
        it,
    })
}
