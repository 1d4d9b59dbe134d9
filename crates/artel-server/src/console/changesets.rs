//! The page that lists all changesets.

use std::sync::Arc;

use artel_workshop::ChangesetRow;
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::frame::{Frame, Site, Sought, show};
use super::older::{Wanted, part};
use super::words::{self, When};
use crate::desk::Desk;
use crate::door::Who;

#[derive(Template)]
#[template(path = "changesets.html")]
pub(super) struct Changesets {
    pub(super) frame: Frame,
    pub(super) rows: Vec<Row>,
    pub(super) total: usize,
    /// Where the next page begins.
    pub(super) next: Option<String>,
}

/// A changeset in the list.
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

pub(super) async fn page(
    State(desk): State<Arc<Desk>>,
    who: Who,
    Sought(wanted): Sought<Wanted>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, &wanted))).await
}

fn gather(site: &Site, wanted: &Wanted) -> Changesets {
    let all = site.desk.board().changesets();
    let part = part(all, wanted, |it| it.trace.to_string());
    Changesets {
        frame: site.frame("changesets", "Changesets"),
        rows: part.rows.into_iter().map(row).collect(),
        total: part.total,
        next: part.next,
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
