//! Writes planned files into a person's folder, all or none.
//!
//! Each file is compared before it is replaced, by its bytes and once more by its stamp.
//! After a failure everything is taken back. A file that already is as planned counts as
//! done, so the same plan can be carried out again after a kill.

mod compare;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};

use super::beneath::{NewFileMode, NewPathContent, NoFollowFolder, is_executable};
use super::plan::{PlacementPlan, PlacementStep};
use super::store::{GitObjectStore, GitTreeDifference, GitTreeFile};
use super::{RunTreeApplyError, RunTreeError};
pub(crate) use compare::PlacementFileState;

/// Lets tests stop a placement, or make it fail, at each point. It is empty in production.
#[derive(Debug, Default)]
pub(crate) struct PlacementFaultInjector {
    #[cfg(test)]
    pub(crate) left: Option<(usize, Then)>,
}

/// The event when the points are used up.
#[cfg(test)]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Then {
    /// Nothing more happens, as if the process had been killed.
    Stop,
    /// The next write fails.
    Fail,
}

/// The reason that carrying out a plan ended early.
#[derive(Debug)]
pub(crate) enum PlacementHalt {
    Failed(PathBuf, RunTreeError),
    Touched(PathBuf),
    #[cfg(test)]
    Killed,
}

impl From<RunTreeError> for PlacementHalt {
    fn from(error: RunTreeError) -> Self {
        Self::Failed(PathBuf::from("."), error)
    }
}

/// Writes planned files into the person's folder.
pub(crate) struct FilePlacement {
    store: GitObjectStore,
    folder: PathBuf,
    pub(crate) origin: NoFollowFolder,
    temp: OsString,
}

impl FilePlacement {
    /// Creates a placement into this folder. `temp` is the name of unfinished files; it must be
    /// the same at each try.
    pub(crate) fn new(
        store: GitObjectStore,
        folder: &Path,
        temp: OsString,
    ) -> Result<Self, RunTreeError> {
        Ok(Self {
            store,
            folder: folder.to_owned(),
            origin: NoFollowFolder::open(folder)?,
            temp,
        })
    }

    /// Compares every file with its expected old state, and plans what is left to do.
    pub(crate) fn plan(
        &self,
        chosen: Vec<GitTreeDifference>,
        already: &mut Vec<PathBuf>,
    ) -> Result<PlacementPlan, RunTreeApplyError> {
        let mut steps: Vec<PlacementStep> = chosen
            .into_iter()
            .map(|one| PlacementStep::of(one, 0))
            .collect();
        steps.sort_by_key(|step| step.new.is_some());
        let states = self.states(&steps)?;
        let mut plan = PlacementPlan::default();
        let mut touched = Vec::new();
        for (mut step, state) in steps.into_iter().zip(states) {
            match state {
                PlacementFileState::Before(stat) => {
                    step.mode = stat.map_or(0, |stat| stat.st_mode & 0o7777);
                    plan.steps.push(step);
                }
                PlacementFileState::After => already.push(step.path),
                PlacementFileState::Touched => touched.push(step.path),
            }
        }
        if !touched.is_empty() {
            return Err(RunTreeApplyError::Touched { paths: touched });
        }
        plan.folders = self.missing_folders(&plan.steps)?;
        Ok(plan)
    }

    pub(crate) fn missing_folders(
        &self,
        steps: &[PlacementStep],
    ) -> Result<Vec<PathBuf>, RunTreeError> {
        let mut missing = BTreeSet::new();
        for step in steps.iter().filter(|step| step.new.is_some()) {
            for folder in step.path.ancestors().skip(1) {
                let is_there = folder.as_os_str().is_empty()
                    || missing.contains(folder)
                    || self.origin.look(folder)?.is_some_and(is_folder);
                if is_there {
                    break;
                }
                missing.insert(folder.to_owned());
            }
        }
        Ok(missing.into_iter().collect())
    }

    /// Carries out the rest of a plan. Whatever stops it, the person's folder ends up whole.
    pub(crate) fn carry_out(
        &self,
        plan: &PlacementPlan,
        pace: &mut PlacementFaultInjector,
    ) -> Result<(), RunTreeApplyError> {
        let states = self.states(&plan.steps)?;
        self.carry_out_from(plan, &states, pace)
    }

