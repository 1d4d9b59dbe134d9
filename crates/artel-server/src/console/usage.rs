//! Usage: what models took and what it cost, by whom and what for; and what is left.

use std::sync::Arc;

use artel_rules::usage::By;
use artel_types::Failure;
use artel_types::model::Period;
use artel_workshop::{UsageQuery, Viewer};
use askama::Template;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;

use super::frame::{Frame, Site, show};
use super::words;
use crate::desk::Desk;
use crate::door::Who;

/// The page.
#[derive(Template)]
#[template(path = "usage.html")]
pub(super) struct UsagePage {
    pub(super) frame: Frame,
    pub(super) wanted: Wanted,
    pub(super) ways: Vec<&'static str>,
    pub(super) rows: Vec<Row>,
    pub(super) total: Row,
}

/// One row.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) calls: u64,
    pub(super) tokens: String,
    pub(super) cost: String,
    pub(super) share: u64,
}

/// What is asked.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    pub(super) by: String,
    #[serde(default)]
    pub(super) period: String,
}

/// Shows the page.
pub(super) async fn page(
    State(desk): State<Arc<Desk>>,
    who: Who,
    Query(wanted): Query<Wanted>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, wanted)?)).await
}

fn gather(site: &Site, wanted: Wanted) -> Result<UsagePage, Failure> {
    site.who.needs(Viewer::Developer)?;
    let by = By::ALL.into_iter().find(|by| by.as_str() == wanted.by);
    let period: Option<Period> = wanted.period.parse().ok();
    let report = site.workshop.usage(UsageQuery {
        by: vec![by.unwrap_or(By::Model)],
        filter: Vec::new(),
        period,
    })?;
    let all = report.total.cost.0.max(1);
    let row = |name: String, sum: &artel_rules::usage::Sum| Row {
        name,
        calls: sum.attempts,
        tokens: words::tokens(sum.tokens),
        cost: sum.cost.to_string(),
        share: sum.cost.0.saturating_mul(100) / all,
    };
    let rows = report.rows.iter().map(|it| {
        let name = it.group.first().cloned().flatten();
        row(name.unwrap_or_else(|| "none".to_owned()), &it.sum)
    });
    Ok(UsagePage {
        frame: site.frame("usage", "Usage"),
        ways: By::ALL.iter().map(|by| by.as_str()).collect(),
        rows: rows.collect(),
        total: row("all".to_owned(), &report.total),
        wanted,
    })
}
