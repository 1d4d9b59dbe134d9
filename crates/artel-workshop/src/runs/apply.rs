//! Handles the files of a run: show them, apply them on a person's order, remove them.

use std::path::{Path, PathBuf};

use artel_engine::prepared;
use artel_git::{FolderWriteTurn, RunTree, RunTreeApplyError, RunTreeError};
use artel_policy::path::protected;
use artel_policy::{PathWall, PathWallKind, PolicyAnswer};
use artel_types::{
    EventDraft, Failure, FailureCode, FileChange, FileChangeKind, RunApplied, RunId, StreamName,
    listed_paths,
};
use serde::Serialize;

use super::inheritance::{FilesOutsideStep, RunInheritance};
use super::list::applied;
use super::order::RunDriveOutcome;
use super::steer::refuse_running;
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

/// The changes that a run would make to the folder.
#[derive(Debug, Clone, Serialize)]
pub struct RunApplyPreview {
    pub run: RunId,
    /// The folder that the run's tree was made from, which would be changed.
    pub folder: String,
    /// The files that the run created, changed or deleted.
    pub files: Vec<FileChange>,
}

/// The changes that were made to the folder.
#[derive(Debug, Clone, Serialize)]
pub struct RunApplyOutcome {
    pub run: RunId,
    /// The changed folder.
    pub folder: String,
    /// Files that were created or changed.
    pub written: Vec<String>,
    /// Files that were deleted.
    pub deleted: Vec<String>,
    /// Files that were already as the run left them.
    pub already: Vec<String>,
}

impl Workshop {
    /// Returns what a finished run would change in the folder.
    pub fn proposal(&self, run: RunId) -> Result<RunApplyPreview, Failure> {
        let LockedRunFiles { tree, _turn } = self.held_tree(run)?;
        let files = changes(&tree).map_err(|error| tree_failure(&error))?;
        Ok(RunApplyPreview {
            run,
            folder: tree.origin().display().to_string(),
            files,
        })
    }

    /// Returns the changes of a run as a diff.
    pub fn run_diff(&self, run: RunId) -> Result<String, Failure> {
        let LockedRunFiles { tree, _turn } = self.held_tree(run)?;
        let changes = tree
            .changes(tree.start())
            .map_err(|error| tree_failure(&error))?;
        let wanted = changes.into_iter().filter(|change| !change.is_ignored);
        let paths: Vec<PathBuf> = wanted.map(|change| change.path).collect();
        if paths.is_empty() {
            return Ok(String::new());
        }
        let diff = tree.diff(tree.start(), &paths);
        let diff = diff.map_err(|error| tree_failure(&error))?;
        Ok(String::from_utf8_lossy(&diff).into_owned())
    }

    /// Applies the changes of a run to the folder. Only a person's act leads here. If any file
    /// was touched in the meantime, the call fails, names the files and writes nothing. Files
    /// that the person's rules keep unchanged stay so, however the run changed its copies, and
    /// a note names them. Waits for other processes that are applying changes to the same
    /// folder.
    pub async fn apply_run(
        &self,
        run: RunId,
    ) -> Result<OutcomeWithNotes<RunApplyOutcome>, Failure> {
        let LockedRunFiles { tree, _turn } = self.held_tree(run)?;
        let (_, trace) = self.started(run)?;
        let OpenWorkshopJournal { journal, mut notes } = self.open()?;
        let origin = tree.origin().to_owned();
        let ApplyPathSplit { banned, free } = self.choice(run, &tree)?;
        self.refuse_outside_of_step(run, &free)?;
        let prefix = self.inside_workshop(&origin);
        let own = self.own_folders()?;
        let is_protected = |path: &Path| {
            let inside = prefix.join(path);
            protected(&inside.to_string_lossy()).is_some() || own.owns(&origin.join(path))
        };
        let chosen = (!banned.is_empty()).then_some(&free[..]);
        let done = tree.put_in_place(chosen, &is_protected);
        let done = done.map_err(|error| apply_failure(&error, run))?;
        notes.extend(left_out_note(&banned));
        let placed = RunApplyOutcome {
            run,
            folder: origin.display().to_string(),
            written: names(&done.written),
            deleted: names(&done.deleted),
            already: names(&done.already),
        };
        // If the process is killed before this is recorded, the next call finds everything in
        // place and records it.
        let fact = RunApplied {
            id: run,
            folder: placed.folder.clone(),
            files: [&placed.written[..], &placed.deleted, &placed.already].concat(),
        };
        // The run's own stream ended with the run.
        let draft = EventDraft::new(StreamName::workshop(), trace, self.caller.actor(), fact);
        journal.append(draft.on(run.to_string())).await?;
        tree.remove().map_err(|error| tree_failure(&error))?;
        Ok(OutcomeWithNotes {
            done: placed,
            notes,
        })
    }

