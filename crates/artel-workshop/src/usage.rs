//! Usage: the model calls in the journal, added up.

use std::ops::ControlFlow;

use artel_journal::{EventFilter, EventQuery};
use artel_rules::budget::{period_end, period_start};
use artel_rules::usage::{UsageAggregator, UsageDimension, UsageGroupRow, UsageTotals};
use artel_types::model::CalendarPeriod;
use artel_types::{Failure, Timestamp};
use serde::Serialize;

use crate::workshop::Workshop;

/// A query about usage.
#[derive(Debug, Clone, Default)]
pub struct UsageQuery {
    /// The grouping of the rows; by provider and model if empty.
    pub by: Vec<UsageDimension>,
    /// Names that a call must match; of a session or run, the beginning of its id.
    pub filter: Vec<(UsageDimension, String)>,
    /// The day, week or month that calls must belong to.
    pub period: Option<CalendarPeriod>,
}

#[derive(Debug, Clone, Serialize)]
pub struct UsageReport {
    /// Start of the period; the first event if `None`.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// What the names of a row stand for.
    pub by: Vec<UsageDimension>,
    pub rows: Vec<UsageGroupRow>,
    /// The sum of all rows.
    pub total: UsageTotals,
}

impl Workshop {
    /// Adds up the usage.
    pub fn usage(&self, query: UsageQuery) -> Result<UsageReport, Failure> {
        let UsageQuery {
            mut by,
            filter,
            period,
        } = query;
        if by.is_empty() {
            by = vec![UsageDimension::Provider, UsageDimension::Model];
        }
        let now = self.caller.clock().now();
        let since = period.map(|period| period_start(period, now));
        let events = EventFilter {
            kind: Some("model.".to_owned()),
            since,
            ..EventFilter::default()
        };
        let mut tally = UsageAggregator::new(by.clone(), filter);
        self.reader()?
            .visit_events(&EventQuery::of(events), |event| {
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
