//! All changesets.

use std::sync::Arc;

use artel_workshop::ChangesetRow;
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::frame::{Frame, Site, show};
use super::words::{self, When};
use crate::desk::Desk;
use crate::door::Who;

/// The page.
#[derive(Template)]
#[template(path = "changesets.html")]
pub(super) struct Changesets {
    pub(super) frame: Frame,
    pub(super) rows: Vec<Row>,
}

/// One changeset in the list.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) state: words::State,
    pub(super) proven: words::State,
    pub(super) portal: String,
    pub(super) branch: String,
    pub(super) size: String,
    pub(super) at: When,
}

/// Shows the page.
pub(super) async fn page(State(desk): State<Arc<Desk>>, who: Who) -> Response {
    show(desk, who, |site| Ok(gather(site))).await
}

fn gather(site: &Site) -> Changesets {
    let rows = site.desk.board().changesets();
    Changesets {
        frame: site.frame("changesets", "Changesets"),
        rows: rows.into_iter().map(row).collect(),
    }
}

fn row(it: ChangesetRow) -> Row {
    Row {
        state: words::state(it.state),
        proven: it.proven.into(),
        portal: it.portal.unwrap_or_default(),
        branch: it.branch.unwrap_or_else(|| "a patch".to_owned()),
        size: format!(
            "{}, +{} −{}",
            artel_types::counted(it.files, "file"),
            it.added,
            it.removed
        ),
        at: words::when(it.at),
        id: it.id,
        title: it.title,
    }
}
