//! Counters over the whole journal that only grow, for graphs over time.

use std::collections::BTreeMap;

use artel_rules::tally::{SkillStats, kind_of_failure};
use artel_rules::usage::{UsageAggregator, UsageDimension, UsageGroupRow};
use artel_types::{Event, Fact, ModelReplied, RunFinished, ToolFinished};

use super::card::RunSummary;
use super::skills::SkillTokenHistogram;
use crate::runs::RunStatus;

/// The upper bounds of the duration buckets, in milliseconds. Longer durations go into one
/// more bucket.
pub const BUCKETS: [u64; 14] = [
    5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
];

/// Maximum number of tools that are counted separately. A model may call nonexistent tools
/// by any name; the rest are counted together.
const MOST_TOOLS: usize = 200;

/// The name under which all further tools are counted.
const OTHER: &str = "other";

/// Durations, counted in buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DurationHistogram {
    /// Per bucket, the number of durations up to its bound and above the previous one. The
    /// last bucket counts those above all bounds.
    pub counts: [u64; BUCKETS.len() + 1],
    /// The sum of all durations, in milliseconds.
    pub sum: u64,
}

/// The response times of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelTimes {
    /// Until the first chunk of the reply.
    pub first: DurationHistogram,
    /// Until the end of the reply.
    pub total: DurationHistogram,
}

/// Counters and durations of everything that happened, as far back as the journal goes.
#[derive(Debug, Clone)]
pub struct WorkshopMetrics {
    /// Runs that started.
    pub started: u64,
    /// Runs that ended, by status.
    pub ended: BTreeMap<&'static str, u64>,
    /// Turns of the runs that ended.
    pub turns: u64,
    /// Failures after which a run reached its goal another way, by kind, in the runs that
    /// ended.
    pub recoveries: BTreeMap<String, u64>,
    /// Response times, by provider and model.
    pub models: BTreeMap<(String, String), ModelTimes>,
    /// Tool calls, by tool and result.
    pub tools: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// Durations of tool calls, by tool.
    pub tool_times: BTreeMap<String, DurationHistogram>,
    /// Requests, by source.
    pub requests: BTreeMap<String, u64>,
    /// People's decisions about plans.
    pub plans: BTreeMap<&'static str, u64>,
    /// Outcomes of changesets.
    pub changesets: BTreeMap<&'static str, u64>,
    /// Statistics by skill.
    pub skills: BTreeMap<String, SkillStats>,
    /// Statistics by role.
    pub roles: BTreeMap<String, SkillStats>,
    /// Tokens that skills showed to their runs.
    pub(super) loads: SkillTokenHistogram,
    /// Usage of models, by day and by every dimension that usage is viewed by.
    pub(super) usage: UsageAggregator,
}

/// The dimensions that usage is kept by.
pub(super) const KEPT: [UsageDimension; 6] = [
    UsageDimension::Day,
    UsageDimension::Provider,
    UsageDimension::Model,
    UsageDimension::Skill,
    UsageDimension::Role,
    UsageDimension::Portal,
];

