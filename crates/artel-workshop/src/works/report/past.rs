//! The record of one run of a plan, up to the end of its steps. Reports and changesets are
//! shown from it, so the same events always look the same.

use std::collections::BTreeMap;

use artel_journal::{EventFilter, EventQuery};
use artel_rules::conduct::{PlanRun, PlanRunRules, StepFailurePolicy as OnFailure};
use artel_rules::plan::names;
use artel_rules::tally::{RunMetricsBuilder, kind_of_failure};
use artel_types::plan::ProofStage;
use artel_types::{
    BranchBegun, BranchChecked, ChangesetCreated, Event, Fact, Failure, FailureCode, PlanEnded,
    ProofRecorded, RunId, RunMetrics, Timestamp,
};

use crate::works::Work;
use crate::workshop::Workshop;

/// One run of a plan, as recorded.
pub(crate) struct PastPlanRun {
    pub(crate) work: Work,
    pub(crate) run: RunId,
    /// The version of the plan that the run began with.
    pub(crate) version: u32,
    /// Time and outcome of the end of its steps.
    pub(crate) ended: Option<(Timestamp, PlanEnded)>,
    pub(crate) created: Option<ChangesetCreated>,
    pub(crate) begun: Option<BranchBegun>,
    /// The state of the plan and its steps at the end.
    pub(crate) conduct: PlanRun,
    pub(crate) events: Vec<Event>,
    /// The usage of the run and of all earlier work for the request.
    pub(crate) metrics: RunMetrics,
    /// Number of turns of agents, by step.
    pub(crate) turns: BTreeMap<String, u64>,
    /// Number of calls by tool, and how many of them failed.
    pub(crate) tools: BTreeMap<String, (u64, u64)>,
    /// The last tool call that succeeded.
    pub(crate) last_done: Option<String>,
    /// Hosts that were reached, with the number of connections and of bytes sent.
    pub(crate) outside: BTreeMap<String, (u64, u64)>,
}

impl Workshop {
    pub(crate) fn past(&self, work: Work, run: RunId) -> Result<PastPlanRun, Failure> {
        let of_run = |event: &&Event| matches!(&event.fact, Fact::PlanEnded(it) if it.run == run);
        let ended = work.events.iter().rfind(of_run);
        let until = ended.map_or(u64::MAX, |event| event.seq);
        let ended = ended.and_then(|event| match &event.fact {
            Fact::PlanEnded(it) => Some((event.at, it.clone())),
            _ => None,
        });
        let version = work.events.iter().find_map(|event| match &event.fact {
            Fact::PlanApproved(it) if it.run == run => Some(it.version),
            _ => None,
        });
        let version = version.ok_or_else(|| not_a_plan(run))?;
        let created = work
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Fact::ChangesetCreated(it) if it.run == run => Some(it.clone()),
                _ => None,
            });
        let (_, plan) = self.plan_of(&work, Some(version))?;
        // The settings for driving a run do not affect its outcome.
        let rules = PlanRunRules {
            at_once: 1,
            failure: OnFailure::Continue,
        };
        let mut past = PastPlanRun {
            conduct: PlanRun::new(plan, rules),
            events: self.run_events(run)?,
            begun: None,
            metrics: RunMetrics::default(),
            turns: BTreeMap::new(),
            tools: BTreeMap::new(),
            last_done: None,
            outside: BTreeMap::new(),
            work,
            run,
            version,
            ended,
            created,
        };
        past.events.retain(|event| event.seq <= until);
        for event in &past.events {
            past.conduct.fold(&event.fact);
            if let Fact::BranchBegun(begun) = &event.fact {
                past.begun = Some(begun.clone());
            }
        }
        past.add_up(&self.story(&past.work, until)?);
        Ok(past)
    }

    /// Returns all events of a request's trace, up to a sequence number.
    fn story(&self, work: &Work, until: u64) -> Result<Vec<Event>, Failure> {
        let filter = EventFilter {
            trace: Some(work.trace.to_string()),
            ..EventFilter::default()
        };
        let mut events = Vec::new();
        for record in self.reader()?.records(&EventQuery::of(filter))? {
            if record.seq <= until {
                events.push(record.event()?);
            }
        }
        Ok(events)
    }
}

