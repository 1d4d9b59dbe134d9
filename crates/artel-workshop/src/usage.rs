//! What was used: the calls in the journal, added up.

use std::ops::ControlFlow;

use artel_journal::{Filter, Query};
use artel_rules::budget::{period_end, period_start};
use artel_rules::usage::{By, Row, Sum, Tally};
use artel_types::model::Period;
use artel_types::{Failure, Timestamp};
use serde::Serialize;

use crate::workshop::Workshop;

/// What is asked about usage.
#[derive(Debug, Clone, Default)]
pub struct UsageQuery {
    /// What rows stand for; by provider and model if nothing.
    pub by: Vec<By>,
    /// What must be named by a call, as far as written.
    pub filter: Vec<(By, String)>,
    /// Only what belongs to this day, week or month.
    pub period: Option<Period>,
}

/// What was used.
#[derive(Debug, Clone, Serialize)]
pub struct UsageReport {
    /// From when on; the first event if nothing.
    pub since: Option<Timestamp>,
    /// Until when.
    pub until: Option<Timestamp>,
    /// What the names of a row stand for.
    pub by: Vec<By>,
    /// The rows.
    pub rows: Vec<Row>,
    /// All of them together.
    pub total: Sum,
}

impl Workshop {
    /// Adds up what was used.
    pub fn usage(&self, query: UsageQuery) -> Result<UsageReport, Failure> {
        let UsageQuery {
            mut by,
            filter,
            period,
        } = query;
        if by.is_empty() {
            by = vec![By::Provider, By::Model];
        }
        let now = self.caller.clock().now();
        let since = period.map(|period| period_start(period, now));
        let events = Filter {
            kind: Some("model.".to_owned()),
            since,
            ..Filter::default()
        };
        let mut tally = Tally::new(by.clone(), filter);
        self.reader()?.visit_events(&Query::of(events), |event| {
            tally.fold(&event);
            ControlFlow::Continue(())
        })?;
        let (rows, total) = tally.report();
        Ok(UsageReport {
            since,
            until: period.map(|period| period_end(period, now)),
            by,
            rows,
            total,
        })
    }
}
