//! Forks a run: starts a new run that shares the past of another up to any event.

mod step;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::RunJournal;
use artel_git::{RunTree, RunTreeError};
use artel_journal::EventBatch;
use artel_types::model::PrivacyLabel;
use artel_types::{
    BudgetLevel, BudgetLimited, Event, EventDraft, EventVisibility, Fact, Failure, FailureCode,
    RunForked, RunId, RunStarted, RunSteered, SpendAmount, StreamName, TreeMade,
};

use self::step::{ForkedStepFiles, ON_ITS_OWN};

use crate::caller::random_run;
use crate::portals::label_of_runs;
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// The point to fork a run from.
#[derive(Debug, Clone)]
pub struct RunForkOptions {
    /// The run to fork. If it is a plan run, the event decides which of its runs is meant.
    pub from: RunId,
    /// The last event that the fork keeps.
    pub at: u64,
    /// A hint for the new run to start with.
    pub hint: Option<String>,
    /// The model of the new run, or `None` to keep the model.
    pub model: Option<String>,
}

/// Whether the files are as they were at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ForkFileExactness {
    AsThen,
    /// The latest changes before the event are missing.
    Earlier,
}

/// The snapshot of the files that a step began with.
const BEGINNING: &str = "start";

/// The hint for a run whose files are not quite as it remembers them.
const EARLIER: &str = "the files were put back to a state before your last changes; look at them \
                       again before you go on";

impl Workshop {
    /// Creates a run that shares the past of another up to an event, with the files as they
    /// were then. Resuming it continues from there.
    pub async fn fork_run(self: &Arc<Self>, order: &RunForkOptions) -> Result<RunId, Failure> {
        let from = self.run_at(order.from, order.at)?;
        let (started, trace) = self.started(from)?;
        if started.plan.is_some() {
            return Err(step::whole_plan(from, trace));
        }
        let stand = match started.parent {
            Some(_) => Some(self.step_stand(&started, trace)?),
            None => None,
        };
        if let Some(model) = &order.model {
            self.models(Some(model)).await?.choose(Some(model))?;
        }
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let actor = self.caller.actor();
        let source = RunJournal::new(journal.clone(), from, trace, None, actor.clone());
        let events = source.events()?;
        refuse_outside(&events, from, order.at)?;
        let run = random_run()?;
        let mut hints: Vec<String> = order.hint.iter().cloned().collect();
        let mut facts: Vec<Fact> = Vec::new();
        let exactness = match (&stand, files_at(&events, order.at)) {
            (Some(stand), _) => {
                let (made, exactness) = self.fork_step(stand, run, order.at)?;
                facts.push(made.into());
                hints.push(ON_ITS_OWN.to_owned());
                exactness
            }
            (None, Some((snapshot, exactness))) => {
                self.fork_tree(from, run, snapshot)?;
                exactness
            }
            (None, None) => ForkFileExactness::AsThen,
        };
        if exactness == ForkFileExactness::Earlier {
            hints.push(EARLIER.to_owned());
        }
        let forked = RunForked {
            id: run,
            from,
            at: order.at,
            model: order.model.clone(),
        };
        let limit = self.limit_of_fork(&source, &started, &events)?;
        let label = self.label_of_runs_on(&started)?;
        let begun = on_its_own(started, run, order.model.as_deref(), label)?;
        let draft = |fact: Fact| {
            EventDraft::new(StreamName::run(run), self.trace_id(), actor.clone(), fact).in_run(run)
        };
        let mut drafts = vec![draft(begun.into()), draft(forked.into())];
        drafts.extend(facts.into_iter().map(draft));
        drafts.extend(limit.map(|limit| {
            let level = BudgetLevel::Run(run.to_string());
            draft(BudgetLimited { level, limit }.into()).shown(EventVisibility::Full)
        }));
        for text in hints {
            self.refuse_secret_in(&text)?;
            let steered = RunSteered {
                act: "hint".to_owned(),
                text,
            };
            drafts.push(draft(steered.into()));
        }
        journal.append(EventBatch::of(drafts)).await?;
        Ok(run)
    }

