//! How skills do, over all their runs on record.

use std::collections::BTreeMap;

use artel_journal::{Filter, Query, Reader};
use artel_rules::tally::SkillStats;
use artel_skills::savings::Sizes;
use artel_types::{Event, Fact, Failure, RunId, RunMetrics, RunPrepared};
use serde::Serialize;

use crate::workshop::Workshop;

/// How a skill does.
#[derive(Debug, Clone, Serialize)]
pub struct SkillReport {
    /// The skill.
    pub skill: String,
    /// The share of complete runs, from 0 to 1.
    pub success_rate: Option<f64>,
    /// How many turns a run takes.
    pub average_turns: Option<f64>,
    /// The share of failed calls after which the goal was reached, from 0 to 1.
    pub recovery_rate: Option<f64>,
    /// The most common kind of recovery.
    pub common_recovery: Option<String>,
    /// Its share of all recoveries, from 0 to 1.
    pub common_share: Option<f64>,
    /// Tokens that loading on demand saves, in percent.
    pub saved_percent: Option<u64>,
    /// The sums behind these rates.
    #[serde(flatten)]
    pub sums: SkillStats,
}

impl Workshop {
    /// Returns how skills do: one, or all that have run, by name.
    pub fn skill_stats(&self, skill: Option<&str>) -> Result<Vec<SkillReport>, Failure> {
        let reader = self.reader()?;
        let found = self.find_skills(&self.run_folder(None)?);
        let all: BTreeMap<&str, u64> = found
            .skills
            .iter()
            .map(|it| (it.name.as_str(), Sizes::of(it).all()))
            .collect();
        let runs = started(&reader)?;
        let taken = taken(&reader)?;
        let mut stats: BTreeMap<String, SkillStats> = BTreeMap::new();
        if let Some(name) = skill {
            if !runs.values().any(|known| known == name) {
                // A misspelt name has no runs either, and should be told.
                found.get(name)?;
            }
            stats.insert(name.to_owned(), SkillStats::default());
        }
        visit(&reader, "run.finished", |event| {
            let Fact::RunFinished(finished) = event.fact else {
                return;
            };
            let state = finished.state.as_deref().and_then(|word| word.parse().ok());
            if let Some(name) = runs.get(&finished.id)
                && skill.is_none_or(|wanted| wanted == name)
                && let (Some(state), Some(mut metrics)) = (state, finished.metrics)
            {
                metrics.saved_percent = metrics.saved_percent.or_else(|| {
                    saved(
                        &metrics,
                        *taken.get(&finished.id)?,
                        *all.get(name.as_str())?,
                    )
                });
                stats.entry(name.clone()).or_default().add(state, &metrics);
            }
        })?;
        Ok(stats.into_iter().map(SkillReport::from).collect())
    }
}

impl From<(String, SkillStats)> for SkillReport {
    fn from((skill, sums): (String, SkillStats)) -> Self {
        let common = sums.common_recovery();
        Self {
            skill,
            success_rate: sums.success_rate(),
            average_turns: sums.average_turns(),
            recovery_rate: sums.recovery_rate(),
            common_recovery: common.map(|(kind, _)| kind.to_owned()),
            common_share: common.map(|(_, share)| share),
            saved_percent: sums.saved_percent(),
            sums,
        }
    }
}

/// Returns which skill each run was of.
fn started(reader: &Reader) -> Result<BTreeMap<RunId, String>, Failure> {
    let mut runs = BTreeMap::new();
    visit(reader, "run.started", |event| {
        if let Fact::RunStarted(started) = event.fact
            && !started.takes_over()
            && let Some(skill) = started.skill
        {
            runs.insert(started.id, skill);
        }
    })?;
    Ok(runs)
}

/// Returns how many tokens of each run's first request were the skill's.
fn taken(reader: &Reader) -> Result<BTreeMap<RunId, u64>, Failure> {
    let mut taken = BTreeMap::new();
    visit(reader, "run.prepared", |event| {
        if let (Fact::RunPrepared(prepared), Some(run)) = (event.fact, event.run) {
            taken.insert(run, skill_tokens(&prepared));
        }
    })?;
    Ok(taken)
}

fn skill_tokens(prepared: &RunPrepared) -> u64 {
    let parts = prepared.parts.iter().filter(|part| part.name == "skill");
    parts.map(|part| part.tokens).sum()
}

/// Returns what loading on demand saved of `all` tokens, in percent.
fn saved(metrics: &RunMetrics, first: u64, all: u64) -> Option<u64> {
    let taken = first.saturating_add(metrics.tokens_loaded);
    let saved = all.saturating_sub(taken).saturating_mul(100);
    saved.checked_div(all)
}

fn visit(reader: &Reader, kind: &str, mut each: impl FnMut(Event)) -> Result<(), Failure> {
    let filter = Filter {
        kind: Some(kind.to_owned()),
        ..Filter::default()
    };
    reader.visit_events(&Query::of(filter), |event| {
        each(event);
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(())
}
