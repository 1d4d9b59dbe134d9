//! A crew that follows a script. What it does outlives the processes that have it done: commits
//! stand in a file, and everything is found again under the name of its order.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use artel_engine::{Doing, PlanExecutor, PlanOrderOutcome, RunJournalEntry};
use artel_rules::conduct::{AttemptPart, PlanRun, PlanRunOrder, StepVerifier};
use artel_testkit::Random;
use artel_types::{
    BaselineTaken, BranchChecked, BranchMended, Fact, Failure, RunFinished, RunId, StepAdvised,
    StepChecked, StepFailed, StepJudged, StepPassed, StepStarted, StepWorked,
};
use tokio::sync::Notify;

use crate::script::{Fault, Script};

/// The world that a plan changes.
pub(crate) struct World {
    pub(crate) script: Script,
    run: RunId,
    log: PathBuf,
    seen: Mutex<Seen>,
}

/// What was seen of the work.
pub(crate) struct Seen {
    /// Orders in the order in which they were begun, of all processes.
    pub(crate) begun: Vec<String>,
    /// How many orders of each step are under way.
    under_way: BTreeMap<String, usize>,
    /// The most steps that were worked on at once.
    pub(crate) most: usize,
    /// After how many orders the crew was called off.
    pub(crate) called_off: Vec<usize>,
    random: Random,
}

/// One process's hands in that world.
pub(crate) struct Hands {
    pub(crate) world: Arc<World>,
    pub(crate) fuse: Arc<Fuse>,
}

/// Ends a process after so many sparks.
pub(crate) struct Fuse {
    left: AtomicU64,
    pub(crate) is_out: Notify,
}

impl Fuse {
    /// Makes one; 0 never burns out.
    pub(crate) fn of(sparks: u64) -> Arc<Self> {
        let left = AtomicU64::new(if sparks == 0 { u64::MAX } else { sparks });
        let is_out = Notify::new();
        Arc::new(Self { left, is_out })
    }

    /// Burns; true once the process is dead.
    pub(crate) fn spark(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        match self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
        {
            Ok(1) => self.is_out.notify_one(),
            Ok(_) => return false,
            Err(_) => {}
        }
        true
    }

    /// Burns, and does not come back once the process is dead.
    async fn burn(&self) {
        if self.spark() {
            std::future::pending::<()>().await;
        }
    }
}

