//! Retries a failed plan from the steps that passed.
//!
//! While the run is open, its failed steps are simply tried again. A run that is over
//! stays over: the same version is approved once more for a new run, which takes over what
//! passed and works on a copy of the branch.

use std::collections::BTreeSet;
use std::path::Path;

use artel_journal::EventBatch;
use artel_rules::conduct::PlanRun;
use artel_rules::plan::state::WorkAction;
use artel_types::plan::{Plan, PlanState, StepState};
use artel_types::{
    Event, EventDraft, Fact, Failure, FailureCode, PlanApproved, RunId, StepSettled, StreamName,
};

use super::LOOKING;
use super::steps::step_named;
use crate::caller::random_run;
use crate::works::work::Work;
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// The steps that are tried again, and the run that does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRetry {
    /// The run that tries them.
    pub run: RunId,
    /// The titles of the steps.
    pub steps: Vec<String>,
    /// The process that drives the run already.
    pub driver: Option<String>,
}

impl Workshop {
    /// Has one or all of the steps that did not pass tried again, with the steps that were
    /// skipped because of them. A new run that continues one that is over uses the model named
    /// now, or else the model named for that run.
    pub fn retry_plan(
        &self,
        work: &Work,
        step: Option<&str>,
        model: Option<&str>,
    ) -> Result<PlanRetry, Failure> {
        if work.course.state() != Some(PlanState::Running) {
            self.permit(work, WorkAction::Run)?;
        }
        let approved = work.course.approved().cloned();
        let conduct = self.conduct_of(work, LOOKING)?;
        let (Some(approved), Some(conduct)) = (approved, conduct) else {
            return Err(Failure::new(FailureCode::R008, "nothing was begun yet"));
        };
        let steps = to_try(&conduct, step)?;
        let titles = steps.iter().filter_map(|id| conduct.plan().step(id));
        let titles: Vec<String> = titles.map(|step| step.title.clone()).collect();
        let is_open = matches!(
            work.course.state(),
            Some(PlanState::Approved | PlanState::Running)
        );
        if is_open && !conduct.is_over() {
            let again = steps.iter().map(|id| again(id)).collect();
            self.tell_run(work, approved.run, again)?;
            let driver = self.state_of(approved.run).ok();
            return Ok(PlanRetry {
                run: approved.run,
                steps: titles,
                driver: driver.and_then(|state| state.driver),
            });
        }
        let run = random_run()?;
        self.copy_line(work, approved.run, run)?;
        let told = inherited(&self.state_of(approved.run)?.events, &conduct, &steps);
        let approval = PlanApproved {
            version: approved.version.number,
            hash: approved.version.hash.clone(),
            run,
            model: model
                .or(work.approved_model(approved.run))
                .map(str::to_owned),
        };
        let by = self.caller.actor();
        let stream = StreamName::work(work.trace);
        let told = told.into_iter().map(|fact| {
            EventDraft::new(StreamName::run(run), work.trace, by.clone(), fact).in_run(run)
        });
        let mut drafts: Vec<EventDraft> = told.collect();
        let approval = EventDraft::new(stream.clone(), work.trace, by.clone(), approval);
        drafts.push(approval);
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let batch = EventBatch::of(drafts).expecting(stream, work.position);
        let appended = journal.append(batch).wait();
        appended.map_err(|error| self.or_faster(work, error.into()))?;
        self.refresh_sheets(work.trace, LOOKING);
        Ok(PlanRetry {
            run,
            steps: titles,
            driver: None,
        })
    }

    /// Copies the branch of a run that is over for the run that continues it. The first run's
    /// changeset may still be decided until the new run has delivered.
    fn copy_line(&self, work: &Work, from: RunId, to: RunId) -> Result<(), Failure> {
        let old = self.run_place(from).join("line");
        if !old.join("line").exists() {
            return Err(
                Failure::new(FailureCode::R008, "the plan cannot be gone on with")
                    .because("its branch is gone")
                    .advise(format!(
                        "ask again: `artel request show {}`",
                        work.trace.short()
                    )),
            );
        }
        let place = self.run_place(to);
        let failed = |error: std::io::Error| {
            Failure::new(FailureCode::W008, "the branch could not be copied")
                .because(error.to_string())
        };
        artel_files::make_dirs(&place, 0o700)
            .map_err(|error| crate::trouble::file_failure(FailureCode::W008, &error))?;
        copy_tree(&old, &place.join("line")).map_err(failed)
    }
}

