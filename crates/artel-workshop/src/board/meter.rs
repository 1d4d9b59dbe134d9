//! Sums over everything that only grow: what a graph over time is made of.

use std::collections::BTreeMap;

use artel_rules::tally::{SkillStats, kind_of_failure};
use artel_rules::usage::{By, Row, Tally};
use artel_types::{Event, Fact, ModelReplied, RunFinished, ToolFinished};

use super::card::Card;
use super::skills::Loads;
use crate::runs::Standing;

/// The upper ends of the buckets that times are counted in, in milliseconds. What takes longer is
/// in one more.
pub const BUCKETS: [u64; 14] = [
    5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
];

/// So many tools are told apart. A model may call one that does not exist by any name it likes;
/// these are counted together.
const MOST_TOOLS: usize = 200;

/// What stands for the tools beyond that.
const OTHER: &str = "other";

/// How long things took, counted in buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// How many took no longer than the bucket's end and longer than the one before; the last is
    /// for those beyond all ends.
    pub counts: [u64; BUCKETS.len() + 1],
    /// How long all took together, in milliseconds.
    pub sum: u64,
}

/// How long a model took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelTimes {
    /// Until the first piece of an answer.
    pub first: Histogram,
    /// Until its end.
    pub total: Histogram,
}

/// Sums over everything that happened, as far as the journal goes back.
#[derive(Debug, Clone)]
pub struct Meter {
    /// Runs that began.
    pub started: u64,
    /// Runs that ended, by how.
    pub ended: BTreeMap<&'static str, u64>,
    /// Turns of the runs that ended.
    pub turns: u64,
    /// Failures after which the goal was reached another way, by kind, of the runs that ended.
    pub recoveries: BTreeMap<String, u64>,
    /// How long models took, by provider and model.
    pub models: BTreeMap<(String, String), ModelTimes>,
    /// Calls of tools, by tool and by how they ended.
    pub tools: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// How long tools took.
    pub tool_times: BTreeMap<String, Histogram>,
    /// Requests, by where they came from.
    pub requests: BTreeMap<String, u64>,
    /// What people decided about plans.
    pub plans: BTreeMap<&'static str, u64>,
    /// What became of changesets.
    pub changesets: BTreeMap<&'static str, u64>,
    /// How skills do.
    pub skills: BTreeMap<String, SkillStats>,
    /// How roles do.
    pub roles: BTreeMap<String, SkillStats>,
    /// How much of themselves skills showed to their runs.
    pub(super) loads: Loads,
    /// What models took, by day and by all that usage is looked at by.
    pub(super) usage: Tally,
}

/// What usage is kept by.
pub(super) const KEPT: [By; 6] = [
    By::Day,
    By::Provider,
    By::Model,
    By::Skill,
    By::Role,
    By::Portal,
];

impl Histogram {
    /// Counts one more.
    pub fn add(&mut self, millis: u64) {
        let bucket = BUCKETS.iter().position(|end| millis <= *end);
        self.counts[bucket.unwrap_or(BUCKETS.len())] += 1;
        self.sum = self.sum.saturating_add(millis);
    }

    /// Returns how many there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl Meter {
    /// Returns the attempts, tokens and cost of what is over by provider and model.
    pub fn spent(&self) -> Vec<Row> {
        self.usage.settled(&[By::Provider, By::Model])
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

    /// Takes in a run that has just begun.
    pub(super) fn run_began(&mut self, card: &Card) {
        if let Some(skill) = card.skill.as_ref().filter(|_| !card.takes_over) {
            self.loads.began(skill);
        }
    }

    /// Takes in a run that has just ended.
    pub(super) fn run_ended(&mut self, card: &Card, finished: &RunFinished) {
        let standing = card.end.unwrap_or(Standing::Complete);
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
        // What took over from another run is a part of it, and not another try.
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
        let name = match is_known || self.tools.len() < MOST_TOOLS {
            true => finished.tool.as_str(),
            false => OTHER,
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

impl Default for Meter {
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
            loads: Loads::default(),
            usage: Tally::new(KEPT.to_vec(), Vec::new()),
        }
    }
}

fn count(sums: &mut BTreeMap<String, u64>, name: &str) {
    match sums.get_mut(name) {
        Some(sum) => *sum += 1,
        None => drop(sums.insert(name.to_owned(), 1)),
    }
}