    /// Returns where the content of the run's folder may be sent now.
    fn label_of_runs_on(&self, started: &RunStarted) -> Result<PrivacyLabel, Failure> {
        let portals = self.portals()?;
        let folder = started.folder.as_deref().map(Path::new);
        Ok(folder.map_or(PrivacyLabel::Any, |folder| label_of_runs(folder, &portals)))
    }

    /// Returns the cost limit of a fork: no more than that of the original run, or of the step
    /// it was part of.
    fn limit_of_fork(
        &self,
        source: &RunJournal,
        started: &RunStarted,
        events: &[Event],
    ) -> Result<Option<SpendAmount>, Failure> {
        let of_level = |events: &[Event], level: &BudgetLevel| {
            events.iter().rev().find_map(|event| match &event.fact {
                Fact::BudgetLimited(it) if it.level == *level => Some(it.limit),
                _ => None,
            })
        };
        let own = of_level(events, &BudgetLevel::Run(source.run().to_string()));
        let step = started
            .inherits
            .as_ref()
            .and_then(|it| it.step_budget.clone());
        let of_step = match (step, started.parent) {
            (Some(step), Some(plan)) => of_level(&self.run_events(plan)?, &BudgetLevel::Step(step)),
            _ => None,
        };
        let all = own.into_iter().chain(of_step);
        Ok(all.reduce(|one, other| SpendAmount {
            tokens: one.tokens.min(other.tokens),
            money: one.money.min(other.money),
        }))
    }

    /// Copies the files of a step as they were after an event. The copy borrows nothing from
    /// the plan, whose files may be cleaned up earlier.
    fn fork_step(
        &self,
        stand: &ForkedStepFiles,
        to: RunId,
        at: u64,
    ) -> Result<(TreeMade, ForkFileExactness), Failure> {
        let (snapshot, exactness) = files_since((0, BEGINNING), &stand.events, at);
        let copy = self.run_place(to);
        let tree = self.copied(&stand.place, &copy, snapshot)?;
        let origin = tree.origin().display().to_string();
        tree.stand_alone(&self.run_place(stand.plan))
            .map_err(|error| not_copied(&error))?;
        let made = TreeMade {
            origin,
            path: copy.display().to_string(),
            snapshot: snapshot.to_owned(),
            how: "a copy of the files of a step".to_owned(),
            millis: 0,
        };
        Ok((made, exactness))
    }

    /// Copies the tree of a run, and restores the copy to a snapshot.
    fn fork_tree(&self, from: RunId, to: RunId, snapshot: &str) -> Result<(), Failure> {
        let (source, copy) = (self.run_place(from), self.run_place(to));
        if !source.join("run").exists() {
            let what = format!("the files of the run {} are gone", from.short());
            return Err(Failure::new(FailureCode::R008, what)
                .because("they were put in place or cleaned")
                .advise("begin anew with `artel run`"));
        }
        self.copied(&source, &copy, snapshot).map(drop)
    }

    fn copied(&self, source: &Path, copy: &Path, snapshot: &str) -> Result<RunTree, Failure> {
        let git = self.caller.program("git").ok_or_else(|| {
            Failure::new(FailureCode::W008, "there is no `git` on the PATH").advise("install git")
        })?;
        copy_all(source, copy).map_err(|error| not_copied(&error))?;
        let back = || -> Result<RunTree, RunTreeError> {
            let tree = RunTree::open(&git, copy)?;
            let snapshot = tree.find(snapshot)?;
            tree.restore(&snapshot)?;
            Ok(tree)
        };
        back().map_err(|error| not_copied(&error))
    }
}

fn not_copied(what: &dyn std::fmt::Display) -> Failure {
    Failure::new(
        FailureCode::W008,
        format!("the files of the run cannot be copied: {what}"),
    )
    .advise("look at `.artel/worktrees`, then repeat")
}

