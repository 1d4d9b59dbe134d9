//! What one level has spent, day by day.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Range, Sub, SubAssign};

use artel_types::{Amount, Money, Tokens};
use serde::{Deserialize, Serialize};

use super::calendar::Day;

/// So many days are told apart. No period is longer than 31; the rest is room for clocks that
/// jump.
const MOST_DAYS: usize = 62;

/// So many warnings without a period are remembered. There is one for each limit that held once.
const MOST_WARNINGS: usize = 8;

/// Sums wide enough that nothing is cut off, so that what was added can be taken back exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sum {
    pub(super) tokens: u128,
    pub(super) money: u128,
}

/// One level's account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Book {
    /// Its own limit, set by a fact.
    pub(super) limit: Option<Amount>,
    /// What was charged on days that are no longer told apart.
    before: Sum,
    /// What was charged on each day; what is set aside is charged too.
    days: BTreeMap<Day, Sum>,
    warned: Vec<Warned>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Warned {
    since: Option<Day>,
    limit: Amount,
}

impl Book {
    /// Returns what was charged on some days, or in all.
    pub(super) fn used(&self, days: Option<Range<Day>>) -> Sum {
        match days {
            Some(days) => add_up(self.days.range(days).map(|(_, sum)| *sum)),
            None => self.before + add_up(self.days.values().copied()),
        }
    }

    /// Charges an estimate, or what was paid.
    pub(super) fn charge(&mut self, day: Day, sum: Sum) {
        if sum == Sum::default() {
            return;
        }
        *self.days.entry(day).or_default() += sum;
        while self.days.len() > MOST_DAYS
            && let Some((_, oldest)) = self.days.pop_first()
        {
            self.before += oldest;
        }
    }

    /// Replaces an estimate by what was paid.
    pub(super) fn pay(&mut self, day: Day, estimate: Sum, paid: Sum) {
        self.take_back(day, estimate);
        self.charge(day, paid);
    }

    /// Tells whether a warning was given.
    pub(super) fn is_warned(&self, since: Option<Day>, limit: Amount) -> bool {
        self.warned.contains(&Warned { since, limit })
    }

    /// Remembers that a warning was given. Those of earlier periods will not be asked for again.
    pub(super) fn remember_warning(&mut self, since: Option<Day>, limit: Amount) {
        if self.is_warned(since, limit) {
            return;
        }
        if since.is_some() {
            self.warned
                .retain(|warned| warned.since.is_none() || warned.since == since);
        }
        self.warned.push(Warned { since, limit });
        if self.warned.len() > MOST_WARNINGS {
            self.warned.remove(0);
        }
    }

    /// Takes back what was charged on a day, which may be one that is no longer told apart.
    fn take_back(&mut self, day: Day, sum: Sum) {
        let charged = self.days.remove(&day).unwrap_or_default();
        let rest = charged - sum;
        if rest != Sum::default() {
            self.days.insert(day, rest);
        }
        self.before -= sum - charged;
    }
}

impl Sum {
    /// Returns it as an amount; what is more than one can say, is the most that one can.
    pub(super) fn amount(self) -> Amount {
        let cut = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        Amount {
            tokens: Tokens(cut(self.tokens)),
            money: Money(cut(self.money)),
        }
    }
}

impl From<Amount> for Sum {
    fn from(amount: Amount) -> Self {
        Self {
            tokens: amount.tokens.0.into(),
            money: amount.money.0.into(),
        }
    }
}

impl Add for Sum {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            money: self.money.saturating_add(other.money),
        }
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Sum {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            money: self.money.saturating_sub(other.money),
        }
    }
}

impl SubAssign for Sum {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

fn add_up(sums: impl Iterator<Item = Sum>) -> Sum {
    sums.fold(Sum::default(), Add::add)
}
