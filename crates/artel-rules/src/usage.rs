//! The usage report: who used how much of what, folded from the calls in the journal.
//!
//! Every attempt counts once, under the names in its events: answered, failed, cancelled,
//! or not yet known. The rows of any grouping add up to the same total, because a row is a
//! sum of attempts and each attempt is in exactly one row.

use std::collections::{BTreeMap, HashMap};

use artel_types::model::{ModelCallAttribution, Provider, TokenUsage};
use artel_types::{
    Event, EventOutcome, Fact, ModelFailed, ModelReplied, ModelRequested, Money, SpendAmount,
    Timestamp,
};
use serde::Serialize;

const MICROS_OF_A_DAY: i64 = 86_400_000_000;

/// A dimension by which usage can be grouped and filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageDimension {
    /// The day, in UTC.
    Day,
    /// The session.
    Session,
    /// The run.
    Run,
    /// The step of a run.
    Step,
    /// The provider of the model.
    Provider,
    /// The model.
    Model,
    /// The skill that ran.
    Skill,
    /// The role that asked.
    Role,
    /// The portal that the work was about.
    Portal,
    /// The person on whose behalf the call was made.
    Person,
}

impl UsageDimension {
    /// Every dimension, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Day,
        Self::Session,
        Self::Run,
        Self::Step,
        Self::Provider,
        Self::Model,
        Self::Skill,
        Self::Role,
        Self::Portal,
        Self::Person,
    ];

    /// Returns the word used in commands.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Session => "session",
            Self::Run => "run",
            Self::Step => "step",
            Self::Provider => "provider",
            Self::Model => "model",
            Self::Skill => "skill",
            Self::Role => "role",
            Self::Portal => "portal",
            Self::Person => "person",
        }
    }

    /// Returns whether a name matches a filter. Nobody types a whole id, and the beginning
    /// of an id is unambiguous; the beginning of a name may be another name.
    fn fits(self, name: &str, wanted: &str) -> bool {
        match self {
            Self::Session | Self::Run => name.starts_with(wanted),
            _ => name == wanted,
        }
    }
}

/// The sum of some attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UsageTotals {
    /// All attempts.
    pub attempts: u64,
    /// Answered attempts.
    pub answered: u64,
    /// Failed attempts.
    pub failed: u64,
    /// Attempts that were cancelled, or gave way to something more urgent.
    pub cancelled: u64,
    /// Attempts that were refused before they were made.
    pub denied: u64,
    /// Attempts under way, or under way when a process died; they count with what was
    /// reserved.
    pub unknown: u64,
    /// Tokens read, cached or not.
    pub input: u64,
    /// Input tokens that came from the provider's cache.
    pub cache_read: u64,
    /// Input tokens that were written to the provider's cache.
    pub cache_write: u64,
    /// Tokens written, including thoughts.
    pub output: u64,
    /// Estimated tokens, where nobody counted.
    pub estimated: u64,
    /// All tokens together.
    pub tokens: u64,
    /// Cost in millionths of a dollar, as far as prices are known.
    pub cost: Money,
    /// Number of attempts with usage whose price is unknown.
    pub unpriced: u64,
}

/// One row of a report: a group and its totals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsageGroupRow {
    /// One name per requested dimension, or `None` if the attempt has none.
    pub group: Vec<Option<String>>,
    /// The totals of the group.
    #[serde(flatten)]
    pub sum: UsageTotals,
}

type UsageTotalsByGroup = BTreeMap<Vec<Option<String>>, UsageTotals>;

/// A group, readable by dimension.
#[derive(Debug, Clone, Copy)]
pub struct UsageGroupKey<'a> {
    by: &'a [UsageDimension],
    group: &'a [Option<String>],
}

impl<'a> UsageGroupKey<'a> {
    /// Returns the name in one dimension, or `None` if the attempt has none.
    pub fn of(&self, wanted: UsageDimension) -> Option<&'a str> {
        let at = self.by.iter().position(|by| *by == wanted)?;
        self.group.get(at)?.as_deref()
    }

    fn regrouped(&self, by: &[UsageDimension]) -> Vec<Option<String>> {
        by.iter()
            .map(|by| self.of(*by).map(str::to_owned))
            .collect()
    }
}

/// Adds up attempts as events pass.
#[derive(Debug, Clone, Default)]
pub struct UsageAggregator {
    by: Vec<UsageDimension>,
    filter: Vec<(UsageDimension, String)>,
    rows: UsageTotalsByGroup,
    /// Attempts whose result has not passed yet.
    open: HashMap<(String, u32), OpenUsageAttempt>,
    /// The day formatted last: most events have the same day as the one before.
    day: Option<(i64, String)>,
}

