//! Budgets: an estimate is set aside before a call, replaced by the real cost after it,
//! and given back if the call never happened.
//!
//! The state, a [`BudgetLedger`], is folded from the journal and from nothing else. The
//! decisions ([`reserve`], [`settle`]) check the limits and return the facts to record.
//! Folding accepts recorded facts as they are, even if a limit has been lowered since.
//! Limits come from the configuration, with or without a period, and from facts
//! (`budget.limited`); a call must fit all of them.
//!
//! Spending is booked on the day of its reservation, so a call over midnight counts for
//! the day on which it was allowed.

use std::collections::BTreeSet;

use artel_types::model::CalendarPeriod;
use artel_types::{
    BudgetLevel, BudgetReleased, BudgetReserved, BudgetSettled, BudgetWarned,
    ConfiguredSpendLimits, Money, SpendAmount, SpendLimit, Timestamp, Tokens,
};

use book::{SpendSum, SpendTable};
use calendar::{BudgetDay, day_of, days};

pub use calendar::{period_end, period_start};
pub use ledger::BudgetLedger;
pub use left::{BudgetStatus, left};
pub use refusal::{BudgetMeasure, OverBudget};

mod book;
mod calendar;
mod held;
mod ledger;
mod left;
mod refusal;

/// The value of a measure that a limit leaves free. Zero is a limit like any other:
/// nothing may be spent.
pub const UNLIMITED: u64 = u64::MAX;

/// Share of a limit, in percent, at which a warning is given once it was paid.
const WARN_PERCENT: u128 = 80;

/// The facts to record for a call that may be made.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetReservationFacts {
    /// Sets the call's estimate aside.
    pub reserved: BudgetReserved,
    /// Warnings about limits that earlier payments have brought close and that were not
    /// announced yet, because the limits changed.
    pub warnings: Vec<BudgetWarned>,
}

/// The facts to record for a call that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetSettlementFacts {
    /// Replaces the estimate by the real cost.
    pub settled: BudgetSettled,
    /// Warnings about limits that this cost brings close.
    pub warnings: Vec<BudgetWarned>,
}

/// A limit of one level that is in force; a free measure is [`UNLIMITED`].
struct EffectiveBudgetLimit {
    period: Option<CalendarPeriod>,
    limit: SpendAmount,
}

/// The change of every level that a fact about to be recorded counts against.
struct PendingSpend {
    day: BudgetDay,
    /// The real payment of the fact.
    paid: SpendSum,
}

/// Decides whether a call may be made, and returns the fact that sets its estimate aside.
///
/// Every call counts against the global level, even if it is not listed: no call is
/// outside of the workshop. The levels are tried from the widest to the narrowest, and the
/// refusal names the first one that is too small. A measure of which the call needs
/// nothing cannot refuse it: a free model may be called when the money is gone. `key` must
/// identify this call for ever; that cannot be checked here, since closed reservations are
/// forgotten.
pub fn reserve(
    ledger: &BudgetLedger,
    limits: &ConfiguredSpendLimits,
    key: &str,
    levels: &[BudgetLevel],
    amount: SpendAmount,
    now: Timestamp,
) -> Result<BudgetReservationFacts, OverBudget> {
    let levels: BTreeSet<_> = levels
        .iter()
        .cloned()
        .chain([BudgetLevel::Global])
        .collect();
    for level in &levels {
        check_fit(ledger, limits, (level, &levels), amount, now)?;
    }
    let change = PendingSpend {
        day: day_of(now),
        paid: SpendSum::default(),
    };
    let warnings = warnings(ledger, limits, &levels, &change, now);
    let reserved = BudgetReserved {
        key: key.to_owned(),
        levels: levels.into_iter().collect(),
        amount,
        step: None,
    };
    Ok(BudgetReservationFacts { reserved, warnings })
}

/// Returns the fact that sets aside what a step of a plan is expected to need, so that
/// nobody else takes it while the step is at work. If less than that is left, the fact
/// sets aside the rest. Returns `None` if the workshop as a whole has no limit, or if
/// something is already set aside for the step.
///
/// `step` is named as in [`BudgetLevel::Step`], which the calls of the step count against.
pub fn hold(
    ledger: &BudgetLedger,
    limits: &ConfiguredSpendLimits,
    step: &str,
    amount: SpendAmount,
    now: Timestamp,
) -> Option<BudgetReserved> {
    if ledger.holds(step) || !limits_anything(ledger, limits, &[]) {
        return None;
    }
    let mut amount = amount;
    for EffectiveBudgetLimit { period, limit } in bounds(ledger, limits, &BudgetLevel::Global) {
        let used = ledger.spent(&BudgetLevel::Global, period, now);
        let left = |limit: u64, used: u64| match limit {
            UNLIMITED => UNLIMITED,
            limit => limit.saturating_sub(used),
        };
        amount.tokens.0 = amount.tokens.0.min(left(limit.tokens.0, used.tokens.0));
        amount.money.0 = amount.money.0.min(left(limit.money.0, used.money.0));
    }
    (amount != SpendAmount::default()).then(|| BudgetReserved {
        key: held_key(step),
        levels: vec![BudgetLevel::Global],
        amount,
        step: Some(step.to_owned()),
    })
}

