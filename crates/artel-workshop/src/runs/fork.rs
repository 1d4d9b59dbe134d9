//! Goes on differently from any point of a run: a new run with the same past.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::Chronicle;
use artel_git::{RunTree, TreeError};
use artel_journal::Batch;
use artel_types::{
    Code, Draft, Event, Fact, Failure, RunForked, RunId, RunStarted, RunSteered, Stream,
};

use crate::caller::random_run;
use crate::workshop::{Open, Workshop};

/// Where a run is gone on from.
#[derive(Debug, Clone)]
pub struct ForkOrder {
    /// The run.
    pub from: RunId,
    /// The last of its events that counts.
    pub at: u64,
    /// What the new run is told first.
    pub hint: Option<String>,
    /// The model that goes on; the one it began with if not given.
    pub model: Option<String>,
}

/// Whether files are as they were at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exactness {
    AsThen,
    /// What was changed shortly before is not in them.
    Earlier,
}

/// What a run is told whose files are not quite as it remembers them.
const EARLIER: &str = "the files were put back to a state before your last changes; look at them \
                       again before you go on";

impl Workshop {
    /// Makes a run that has the past of another up to an event, with the files as they were then.
    /// Taking it up goes on from there.
    pub async fn fork_run(self: &Arc<Self>, order: &ForkOrder) -> Result<RunId, Failure> {
        let (started, trace) = self.started(order.from)?;
        if let Some(parent) = started.parent {
            let what = "a run that another one called has no files of its own";
            return Err(Failure::new(Code::R008, what)
                .advise(format!("fork the one that called it: {}", parent.short())));
        }
        if let Some(model) = &order.model {
            self.models(Some(model)).await?.choose(Some(model))?;
        }
        let Open { journal, .. } = self.open()?;
        let actor = self.caller.actor();
        let source = Chronicle::new(journal.clone(), order.from, trace, None, actor.clone());
        let events = source.events()?;
        refuse_outside(&events, order)?;
        let run = random_run()?;
        let files = files_at(&events, order.at);
        if let Some((snapshot, _)) = files {
            self.fork_tree(order.from, run, snapshot)?;
        }
        let mut hints: Vec<String> = order.hint.iter().cloned().collect();
        if let Some((_, Exactness::Earlier)) = files {
            hints.push(EARLIER.to_owned());
        }
        let forked = RunForked {
            id: run,
            from: order.from,
            at: order.at,
            model: order.model.clone(),
        };
        let begun = RunStarted { id: run, ..started };
        let draft = |fact: Fact| {
            Draft::new(Stream::run(run), self.trace_id(), actor.clone(), fact).in_run(run)
        };
        let mut drafts = vec![draft(begun.into()), draft(forked.into())];
        for text in hints {
            super::steer::refuse_secret(&text)?;
            let steered = RunSteered {
                act: "hint".to_owned(),
                text,
            };
            drafts.push(draft(steered.into()));
        }
        journal.append(Batch::of(drafts)).await?;
        Ok(run)
    }

    /// Copies the tree of a run and puts the copy back to a snapshot.
    fn fork_tree(&self, from: RunId, to: RunId, snapshot: &str) -> Result<(), Failure> {
        let (source, copy) = (self.run_place(from), self.run_place(to));
        if !source.join("run").exists() {
            let what = format!("the files of the run {} are gone", from.short());
            return Err(Failure::new(Code::R008, what)
                .because("they were put in place or cleaned")
                .advise("begin anew with `artel run`"));
        }
        let git = self.caller.program("git").ok_or_else(|| {
            Failure::new(Code::W008, "there is no `git` on the PATH").advise("install git")
        })?;
        let failed = |what: &dyn std::fmt::Display| {
            Failure::new(
                Code::W008,
                format!("the files of the run cannot be copied: {what}"),
            )
            .advise("look at `.artel/worktrees`, then repeat")
        };
        copy_all(&source, &copy).map_err(|error| failed(&error))?;
        let back = || -> Result<(), TreeError> {
            let tree = RunTree::open(&git, &copy)?;
            let snapshot = tree.find(snapshot)?;
            tree.restore(&snapshot)?;
            Ok(())
        };
        back().map_err(|error| failed(&error))
    }
}

/// Refuses an event at which the run had not begun or was over: from there nothing goes on.
fn refuse_outside(events: &[Event], order: &ForkOrder) -> Result<(), Failure> {
    let run = order.from.short();
    let seq_of = |wanted: fn(&Fact) -> bool| {
        let found = events.iter().find(|event| wanted(&event.fact));
        found.map(|event| event.seq)
    };
    let ready = seq_of(|fact| matches!(fact, Fact::RunPrepared(_)));
    let over = seq_of(|fact| matches!(fact, Fact::RunFinished(_)));
    let refused = |what: &str, advice: String| {
        let what = format!("at event {} the run {run} {what}", order.at);
        Err(Failure::new(Code::C004, what).advise(format!(
            "{advice}: `artel trace {run} --events --full` shows them"
        )))
    };
    match (ready, over) {
        (None, _) => refused("had not begun yet", "begin it anew".to_owned()),
        (Some(ready), _) if order.at < ready => refused(
            "had not begun yet",
            format!("name an event from {ready} on"),
        ),
        (_, Some(over)) if order.at >= over => {
            refused("was over", format!("name an event before {over}"))
        }
        _ => Ok(()),
    }
}

/// Finds the snapshot that holds the files as they were after an event: the next one, if no call
/// began in between, or else the newest before.
fn files_at(events: &[Event], at: u64) -> Option<(&str, Exactness)> {
    let before = events.iter().rev().filter(|event| event.seq <= at);
    let (since, label) = before.clone().find_map(of_snapshot)?;
    let mut after = events.iter().filter(|event| event.seq > at);
    let next = after
        .find(|event| of_snapshot(event).is_some() || matches!(event.fact, Fact::ToolRequested(_)));
    if let Some((_, label)) = next.and_then(of_snapshot) {
        return Some((label, Exactness::AsThen));
    }
    let is_change = |event: &&Event| match &event.fact {
        Fact::ToolFinished(finished) => event.seq > since && !finished.changed.is_empty(),
        _ => false,
    };
    let exactness = match before.clone().any(|event| is_change(&event)) {
        true => Exactness::Earlier,
        false => Exactness::AsThen,
    };
    Some((label, exactness))
}

fn of_snapshot(event: &Event) -> Option<(u64, &str)> {
    match &event.fact {
        Fact::TreeMade(made) => Some((event.seq, made.snapshot.as_str())),
        Fact::TreeSnapped(snapped) => Some((event.seq, snapped.snapshot.as_str())),
        _ => None,
    }
}

/// Copies a folder with all that is in it; links stay links.
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