    /// Does the same with file states that are already known.
    pub(crate) fn carry_out_from(
        &self,
        plan: &PlacementPlan,
        states: &[PlacementFileState],
        pace: &mut PlacementFaultInjector,
    ) -> Result<(), RunTreeApplyError> {
        let mut done: Vec<usize> = Vec::new();
        let mut touched = Vec::new();
        for (number, state) in states.iter().enumerate() {
            match state {
                PlacementFileState::After => done.push(number),
                PlacementFileState::Touched => touched.push(plan.steps[number].path.clone()),
                PlacementFileState::Before(_) => {}
            }
        }
        if !touched.is_empty() {
            self.take_back(plan, &done, &touched[0], None)?;
            return Err(RunTreeApplyError::Touched { paths: touched });
        }
        match self.do_steps(plan, states, pace, &mut done) {
            Ok(()) => {}
            Err(PlacementHalt::Touched(path)) => {
                self.take_back(plan, &done, &path, None)?;
                return Err(RunTreeApplyError::Touched { paths: vec![path] });
            }
            Err(PlacementHalt::Failed(path, cause)) => {
                let cause = self.take_back(plan, &done, &path, Some(cause))?;
                let cause = Box::new(cause.unwrap_or(RunTreeError::LedAway { path: path.clone() }));
                return Err(RunTreeApplyError::TakenBack { path, cause });
            }
            #[cfg(test)]
            Err(PlacementHalt::Killed) => {
                let label = "killed".to_owned();
                return Err(RunTreeError::NoSnapshot { label }.into());
            }
        }
        Ok(())
    }

    fn do_steps(
        &self,
        plan: &PlacementPlan,
        states: &[PlacementFileState],
        pace: &mut PlacementFaultInjector,
        done: &mut Vec<usize>,
    ) -> Result<(), PlacementHalt> {
        pace.point(Path::new("."))?;
        let mut puts = Vec::new();
        for (number, step) in plan.steps.iter().enumerate() {
            let PlacementFileState::Before(stat) = &states[number] else {
                continue;
            };
            if step.new.is_some() {
                puts.push((number, stat.as_deref()));
                continue;
            }
            self.unchanged(&step.path, stat.as_deref())?;
            let removed = self.origin.remove(&step.path);
            removed.map_err(|error| PlacementHalt::Failed(step.path.clone(), error))?;
            done.push(number);
            pace.point(&step.path)?;
        }
        let new = |number: usize| plan.steps[number].new.as_ref();
        let ids: Vec<&str> = puts
            .iter()
            .filter_map(|(number, _)| Some(new(*number)?.id.as_str()))
            .collect();
        self.store.contents(&ids, |index, bytes| {
            let (number, stat) = puts[index];
            let step = &plan.steps[number];
            let Some(side) = &step.new else {
                return Ok(());
            };
            self.make_room(&step.path, stat)?;
            self.unchanged(&step.path, stat)?;
            let mode = mode_of(step, side, stat);
            let put = self
                .origin
                .put(&step.path, content_of(side, bytes, mode), &self.temp);
            put.map_err(|error| PlacementHalt::Failed(step.path.clone(), error))?;
            done.push(number);
            pace.point(&step.path)
        })
    }

    /// Removes a folder, empty by now, where a file is to go.
    fn make_room(&self, path: &Path, stat: Option<&Stat>) -> Result<(), PlacementHalt> {
        let there = self.origin.look(path)?;
        if stat.is_some() || !there.is_some_and(is_folder) {
            return Ok(());
        }
        let mut folders = vec![path.to_owned()];
        let mut next = 0;
        while next < folders.len() {
            let here = folders[next].clone();
            next += 1;
            let entries = std::fs::read_dir(self.folder.join(&here));
            for entry in entries.into_iter().flatten().flatten() {
                folders.push(here.join(entry.file_name()));
            }
        }
        for folder in folders.iter().rev() {
            if !self.origin.remove_empty(folder)? {
                return Err(PlacementHalt::Touched(folder.clone()));
            }
        }
        Ok(())
    }

    /// Refuses a file that has changed since it was compared.
    fn unchanged(&self, path: &Path, before: Option<&Stat>) -> Result<(), PlacementHalt> {
        let now = match self.origin.look(path) {
            Ok(now) => now,
            Err(RunTreeError::LedAway { .. }) => {
                return Err(PlacementHalt::Touched(path.to_owned()));
            }
            Err(error) => return Err(PlacementHalt::Failed(path.to_owned(), error)),
        };
        if stamp(now.as_ref()) == stamp(before) {
            return Ok(());
        }
        Err(PlacementHalt::Touched(path.to_owned()))
    }

    /// Puts back the steps that were done.
    fn take_back(
        &self,
        plan: &PlacementPlan,
        done: &[usize],
        failed: &Path,
        cause: Option<RunTreeError>,
    ) -> Result<Option<RunTreeError>, RunTreeApplyError> {
        let mut at = failed.to_owned();
        match self.undo(plan, done, &mut at) {
            Ok(()) => Ok(cause),
            Err(error) => Err(RunTreeApplyError::Halfway {
                path: failed.to_owned(),
                stuck: at,
                cause: Box::new(cause.unwrap_or(error)),
            }),
        }
    }

