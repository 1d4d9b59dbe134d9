//! Now: what needs somebody, what is running, what has finished; and the box to ask in.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use artel_types::Failure;
use artel_workshop::{RunRow, Standing, WaitSort, Which};
use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use axum::response::Response;

use super::frame::{Frame, Site, show};
use super::questions::{Card, Needs, call, card, query};
use super::words::{self, When};
use crate::desk::Desk;
use crate::door::Who;

/// So many runs that are over are shown.
const FINISHED: usize = 12;

/// The page.
#[derive(Template)]
#[template(path = "now.html")]
pub(super) struct Now {
    pub(super) frame: Frame,
    pub(super) portals: Vec<String>,
    pub(super) needs: Needs,
    pub(super) cards: Vec<Card>,
    pub(super) running: Listed,
    pub(super) finished: Listed,
    pub(super) is_held: bool,
    pub(super) in_queue: usize,
    pub(super) under_way: usize,
}

/// A run in a list.
#[derive(Debug, Clone)]
pub(super) struct Going {
    pub(super) href: String,
    pub(super) title: String,
    pub(super) state: words::State,
    pub(super) note: String,
    /// Steps that are done, of all.
    pub(super) steps: Option<(usize, usize)>,
    pub(super) turns: u64,
    pub(super) tokens: Option<String>,
    pub(super) cost: String,
    pub(super) since: When,
}

/// Runs in a table.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "going.html")]
pub(super) struct Listed {
    pub(super) caption: &'static str,
    pub(super) rows: Vec<Going>,
}

// What it writes is escaped where it is written.
impl HtmlSafe for Listed {}

/// Shows the page.
pub(super) async fn page(State(desk): State<Arc<Desk>>, who: Who) -> Response {
    show(desk, who, |site| Ok(gather(site)?)).await
}

fn gather(site: &Site) -> Result<Now, Failure> {
    let waits = site.waiting()?;
    let (questions, others): (Vec<_>, Vec<_>) = waits
        .iter()
        .partition(|it| it.kind == WaitSort::Question);
    let (over, open): (Vec<_>, Vec<_>) = site
        .workshop
        .runs(Which::Recent)?
        .into_iter()
        .partition(|row| row.state.is_over());
    let running: Result<_, Failure> = open.iter().map(|row| going(site, row)).collect();
    let finished = over.iter().take(FINISHED).map(listed).collect();
    let portals = site.workshop.portals()?;
    let asks = site.desk.asks.list();
    let load = &site.desk.load;
    let mut frame = site.frame("now", "Now");
    if site.is_developer() {
        // Calls that need a yes are no part of the summary.
        frame.view = "full";
    }
    Ok(Now {
        frame,
        portals: portals.into_iter().map(|portal| portal.name).collect(),
        needs: Needs {
            // What a call would do is not for whoever sees summaries alone.
            calls: match site.is_developer() {
                true => asks.into_iter().map(call).collect(),
                false => Vec::new(),
            },
            queries: questions.into_iter().map(query).collect(),
        },
        cards: others.into_iter().map(card).collect(),
        running: Listed {
            caption: "Runs that are not over",
            rows: running?,
        },
        finished: Listed {
            caption: "The latest runs that are over",
            rows: finished,
        },
        is_held: site.workshop.is_daemon_held()?,
        in_queue: load.waiting.load(Ordering::Relaxed),
        under_way: load.under_way.load(Ordering::Relaxed),
    })
}

/// Returns a run that is not over, with how far it has come.
fn going(site: &Site, row: &RunRow) -> Result<Going, Failure> {
    let mut going = listed(row);
    let Some(sum) = site.sum_of(row)? else {
        return Ok(going);
    };
    going.steps = Some((sum.done, sum.all));
    going.tokens = Some(words::tokens(sum.tokens));
    going.cost = words::cost(sum.cost);
    if let Some(phase) = sum.phase {
        going.note = phase;
    }
    Ok(going)
}

/// Returns a run as it stands in a list.
pub(super) fn listed(row: &RunRow) -> Going {
    Going {
        href: format!("/runs/{}", row.run),
        title: words::short(&row.title, 160),
        state: words::standing(row.state),
        note: match row.state {
            Standing::Waiting => row.note.clone().unwrap_or_default(),
            _ => String::new(),
        },
        steps: None,
        turns: row.turns,
        tokens: None,
        cost: words::cost(row.cost),
        since: words::when(row.since),
    }
}