    /// Splits the changes of a run into those forbidden by the person's rules and the rest.
    /// Rules that hold now count, and so do rules that the run started under.
    fn choice(&self, run: RunId, tree: &RunTree) -> Result<ApplyPathSplit, Failure> {
        let walls = self.kept_by_rules(run)?;
        let is_kept = |path: &PathBuf| {
            let path = path.to_string_lossy();
            walls.iter().any(|wall| wall.covers(&path))
        };
        let changes = tree.changes(tree.start());
        let changes = changes.map_err(|error| tree_failure(&error))?;
        let wanted = changes.into_iter().filter(|change| !change.is_ignored);
        let (banned, free) = wanted.map(|change| change.path).partition(is_kept);
        Ok(ApplyPathSplit { banned, free })
    }

    /// Refuses files that the run's step may not change. A run forked from work on a step is
    /// bound by the step's paths, but commands can change anything in its copy of the files.
    fn refuse_outside_of_step(&self, run: RunId, files: &[PathBuf]) -> Result<(), Failure> {
        let state = self.state_of(run)?;
        let Some(recorded) = &state.started.inherits else {
            return Ok(());
        };
        let inherits = RunInheritance::of_record(recorded, Vec::new())?;
        match inherits.outside_of_steps(files).first() {
            Some(outside) => Err(outside_failure(outside, run)),
            None => Ok(()),
        }
    }

    fn kept_by_rules(&self, run: RunId) -> Result<Vec<PathWall>, Failure> {
        let state = self.state_of(run)?;
        let role = prepared(&state.events).map(|facts| facts.role.clone());
        // A role that no longer exists has no say, but the person's own rules still hold.
        let policy = self.caller.policy(role.as_deref());
        let policy = policy.or_else(|_| self.caller.policy(None));
        let mut policy = policy.map_err(|problems| problems.first())?;
        if let Some(recorded) = &state.started.inherits {
            RunInheritance::of_record(recorded, Vec::new())?.hold_in(&mut policy);
        }
        let mut walls = policy.path_walls();
        walls.retain(|wall| {
            wall.keeps == PathWallKind::Writing && wall.answer == PolicyAnswer::Deny
        });
        Ok(walls)
    }

    /// Removes what a run needed only while it ran, or everything if no changes are waiting to
    /// be applied.
    pub(crate) fn tidy_run(&self, done: &RunDriveOutcome) {
        let Some(finished) = &done.finished else {
            return;
        };
        let at = self.run_place(done.run);
        let has_files = finished.changed.as_ref().is_some_and(|it| !it.is_empty());
        // What cannot be removed now is left to `artel clean`.
        if has_files {
            drop(artel_files::remove_tree(&at.join("spool")));
            drop(artel_files::remove_tree(&at.join("layers")));
            drop(artel_files::remove_tree(&at.join("transcripts")));
        } else {
            drop(artel_files::remove_tree(&at));
        }
    }

    /// Returns the visible changes of a suspended run so far.
    pub(crate) fn left_changes(&self, run: RunId) -> Vec<FileChange> {
        let git = self.caller.program("git");
        let tree = git.and_then(|git| RunTree::open(&git, &self.run_place(run)).ok());
        let seen = tree.and_then(|tree| {
            tree.clear_unfinished().ok()?;
            changes(&tree).ok()
        });
        seen.unwrap_or_default()
    }

    pub(crate) fn run_place(&self, run: RunId) -> PathBuf {
        self.home.state().join("worktrees").join(run.to_string())
    }

    /// Returns the tree of a finished run whose changes are not applied yet, with the lock to
    /// apply them.
    fn held_tree(&self, run: RunId) -> Result<LockedRunFiles, Failure> {
        let turn = self.tree_to_apply(run)?.turn();
        let turn = turn.map_err(|error| tree_failure(&error))?;
        // Another process may have applied them while this one waited for the lock.
        let tree = self.tree_to_apply(run)?;
        Ok(LockedRunFiles { tree, _turn: turn })
    }

    /// Returns the tree of a finished run whose changes are not applied yet.
    fn tree_to_apply(&self, run: RunId) -> Result<RunTree, Failure> {
        let state = self.state_of(run)?;
        refuse_running(&state)?;
        let short = run.short();
        let refused = |what: String| Failure::new(FailureCode::R008, what);
        if let Some(parent) = state.started.parent {
            let what = format!("the run {short} worked on the files of the run that called it");
            let advice = format!("`artel apply {}`", parent.short());
            return Err(refused(what).advise(advice));
        }
        let has_files = state.finished().is_some_and(|it| it.changed.is_some());
        let at = self.run_place(run);
        // The order matters: applying is recorded before the tree is removed.
        let is_there = at.join("run").exists();
        self.refuse_applied(run)?;
        if !has_files || !is_there {
            let what = if has_files {
                format!("the files of the run {short} are gone: its folder was cleaned")
            } else {
                format!("the run {short} changed no files")
            };
            return Err(refused(what).advise(format!("`artel trace {short}` shows what it did")));
        }
        let git = self.caller.program("git").ok_or_else(|| {
            Failure::new(FailureCode::W008, "there is no `git` on the PATH").advise("install git")
        })?;
        RunTree::open(&git, &at).or_else(|error| {
            self.refuse_applied(run)?;
            Err(tree_failure(&error))
        })
    }