/// Returns the fact that gives back the unused part of what was set aside for a step.
pub fn let_go(ledger: &BudgetLedger, step: &str) -> Option<BudgetReleased> {
    let key = held_key(step);
    ledger.holds(step).then_some(BudgetReleased { key })
}

fn held_key(step: &str) -> String {
    format!("step/{step}")
}

/// Returns the fact that replaces the estimate by the call's real cost, which may be
/// higher. Returns `None` if the reservation is not open.
pub fn settle(
    ledger: &BudgetLedger,
    limits: &ConfiguredSpendLimits,
    key: &str,
    amount: SpendAmount,
    now: Timestamp,
) -> Option<BudgetSettlementFacts> {
    let reservation = ledger.reservation(key)?;
    let change = PendingSpend {
        day: reservation.day,
        paid: amount.into(),
    };
    let warnings = warnings(ledger, limits, &reservation.levels, &change, now);
    let settled = BudgetSettled {
        key: key.to_owned(),
        amount,
    };
    Some(BudgetSettlementFacts { settled, warnings })
}

/// Returns whether a money limit applies to a call that counts against these levels,
/// configured or set by a fact. As in [`reserve`], the global level is always included.
pub fn limits_money(
    ledger: &BudgetLedger,
    limits: &ConfiguredSpendLimits,
    levels: &[BudgetLevel],
) -> bool {
    let mut levels = levels.iter().chain([&BudgetLevel::Global]);
    let is_limit = |bound: EffectiveBudgetLimit| bound.limit.money.0 != UNLIMITED;
    levels.any(|level| bounds(ledger, limits, level).any(is_limit))
}

/// Returns whether any limit applies to a call that counts against these levels. If none
/// does, a reservation is only recorded, and nobody has to agree to it.
pub fn limits_anything(
    ledger: &BudgetLedger,
    limits: &ConfiguredSpendLimits,
    levels: &[BudgetLevel],
) -> bool {
    let mut levels = levels.iter().chain([&BudgetLevel::Global]);
    let is_limit = |bound: EffectiveBudgetLimit| {
        bound.limit.money.0 != UNLIMITED || bound.limit.tokens.0 != UNLIMITED
    };
    levels.any(|level| bounds(ledger, limits, level).any(is_limit))
}

fn check_fit(
    ledger: &BudgetLedger,
    limits: &ConfiguredSpendLimits,
    (level, all): (&BudgetLevel, &BTreeSet<BudgetLevel>),
    amount: SpendAmount,
    now: Timestamp,
) -> Result<(), OverBudget> {
    for EffectiveBudgetLimit { period, limit } in bounds(ledger, limits, level) {
        let used = ledger.spent(level, period, now);
        // The amount set aside for the call's own step is available to it.
        let own = ledger.held_for(level, all, period, now);
        let used = SpendAmount {
            tokens: Tokens(
                used.tokens
                    .0
                    .saturating_sub(own.tokens.0.min(amount.tokens.0)),
            ),
            money: Money(used.money.0.saturating_sub(own.money.0.min(amount.money.0))),
        };
        let (tokens, money) = (BudgetMeasure::Tokens, BudgetMeasure::Money);
        for (measure, limit, used, wanted) in [
            (tokens, limit.tokens.0, used.tokens.0, amount.tokens.0),
            (money, limit.money.0, used.money.0, amount.money.0),
        ] {
            if limit == UNLIMITED || wanted <= limit.saturating_sub(used) {
                continue;
            }
            return Err(OverBudget {
                level: level.clone(),
                measure,
                limit,
                used,
                wanted,
                period,
                resets_at: period.map(|period| period_end(period, now)),
            });
        }
    }
    Ok(())
}

