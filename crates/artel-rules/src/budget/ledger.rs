//! The state of all budgets: the own limits, spending and reservations of every level,
//! folded from the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use artel_types::model::CalendarPeriod;
use artel_types::{BudgetLevel, BudgetReserved, Event, Fact, SpendAmount, Timestamp};
use serde::{Deserialize, Serialize};

use super::book::{SpendSum, SpendTable};
use super::calendar::{BudgetDay, day_of, days};
use super::held::{StepHoldChange, StepHoldTable};

/// Number of days after which an unsettled reservation belongs to a dead process.
const OPEN_DAYS: BudgetDay = 62;

/// The state of all budgets.
///
/// It stays small however long the journal grows: it forgets a reservation when it is
/// closed, a run with its steps and a session when they end, and single days when they are
/// old. An open reservation stays charged with its estimate even if its process has died,
/// because nobody knows whether the provider was paid.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetLedger {
    global: SpendTable,
    providers: BTreeMap<String, SpendTable>,
    sessions: BTreeMap<String, SpendTable>,
    runs: BTreeMap<String, SpendTable>,
    steps: BTreeMap<String, SpendTable>,
    open: BTreeMap<String, BudgetReservation>,
    held: StepHoldTable,
    /// The newest day on which something was set aside.
    newest: Option<BudgetDay>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BudgetReservation {
    /// The levels that the reservation counts against and that still exist, each once.
    pub(super) levels: BTreeSet<BudgetLevel>,
    pub(super) amount: SpendAmount,
    pub(super) day: BudgetDay,
}

impl BudgetLedger {
    /// Folds the next event of the journal, whatever it is.
    ///
    /// Recorded facts have happened, so limits are not checked: spent is spent. Facts that
    /// do not fit are ignored, such as a reservation whose key is already open, or an
    /// ending of one that is not open.
    pub fn fold(&mut self, event: &Event) {
        match &event.fact {
            Fact::BudgetLimited(fact) => self.book_mut(&fact.level).limit = Some(fact.limit),
            Fact::BudgetReserved(fact) => self.set_aside(fact, day_of(event.at)),
            Fact::BudgetSettled(fact) => self.close(&fact.key, fact.amount),
            Fact::BudgetReleased(fact) => self.close(&fact.key, SpendAmount::default()),
            Fact::BudgetWarned(fact) => {
                let since = fact.since.map(day_of);
                self.book_mut(&fact.level)
                    .remember_warning(since, fact.limit);
            }
            Fact::RunFinished(fact) => self.end_run(&fact.id.to_string()),
            Fact::SessionEnded(fact) => self.end_session(&fact.id.to_string()),
            // A test makes sure that no kind `budget.*` ends up here.
            _ => {}
        }
    }

    /// Returns what a level has spent and set aside, in the period that contains `now` or
    /// in total.
    pub fn spent(
        &self,
        level: &BudgetLevel,
        period: Option<CalendarPeriod>,
        now: Timestamp,
    ) -> SpendAmount {
        let days = period.map(|period| days(period, now));
        let book = self.book(level);
        book.map_or(SpendAmount::default(), |book| book.used(days).amount())
    }

    /// Returns what a level has really paid, on some days or in total: its charges without
    /// what is still set aside.
    pub(super) fn paid(&self, level: &BudgetLevel, days: Option<Range<BudgetDay>>) -> SpendSum {
        let Some(book) = self.book(level) else {
            return SpendSum::default();
        };
        let is_in = |day| days.as_ref().is_none_or(|days| days.contains(day));
        let mut open = SpendSum::default();
        for reservation in self.open.values() {
            if is_in(&reservation.day) && reservation.levels.contains(level) {
                open += reservation.amount.into();
            }
        }
        open += self.held.rest_of(level, days.as_ref());
        book.used(days) - open
    }

    /// Returns every known level except the global one.
    pub(super) fn levels(&self) -> impl Iterator<Item = BudgetLevel> {
        let named = |books: &BTreeMap<String, SpendTable>, level: fn(String) -> BudgetLevel| {
            let names: Vec<_> = books.keys().cloned().map(level).collect();
            names
        };
        let all = [
            named(&self.providers, BudgetLevel::Provider),
            named(&self.sessions, BudgetLevel::Session),
            named(&self.runs, BudgetLevel::Run),
            named(&self.steps, BudgetLevel::Step),
        ];
        all.into_iter().flatten()
    }

    /// Returns whether something is set aside for a step.
    pub(super) fn holds(&self, step: &str) -> bool {
        self.held.has(step)
    }

