//! Forks of an agent's work on a plan step. They leave the plan and become runs of their
//! own, in a copy of the step's files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use artel_journal::{EventFilter, EventQuery, JournalRecord};
use artel_types::{Event, Fact, Failure, FailureCode, RunId, RunStarted, TraceId};

use crate::workshop::Workshop;

/// The hint for a run that was part of a plan before.
pub(super) const ON_ITS_OWN: &str = "you work on your own now, outside of the plan: the tools that \
     hand something in to it (such as propose_change) are gone; finish the work in these files";

/// The files that an agent of a plan works in.
pub(super) struct ForkedStepFiles {
    /// The plan run, which also stores git objects of the step's files.
    pub(super) plan: RunId,
    /// The folder with the step's files.
    pub(super) place: PathBuf,
    /// The events of all runs that worked on these files, in order.
    pub(super) events: Vec<Event>,
}

impl Workshop {
    /// Returns the run that an event belongs to. For a plan run, that is the run of the agent
    /// that worked on the plan or wrote it.
    pub(super) fn run_at(&self, from: RunId, at: u64) -> Result<RunId, Failure> {
        let (started, trace) = self.started(from)?;
        if started.plan.is_none() {
            return Ok(from);
        }
        let records = self.run_records(&trace.to_string())?;
        let named = records.iter().find(|record| record.seq == at);
        let named = named.and_then(|record| record.run.as_deref());
        Ok(named.and_then(|run| run.parse().ok()).unwrap_or(from))
    }

    /// Finds the files that an agent of a plan works in, or returns why the run cannot be
    /// forked.
    pub(super) fn step_stand(
        &self,
        started: &RunStarted,
        trace: TraceId,
    ) -> Result<ForkedStepFiles, Failure> {
        let called = |why: &str| {
            let parent = started.parent.map(|it| it.short()).unwrap_or_default();
            Failure::new(
                FailureCode::R008,
                "a run that another one called has no files of its own",
            )
            .because(why.to_owned())
            .advise(format!("fork the one that called it: {parent}"))
        };
        let (Some(plan), Some(step)) = (started.parent, &started.step) else {
            return Err(called("it works in those of whoever called it"));
        };
        if !is_work(started) {
            let what = "a run that judges a step cannot be gone on with differently";
            return Err(Failure::new(FailureCode::R008, what)
                .because("its verdict would count for nothing outside of the plan")
                .advise(format!(
                    "fork the work of step `{step}`: `artel trace {} --step {step}` names its runs",
                    trace.short()
                )));
        }
        let filter = EventFilter {
            trace: Some(trace.to_string()),
            ..EventFilter::default()
        };
        let mut events = Vec::new();
        for record in self.reader()?.records(&EventQuery::of(filter))? {
            events.push(record.event()?);
        }
        let Some(base) = base_of(&events, started) else {
            return Err(called("its step had not begun"));
        };
        let place = self.step_place(plan, step, &base);
        if !place.join("run").exists() {
            return Err(over(step, trace));
        }
        let kin = workers_of(&events, plan, step);
        events.retain(|event| event.run.is_some_and(|run| kin.contains(&run)));
        Ok(ForkedStepFiles {
            plan,
            place,
            events,
        })
    }

    /// Returns the runs among these events that can be forked: top-level runs, and work on
    /// steps whose files still exist.
    pub fn forkable_runs(&self, records: &[JournalRecord]) -> BTreeSet<RunId> {
        let told =
            |record: &&JournalRecord| matches!(&*record.kind, "run.started" | "step.started");
        let mut bases: BTreeMap<String, String> = BTreeMap::new();
        let mut found = BTreeSet::new();
        for event in records.iter().filter(told).filter_map(|it| it.event().ok()) {
            match event.fact {
                Fact::StepStarted(it) => drop(bases.insert(it.step, it.base)),
                Fact::RunStarted(it) => {
                    let base = it.step.as_ref().and_then(|step| bases.get(step));
                    let is_there = match (it.parent, base) {
                        (None, _) => it.plan.is_none(),
                        (Some(plan), Some(base)) if is_work(&it) => {
                            let step = it.step.as_deref().unwrap_or_default();
                            self.step_place(plan, step, base).join("run").exists()
                        }
                        (Some(_), _) => false,
                    };
                    if is_there {
                        found.insert(it.id);
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn step_place(&self, plan: RunId, step: &str, base: &str) -> PathBuf {
        let base: String = base.chars().take(12).collect();
        let steps = self.run_place(plan).join("steps");
        steps.join(format!("{step}-{base}"))
    }
}

/// Returns whether a run changes the files of a step.
fn is_work(started: &RunStarted) -> bool {
    let part = started.call.as_deref().and_then(|it| it.rsplit('/').next());
    matches!(part, Some("work" | "tests"))
}

/// Returns the failure for an attempt to fork a plan run at one of its own events.
pub(super) fn whole_plan(run: RunId, trace: TraceId) -> Failure {
    let (run, id) = (run.short(), trace.short());
    let what = format!("{run} carries a plan out, and that cannot be gone on with differently");
    Failure::new(FailureCode::R008, what)
        .because("its commits are on a branch, where each step rests on those before")
        .advise(format!(
            "name an event of an agent's work (`artel trace {id} --events --full`), or `artel plan \
             retry {id} STEP`, or `artel plan revise {id} --comment \"…\"`"
        ))
}

/// Returns the commit that the step was based on when an agent started.
fn base_of(events: &[Event], started: &RunStarted) -> Option<String> {
    let mut base = None;
    for event in events {
        match &event.fact {
            Fact::StepStarted(it) if Some(&it.step) == started.step.as_ref() => {
                base = Some(it.base.clone());
            }
            Fact::RunStarted(it) if it.id == started.id => return base,
            _ => {}
        }
    }
    None
}

/// Returns the runs that changed the files of a step, one after the other. Whoever names criteria
/// has a copy of them, and its snapshots are of that.
fn workers_of(events: &[Event], plan: RunId, step: &str) -> Vec<RunId> {
    let worker = |event: &Event| match &event.fact {
        Fact::RunStarted(it) if it.parent == Some(plan) && it.step.as_deref() == Some(step) => {
            is_work(it).then_some(it.id)
        }
        _ => None,
    };
    events.iter().filter_map(worker).collect()
}

fn over(step: &str, trace: TraceId) -> Failure {
    let id = trace.short();
    let what = format!("the files of step `{step}` are gone");
    Failure::new(FailureCode::R008, what)
        .because("they are kept while the plan runs; what passed is on its branch")
        .advise(format!(
            "`artel plan retry {id} {step}` does a step again that failed; otherwise switch to the \
             branch (`artel changeset show {id}` names it) and `artel ask \"…\"` anew"
        ))
}
