//! The performance of a skill over many runs.

use std::collections::BTreeMap;

use artel_types::{Money, RunMetrics, RunOutcome};
use serde::Serialize;

use super::add;

/// Statistics of a skill over many runs. Sums are stored; rates are computed on request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SkillStats {
    /// Runs that have ended and were not cancelled by a person.
    pub runs: u64,
    /// Complete runs among them.
    pub complete: u64,
    /// Partial runs among them.
    pub partial: u64,
    /// Runs that a person cancelled; they say nothing about the skill and count nowhere
    /// else.
    pub cancelled: u64,
    /// Turns of all runs.
    pub turns: u64,
    /// Failed calls.
    pub failures: u64,
    /// Failures after which the goal was reached in another way, by kind.
    pub recoveries: BTreeMap<String, u64>,
    /// Tokens read and written.
    pub tokens: u64,
    /// Total cost of the runs with a known price.
    pub cost: Money,
    /// Number of runs without a known price.
    pub unpriced: u64,
    /// Sum of the percentages that loading on demand saved.
    saved: u64,
    /// Number of runs with a known percentage.
    saving: u64,
}

impl SkillStats {
    /// Adds a run that has ended.
    pub fn add(&mut self, state: RunOutcome, metrics: &RunMetrics) {
        if state == RunOutcome::Cancelled {
            self.cancelled += 1;
            return;
        }
        self.runs += 1;
        self.complete += u64::from(state == RunOutcome::Complete);
        self.partial += u64::from(state == RunOutcome::Partial);
        add(&mut self.turns, metrics.turns);
        add(&mut self.failures, metrics.tool_failures);
        for (kind, count) in &metrics.recoveries {
            add(self.recoveries.entry(kind.clone()).or_default(), *count);
        }
        add(&mut self.tokens, metrics.tokens_input);
        add(&mut self.tokens, metrics.tokens_output);
        match metrics.cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced += 1,
        }
        if let Some(saved) = metrics.saved_percent {
            add(&mut self.saved, saved);
            self.saving += 1;
        }
    }

    /// Adds a percentage that loading on demand saved in each of `runs` runs.
    pub fn add_saved(&mut self, percent: u64, runs: u64) {
        add(&mut self.saved, percent.saturating_mul(runs));
        add(&mut self.saving, runs);
    }

    /// Returns the share of complete runs, from 0 to 1, or `None` without runs.
    pub fn success_rate(&self) -> Option<f64> {
        share(self.complete, self.runs)
    }

    /// Returns the average number of turns of a run.
    pub fn average_turns(&self) -> Option<f64> {
        share(self.turns, self.runs)
    }

    /// Returns the share of failed calls after which the goal was reached, from 0 to 1.
    pub fn recovery_rate(&self) -> Option<f64> {
        share(self.recovered(), self.failures)
    }

    /// Returns the most common kind of recovery with its share of all recoveries; of
    /// equally common ones, the first in the alphabet.
    pub fn common_recovery(&self) -> Option<(&str, f64)> {
        let kinds = self.recoveries.iter().rev();
        let (kind, count) = kinds.max_by_key(|(_, count)| **count)?;
        Some((kind, share(*count, self.recovered())?))
    }

    /// Returns the share of tokens, in percent, that loading on demand saves, averaged
    /// over the runs with a known percentage.
    pub fn saved_percent(&self) -> Option<u64> {
        self.saved.checked_div(self.saving)
    }

    fn recovered(&self) -> u64 {
        let counts = self.recoveries.values();
        counts.fold(0, |sum, count| sum.saturating_add(*count))
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
