//! How skills do, as far as events tell it; what loading on demand saved is told only with their
//! files at hand.

use std::collections::BTreeMap;

use artel_rules::tally::SkillStats;
use artel_types::{RunMetrics, RunPrepared, RunState};

use super::Meter;

/// How skills do, to be held against their files.
#[derive(Debug, Clone, Default)]
pub struct SkillSums {
    stats: BTreeMap<String, SkillStats>,
    loads: Loads,
}

/// How many tokens of a skill its runs were shown, for every skill that a run was begun with. Runs
/// that were shown the same are counted together, so it stays small however many there are.
#[derive(Debug, Clone, Default)]
pub(super) struct Loads(BTreeMap<String, BTreeMap<u64, u64>>);

impl Loads {
    pub(super) fn began(&mut self, skill: &str) {
        if !self.0.contains_key(skill) {
            self.0.insert(skill.to_owned(), BTreeMap::new());
        }
    }

    /// Takes in a run that has ended. One that a person cancelled says nothing about its skill, and
    /// one that knows what was saved needs no more.
    pub(super) fn ended(&mut self, skill: &str, state: RunState, first: u64, metrics: &RunMetrics) {
        if state == RunState::Cancelled || metrics.saved_percent.is_some() {
            return;
        }
        let shown = first.saturating_add(metrics.tokens_loaded);
        let runs = self.0.entry(skill.to_owned()).or_default();
        *runs.entry(shown).or_default() += 1;
    }
}

impl Meter {
    pub(super) fn skill_sums(&self) -> SkillSums {
        SkillSums {
            stats: self.skills.clone(),
            loads: self.loads.clone(),
        }
    }
}

impl SkillSums {
    /// Tells whether a run was ever begun with a skill.
    pub(crate) fn knows(&self, skill: &str) -> bool {
        self.loads.0.contains_key(skill)
    }

    /// Returns the skills with runs that have ended.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.stats.keys().map(String::as_str)
    }

    /// Returns how a skill does whose files have so many tokens; nothing is known of what was saved
    /// where it is gone.
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

/// Returns how many tokens of a run's first request were the skill's.
pub(super) fn skill_tokens(prepared: &RunPrepared) -> u64 {
    let parts = prepared.parts.iter().filter(|part| part.name == "skill");
    parts.map(|part| part.tokens).sum()
}