impl World {
    pub(crate) fn new(script: Script, run: RunId, folder: &Path, seed: u64) -> Arc<Self> {
        let log = folder.join(format!("commits-{seed}-{run}"));
        fs::write(&log, "").unwrap();
        Arc::new(Self {
            script,
            run,
            log,
            seen: Mutex::new(Seen {
                begun: Vec::new(),
                under_way: BTreeMap::new(),
                most: 0,
                called_off: Vec::new(),
                random: Random::of_seed(seed),
            }),
        })
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// Returns the commits in their order: what they were ordered as, and with which values.
    pub(crate) fn commits(&self) -> Vec<(String, String)> {
        let log = fs::read_to_string(&self.log).unwrap();
        let lines = log.lines().map(|line| line.split_once(' ').unwrap());
        lines
            .map(|(name, values)| (name.to_owned(), values.to_owned()))
            .collect()
    }

    /// Puts a commit where it stays, unless it is there, and returns the values it stands with.
    fn commit(&self, name: &str, values: &str) -> String {
        if let Some((_, values)) = self.commits().into_iter().find(|(it, _)| it == name) {
            return values;
        }
        let mut log = fs::OpenOptions::new().append(true).open(&self.log).unwrap();
        writeln!(log, "{name} {values}").unwrap();
        values.to_owned()
    }

    fn outcome(&self, order: &PlanRunOrder, state: &PlanRun) -> Fact {
        match order {
            PlanRunOrder::Baseline { given } => BaselineTaken {
                commit: "c0".to_owned(),
                commands: vec!["make test".to_owned()],
                holds: given.is_some() || self.script.has_baseline,
                why: None,
            }
            .into(),
            PlanRunOrder::Final { round } => BranchChecked {
                round: *round,
                head: "head".to_owned(),
                passed: *round >= self.script.holds_in,
                why: vec!["1 of 6 failed".to_owned()],
            }
            .into(),
            PlanRunOrder::Mend { round } => BranchMended {
                round: *round,
                run: self.run,
                commit: None,
                head: self.commit(&order.to_string(), "mended"),
            }
            .into(),
            PlanRunOrder::Close { .. } => RunFinished::new(self.run, "over").into(),
            PlanRunOrder::Do { step, round, part } => {
                self.part(order, (step, *round, *part), state)
            }
            PlanRunOrder::Record(_) | PlanRunOrder::Await(_) | PlanRunOrder::Adopt { .. } => {
                panic!("`{order}` is not for the crew")
            }
        }
    }

    fn part(
        &self,
        order: &PlanRunOrder,
        (id, round, part): (&str, u32, AttemptPart),
        state: &PlanRun,
    ) -> Fact {
        let row = self.script.row(id);
        let step = id.to_owned();
        let fails = |fault: &[Fault]| round < row.passes_in && fault.contains(&row.fault);
        let worked = |part: &str, fault| StepWorked {
            step: step.clone(),
            round,
            part: part.to_owned(),
            run: self.run,
            state: if fails(&[fault]) {
                "failed"
            } else {
                "complete"
            }
            .to_owned(),
            summary: format!("{part} {round}").as_str().into(),
            criteria: Vec::new(),
            tree: format!("t-{step}-{round}"),
            left_out: None,
        };
        let checked = |phase: &str, fault| StepChecked {
            step: step.clone(),
            round,
            phase: phase.to_owned(),
            passed: !fails(&[fault]),
            why: vec![format!("{phase} {round}")],
        };
        match part {
            AttemptPart::Start => self.started(id, round),
            AttemptPart::Criteria => StepWorked {
                state: "complete".to_owned(),
                ..worked("criteria", Fault::Tests)
            }
            .into(),
            AttemptPart::Tests => worked("tests", Fault::Tests).into(),
            AttemptPart::Red => checked("red", Fault::Red).into(),
            AttemptPart::Work => worked("work", Fault::Work).into(),
            AttemptPart::Green => checked("green", Fault::Green).into(),
            AttemptPart::Judge(judge) => {
                let alone = judge != StepVerifier::Tester && fails(&[Fault::OneJudge]);
                let passed = !alone && !fails(&[Fault::AllJudges]);
                let by_test = judge == StepVerifier::Tester && !passed;
                StepJudged {
                    by: judge.as_str().to_owned(),
                    run: self.run,
                    passed,
                    feedback: format!("{} {round}", judge.as_str()).as_str().into(),
                    findings: Vec::new(),
                    evidence: vec!["looked".to_owned()],
                    outputs: format!("{{\"{step}-{}\":{round}}}", judge.as_str())
                        .as_str()
                        .into(),
                    fault: by_test.then(|| "test".to_owned()),
                    step,
                    round,
                }
                .into()
            }
            AttemptPart::Advise => StepAdvised {
                step,
                round,
                run: Some(self.run),
                fault: Some("code".to_owned()),
                advice: "it is not finished".into(),
                proposal: None,
            }
            .into(),
            AttemptPart::Commit if fails(&[Fault::Commit]) => StepFailed {
                step,
                round,
                why: format!("conflict {round}").as_str().into(),
            }
            .into(),
            AttemptPart::Commit => self.passed(order, (id, round), state),
        }
    }

    /// A step begins on a branch that has all that it needs.
    fn started(&self, id: &str, round: u32) -> Fact {
        let commits = self.commits();
        for needed in &self.script.plan.step(id).unwrap().after {
            let is_there = |(name, _): &(String, String)| {
                name.split_once('/').is_some_and(|(step, _)| step == needed)
            };
            assert!(
                commits.iter().any(is_there),
                "{id} begins before {needed} is committed: {commits:?}"
            );
        }
        StepStarted {
            step: id.to_owned(),
            round,
            base: "c0".to_owned(),
        }
        .into()
    }

    /// The values of a step follow from those of the steps before it.
    fn passed(&self, order: &PlanRunOrder, (id, round): (&str, u32), state: &PlanRun) -> Fact {
        let step = state.step(id).unwrap();
        let mut values = step.offered().clone();
        let memory = serde_json::to_vec(&state.memory(id)).unwrap();
        let made = blake3::hash(&memory).to_hex();
        values.insert(id.to_owned(), format!("{round}-{}", &made[..12]));
        let outputs = self.commit(&order.to_string(), &serde_json::to_string(&values).unwrap());
        StepPassed {
            outputs: outputs.as_str().into(),
            commit: Some(order.to_string()),
            head: order.to_string(),
            files: Vec::new(),
            waived: step.passed_over(),
            step: id.to_owned(),
            round,
        }
        .into()
    }
}

/// Counts an order as under way for as long as it lives.
struct Place(Arc<World>, Option<String>);

impl Place {
    fn take(world: &Arc<World>, order: &PlanRunOrder) -> Self {
        let mut seen = world.seen();
        seen.begun.push(order.to_string());
        let step = match order {
            PlanRunOrder::Do { step, .. } => Some(step.clone()),
            _ => None,
        };
        if let Some(step) = &step {
            *seen.under_way.entry(step.clone()).or_default() += 1;
            seen.most = seen.most.max(seen.under_way.len());
        }
        Self(Arc::clone(world), step)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(step) = &self.1 else { return };
        let mut seen = self.0.seen();
        let count = seen.under_way.get_mut(step).unwrap();
        *count -= 1;
        if *count == 0 {
            seen.under_way.remove(step);
        }
    }
}

impl PlanExecutor for Hands {
    fn carry_out(
        self: Arc<Self>,
        order: PlanRunOrder,
        state: Arc<PlanRun>,
    ) -> Doing<PlanOrderOutcome> {
        let place = Place::take(&self.world, &order);
        Box::pin(async move {
            let _place = place;
            let turns = self.world.seen().random.below(6);
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            self.fuse.burn().await;
            let fact = self.world.outcome(&order, &state);
            self.fuse.burn().await;
            Ok::<_, Failure>(PlanOrderOutcome::Facts(vec![RunJournalEntry::shown(fact)]))
        })
    }

    fn call_off(self: Arc<Self>) -> Doing<()> {
        let mut seen = self.world.seen();
        let begun = seen.begun.len();
        seen.called_off.push(begun);
        drop(seen);
        Box::pin(async { Ok(()) })
    }

    fn wake(self: Arc<Self>, _: String) -> Doing<()> {
        Box::pin(async { Ok(()) })
    }
}
