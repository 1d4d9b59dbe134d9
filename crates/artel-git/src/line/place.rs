//! Puts a changeset for a folder in no repository into that folder, all or nothing.
//!
//! It works like putting a run's files in place
//! ([`RunTree::put_in_place`](crate::RunTree::put_in_place)): everything is compared with
//! what the line began with, the plan is written down, and each file is replaced in one
//! step. If it is killed in the middle, the next call completes it. A file that already is
//! as planned counts as done, no matter who wrote it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::RunTreeApplyError;
use crate::tree::beneath::NoFollowFolder;
use crate::tree::placing::{FilePlacement, PlacementFaultInjector};
use crate::tree::plan::PlacementPlan;
use crate::tree::store::{DiffLineCounting, GitTreeDifference};

use super::{MergeRefusedError, PlanBranch, PlanBranchError, PreparedMerge};

/// Name of the plan file, in the line's folder.
const PLAN: &str = "placing";

impl PlanBranch {
    /// Plans to put a commit of a private line into the person's folder. Refuses files that the
    /// person has touched since the line began, and names them. Writes nothing.
    pub fn plan_placing(&self, head: &str) -> Result<PreparedMerge, MergeRefusedError> {
        let old = self.first.clone().ok_or_else(|| PlanBranchError::BadName {
            name: head.to_owned(),
        })?;
        let differences = self.to_place(&old, head)?;
        let files = differences.iter().map(|one| one.path.clone()).collect();
        let plan = self.placing_alone()?.plan(differences, &mut Vec::new());
        let plan = plan.map_err(|error| match error {
            RunTreeApplyError::Touched { paths } => MergeRefusedError::Dirty { files: paths },
            other => PlanBranchError::from(other).into(),
        })?;
        Ok(PreparedMerge {
            into: self.origin.display().to_string(),
            old,
            new: head.to_owned(),
            files,
            folders: plan.folders,
            is_checked_out: true,
        })
    }

    /// Puts a planned commit into the person's folder. If it is refused, everything is as
    /// before.
    pub fn place(&self, merge: &PreparedMerge) -> Result<(), PlanBranchError> {
        let _turn = self.turn_of(&self.origin)?;
        self.place_at(merge, &mut PlacementFaultInjector::default())
    }

    pub(super) fn place_at(
        &self,
        merge: &PreparedMerge,
        pace: &mut PlacementFaultInjector,
    ) -> Result<(), PlanBranchError> {
        let placing = self.placing_alone()?;
        if let Some(plan) = PlacementPlan::read(&self.at.join(PLAN))? {
            self.place_planned(&placing, &plan, pace)?;
        }
        let differences = self.to_place(&merge.old, &merge.new)?;
        let plan = placing.plan(differences, &mut Vec::new()).map_err(told)?;
        if plan.steps.is_empty() {
            return Ok(());
        }
        plan.write(&self.at.join(PLAN))?;
        self.place_planned(&placing, &plan, pace)
    }

    fn place_planned(
        &self,
        placing: &FilePlacement,
        plan: &PlacementPlan,
        pace: &mut PlacementFaultInjector,
    ) -> Result<(), PlanBranchError> {
        match placing.carry_out(plan, pace) {
            Ok(()) => placing.tidy(plan, &|_| false),
            Err(
                error @ (RunTreeApplyError::Touched { .. } | RunTreeApplyError::TakenBack { .. }),
            ) => {
                self.forget_plan()?;
                return Err(told(error));
            }
            Err(error) => return Err(error.into()),
        }
        self.forget_plan()
    }

    fn forget_plan(&self) -> Result<(), PlanBranchError> {
        Ok(NoFollowFolder::open(&self.at)?.remove(Path::new(PLAN))?)
    }

    fn to_place(&self, old: &str, new: &str) -> Result<Vec<GitTreeDifference>, PlanBranchError> {
        let (old, new) = (self.tree_of(old)?, self.tree_of(new)?);
        Ok(self
            .store()
            .differences(&old, &new, DiffLineCounting::Uncounted)?)
    }

    /// Returns the file placement for a folder in no repository.
    fn placing_alone(&self) -> Result<FilePlacement, PlanBranchError> {
        if !self.is_private() {
            return Err(PlanBranchError::BadName {
                name: self.origin.display().to_string(),
            });
        }
        let temp = format!("{}{}", artel_files::TEMP_PREFIX, self.mark());
        Ok(FilePlacement::new(
            self.store(),
            &self.origin,
            OsString::from(temp),
        )?)
    }
}

/// Reports files that the person touched in the same way as every other merge does.
fn told(error: RunTreeApplyError) -> PlanBranchError {
    match error {
        RunTreeApplyError::Touched { paths } => PlanBranchError::Dirty {
            files: paths.into_iter().collect::<Vec<PathBuf>>(),
        },
        other => other.into(),
    }
}