/// Returns the start of a fork. It belongs to no other run and no plan. It has the bounds
/// of the original run, and the current label of its folder.
fn on_its_own(
    started: RunStarted,
    run: RunId,
    model: Option<&str>,
    label: PrivacyLabel,
) -> Result<RunStarted, Failure> {
    let is_part = started.parent.is_some();
    if is_part && started.inherits.is_none() {
        let what = "the run is from an older Artel, which did not record its limits";
        return Err(Failure::new(FailureCode::R008, what)
            .advise("`artel plan retry` repeats its step; `artel ask` starts a new run"));
    }
    let mut inherits = started.inherits;
    if let Some(inherits) = &mut inherits {
        // The plan's budget stays with the plan.
        inherits.step_budget = None;
        inherits.privacy = inherits.privacy.narrowed(label);
        inherits.model = model.map(str::to_owned).or(inherits.model.take());
    }
    Ok(RunStarted {
        id: run,
        parent: None,
        step: None,
        call: started.call.filter(|_| !is_part),
        inherits,
        ..started
    })
}

/// Refuses an event before the run had started or after it was over: a fork cannot start
/// there.
fn refuse_outside(events: &[Event], from: RunId, at: u64) -> Result<(), Failure> {
    let run = from.short();
    let seq_of = |wanted: fn(&Fact) -> bool| {
        let found = events.iter().find(|event| wanted(&event.fact));
        found.map(|event| event.seq)
    };
    let ready = seq_of(|fact| matches!(fact, Fact::RunPrepared(_)));
    let over = seq_of(|fact| matches!(fact, Fact::RunFinished(_)));
    let refused = |what: &str, advice: String| {
        let what = format!("at event {at} the run {run} {what}");
        Err(Failure::new(FailureCode::C004, what).advise(format!(
            "{advice}: `artel trace {run} --events --full` shows them"
        )))
    };
    match (ready, over) {
        (None, _) => refused("had not begun yet", "begin it anew".to_owned()),
        (Some(ready), _) if at < ready => refused(
            "had not begun yet",
            format!("name an event from {ready} on"),
        ),
        (_, Some(over)) if at >= over => {
            refused("was over", format!("name an event before {over}"))
        }
        _ => Ok(()),
    }
}

/// Finds the snapshot that holds the files as they were after an event; nothing where none was taken
/// before.
fn files_at(events: &[Event], at: u64) -> Option<(&str, ForkFileExactness)> {
    let mut before = events.iter().filter(|event| event.seq <= at);
    let first = before.find_map(of_snapshot)?;
    Some(files_since(first, events, at))
}

/// Finds the snapshot that holds the files as they were after an event: the next one, if no call
/// began in between, or else the newest before, which is `first` where there is no other.
fn files_since<'e>(
    first: (u64, &'e str),
    events: &'e [Event],
    at: u64,
) -> (&'e str, ForkFileExactness) {
    let before = events.iter().rev().filter(|event| event.seq <= at);
    let (since, label) = before.clone().find_map(of_snapshot).unwrap_or(first);
    let mut after = events.iter().filter(|event| event.seq > at);
    let next = after
        .find(|event| of_snapshot(event).is_some() || matches!(event.fact, Fact::ToolRequested(_)));
    if let Some((_, label)) = next.and_then(of_snapshot) {
        return (label, ForkFileExactness::AsThen);
    }
    let is_change = |event: &&Event| match &event.fact {
        Fact::ToolFinished(finished) => event.seq > since && !finished.changed.is_empty(),
        _ => false,
    };
    let exactness = if before.clone().any(|event| is_change(&event)) {
        ForkFileExactness::Earlier
    } else {
        ForkFileExactness::AsThen
    };
    (label, exactness)
}

fn of_snapshot(event: &Event) -> Option<(u64, &str)> {
    match &event.fact {
        Fact::TreeMade(made) => Some((event.seq, made.snapshot.as_str())),
        Fact::TreeSnapped(snapped) => Some((event.seq, snapped.snapshot.as_str())),
        _ => None,
    }
}

/// Copies a folder with its contents. Links stay links.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target: PathBuf = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_all(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