    fn undo(
        &self,
        plan: &PlacementPlan,
        done: &[usize],
        at: &mut PathBuf,
    ) -> Result<(), RunTreeError> {
        let steps: Vec<&PlacementStep> = done.iter().map(|number| &plan.steps[*number]).collect();
        // New files are removed first: they may stand where an old folder was.
        for step in steps.iter().filter(|step| step.old.is_none()) {
            at.clone_from(&step.path);
            self.origin.remove(&step.path)?;
        }
        for step in &plan.steps {
            let leftover = step.path.with_file_name(&self.temp);
            if !matches!(self.origin.look(&leftover), Err(_) | Ok(None)) {
                self.origin.remove(&leftover)?;
            }
        }
        for folder in plan.folders.iter().rev() {
            at.clone_from(folder);
            self.origin.remove_empty(folder)?;
        }
        let olds: Vec<(&PlacementStep, &GitTreeFile)> = steps
            .iter()
            .filter_map(|step| Some((*step, step.old.as_ref()?)))
            .collect();
        let ids: Vec<&str> = olds.iter().map(|(_, side)| side.id.as_str()).collect();
        self.store.contents(&ids, |index, bytes| {
            let (step, side) = olds[index];
            at.clone_from(&step.path);
            let owner = self.origin.look(&step.path)?;
            let owner = owner.map(|stat| (stat.st_uid, stat.st_gid));
            let mode = match step.mode {
                // The file was gone, and nobody noted its mode.
                0 => NewFileMode::New(if side.is_executable() { 0o777 } else { 0o666 }),
                mode => NewFileMode::Exactly(mode, owner),
            };
            self.origin
                .put(&step.path, content_of(side, bytes, mode), &self.temp)
        })
    }

    /// Puts back the steps of a plan that are done.
    pub(crate) fn take_done_back(
        &self,
        plan: &PlacementPlan,
        states: &[PlacementFileState],
    ) -> Result<(), RunTreeApplyError> {
        let done = states.iter().enumerate();
        let done = done.filter(|(_, state)| matches!(state, PlacementFileState::After));
        let done: Vec<usize> = done.map(|(number, _)| number).collect();
        self.take_back(plan, &done, Path::new("."), None).map(drop)
    }

    /// Removes folders that became empty, except those to keep.
    pub(crate) fn tidy(&self, plan: &PlacementPlan, keeps: &dyn Fn(&Path) -> bool) {
        for step in plan.steps.iter().filter(|step| step.new.is_none()) {
            for folder in step.path.ancestors().skip(1) {
                let is_top = folder.as_os_str().is_empty();
                // If the person keeps anything there, the folder stays, and that is not an
                // error.
                if is_top || keeps(folder) || !self.origin.remove_empty(folder).unwrap_or(false) {
                    break;
                }
            }
        }
    }
}

impl PlacementFaultInjector {
    /// Returns whether a test stopped the call as a kill would.
    #[cfg(test)]
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.left, Some((0, Then::Stop)))
    }

    #[cfg(not(test))]
    pub(crate) fn point(&mut self, _at: &Path) -> Result<(), PlacementHalt> {
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn point(&mut self, at: &Path) -> Result<(), PlacementHalt> {
        match &mut self.left {
            Some((0, Then::Stop)) => Err(PlacementHalt::Killed),
            Some((0, Then::Fail)) => {
                let full = rustix::io::Errno::NOSPC;
                let error = RunTreeError::system("write", at)(full);
                Err(PlacementHalt::Failed(at.to_owned(), error))
            }
            Some((left, _)) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

fn is_folder(stat: Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode).is_dir()
}

fn content_of<'w>(side: &GitTreeFile, bytes: &'w [u8], mode: NewFileMode) -> NewPathContent<'w> {
    if side.is_link() {
        return NewPathContent::Link(OsStr::from_bytes(bytes));
    }
    NewPathContent::File { bytes, mode }
}

/// Returns the mode for a written file. A file keeps its permissions; only the executable
/// bit follows the run.
pub(crate) fn mode_of(
    step: &PlacementStep,
    side: &GitTreeFile,
    stat: Option<&Stat>,
) -> NewFileMode {
    let was_file = step.old.as_ref().is_some_and(|old| !old.is_link());
    let Some(stat) = stat.filter(|_| was_file) else {
        return NewFileMode::New(if side.is_executable() { 0o777 } else { 0o666 });
    };
    let mode = stat.st_mode & 0o777;
    let mode = match (is_executable(mode), side.is_executable()) {
        // Everyone who may read it may run it.
        (false, true) => mode | (mode & 0o444) >> 2,
        (true, false) => mode & !0o111,
        _ => mode,
    };
    NewFileMode::Exactly(mode, Some((stat.st_uid, stat.st_gid)))
}

/// Returns values that tell whether a file is still the one that was compared.
fn stamp(stat: Option<&Stat>) -> Option<(u64, u32, i64, i64, u64, i64, u64)> {
    let stat = stat?;
    Some((
        stat.st_ino,
        stat.st_mode,
        stat.st_size,
        stat.st_mtime,
        stat.st_mtime_nsec,
        stat.st_ctime,
        stat.st_ctime_nsec,
    ))
}
