//! The runs of a plan: each part of a step is a run of its own, with its own conversation, found
//! again by its name after a crash.

use std::path::PathBuf;
use std::sync::Arc;

use artel_engine::{Chronicle, Did, Ground, Left, Plot, prepared};
use artel_git::RunTree;
use artel_skills::AgentKind;
use artel_types::{Actor, Event, Fact, Failure, RunId, TraceId};

use super::contract::Contract;
use crate::caller::random_run;
use crate::runs::{Beginning, House, Kin, RunDone, RunOrder};

/// A run that is begun for a part of something larger.
pub(crate) struct Child {
    /// Its place in what it is a part of: one name, one run.
    pub(crate) name: String,
    /// The run that it is a part of.
    pub(crate) parent: Option<RunId>,
    /// The role.
    pub(crate) role: String,
    /// What it is to do.
    pub(crate) task: String,
    /// What it has to know for that.
    pub(crate) told: Option<String>,
    /// What holds for it.
    pub(crate) contract: Contract,
    /// The files it works in; those of the person, to be read, if not given.
    pub(crate) tree: Option<(PathBuf, Arc<RunTree>)>,
}

/// What a child came to.
pub(crate) enum Came {
    /// It is over; with what it did.
    Over(Box<RunDone>, Vec<Event>),
    /// It has to be left.
    Left(Left),
}

impl Came {
    /// Returns why it was left.
    pub(crate) fn left(self) -> Result<(Box<RunDone>, Vec<Event>), Did> {
        match self {
            Self::Over(done, events) => Ok((done, events)),
            Self::Left(left) => Err(Did::Left(left)),
        }
    }
}

impl House {
    /// Begins a child, or takes it up where another process left it, and drives it. `contract` may
    /// need the name of the run before it begins, so that is handed to it.
    pub(crate) async fn child(
        self: &Arc<Self>,
        trace: TraceId,
        child: Child,
        finish: impl FnOnce(RunId, &mut Contract),
    ) -> Result<Came, Failure> {
        let Child {
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
        let kin = Kin {
            parent,
            call: Some(name),
            is_called: parent.is_some(),
            agent: (role != "default").then(|| AgentKind::Custom(role.clone())),
            role,
            told,
            contract: Some(Arc::new(contract)),
            ground: tree
                .as_ref()
                .map(|(at, tree)| self.standing_on(at, tree, run)),
            place: tree.map(|(at, _)| at),
            ..Kin::root(Vec::new(), inherits)
        };
        let done = if known.is_some() && self.is_prepared(trace, run)? {
            Box::pin(self.take_up(run, Some(kin))).await?
        } else {
            let order = RunOrder {
                arguments: vec![task],
                model: kin.inherits.model().map(str::to_owned),
                ..RunOrder::default()
            };
            let beginning = Beginning {
                run,
                trace,
                skill: None,
                order,
                kin,
            };
            Box::pin(self.begin(beginning)).await?
        };
        match done.left {
            Some(left) => Ok(Came::Left(left)),
            None => {
                let events = self.told_by(trace, done.run)?;
                Ok(Came::Over(Box::new(done), events))
            }
        }
    }

    fn is_prepared(&self, trace: TraceId, run: RunId) -> Result<bool, Failure> {
        Ok(prepared(&self.bare(trace, run).own_events()?).is_some())
    }

    fn bare(&self, trace: TraceId, run: RunId) -> Chronicle {
        let actor = Actor::system("plan");
        Chronicle::new(self.journal.clone(), run, trace, None, actor)
    }

    /// Returns the events of a run with those of the runs that went on with its work.
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

    fn standing_on(&self, at: &std::path::Path, tree: &Arc<RunTree>, run: RunId) -> Arc<Ground> {
        let plot = Plot {
            git: self.workshop.caller.program("git"),
            origin: self.folder.clone(),
            at: at.to_owned(),
            named: Vec::new(),
            share: self.workshop.settings.runs.share.value.clone(),
            bounds: self.workshop.tree_bounds(),
        };
        let clock = self.workshop.caller.clock.clone();
        Arc::new(Ground::holding(plot, clock, Arc::clone(tree), run.short()))
    }
}