/// An attempt under way: its group, and what was reserved for it.
#[derive(Debug, Clone)]
struct OpenUsageAttempt {
    group: Vec<Option<String>>,
    estimate: SpendAmount,
    provider: Provider,
}

impl UsageAggregator {
    /// Begins a report. A filter is a name, or the beginning of the id of a session or
    /// run.
    pub fn new(by: Vec<UsageDimension>, filter: Vec<(UsageDimension, String)>) -> Self {
        Self {
            by,
            filter,
            ..Self::default()
        }
    }

    /// Folds an event; only model calls count.
    pub fn fold(&mut self, event: &Event) {
        match &event.fact {
            Fact::ModelRequested(fact) => self.requested(event, fact),
            Fact::ModelReplied(fact) => self.replied(event, fact),
            Fact::ModelFailed(fact) => self.failed(event, fact),
            _ => {}
        }
    }

    /// Returns the rows, largest cost first, and the total of all rows.
    pub fn report(&self) -> (Vec<UsageGroupRow>, UsageTotals) {
        self.summed(&self.by, |_| true)
    }

    /// Returns the totals of the groups that fit, by some of the dimensions of this
    /// report. Dimensions that are not part of the report have no names.
    pub fn summed(
        &self,
        by: &[UsageDimension],
        fits: impl Fn(&UsageGroupKey<'_>) -> bool,
    ) -> (Vec<UsageGroupRow>, UsageTotals) {
        let mut rows = self.coarser(by, &fits);
        for open in self.open.values() {
            let named = UsageGroupKey {
                by: &self.by,
                group: &open.group,
            };
            if fits(&named) {
                let sum = rows.entry(named.regrouped(by)).or_default();
                sum.open(open.estimate, open.provider);
            }
        }
        sorted(rows)
    }

    /// Returns the totals of finished attempts, by some of the dimensions of this report.
    /// They only grow, unlike the estimates of attempts under way.
    pub fn settled(&self, by: &[UsageDimension]) -> Vec<UsageGroupRow> {
        sorted(self.coarser(by, &|_| true)).0
    }

    fn coarser(
        &self,
        by: &[UsageDimension],
        fits: &impl Fn(&UsageGroupKey<'_>) -> bool,
    ) -> UsageTotalsByGroup {
        let mut rows = UsageTotalsByGroup::new();
        for (group, sum) in &self.rows {
            let named = UsageGroupKey {
                by: &self.by,
                group,
            };
            if fits(&named) {
                rows.entry(named.regrouped(by)).or_default().add(sum);
            }
        }
        rows
    }

    fn requested(&mut self, event: &Event, fact: &ModelRequested) {
        let names = UsageAttemptNames {
            day: self.day(event.at),
            event,
            provider: fact.provider,
            model: &fact.model,
            account: &fact.account,
        };
        if let Some(group) = self.group(&names) {
            let open = OpenUsageAttempt {
                group,
                estimate: fact.estimate,
                provider: fact.provider,
            };
            self.open.insert((fact.call.clone(), fact.attempt), open);
        }
    }

    fn replied(&mut self, event: &Event, fact: &ModelReplied) {
        let names = UsageAttemptNames {
            day: self.day(event.at),
            event,
            provider: fact.provider,
            model: &fact.model,
            account: &fact.account,
        };
        self.open.remove(&(fact.call.clone(), fact.attempt));
        if let Some(sum) = self.sum(&names) {
            sum.answered += 1;
            sum.charge(fact.usage, fact.charged, fact.paid());
        }
    }

    fn failed(&mut self, event: &Event, fact: &ModelFailed) {
        let names = UsageAttemptNames {
            day: self.day(event.at),
            event,
            provider: fact.provider,
            model: &fact.model,
            account: &fact.account,
        };
        self.open.remove(&(fact.call.clone(), fact.attempt));
        if let Some(sum) = self.sum(&names) {
            match event.outcome {
                Some(EventOutcome::Cancelled) => sum.cancelled += 1,
                Some(EventOutcome::Denied) => sum.denied += 1,
                _ => sum.failed += 1,
            }
            sum.charge(None, fact.charged, fact.paid());
        }
    }

    /// Returns the day of an event if the rows or a filter need it.
    fn day(&mut self, at: Timestamp) -> Option<String> {
        let mut asked = self.by.iter().chain(self.filter.iter().map(|(by, _)| by));
        if !asked.any(|by| *by == UsageDimension::Day) {
            return None;
        }
        let number = at.as_micros().div_euclid(MICROS_OF_A_DAY);
        if let Some((_, known)) = self.day.as_ref().filter(|(known, _)| *known == number) {
            return Some(known.clone());
        }
        let day = day(at);
        self.day = Some((number, day.clone()));
        Some(day)
    }

    fn sum(&mut self, names: &UsageAttemptNames<'_>) -> Option<&mut UsageTotals> {
        let group = self.group(names)?;
        let sum = self.rows.entry(group).or_default();
        sum.attempts += 1;
        Some(sum)
    }

    /// Returns the group of an attempt, or `None` if the filter excludes it.
    fn group(&self, names: &UsageAttemptNames<'_>) -> Option<Vec<Option<String>>> {
        let fits = |(by, wanted): &(UsageDimension, String)| {
            names.of(*by).is_some_and(|name| by.fits(&name, wanted))
        };
        let group = || self.by.iter().map(|by| names.of(*by)).collect();
        self.filter.iter().all(fits).then(group)
    }
}

fn sorted(rows: UsageTotalsByGroup) -> (Vec<UsageGroupRow>, UsageTotals) {
    let mut total = UsageTotals::default();
    let row = |(group, sum)| UsageGroupRow { group, sum };
    let mut rows: Vec<UsageGroupRow> = rows.into_iter().map(row).collect();
    rows.iter().for_each(|row| total.add(&row.sum));
    rows.sort_by(|one, other| {
        let key = |row: &UsageGroupRow| (row.sum.cost, row.sum.tokens);
        key(other).cmp(&key(one)).then(one.group.cmp(&other.group))
    });
    (rows, total)
}

/// Returns the day of a moment, as `2026-11-15`.
pub fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

impl UsageTotals {
    /// Adds an attempt under way with what was reserved for it.
    fn open(&mut self, estimate: SpendAmount, provider: Provider) {
        self.attempts += 1;
        self.unknown += 1;
        self.estimated = self.estimated.saturating_add(estimate.tokens.0);
        self.tokens = self.tokens.saturating_add(estimate.tokens.0);
        self.cost += estimate.money;
        // An estimate covers many tokens, so it costs nothing only if no price is known.
        let is_unpriced = estimate.money == Money(0) && provider != Provider::Rehearsal;
        self.unpriced = self.unpriced.saturating_add(u64::from(is_unpriced));
    }

    fn charge(&mut self, usage: Option<TokenUsage>, charged: SpendAmount, cost: Option<Money>) {
        match usage {
            Some(usage) => {
                self.input = self.input.saturating_add(usage.input);
                self.cache_read = self.cache_read.saturating_add(usage.cache_read);
                self.cache_write = self.cache_write.saturating_add(usage.cache_write);
                self.output = self.output.saturating_add(usage.output);
            }
            None => self.estimated = self.estimated.saturating_add(charged.tokens.0),
        }
        self.tokens = self.tokens.saturating_add(charged.tokens.0);
        match cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced += u64::from(charged.tokens.0 > 0),
        }
    }

    fn add(&mut self, other: &Self) {
        let Self {
            attempts,
            answered,
            failed,
            cancelled,
            denied,
            unknown,
            input,
            cache_read,
            cache_write,
            output,
            estimated,
            tokens,
            cost,
            unpriced,
        } = *other;
        self.attempts = self.attempts.saturating_add(attempts);
        self.answered = self.answered.saturating_add(answered);
        self.failed = self.failed.saturating_add(failed);
        self.cancelled = self.cancelled.saturating_add(cancelled);
        self.denied = self.denied.saturating_add(denied);
        self.unknown = self.unknown.saturating_add(unknown);
        self.input = self.input.saturating_add(input);
        self.cache_read = self.cache_read.saturating_add(cache_read);
        self.cache_write = self.cache_write.saturating_add(cache_write);
        self.output = self.output.saturating_add(output);
        self.estimated = self.estimated.saturating_add(estimated);
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost += cost;
        self.unpriced = self.unpriced.saturating_add(unpriced);
    }
}

/// The names in an attempt's events.
struct UsageAttemptNames<'a> {
    day: Option<String>,
    event: &'a Event,
    provider: Provider,
    model: &'a str,
    account: &'a ModelCallAttribution,
}

impl UsageAttemptNames<'_> {
    fn of(&self, by: UsageDimension) -> Option<String> {
        match by {
            UsageDimension::Day => self.day.clone(),
            UsageDimension::Session => self.event.session.map(|id| id.to_string()),
            UsageDimension::Run => self.event.run.map(|id| id.to_string()),
            UsageDimension::Step => self.account.step.clone(),
            UsageDimension::Provider => Some(self.provider.to_string()),
            UsageDimension::Model => Some(self.model.to_owned()),
            UsageDimension::Skill => self.account.skill.clone(),
            UsageDimension::Role => self.account.role.clone(),
            UsageDimension::Portal => self.account.portal.clone(),
            UsageDimension::Person => self.account.person.clone(),
        }
    }
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
