//! The page of one tool call, with its whole input and result. The page of a run shows only
//! one line per call, so that it stays small however long the run is.

use std::sync::Arc;

use artel_workshop::{TimelineDetailLevel, VisibleCall, VisibleCallText, WorkshopFailures};
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::frame::{PageContext, PageFrame, PagePathParams, show};
use super::words;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

#[derive(Template)]
#[template(path = "call.html")]
pub(super) struct CallPage {
    pub(super) frame: PageFrame,
    pub(super) run: String,
    pub(super) trace: String,
    /// The event that requested the call.
    pub(super) event: u64,
    pub(super) tool: String,
    pub(super) call: String,
    pub(super) at: String,
    pub(super) decision: String,
    /// `None` if the tool is hidden.
    pub(super) input: Option<CallPageText>,
    /// `None` while the call is running.
    pub(super) result: Option<CallPageResult>,
}

/// A text that may be cut short.
#[derive(Debug, Clone)]
pub(super) struct CallPageText {
    pub(super) text: String,
    /// Number of bytes that are not shown.
    pub(super) left_out: usize,
    /// The event that contains the whole text.
    pub(super) event: u64,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub(super) struct CallPageResult {
    pub(super) state: words::StateLabel,
    /// A few words on how the call ended.
    pub(super) how: String,
    pub(super) changed: Vec<String>,
    /// `None` if the tool is hidden.
    pub(super) text: Option<CallPageText>,
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PagePathParams((id, event)): PagePathParams<(String, u64)>,
) -> Response {
    show(desk, who, move |site| gather(site, &id, event)).await
}

fn gather(site: &PageContext, id: &str, event: u64) -> Result<CallPage, WorkshopFailures> {
    let run = site.workshop.run_named(id)?;
    let told = site
        .workshop
        .call_told(run, event, &site.eyes(TimelineDetailLevel::Full))?;
    Ok(CallPage {
        frame: site.frame("runs", format!("Call of {}", told.tool)),
        run: run.short(),
        result: came(&told),
        input: told.input.map(|it| part(it, event)),
        trace: told.trace,
        event,
        tool: told.tool,
        call: told.call,
        at: words::moment(told.at),
        decision: told.decision,
    })
}

fn came(told: &VisibleCall) -> Option<CallPageResult> {
    let it = told.result.as_ref()?;
    let is_well = it.trouble.is_none() && it.exit.is_none_or(|code| code == 0);
    let mut how = vec![format!("{} ms", it.millis)];
    how.extend(it.exit.map(|code| format!("exit code {code}")));
    how.extend(it.trouble.clone());
    Some(CallPageResult {
        state: words::state(if is_well { "done" } else { "failed" }),
        how: how.join(" · "),
        changed: it.changed.clone(),
        text: it.text.clone().map(|text| part(text, it.seq)),
    })
}

fn part(cut: VisibleCallText, event: u64) -> CallPageText {
    CallPageText {
        text: cut.text,
        left_out: cut.left_out,
        event,
    }
}