impl PastPlanRun {
    /// Returns the proofs, in the order in which they were made.
    pub(crate) fn proofs(&self) -> impl Iterator<Item = &ProofRecorded> {
        self.events.iter().filter_map(|event| match &event.fact {
            Fact::ProofRecorded(proof) => Some(proof),
            _ => None,
        })
    }

    /// Returns the proofs of the last check on a clean checkout.
    pub(crate) fn last_proofs(&self) -> Vec<&ProofRecorded> {
        let at_the_end = || self.proofs().filter(|it| it.place == ProofStage::Final);
        let last = at_the_end().map(|proof| proof.round).max();
        at_the_end()
            .filter(|proof| Some(proof.round) == last)
            .collect()
    }

    /// Returns the last check of the whole branch.
    pub(crate) fn last_check(&self) -> Option<&BranchChecked> {
        self.events
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Fact::BranchChecked(checked) => Some(checked),
                _ => None,
            })
    }

    /// Returns the commits of the branch with the first lines of their messages, oldest first.
    pub(crate) fn commits(&self) -> Vec<(String, String)> {
        let plan = self.conduct.plan();
        let commit = |event: &Event| match &event.fact {
            Fact::StepPassed(passed) => {
                let subject = plan.step(&passed.step).map(|step| {
                    let message =
                        names::commit_message(step, plan.kind, &passed.files, self.work.trace);
                    message.lines().next().unwrap_or_default().to_owned()
                });
                let subject = subject.unwrap_or_else(|| passed.step.clone());
                Some((passed.commit.clone()?, subject))
            }
            Fact::BranchMended(mended) => {
                let subject = format!("what did not hold as a whole, round {}", mended.round);
                Some((mended.commit.clone()?, subject))
            }
            _ => None,
        };
        self.events.iter().filter_map(commit).collect()
    }

    /// Returns a line for each host with what was sent there and cannot be taken back.
    pub(crate) fn left_outside(&self) -> Vec<String> {
        let line = |(host, (times, bytes)): (&String, &(u64, u64))| {
            let times = artel_types::counted(*times, "connection");
            let bytes = artel_types::counted(*bytes, "byte");
            format!("{host}: {times}, {bytes} sent")
        };
        self.outside.iter().map(line).collect()
    }

    fn add_up(&mut self, story: &[Event]) {
        let mut tally = RunMetricsBuilder::default();
        let mut steps: BTreeMap<RunId, String> = BTreeMap::new();
        for event in story {
            tally.fold(event);
            match &event.fact {
                Fact::RunStarted(started) => {
                    let step = started.step.clone();
                    steps.extend(step.map(|step| (started.id, step)));
                }
                Fact::RunFinished(finished) => {
                    let turns = finished.metrics.as_ref().map_or(0, |it| it.turns);
                    if let Some(step) = steps.get(&finished.id) {
                        *self.turns.entry(step.clone()).or_default() += turns;
                    }
                }
                Fact::ToolFinished(done) => {
                    let is_failed = kind_of_failure(done).is_some();
                    let (calls, failures) = self.tools.entry(done.tool.clone()).or_default();
                    *calls += 1;
                    *failures += u64::from(is_failed);
                    if !is_failed && done.tool != "finish" {
                        self.last_done = Some(named(done.tool.as_str(), &done.changed));
                    }
                }
                Fact::SandboxPassage(passage) if passage.allowed => {
                    let (times, bytes) = self.outside.entry(passage.host.clone()).or_default();
                    *times += 1;
                    *bytes += passage.sent;
                }
                _ => {}
            }
        }
        self.metrics = tally.metrics(None);
    }
}

fn named(tool: &str, changed: &[String]) -> String {
    match changed.first() {
        Some(file) => format!("{tool} {file}"),
        None => tool.to_owned(),
    }
}

fn not_a_plan(run: RunId) -> Failure {
    let short = run.short();
    Failure::new(
        FailureCode::R004,
        format!("the run {short} carries out no plan"),
    )
    .advise("`artel changeset list` shows what plans left")
}
