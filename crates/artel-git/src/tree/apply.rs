//! Puts a run's changes in place, all or nothing.
//!
//! First everything is compared with what the run began with. A file that the person has
//! touched since is refused by name before anything is written. Then the plan is written
//! down, and each file is replaced in one step. If one fails, those before it are put back.
//! If the process is killed, the plan is still there and the next call continues it: a file
//! that already is as planned counts as done.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::aside::{is_of_repository, is_repository};
use super::beneath::NoFollowFolder;
use super::placing::{FilePlacement, PlacementFaultInjector};
use super::plan::PlacementPlan;
use super::store::{DiffLineCounting, GitTreeDifference};
use super::{RunTree, RunTreeApplyError, RunTreeError};

/// The outcome of putting changes in place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunTreeApplyOutcome {
    /// Files that were made or changed.
    pub written: Vec<PathBuf>,
    /// Files that were removed.
    pub deleted: Vec<PathBuf>,
    /// Files that already were as the run left them.
    pub already: Vec<PathBuf>,
    /// Files that were not put in place, because git would take their folder for a repository.
    pub left_out: Vec<PathBuf>,
}

impl RunTree {
    /// Puts what the run has changed since its start into the person's folder: these paths, or
    /// all that git does not ignore. `is_protected` says which paths no run may put in place.
    ///
    /// Files that the person has touched since the start, and protected ones, are refused by
    /// name and nothing is written. If it is killed in the middle, the next call completes it.
    /// The caller holds the [`turn`](Self::turn) of the folder, so that only files written here
    /// are ever taken back here.
    pub fn put_in_place(
        &self,
        paths: Option<&[PathBuf]>,
        is_protected: &dyn Fn(&Path) -> bool,
    ) -> Result<RunTreeApplyOutcome, RunTreeApplyError> {
        self.put_at_pace(paths, is_protected, &mut PlacementFaultInjector::default())
    }

    pub(super) fn put_at_pace(
        &self,
        paths: Option<&[PathBuf]>,
        is_protected: &dyn Fn(&Path) -> bool,
        pace: &mut PlacementFaultInjector,
    ) -> Result<RunTreeApplyOutcome, RunTreeApplyError> {
        let placing = FilePlacement::new(self.store(), &self.origin, self.temp_name())?;
        let mut applied = RunTreeApplyOutcome::default();
        if let Some(plan) = PlacementPlan::read(&self.plan_path())? {
            self.carry_out(&placing, &plan, pace, &mut applied)?;
        }
        let taken = self.take()?;
        let differences = self.store().differences(
            self.start.tree(),
            &taken.tree,
            DiffLineCounting::Uncounted,
        )?;
        let chosen = self.choose(differences, paths)?;
        let (chosen, left_out) = self.without_repositories(chosen)?;
        applied.left_out = left_out.into_iter().map(|one| one.path).collect();
        let refused = chosen.iter().filter(|one| is_protected(&one.path));
        let refused: Vec<_> = refused.map(|one| one.path.clone()).collect();
        if !refused.is_empty() {
            return Err(RunTreeApplyError::Protected { paths: refused });
        }
        let plan = placing.plan(chosen, &mut applied.already)?;
        if plan.steps.is_empty() {
            return Ok(applied);
        }
        plan.write(&self.plan_path())?;
        self.carry_out(&placing, &plan, pace, &mut applied)?;
        Ok(applied)
    }

    /// Carries out the rest of a plan, and removes the plan once the person's folder is whole
    /// again.
    fn carry_out(
        &self,
        placing: &FilePlacement,
        plan: &PlacementPlan,
        pace: &mut PlacementFaultInjector,
        applied: &mut RunTreeApplyOutcome,
    ) -> Result<(), RunTreeApplyError> {
        match placing.carry_out(plan, pace) {
            Ok(()) => {}
            Err(
                error @ (RunTreeApplyError::Touched { .. } | RunTreeApplyError::TakenBack { .. }),
            ) => {
                self.forget_plan()?;
                return Err(error);
            }
            Err(error) => return Err(error),
        }
        placing.tidy(plan, &|folder| self.own.files.join(folder).is_dir());
        self.forget_plan()?;
        for step in &plan.steps {
            let list = match step.new {
                Some(_) => &mut applied.written,
                None => &mut applied.deleted,
            };
            list.push(step.path.clone());
        }
        Ok(())
    }

    fn forget_plan(&self) -> Result<(), RunTreeError> {
        NoFollowFolder::open(&self.own.at)?.remove(Path::new("plan"))
    }

    /// Picks the requested paths; the person knows them from the list of changes.
    fn choose(
        &self,
        differences: Vec<GitTreeDifference>,
        paths: Option<&[PathBuf]>,
    ) -> Result<Vec<GitTreeDifference>, RunTreeApplyError> {
        let Some(paths) = paths else {
            let mut rules = self.rules();
            let keeps =
                |one: &GitTreeDifference| one.old.is_some() || !rules.ignores_file(&one.path);
            return Ok(differences.into_iter().filter(keeps).collect());
        };
        let known: BTreeSet<&PathBuf> = differences.iter().map(|one| &one.path).collect();
        let unknown = paths.iter().filter(|path| !known.contains(path));
        let unknown: Vec<_> = unknown.cloned().collect();
        if !unknown.is_empty() {
            return Err(RunTreeApplyError::Unchanged { paths: unknown });
        }
        let asked: BTreeSet<&PathBuf> = paths.iter().collect();
        let chosen = differences.into_iter();
        Ok(chosen.filter(|one| asked.contains(&one.path)).collect())
    }

    /// Leaves out files that would become part of a repository in the person's folder. The
    /// run's own files were already checked on their own, but files in the person's folder may
    /// be the other half.
    fn without_repositories(
        &self,
        chosen: Vec<GitTreeDifference>,
    ) -> Result<(Vec<GitTreeDifference>, Vec<GitTreeDifference>), RunTreeError> {
        let mut folders: BTreeMap<PathBuf, BTreeSet<OsString>> = BTreeMap::new();
        for one in chosen.iter().filter(|one| one.new.is_some()) {
            let mut below: Option<&OsStr> = None;
            for above in one.path.ancestors() {
                if let Some(name) = below
                    && is_of_repository(name)
                {
                    let names = folders.entry(above.to_owned()).or_default();
                    names.insert(name.to_owned());
                }
                below = above.file_name();
            }
        }
        folders.retain(|folder, names| {
            let there = std::fs::read_dir(self.origin.join(folder));
            let there = there.into_iter().flatten().flatten();
            let there = there.map(|entry| entry.file_name());
            names.extend(there.filter(|name| is_of_repository(name)));
            is_repository(names.iter().map(OsString::as_os_str))
        });
        let is_part =
            |one: &GitTreeDifference| one.path.ancestors().any(|it| folders.contains_key(it));
        Ok(chosen.into_iter().partition(|one| !is_part(one)))
    }

    fn plan_path(&self) -> PathBuf {
        self.own.at.join("plan")
    }

    /// Returns the run's own name for unfinished files. It is the same at each try.
    pub(super) fn temp_name(&self) -> OsString {
        let hash = blake3::hash(self.own.at.as_os_str().as_bytes()).to_hex();
        format!("{}{}", artel_files::TEMP_PREFIX, &hash[..16]).into()
    }
}
