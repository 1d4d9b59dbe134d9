//! The child runs of a plan: each part of a step is a run of its own, with its own
//! conversation. A crash does not lose it, since its name finds it again.

use std::path::PathBuf;
use std::sync::Arc;

use artel_engine::{
    PlanOrderOutcome, RunJournal, RunSuspendReason, RunTreeHandle, RunTreeLocation, prepared,
};
use artel_git::RunTree;
use artel_skills::SkillAgentKind;
use artel_types::{Actor, Event, Fact, Failure, RunId, TraceId};

use super::contract::RunContract;
use crate::caller::random_run;
use crate::runs::{RunDriveOutcome, RunEnvironment, RunLineage, RunStartOptions, RunStartSpec};

/// A run to begin for a part of something larger.
pub(crate) struct ChildRunSpec {
    /// The part's name within the parent run. Each name stands for one run.
    pub(crate) name: String,
    pub(crate) parent: Option<RunId>,
    pub(crate) role: String,
    pub(crate) task: String,
    /// Context that the agent needs for its task.
    pub(crate) told: Option<String>,
    /// The terms of the run.
    pub(crate) contract: RunContract,
    /// The files to work in, or `None` for read access to the person's files.
    pub(crate) tree: Option<(PathBuf, Arc<RunTree>)>,
}

/// The outcome of a child run.
pub(crate) enum ChildRunOutcome {
    /// The run is over; holds its outcome and its events.
    Over(Box<RunDriveOutcome>, Vec<Event>),
    /// The run was left unfinished.
    Left(RunSuspendReason),
}

impl ChildRunOutcome {
    /// Returns the finished run, or the reason for leaving it as `Err`.
    pub(crate) fn left(self) -> Result<(Box<RunDriveOutcome>, Vec<Event>), PlanOrderOutcome> {
        match self {
            Self::Over(done, events) => Ok((done, events)),
            Self::Left(left) => Err(PlanOrderOutcome::Left(left)),
        }
    }
}

impl RunEnvironment {
    /// Begins a child run, or resumes one that another process left, and drives it. `finish`
    /// can complete the contract with the run's id before the run begins.
    pub(crate) async fn child(
        self: &Arc<Self>,
        trace: TraceId,
        child: ChildRunSpec,
        finish: impl FnOnce(RunId, &mut RunContract),
    ) -> Result<ChildRunOutcome, Failure> {
        let ChildRunSpec {
            name,
            parent,
            role,
            task,
            told,
            mut contract,
            tree,
        } = child;
        let known = self.child_of(trace, parent, &name)?;
        let run = match known {
            Some(run) => run,
            None => random_run()?,
        };
        finish(run, &mut contract);
        let inherits = self.ordered().for_child(contract.terms(parent));
        let kin = RunLineage {
            parent,
            call: Some(name),
            is_called: parent.is_some(),
            agent: (role != "default").then(|| SkillAgentKind::Custom(role.clone())),
            role,
            told,
            contract: Some(Arc::new(contract)),
            ground: tree
                .as_ref()
                .map(|(at, tree)| self.standing_on(at, tree, run)),
            place: tree.map(|(at, _)| at),
            ..RunLineage::root(Vec::new(), inherits)
        };
        let done = if known.is_some() && self.is_prepared(trace, run)? {
            Box::pin(self.take_up(run, Some(kin))).await?
        } else {
            let order = RunStartOptions {
                arguments: vec![task],
                model: kin.inherits.model().map(str::to_owned),
                ..RunStartOptions::default()
            };
            let beginning = RunStartSpec {
                run,
                trace,
                skill: None,
                order,
                kin,
            };
            Box::pin(self.begin(beginning)).await?
        };
        match done.left {
            Some(left) => Ok(ChildRunOutcome::Left(left)),
            None => {
                let events = self.told_by(trace, done.run)?;
                Ok(ChildRunOutcome::Over(Box::new(done), events))
            }
        }
    }

    fn is_prepared(&self, trace: TraceId, run: RunId) -> Result<bool, Failure> {
        Ok(prepared(&self.bare(trace, run).own_events()?).is_some())
    }

    fn bare(&self, trace: TraceId, run: RunId) -> RunJournal {
        let actor = Actor::system("plan");
        RunJournal::new(self.journal.clone(), run, trace, None, actor)
    }

    /// Returns the events of a run and of the runs that continued its work.
    pub(crate) fn told_by(&self, trace: TraceId, run: RunId) -> Result<Vec<Event>, Failure> {
        let mut events = Vec::new();
        let mut next = Some(run);
        while let Some(run) = next {
            let own = self.bare(trace, run).own_events()?;
            next = own.iter().find_map(|event| match &event.fact {
                Fact::RunHandedOver(handed) => Some(handed.to),
                _ => None,
            });
            events.extend(own);
        }
        Ok(events)
    }

    fn standing_on(
        &self,
        at: &std::path::Path,
        tree: &Arc<RunTree>,
        run: RunId,
    ) -> Arc<RunTreeHandle> {
        let plot = RunTreeLocation {
            git: self.workshop.caller.program("git"),
            origin: self.folder.clone(),
            at: at.to_owned(),
            named: Vec::new(),
            share: self.workshop.settings.runs.share.value.clone(),
            bounds: self.workshop.tree_bounds(),
        };
        let clock = self.workshop.caller.clock.clone();
        Arc::new(RunTreeHandle::holding(
            plot,
            clock,
            Arc::clone(tree),
            run.short(),
        ))
    }
}
