//! The statistics of skills, as far as events give them. How much loading on demand saved
//! is known only together with the skills' files.

use std::collections::BTreeMap;

use artel_rules::tally::SkillStats;
use artel_types::{RunMetrics, RunOutcome, RunPrepared};

use super::WorkshopMetrics;

/// The statistics of all skills, to be combined with their files.
#[derive(Debug, Clone, Default)]
pub struct SkillSums {
    stats: BTreeMap<String, SkillStats>,
    loads: SkillTokenHistogram,
}

/// The number of tokens that runs were shown of their skill, for every skill that a run
/// was started with. Runs that were shown the same number are counted together, so the
/// table stays small.
#[derive(Debug, Clone, Default)]
pub(super) struct SkillTokenHistogram(BTreeMap<String, BTreeMap<u64, u64>>);

impl SkillTokenHistogram {
    pub(super) fn began(&mut self, skill: &str) {
        if !self.0.contains_key(skill) {
            self.0.insert(skill.to_owned(), BTreeMap::new());
        }
    }

    /// Counts a run that has ended. A run that a person cancelled says nothing about its
    /// skill. A run that recorded how much was saved needs no counting.
    pub(super) fn ended(
        &mut self,
        skill: &str,
        state: RunOutcome,
        first: u64,
        metrics: &RunMetrics,
    ) {
        if state == RunOutcome::Cancelled || metrics.saved_percent.is_some() {
            return;
        }
        let shown = first.saturating_add(metrics.tokens_loaded);
        let runs = self.0.entry(skill.to_owned()).or_default();
        *runs.entry(shown).or_default() += 1;
    }
}

impl WorkshopMetrics {
    pub(super) fn skill_sums(&self) -> SkillSums {
        SkillSums {
            stats: self.skills.clone(),
            loads: self.loads.clone(),
        }
    }
}

impl SkillSums {
    /// Returns whether any run was started with a skill.
    pub(crate) fn knows(&self, skill: &str) -> bool {
        self.loads.0.contains_key(skill)
    }

    /// Returns the names of the skills with finished runs.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.stats.keys().map(String::as_str)
    }

    /// Returns the statistics of a skill whose files have `all` tokens. `None` means that the
    /// files are gone; then the saving is unknown.
    pub(crate) fn of(&self, skill: &str, all: Option<u64>) -> SkillStats {
        let mut stats = self.stats.get(skill).cloned().unwrap_or_default();
        for (shown, runs) in self.loads.0.get(skill).into_iter().flatten() {
            let saved = all.and_then(|all| {
                let saved = all.saturating_sub(*shown).saturating_mul(100);
                saved.checked_div(all)
            });
            if let Some(saved) = saved {
                stats.add_saved(saved, *runs);
            }
        }
        stats
    }
}

/// Returns how many tokens of a run's first request came from its skill.
pub(super) fn skill_tokens(prepared: &RunPrepared) -> u64 {
    let parts = prepared.parts.iter().filter(|part| part.name == "skill");
    parts.map(|part| part.tokens).sum()
}
