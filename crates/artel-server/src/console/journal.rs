//! The page of the journal: search, verification and export.

use std::sync::Arc;

use artel_journal::{EventFilter, EventQuery as Asked, JournalRecord};
use artel_types::{Failure, FailureCode, Timestamp};
use artel_workshop::{TimelineDetailLevel, seen};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::frame::{PageContext, PageFrame, PageQueryParams, show};
use super::words;
use crate::api::moment;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// Number of events on a page.
const PAGE: usize = 100;

/// Number of events that are read at once to fill a page; not all of them may be visible.
const READ: u64 = 1_000;

#[derive(Template)]
#[template(path = "journal.html")]
pub(super) struct JournalPage {
    pub(super) frame: PageFrame,
    pub(super) wanted: JournalPageQuery,
    pub(super) rows: Vec<JournalPageRow>,
    /// The number before which the next page begins.
    pub(super) next: Option<u64>,
    pub(super) can_verify: bool,
}

#[derive(Debug, Clone)]
pub(super) struct JournalPageRow {
    pub(super) seq: u64,
    pub(super) at: String,
    pub(super) trace: String,
    pub(super) kind: String,
    pub(super) actor: String,
    pub(super) outcome: String,
    pub(super) target: String,
    /// `None` for viewers who may only see results, not how they came about.
    pub(super) payload: Option<String>,
}

/// Query parameters: the event filters.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct JournalPageQuery {
    #[serde(default)]
    pub(super) trace: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) actor: String,
    #[serde(default)]
    pub(super) since: String,
    #[serde(default)]
    pub(super) until: String,
    pub(super) before: Option<u64>,
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PageQueryParams(wanted): PageQueryParams<JournalPageQuery>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, wanted)?)).await
}

fn gather(site: &PageContext, wanted: JournalPageQuery) -> Result<JournalPage, Failure> {
    let eyes = site.eyes(TimelineDetailLevel::Full);
    let reader = site.desk.reader();
    let mut filter = filter(&wanted, site.now())?;
    let mut before = wanted.before;
    let mut rows = Vec::new();
    let mut next = None;
    // Pages go back in time. A filter by time is not exact enough, because several events
    // can have the same time, so events are also filtered by number.
    loop {
        if let Some(seq) = before {
            let at = moment_of(reader, seq)?;
            filter.until = Some(filter.until.map_or(at, |until| until.min(at)));
        }
        let asked = Asked::of(filter.clone()).newest_first().limit(READ);
        let read = reader.records(&asked)?;
        let is_end = (read.len() as u64) < READ;
        let fresh = read
            .iter()
            .filter(|it| before.is_none_or(|seq| it.seq < seq));
        let fresh: Vec<&JournalRecord> = fresh.collect();
        for record in &fresh {
            if rows.len() == PAGE {
                break;
            }
            before = Some(record.seq);
            rows.extend(seen(&eyes, record).map(|it| row(site, it)));
        }
        if rows.len() == PAGE {
            next = before;
            break;
        }
        if is_end || fresh.is_empty() {
            break;
        }
    }
    Ok(JournalPage {
        frame: site.frame("journal", "Journal"),
        rows,
        next,
        can_verify: site.is_developer(),
        wanted,
    })
}

fn filter(wanted: &JournalPageQuery, now: Timestamp) -> Result<EventFilter, Failure> {
    let named = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let moment = |text: &str| named(text).map(|text| moment(&text, now)).transpose();
    Ok(EventFilter {
        trace: named(&wanted.trace).map(|text| text.to_ascii_lowercase()),
        kind: named(&wanted.kind),
        actor: named(&wanted.actor),
        since: moment(&wanted.since)?,
        until: moment(&wanted.until)?,
        ..EventFilter::default()
    })
}

/// Returns the time just after an event.
fn moment_of(reader: &artel_journal::JournalReader, seq: u64) -> Result<Timestamp, Failure> {
    let asked = Asked::all().after(seq.saturating_sub(1)).limit(1);
    let found = reader.records(&asked)?;
    let at = found.first().map(|record| record.at);
    let at =
        at.ok_or_else(|| Failure::new(FailureCode::W005, format!("there is no event {seq}")))?;
    Ok(Timestamp::from_micros(at.as_micros().saturating_add(1)))
}

fn row(site: &PageContext, record: JournalRecord) -> JournalPageRow {
    JournalPageRow {
        seq: record.seq,
        at: words::moment(record.at),
        trace: record.trace.chars().take(8).collect(),
        kind: record.kind,
        actor: match record.via {
            Some(via) => format!("{} ({via})", record.actor),
            None => record.actor,
        },
        outcome: record.outcome.unwrap_or_default(),
        target: record.target.unwrap_or_default(),
        payload: site.sees_all().then_some(record.payload),
    }
}