impl DurationHistogram {
    /// Adds one duration, in milliseconds.
    pub fn add(&mut self, millis: u64) {
        let bucket = BUCKETS.iter().position(|end| millis <= *end);
        self.counts[bucket.unwrap_or(BUCKETS.len())] += 1;
        self.sum = self.sum.saturating_add(millis);
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl WorkshopMetrics {
    /// Returns the attempts, tokens and cost of everything that is settled, by provider and
    /// model.
    pub fn spent(&self) -> Vec<UsageGroupRow> {
        self.usage
            .settled(&[UsageDimension::Provider, UsageDimension::Model])
    }

    pub(super) fn fold(&mut self, event: &Event) {
        self.usage.fold(event);
        match &event.fact {
            Fact::RunStarted(_) => self.started += 1,
            Fact::ModelReplied(replied) => self.replied(replied),
            Fact::ToolFinished(finished) => self.tool(event, finished),
            Fact::RequestCreated(it) => count(&mut self.requests, &it.source),
            _ if event.stream.as_str().starts_with("work/") => self.decided(&event.fact),
            _ => {}
        }
    }

    /// Counts a run that has just started.
    pub(super) fn run_began(&mut self, card: &RunSummary) {
        if let Some(skill) = card.skill.as_ref().filter(|_| !card.takes_over) {
            self.loads.began(skill);
        }
    }

    /// Counts a run that has just ended.
    pub(super) fn run_ended(&mut self, card: &RunSummary, finished: &RunFinished) {
        let standing = card.end.unwrap_or(RunStatus::Complete);
        *self.ended.entry(standing.as_str()).or_default() += 1;
        let turns = card.taken().turns;
        self.turns = self.turns.saturating_add(turns);
        let Some(metrics) = &finished.metrics else {
            return;
        };
        for (kind, times) in &metrics.recoveries {
            let sum = self.recoveries.entry(kind.clone()).or_default();
            *sum = sum.saturating_add(*times);
        }
        let state = finished.state.as_deref().and_then(|word| word.parse().ok());
        // A run that took over is part of the run it took over from, not another attempt.
        let Some(state) = state.filter(|_| card.seq > 0 && !card.takes_over) else {
            return;
        };
        if let (Some(skill), Some(first)) = (&card.skill, card.first_tokens) {
            self.loads.ended(skill, state, first, metrics);
        }
        let of = [
            (&mut self.skills, &card.skill),
            (&mut self.roles, &card.role),
        ];
        for (stats, name) in of {
            if let Some(name) = name {
                stats
                    .entry(name.to_string())
                    .or_default()
                    .add(state, metrics);
            }
        }
    }

    fn replied(&mut self, replied: &ModelReplied) {
        let key = (replied.provider.to_string(), replied.model.clone());
        let times = self.models.entry(key).or_default();
        times.first.add(replied.first_ms);
        times.total.add(replied.total_ms);
    }

    fn tool(&mut self, event: &Event, finished: &ToolFinished) {
        let is_known = self.tools.contains_key(&finished.tool);
        let name = if is_known || self.tools.len() < MOST_TOOLS {
            finished.tool.as_str()
        } else {
            OTHER
        };
        let outcome = match (event.outcome, kind_of_failure(finished)) {
            (Some(outcome), _) => outcome.as_str(),
            (None, None) => "done",
            (None, Some(_)) => "failed",
        };
        let tool = self.tools.entry(name.to_owned()).or_default();
        *tool.entry(outcome).or_default() += 1;
        let times = self.tool_times.entry(name.to_owned()).or_default();
        times.add(finished.millis);
    }

    fn decided(&mut self, fact: &Fact) {
        let (sums, word) = match fact {
            Fact::PlanApproved(_) => (&mut self.plans, "approved"),
            Fact::PlanCommented(_) => (&mut self.plans, "revised"),
            Fact::PlanRejected(_) => (&mut self.plans, "rejected"),
            Fact::PlanCancelled(_) => (&mut self.plans, "cancelled"),
            Fact::ChangesetCreated(_) => (&mut self.changesets, "created"),
            Fact::ChangesetMerged(merged) => {
                let word = match merged.act.as_str() {
                    "undo" => "undone",
                    "redo" => "redone",
                    _ => "merged",
                };
                (&mut self.changesets, word)
            }
            Fact::ChangesetRejected(_) => (&mut self.changesets, "rejected"),
            _ => return,
        };
        *sums.entry(word).or_default() += 1;
    }
}

impl Default for WorkshopMetrics {
    fn default() -> Self {
        Self {
            started: 0,
            ended: BTreeMap::new(),
            turns: 0,
            recoveries: BTreeMap::new(),
            models: BTreeMap::new(),
            tools: BTreeMap::new(),
            tool_times: BTreeMap::new(),
            requests: BTreeMap::new(),
            plans: BTreeMap::new(),
            changesets: BTreeMap::new(),
            skills: BTreeMap::new(),
            roles: BTreeMap::new(),
            loads: SkillTokenHistogram::default(),
            usage: UsageAggregator::new(KEPT.to_vec(), Vec::new()),
        }
    }
}

fn count(sums: &mut BTreeMap<String, u64>, name: &str) {
    match sums.get_mut(name) {
        Some(sum) => *sum += 1,
        None => drop(sums.insert(name.to_owned(), 1)),
    }
}
