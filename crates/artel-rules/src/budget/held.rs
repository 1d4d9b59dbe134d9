//! The budget set aside for whole steps of plans. Calls of a step draw from it first, so
//! their own reservations and payments are not counted twice. The unused part goes back at
//! the end of the step.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use artel_types::{BudgetLevel, BudgetReserved, SpendAmount};
use serde::{Deserialize, Serialize};

use super::book::SpendSum;
use super::calendar::BudgetDay;

/// Everything set aside for steps, by the names of the steps.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StepHoldTable(BTreeMap<String, StepHold>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StepHold {
    key: String,
    levels: BTreeSet<BudgetLevel>,
    amount: SpendSum,
    /// Amount that the step's calls have reserved or paid since.
    drawn: SpendSum,
    day: BudgetDay,
}

/// A change of what some levels are charged on a day.
pub(super) struct StepHoldChange {
    pub(super) levels: BTreeSet<BudgetLevel>,
    pub(super) day: BudgetDay,
    pub(super) before: SpendSum,
    pub(super) after: SpendSum,
}

impl StepHold {
    fn rest(&self) -> SpendSum {
        self.amount - self.drawn
    }
}

impl StepHoldTable {
    pub(super) fn has(&self, step: &str) -> bool {
        self.0.contains_key(step)
    }

    /// Sets an amount aside for a step, unless it already has one.
    pub(super) fn open(
        &mut self,
        step: &str,
        fact: &BudgetReserved,
        levels: BTreeSet<BudgetLevel>,
        day: BudgetDay,
    ) -> Option<StepHoldChange> {
        if self.has(step) {
            return None;
        }
        let held = StepHold {
            key: fact.key.clone(),
            levels: levels.clone(),
            amount: fact.amount.into(),
            drawn: SpendSum::default(),
            day,
        };
        let after = held.rest();
        self.0.insert(step.to_owned(), held);
        Some(StepHoldChange {
            levels,
            day,
            before: SpendSum::default(),
            after,
        })
    }

    /// Changes what a call of a step draws, from the former charge to the new one.
    pub(super) fn draw(
        &mut self,
        of: &BTreeSet<BudgetLevel>,
        gone: SpendSum,
        come: SpendSum,
    ) -> Option<StepHoldChange> {
        let step = step_of(of)?;
        let held = self.0.get_mut(step)?;
        let before = held.rest();
        held.drawn = held.drawn - gone + come;
        Some(StepHoldChange {
            levels: held.levels.clone(),
            day: held.day,
            before,
            after: held.rest(),
        })
    }

    /// Gives back the unused part of a reservation, if it is one for a step.
    pub(super) fn close(&mut self, key: &str) -> Option<StepHoldChange> {
        let step = self.0.iter().find(|(_, held)| held.key == key);
        let step = step.map(|(step, _)| step.clone())?;
        self.remove(&step)
    }

    /// Gives back the unused parts for all steps that match `is_over`.
    pub(super) fn close_all(
        &mut self,
        is_over: impl Fn(&str, BudgetDay) -> bool,
    ) -> Vec<StepHoldChange> {
        let over = self.0.iter().filter(|(step, it)| is_over(step, it.day));
        let over: Vec<String> = over.map(|(step, _)| step.clone()).collect();
        over.iter().filter_map(|step| self.remove(step)).collect()
    }

    fn remove(&mut self, step: &str) -> Option<StepHoldChange> {
        let held = self.0.remove(step)?;
        Some(StepHoldChange {
            before: held.rest(),
            after: SpendSum::default(),
            levels: held.levels,
            day: held.day,
        })
    }

    /// Returns the unused amount for the step of a call, as counted against a level on
    /// some days.
    pub(super) fn rest_for(
        &self,
        level: &BudgetLevel,
        of: &BTreeSet<BudgetLevel>,
        days: Option<&Range<BudgetDay>>,
    ) -> SpendAmount {
        let held = step_of(of).and_then(|step| self.0.get(step));
        let held = held.filter(|it| it.levels.contains(level) && is_in(days, it.day));
        held.map_or(SpendAmount::default(), |held| held.rest().amount())
    }

    /// Returns the unused amounts of all steps, as counted against a level on some days.
    pub(super) fn rest_of(&self, level: &BudgetLevel, days: Option<&Range<BudgetDay>>) -> SpendSum {
        let own = self.0.values();
        let own = own.filter(|it| it.levels.contains(level) && is_in(days, it.day));
        own.fold(SpendSum::default(), |sum, held| sum + held.rest())
    }
}

fn step_of(levels: &BTreeSet<BudgetLevel>) -> Option<&str> {
    levels.iter().find_map(|level| match level {
        BudgetLevel::Step(step) => Some(step.as_str()),
        _ => None,
    })
}

fn is_in(days: Option<&Range<BudgetDay>>, day: BudgetDay) -> bool {
    days.is_none_or(|days| days.contains(&day))
}