/// Returns the ids of the steps to try again.
fn to_try(conduct: &PlanRun, step: Option<&str>) -> Result<BTreeSet<String>, Failure> {
    let is_bad = |id: &str| {
        let state = conduct.step(id).map(|it| it.state);
        matches!(state, Some(StepState::Failed | StepState::Skipped))
    };
    let plan = conduct.plan();
    let mut wanted: BTreeSet<String> = match step {
        Some(name) => {
            let spec = step_named(conduct, name)?;
            if !is_bad(&spec.id) {
                let state = conduct
                    .step(&spec.id)
                    .map_or("unknown", |it| it.state.as_str());
                return Err(
                    Failure::new(FailureCode::R008, "the step cannot be tried again")
                        .because(format!("`{}` is {state}", spec.title))
                        .advise("only a step that failed or was skipped can"),
                );
            }
            BTreeSet::from([spec.id.clone()])
        }
        None => {
            let steps = plan.steps.iter().filter(|step| is_bad(&step.id));
            steps.map(|step| step.id.clone()).collect()
        }
    };
    if wanted.is_empty() {
        return Err(
            Failure::new(FailureCode::R008, "there is nothing to try again")
                .because("no step failed or was skipped")
                .advise("`artel plan list` shows how plans stand"),
        );
    }
    widen(&mut wanted, plan, is_bad);
    Ok(wanted)
}

/// Adds the failed and skipped steps that wait for these steps or that these steps wait
/// for.
fn widen(wanted: &mut BTreeSet<String>, plan: &Plan, is_bad: impl Fn(&str) -> bool) {
    loop {
        let needed = plan.steps.iter().filter(|step| wanted.contains(&step.id));
        let needed = needed.flat_map(|step| step.after.iter().cloned());
        let needs = |after: &[String]| after.iter().any(|id| wanted.contains(id));
        let waiting = plan.steps.iter().filter(|step| needs(&step.after));
        let more = needed.chain(waiting.map(|step| step.id.clone()));
        let more: BTreeSet<String> = more
            .filter(|id| is_bad(id) && !wanted.contains(id))
            .collect();
        if more.is_empty() {
            return;
        }
        wanted.extend(more);
    }
}

fn again(step: &str) -> Fact {
    StepSettled {
        step: step.to_owned(),
        state: "again".to_owned(),
        why: "a person wants it tried again".to_owned(),
    }
    .into()
}

/// Returns the facts that the new run takes over: where the branch is, what passed before,
/// the passed steps with their proofs, and the steps that stay undone.
fn inherited(events: &[Event], conduct: &PlanRun, again: &BTreeSet<String>) -> Vec<Fact> {
    let stays = |id: &str| conduct.plan().step(id).is_some() && !again.contains(id);
    let has_passed = |id: &str| {
        conduct
            .step(id)
            .is_some_and(|it| it.state == StepState::Done)
    };
    let holds = |event: &Event| matches!(&event.fact, Fact::BaselineTaken(it) if it.holds);
    let has_baseline = events.iter().any(holds);
    let mut told = Vec::new();
    for event in events {
        let is_told = match &event.fact {
            Fact::BranchBegun(_) => true,
            // Beside one that holds, a baseline that does not hold says which earlier proofs do not
            // count.
            Fact::BaselineTaken(_) => has_baseline,
            Fact::ProofRecorded(proof) => {
                proof.step.as_deref().is_none_or(has_passed)
                    && proof.place != artel_types::plan::ProofStage::Final
            }
            Fact::StepPassed(it) => stays(&it.step),
            Fact::StepWaived(it) => stays(&it.step),
            Fact::StepSettled(it) => stays(&it.step) && it.state != "again",
            _ => false,
        };
        if is_told {
            told.push(event.fact.clone());
        }
    }
    told
}

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
