//! Budgets: set aside before a call, paid after it, given back if it never happened.
//!
//! The state is a fold over the facts `budget.*`, and nothing else. Deciding ([`reserve`],
//! [`settle`], [`release`]) looks at the limits and makes the fact to be recorded; folding
//! ([`evolve`]) takes recorded facts as they are, also when a limit was lowered since: what was
//! spent was spent. A key names one reservation for ever, so a fact that arrives twice is refused
//! rather than charged twice.

use std::collections::{BTreeMap, BTreeSet};

use artel_types::{Amount, BudgetReleased, BudgetReserved, BudgetSettled, Level};

pub use entry::{Entry, Standing};
pub use refusal::{Measure, OverBudget, Refused, ReserveError};

mod entry;
mod refusal;

/// In a limit, the measure that is not limited. Zero is a limit like any other: nothing may be
/// spent. A level without any limit fact is not limited at all.
pub const UNLIMITED: u64 = u64::MAX;

/// What every level may spend, has spent and has set aside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budget {
    limits: BTreeMap<Level, Amount>,
    spent: BTreeMap<Level, Amount>,
    open: BTreeMap<String, Reservation>,
    closed: BTreeMap<String, Standing>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Reservation {
    levels: BTreeSet<Level>,
    amount: Amount,
}

/// Returns the state after a recorded fact, or refuses a fact that its reservation does not allow.
pub fn evolve(mut budget: Budget, entry: Entry<'_>) -> Result<Budget, Refused> {
    budget.admit(entry)?;
    match entry {
        Entry::Limited(fact) => drop(budget.limits.insert(fact.level.clone(), fact.limit)),
        Entry::Reserved(fact) => budget.open(fact),
        Entry::Settled(fact) => budget.close(&fact.key, Standing::Settled, fact.amount),
        Entry::Released(fact) => budget.close(&fact.key, Standing::Released, Amount::default()),
    }
    Ok(budget)
}

/// Decides whether a call may be made, and returns the fact that sets its estimate aside. Every
/// call counts against the global level, named or not: no call is outside of the workshop.
pub fn reserve(
    budget: &Budget,
    key: &str,
    levels: impl IntoIterator<Item = Level>,
    amount: Amount,
) -> Result<BudgetReserved, ReserveError> {
    let levels: BTreeSet<_> = levels.into_iter().chain([Level::Global]).collect();
    for level in &levels {
        budget.check_fit(level, amount)?;
    }
    let levels = levels.into_iter().collect();
    let fact = BudgetReserved {
        key: key.to_owned(),
        levels,
        amount,
    };
    budget.admit(Entry::Reserved(&fact))?;
    Ok(fact)
}

/// Returns the fact that replaces the estimate by what the call really cost, which may be more.
pub fn settle(budget: &Budget, key: &str, amount: Amount) -> Result<BudgetSettled, Refused> {
    let fact = BudgetSettled {
        key: key.to_owned(),
        amount,
    };
    budget.admit(Entry::Settled(&fact))?;
    Ok(fact)
}

/// Returns the fact that gives a reservation back, for a call that was never made.
pub fn release(budget: &Budget, key: &str) -> Result<BudgetReleased, Refused> {
    let fact = BudgetReleased {
        key: key.to_owned(),
    };
    budget.admit(Entry::Released(&fact))?;
    Ok(fact)
}

impl Budget {
    /// Returns the limit of a level, if it has one.
    pub fn limit(&self, level: &Level) -> Option<Amount> {
        self.limits.get(level).copied()
    }

    /// Returns what a level has spent.
    pub fn spent(&self, level: &Level) -> Amount {
        self.spent.get(level).copied().unwrap_or_default()
    }

    /// Returns what is set aside on a level. Summed over the calls under way, not kept as a
    /// running total: saturating sums cannot be taken back.
    pub fn reserved(&self, level: &Level) -> Amount {
        let open = self
            .open
            .values()
            .filter(|reservation| reservation.levels.contains(level));
        open.fold(Amount::default(), |sum, reservation| {
            sum + reservation.amount
        })
    }

    /// Returns where a reservation stands.
    pub fn standing(&self, key: &str) -> Standing {
        if self.open.contains_key(key) {
            return Standing::Open;
        }
        self.closed.get(key).copied().unwrap_or(Standing::Unknown)
    }

    /// Returns the keys of the calls under way, such as those that a crash cut off.
    pub fn open_keys(&self) -> impl Iterator<Item = &str> {
        self.open.keys().map(String::as_str)
    }

    /// The table of what may follow what; every pair that is not here is refused.
    fn admit(&self, entry: Entry<'_>) -> Result<(), Refused> {
        let Some(key) = entry.key() else {
            return Ok(());
        };
        match (self.standing(key), entry) {
            (Standing::Unknown, Entry::Reserved(_))
            | (Standing::Open, Entry::Settled(_) | Entry::Released(_)) => Ok(()),
            (standing, entry) => Err(Refused {
                kind: entry.kind(),
                key: key.to_owned(),
                standing,
            }),
        }
    }

    fn open(&mut self, fact: &BudgetReserved) {
        let levels = fact.levels.iter().cloned().collect();
        self.open.insert(
            fact.key.clone(),
            Reservation {
                levels,
                amount: fact.amount,
            },
        );
    }

    fn close(&mut self, key: &str, standing: Standing, paid: Amount) {
        let levels = self.open.remove(key).map(|reservation| reservation.levels);
        for level in levels.into_iter().flatten() {
            let spent = self.spent.entry(level).or_default();
            *spent = *spent + paid;
        }
        self.closed.insert(key.to_owned(), standing);
    }

    fn check_fit(&self, level: &Level, wanted: Amount) -> Result<(), OverBudget> {
        let Some(limit) = self.limit(level) else {
            return Ok(());
        };
        let used = self.spent(level) + self.reserved(level);
        let over = |measure, limit, used, wanted: u64| {
            let (level, total) = (level.clone(), wanted.saturating_add(used));
            let over = OverBudget {
                level,
                measure,
                limit,
                used,
                wanted,
            };
            if total > limit { Err(over) } else { Ok(()) }
        };
        over(
            Measure::Tokens,
            limit.tokens.0,
            used.tokens.0,
            wanted.tokens.0,
        )?;
        over(Measure::Money, limit.money.0, used.money.0, wanted.money.0)
    }
}

#[cfg(test)]
mod tests;