    fn refuse_applied(&self, run: RunId) -> Result<(), Failure> {
        if !applied(&*self.reader()?)?.contains(&run) {
            return Ok(());
        }
        let short = run.short();
        let what = format!("the files of the run {short} are in place already");
        let advice = format!("`artel trace {short}` says since when");
        Err(Failure::new(FailureCode::R008, what).advise(advice))
    }

    /// Returns the path of a folder relative to the workshop, whose own files are protected by
    /// their paths.
    fn inside_workshop(&self, folder: &Path) -> PathBuf {
        let root = self
            .root
            .canonicalize()
            .unwrap_or_else(|_| self.root.clone());
        folder
            .strip_prefix(&root)
            .map(Path::to_owned)
            .unwrap_or_default()
    }
}

/// A run's file tree, with the lock to apply it.
struct LockedRunFiles {
    tree: RunTree,
    _turn: FolderWriteTurn,
}

/// The paths that a run changed.
struct ApplyPathSplit {
    /// Paths that a rule keeps unchanged.
    banned: Vec<PathBuf>,
    free: Vec<PathBuf>,
}

fn outside_failure(outside: &FilesOutsideStep, run: RunId) -> Failure {
    let names: Vec<String> = names(&outside.files);
    let (files, step, short) = (listed_paths(&names), &outside.step, run.short());
    let what = format!("the {step} does not let the run change {files}, so nothing was written");
    Failure::new(FailureCode::P001, what)
        .because("the run was forked from work on that step of a plan, and keeps its paths")
        .advise(format!(
            "`artel apply {short} --diff` shows the changes: make those yourself, ask for them with \
             `artel ask \"…\"`, or add the files to the step with `artel plan edit TRACE`"
        ))
}

/// Returns a note that names the files that were not applied.
fn left_out_note(banned: &[PathBuf]) -> Option<String> {
    let (first, others) = banned.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let first = first.display();
    Some(format!(
        "not applied, because a rule forbids changing: `{first}`{more}"
    ))
}

fn changes(tree: &RunTree) -> Result<Vec<FileChange>, RunTreeError> {
    let changes = tree.changes(tree.start())?;
    let wanted = changes.into_iter().filter(|change| !change.is_ignored);
    let file = |change: artel_git::RunTreeChange| FileChange {
        from: None,
        path: change.path.to_string_lossy().into_owned(),
        kind: match change.kind {
            artel_git::RunTreeChangeKind::Made => FileChangeKind::Made,
            artel_git::RunTreeChangeKind::Changed => FileChangeKind::Changed,
            artel_git::RunTreeChangeKind::Deleted => FileChangeKind::Deleted,
            artel_git::RunTreeChangeKind::Mode => FileChangeKind::Mode,
        },
        added: change.lines_added,
        removed: change.lines_removed,
        bytes: change.bytes,
    };
    Ok(wanted.map(file).collect())
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &PathBuf| path.to_string_lossy().into_owned();
    paths.iter().map(name).collect()
}

/// Returns the failure for changes that were not applied.
fn apply_failure(error: &RunTreeApplyError, run: RunId) -> Failure {
    let short = run.short();
    let why = causes(error);
    let failure = match error {
        RunTreeApplyError::Touched { .. } => Failure::new(FailureCode::R006, error.to_string()).advise(format!(
            "`artel apply {short} --diff` shows what the run changed; put your own changes aside \
             and repeat"
        )),
        RunTreeApplyError::Protected { .. } => Failure::new(FailureCode::P001, error.to_string()).advise(
            format!("`artel apply {short} --diff` shows them; make such changes yourself"),
        ),
        _ => Failure::new(FailureCode::W008, error.to_string())
            .advise(format!("mend the cause, then `artel apply {short}`")),
    };
    if why.is_empty() {
        failure
    } else {
        failure.because(why)
    }
}

fn tree_failure(error: &RunTreeError) -> Failure {
    if let RunTreeError::Occupied { .. } = error {
        return Failure::new(FailureCode::J011, error.to_string())
            .advise("try again when it has ended");
    }
    let failure = Failure::new(FailureCode::W008, error.to_string())
        .advise("look at the folder of the run in `.artel/worktrees`");
    let why = causes(error);
    if why.is_empty() {
        failure
    } else {
        failure.because(why)
    }
}

fn causes(error: &dyn std::error::Error) -> String {
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    causes.join(": ")
}