/// Returns the limits of a level, beginning with the one that never resets: if several are
/// too small, waiting for another one to reset would not help.
fn bounds(
    ledger: &BudgetLedger,
    limits: &ConfiguredSpendLimits,
    level: &BudgetLevel,
) -> impl Iterator<Item = EffectiveBudgetLimit> {
    let set = match level {
        BudgetLevel::Global => limits.global,
        BudgetLevel::Provider(id) => limits.providers.get(id).copied(),
        BudgetLevel::Session(_) => limits.session,
        BudgetLevel::Run(_) => limits.run,
        BudgetLevel::Step(_) => limits.step,
    };
    let own = ledger.book(level).and_then(|book| book.limit);
    let (periodic, lasting) = match set.unwrap_or_default() {
        limit if limit.period.is_some() => (limit, SpendLimit::default()),
        limit => (SpendLimit::default(), limit),
    };
    let lasting = EffectiveBudgetLimit {
        period: None,
        limit: tighter(
            stated(lasting),
            own.unwrap_or(stated(SpendLimit::default())),
        ),
    };
    let periodic = EffectiveBudgetLimit {
        period: periodic.period,
        limit: stated(periodic),
    };
    let free = stated(SpendLimit::default());
    [lasting, periodic]
        .into_iter()
        .filter(move |bound| bound.limit != free)
}

fn stated(limit: SpendLimit) -> SpendAmount {
    SpendAmount {
        tokens: limit.tokens.unwrap_or(Tokens(UNLIMITED)),
        money: limit.money.unwrap_or(Money(UNLIMITED)),
    }
}

fn tighter(one: SpendAmount, other: SpendAmount) -> SpendAmount {
    SpendAmount {
        tokens: one.tokens.min(other.tokens),
        money: one.money.min(other.money),
    }
}

/// Returns the warnings that a change makes due and that were not given yet.
fn warnings(
    ledger: &BudgetLedger,
    limits: &ConfiguredSpendLimits,
    levels: &BTreeSet<BudgetLevel>,
    change: &PendingSpend,
    now: Timestamp,
) -> Vec<BudgetWarned> {
    let empty = SpendTable::default();
    let mut warnings = Vec::new();
    for level in levels {
        let book = ledger.book(level).unwrap_or(&empty);
        let close = bounds(ledger, limits, level)
            .filter_map(|bound| warn_close(ledger, book, level, &bound, change, now));
        warnings.extend(close);
        warnings.extend(warn_expensive(ledger, book, level, limits, change));
    }
    warnings
}

/// Warns about a limit that has come close. Only real payments count: calls under way may
/// set a whole limit aside and use little of it, and then the limit's only warning would
/// have been wasted.
fn warn_close(
    ledger: &BudgetLedger,
    book: &SpendTable,
    level: &BudgetLevel,
    bound: &EffectiveBudgetLimit,
    change: &PendingSpend,
    now: Timestamp,
) -> Option<BudgetWarned> {
    let days = bound.period.map(|period| days(period, now));
    let mut paid = ledger.paid(level, days.clone());
    if days.as_ref().is_none_or(|days| days.contains(&change.day)) {
        paid += change.paid;
    }
    let limit = bound.limit;
    let is_close = is_close(paid.tokens, limit.tokens.0) || is_close(paid.money, limit.money.0);
    if !is_close || book.is_warned(days.map(|days| days.start), limit) {
        return None;
    }
    Some(BudgetWarned {
        level: level.clone(),
        since: bound.period.map(|period| period_start(period, now)),
        used: paid.amount(),
        limit,
    })
}

fn is_close(paid: u128, limit: u64) -> bool {
    limit != UNLIMITED && paid > 0 && paid * 100 >= u128::from(limit) * WARN_PERCENT
}

/// Warns about a run that has become expensive. Only real payments count: estimates are
/// generous, and a warning that turns out wrong is not read the next time.
fn warn_expensive(
    ledger: &BudgetLedger,
    book: &SpendTable,
    level: &BudgetLevel,
    limits: &ConfiguredSpendLimits,
    change: &PendingSpend,
) -> Option<BudgetWarned> {
    let threshold = limits
        .run_warning
        .filter(|_| matches!(level, BudgetLevel::Run(_)))?;
    let paid = ledger.paid(level, None) + change.paid;
    let limit = SpendAmount {
        tokens: Tokens(UNLIMITED),
        money: threshold,
    };
    if paid.money <= threshold.0.into() || book.is_warned(None, limit) {
        return None;
    }
    Some(BudgetWarned {
        level: level.clone(),
        since: None,
        used: paid.amount(),
        limit,
    })
}

#[cfg(test)]
mod tests;
