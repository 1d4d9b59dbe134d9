//! The page that lists all changesets.

use std::sync::Arc;

use artel_workshop::ChangesetRow;
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::frame::{PageContext, PageFrame, PageQueryParams, show};
use super::older::{ConsoleListQuery, part};
use super::words::{self, TimeLabel};
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

#[derive(Template)]
#[template(path = "changesets.html")]
pub(super) struct ChangesetsPage {
    pub(super) frame: PageFrame,
    pub(super) rows: Vec<ChangesetsPageRow>,
    pub(super) total: usize,
    /// Where the next page begins.
    pub(super) next: Option<String>,
}

/// A changeset in the list.
#[derive(Debug, Clone)]
pub(super) struct ChangesetsPageRow {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) state: words::StateLabel,
    pub(super) proven: words::StateLabel,
    pub(super) portal: String,
    pub(super) branch: String,
    pub(super) size: String,
    pub(super) at: TimeLabel,
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PageQueryParams(wanted): PageQueryParams<ConsoleListQuery>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, &wanted))).await
}

fn gather(site: &PageContext, wanted: &ConsoleListQuery) -> ChangesetsPage {
    let all = site.desk.board().changesets();
    let part = part(all, wanted, |it| it.trace.to_string());
    ChangesetsPage {
        frame: site.frame("changesets", "Changesets"),
        rows: part.rows.into_iter().map(row).collect(),
        total: part.total,
        next: part.next,
    }
}

fn row(it: ChangesetRow) -> ChangesetsPageRow {
    ChangesetsPageRow {
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
