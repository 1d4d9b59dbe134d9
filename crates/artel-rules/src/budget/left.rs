//! The status of each limit in force.

use artel_types::model::CalendarPeriod;
use artel_types::{BudgetLevel, ConfiguredSpendLimits, SpendAmount, Timestamp};
use serde::Serialize;

use super::{BudgetLedger, UNLIMITED, bounds, period_end};

/// A limit in force, and how much of it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BudgetStatus {
    /// The level that the limit is for.
    #[serde(flatten)]
    pub level: BudgetLevel,
    /// The period after which the limit resets, or `None` if it never does.
    pub period: Option<CalendarPeriod>,
    /// When the period ends.
    pub resets_at: Option<Timestamp>,
    /// Spent and set aside.
    pub used: SpendAmount,
    /// Limit on tokens, or `None` if tokens are not limited.
    pub tokens: Option<u64>,
    /// Limit on money in millionths of a dollar, or `None` if money is not limited.
    pub money: Option<u64>,
}

impl BudgetStatus {
    /// Returns the tokens left, or `None` if tokens are not limited.
    pub fn tokens_left(&self) -> Option<u64> {
        Some(self.tokens?.saturating_sub(self.used.tokens.0))
    }

    /// Returns the millionths of a dollar left, or `None` if money is not limited.
    pub fn money_left(&self) -> Option<u64> {
        Some(self.money?.saturating_sub(self.used.money.0))
    }
}

/// Returns every limit in force with its use: those of the workshop, of the providers, and
/// of the sessions, runs and steps under way.
pub fn left(
    ledger: &BudgetLedger,
    limits: &ConfiguredSpendLimits,
    now: Timestamp,
) -> Vec<BudgetStatus> {
    let named = limits.providers.keys().cloned().map(BudgetLevel::Provider);
    let mut levels: Vec<BudgetLevel> = ledger.levels().chain(named).collect();
    levels.push(BudgetLevel::Global);
    levels.sort();
    levels.dedup();
    let mut all = Vec::new();
    for level in levels {
        for bound in bounds(ledger, limits, &level) {
            let stated = |limit: u64| (limit != UNLIMITED).then_some(limit);
            all.push(BudgetStatus {
                level: level.clone(),
                period: bound.period,
                resets_at: bound.period.map(|period| period_end(period, now)),
                used: ledger.spent(&level, bound.period, now),
                tokens: stated(bound.limit.tokens.0),
                money: stated(bound.limit.money.0),
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use artel_types::{Money, SpendLimit, Tokens};

    use super::*;

    #[test]
    fn what_is_not_limited_is_not_listed_and_nothing_is_left_of_too_little() {
        let now = Timestamp::from_micros(0);
        let mut ledger = BudgetLedger::default();
        assert_eq!(left(&ledger, &ConfiguredSpendLimits::default(), now), []);
        ledger
            .book_mut(&BudgetLevel::Global)
            .charge(0, SpendAmount::new(700, 5).into());
        let limits = ConfiguredSpendLimits {
            global: Some(SpendLimit {
                tokens: Some(Tokens(500)),
                money: Some(Money(9)),
                period: Some(CalendarPeriod::Day),
            }),
            ..ConfiguredSpendLimits::default()
        };
        let found = left(&ledger, &limits, now);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].tokens_left(), found[0].money_left()),
            (Some(0), Some(4))
        );
        assert_eq!(
            found[0].resets_at,
            Some(period_end(CalendarPeriod::Day, now))
        );
        let tomorrow = period_end(CalendarPeriod::Day, now);
        assert_eq!(left(&ledger, &limits, tomorrow)[0].tokens_left(), Some(500));
    }
}
