//! Usage over time, and what is left of each budget.

use std::time::Duration;

use artel_rules::budget::{BudgetStatus, left, period_start};
use artel_rules::usage::{UsageDimension, day};
use artel_types::model::CalendarPeriod;
use artel_types::{ConfiguredSpendLimits, Timestamp};

use super::WorkshopIndex;
use crate::providers::SuspendedProvider;
use crate::usage::UsageReport;

impl WorkshopIndex {
    /// Adds up the usage of the last days, today included, by any of day, provider, model,
    /// skill, role and portal. The index keeps no other dimensions; [`crate::Workshop::usage`]
    /// has them.
    pub fn usage(&self, by: &[UsageDimension], days: u32, now: Timestamp) -> UsageReport {
        let span = Duration::from_secs(u64::from(days.saturating_sub(1)) * 86_400);
        let since = period_start(CalendarPeriod::Day, now.before(span));
        let first = day(since);
        let is_wanted = |name: Option<&str>| name.is_some_and(|name| name >= first.as_str());
        let usage = &self.meter.usage;
        let (rows, total) = usage.summed(by, |named| is_wanted(named.of(UsageDimension::Day)));
        UsageReport {
            since: Some(since),
            until: None,
            by: by.to_vec(),
            rows,
            total,
        }
    }

    /// Returns every limit in force, with the amount used.
    pub fn budgets(&self, limits: &ConfiguredSpendLimits, now: Timestamp) -> Vec<BudgetStatus> {
        left(&self.account.ledger, limits, now)
    }

    /// Returns the providers that are currently not asked, ordered by name.
    pub fn held_back(&self, now: Timestamp) -> Vec<SuspendedProvider> {
        let standings = self.account.standings.iter();
        standings
            .filter_map(|(name, standing)| SuspendedProvider::of(name, standing, now))
            .collect()
    }
}