    /// Returns the amount set aside for the step of a call, as counted against a level.
    pub(super) fn held_for(
        &self,
        level: &BudgetLevel,
        of: &BTreeSet<BudgetLevel>,
        period: Option<CalendarPeriod>,
        now: Timestamp,
    ) -> SpendAmount {
        let days = period.map(|period| days(period, now));
        self.held.rest_for(level, of, days.as_ref())
    }

    /// Returns the number of reservations that are neither settled nor given back.
    pub fn open_reservations(&self) -> usize {
        self.open.len()
    }

    pub(super) fn reservation(&self, key: &str) -> Option<&BudgetReservation> {
        self.open.get(key)
    }

    pub(super) fn book(&self, level: &BudgetLevel) -> Option<&SpendTable> {
        match level {
            BudgetLevel::Global => Some(&self.global),
            BudgetLevel::Provider(id) => self.providers.get(id),
            BudgetLevel::Session(id) => self.sessions.get(id),
            BudgetLevel::Run(id) => self.runs.get(id),
            BudgetLevel::Step(id) => self.steps.get(id),
        }
    }

    pub(super) fn book_mut(&mut self, level: &BudgetLevel) -> &mut SpendTable {
        let (books, id) = match level {
            BudgetLevel::Global => return &mut self.global,
            BudgetLevel::Provider(id) => (&mut self.providers, id),
            BudgetLevel::Session(id) => (&mut self.sessions, id),
            BudgetLevel::Run(id) => (&mut self.runs, id),
            BudgetLevel::Step(id) => (&mut self.steps, id),
        };
        books.entry(id.clone()).or_default()
    }

    fn set_aside(&mut self, fact: &BudgetReserved, day: BudgetDay) {
        if self.open.contains_key(&fact.key) {
            return;
        }
        if self.newest.is_none_or(|newest| newest < day) {
            self.newest = Some(day);
            // Nobody will report their cost any more, so they count as paid at their
            // estimate.
            let oldest = day.saturating_sub(OPEN_DAYS);
            self.open.retain(|_, reservation| reservation.day >= oldest);
            let old = self.held.close_all(|_, day| day < oldest);
            self.charge_anew(old);
        }
        let levels: BTreeSet<_> = fact
            .levels
            .iter()
            .cloned()
            .chain([BudgetLevel::Global])
            .collect();
        if let Some(step) = &fact.step {
            let change = self.held.open(step, fact, levels, day);
            return self.charge_anew(change);
        }
        for level in &levels {
            self.book_mut(level).charge(day, fact.amount.into());
        }
        let change = self
            .held
            .draw(&levels, SpendSum::default(), fact.amount.into());
        self.charge_anew(change);
        let reservation = BudgetReservation {
            levels,
            amount: fact.amount,
            day,
        };
        self.open.insert(fact.key.clone(), reservation);
    }

    fn close(&mut self, key: &str, paid: SpendAmount) {
        let Some(reservation) = self.open.remove(key) else {
            let change = self.held.close(key);
            return self.charge_anew(change);
        };
        let estimate = SpendSum::from(reservation.amount);
        let change = self.held.draw(&reservation.levels, estimate, paid.into());
        self.charge_anew(change);
        for level in &reservation.levels {
            self.book_mut(level)
                .pay(reservation.day, estimate, paid.into());
        }
    }

    /// Applies changed amounts for steps to the levels that they are charged to.
    fn charge_anew(&mut self, changes: impl IntoIterator<Item = StepHoldChange>) {
        for change in changes {
            for level in &change.levels {
                let book = self.book_mut(level);
                book.pay(change.day, change.before, change.after);
            }
        }
    }

    /// Forgets a run and its steps, which are named `<run>/<step>`.
    fn end_run(&mut self, run: &str) {
        let prefix = format!("{run}/");
        let over = self.held.close_all(|step, _| step.starts_with(&prefix));
        self.charge_anew(over);
        self.runs.remove(run);
        self.steps.retain(|step, _| !step.starts_with(&prefix));
        self.uncount(|level| match level {
            BudgetLevel::Run(id) => id == run,
            BudgetLevel::Step(id) => id.starts_with(&prefix),
            _ => false,
        });
    }

    fn end_session(&mut self, session: &str) {
        self.sessions.remove(session);
        self.uncount(|level| matches!(level, BudgetLevel::Session(id) if id == session));
    }

    /// Removes ended levels from open reservations: calls still under way count only
    /// against the others.
    fn uncount(&mut self, is_over: impl Fn(&BudgetLevel) -> bool) {
        for reservation in self.open.values_mut() {
            reservation.levels.retain(|level| !is_over(level));
        }
    }
}
