//! The spending of one budget level, day by day.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Range, Sub, SubAssign};

use artel_types::{Money, SpendAmount, Tokens};
use serde::{Deserialize, Serialize};

use super::calendar::BudgetDay;

/// Number of days that are kept apart. No period is longer than 31 days; the rest leaves
/// room for clocks that jump.
const MOST_DAYS: usize = 62;

/// Number of remembered warnings without a period. There is one for each limit that was
/// ever in force.
const MOST_WARNINGS: usize = 8;

/// A sum wide enough never to overflow, so that what was added can be subtracted again
/// exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SpendSum {
    pub(super) tokens: u128,
    pub(super) money: u128,
}

/// The account of one budget level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SpendTable {
    /// The level's own limit, set by a fact.
    pub(super) limit: Option<SpendAmount>,
    /// Charges from days that are not kept apart any more.
    before: SpendSum,
    /// Charges per day, including what is set aside.
    days: BTreeMap<BudgetDay, SpendSum>,
    warned: Vec<GivenBudgetWarning>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct GivenBudgetWarning {
    since: Option<BudgetDay>,
    limit: SpendAmount,
}

impl SpendTable {
    /// Returns the charges of some days, or of all time.
    pub(super) fn used(&self, days: Option<Range<BudgetDay>>) -> SpendSum {
        match days {
            Some(days) => add_up(self.days.range(days).map(|(_, sum)| *sum)),
            None => self.before + add_up(self.days.values().copied()),
        }
    }

    /// Charges an estimate or a payment.
    pub(super) fn charge(&mut self, day: BudgetDay, sum: SpendSum) {
        if sum == SpendSum::default() {
            return;
        }
        *self.days.entry(day).or_default() += sum;
        while self.days.len() > MOST_DAYS
            && let Some((_, oldest)) = self.days.pop_first()
        {
            self.before += oldest;
        }
    }

    /// Replaces an estimate by the payment.
    pub(super) fn pay(&mut self, day: BudgetDay, estimate: SpendSum, paid: SpendSum) {
        self.take_back(day, estimate);
        self.charge(day, paid);
    }

    /// Returns whether a warning was already given.
    pub(super) fn is_warned(&self, since: Option<BudgetDay>, limit: SpendAmount) -> bool {
        self.warned.contains(&GivenBudgetWarning { since, limit })
    }

    /// Remembers that a warning was given. Warnings of earlier periods are dropped; nobody
    /// asks for them again.
    pub(super) fn remember_warning(&mut self, since: Option<BudgetDay>, limit: SpendAmount) {
        if self.is_warned(since, limit) {
            return;
        }
        if since.is_some() {
            self.warned
                .retain(|warned| warned.since.is_none() || warned.since == since);
        }
        self.warned.push(GivenBudgetWarning { since, limit });
        if self.warned.len() > MOST_WARNINGS {
            self.warned.remove(0);
        }
    }

    /// Subtracts from the charges of a day, which may be one that is not kept apart any
    /// more.
    fn take_back(&mut self, day: BudgetDay, sum: SpendSum) {
        let charged = self.days.remove(&day).unwrap_or_default();
        let rest = charged - sum;
        if rest != SpendSum::default() {
            self.days.insert(day, rest);
        }
        self.before -= sum - charged;
    }
}

impl SpendSum {
    /// Returns the sum as an amount, cut to the largest amount if necessary.
    pub(super) fn amount(self) -> SpendAmount {
        let cut = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        SpendAmount {
            tokens: Tokens(cut(self.tokens)),
            money: Money(cut(self.money)),
        }
    }
}

impl From<SpendAmount> for SpendSum {
    fn from(amount: SpendAmount) -> Self {
        Self {
            tokens: amount.tokens.0.into(),
            money: amount.money.0.into(),
        }
    }
}

impl Add for SpendSum {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            money: self.money.saturating_add(other.money),
        }
    }
}

impl AddAssign for SpendSum {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for SpendSum {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            money: self.money.saturating_sub(other.money),
        }
    }
}

impl SubAssign for SpendSum {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

fn add_up(sums: impl Iterator<Item = SpendSum>) -> SpendSum {
    sums.fold(SpendSum::default(), Add::add)
}
