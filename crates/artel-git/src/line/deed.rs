//! Carries out a merge into the checked-out branch: objects first, then files, then the
//! index, then the branch.
//!
//! The branch moves last, so a merge that was cut short is one whose branch has not moved.
//! Carried out again, it finds files and index half done and continues. If a step fails
//! before the branch has moved, everything is put back. A note in the line's folder tells a
//! merge that was begun from work of the person's that happens to be the same.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::tree::beneath::is_executable;
use crate::tree::placing::{
    FilePlacement, PlacementFaultInjector, PlacementFileState, PlacementHalt,
};
use crate::tree::plan::{PlacementPlan, PlacementStep};
use crate::tree::store::{DiffLineCounting, GitTreeDifference, GitTreeFile};
use crate::{FolderWriteTurn, RunTreeApplyError, RunTreeError};

use super::merge::{PreparedMerge, blocked};
use super::person::{BranchCheckoutLocation, Entries, PersonRepository};
use super::{PlanBranch, PlanBranchError, id_of};

/// Advice for an index in which a merge conflict is not resolved.
pub(super) const UNDECIDED: &str =
    "some files of yours are still in conflict; decide them and `git add` them first";

/// Name of the note, in the line's folder, that a merge was begun.
const NOTE: &str = "deed";

/// The old or the new side of every step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeStepSide {
    Old,
    New,
}

/// Orders differences as steps. Removals come first, so that folders can take the places of
/// files and vice versa.
pub(super) fn steps(differences: Vec<GitTreeDifference>) -> Vec<PlacementStep> {
    let mut steps: Vec<PlacementStep> = differences
        .into_iter()
        .map(|one| PlacementStep::of(one, 0))
        .collect();
    steps.sort_by_key(|step| step.new.is_some());
    steps
}

impl PlanBranch {
    /// Puts a planned commit on the person's branch. If the branch is checked out, working tree
    /// and index change with it; the person's other files, changed or not, stay untouched. It
    /// can be repeated after a kill at any moment, and does nothing if it is already done. If
    /// it is refused, everything is as before.
    pub fn carry_out(&self, merge: &PreparedMerge) -> Result<(), PlanBranchError> {
        let _turn = self.turn_of(&self.person()?.repository.top)?;
        self.carry_out_at(merge, &mut PlacementFaultInjector::default())
    }

    /// Waits until nobody else puts files into this folder of the person's.
    pub(super) fn turn_of(&self, folder: &Path) -> Result<FolderWriteTurn, PlanBranchError> {
        FolderWriteTurn::of(folder).map_err(|error| match error {
            RunTreeError::Occupied { .. } => PlanBranchError::Busy {
                why: error.to_string(),
            },
            error => error.into(),
        })
    }

    pub(super) fn carry_out_at(
        &self,
        merge: &PreparedMerge,
        pace: &mut PlacementFaultInjector,
    ) -> Result<(), PlanBranchError> {
        let person = self.person()?;
        self.recover(&person)?;
        let now = person.branch(&merge.into)?;
        let deed = CheckedOutBranchMerge {
            line: self,
            person: &person,
            merge,
        };
        if let Some(now) = &now
            && self.is_within(&merge.new, now)?
        {
            deed.end();
            return Ok(());
        }
        let seat = person.seat(&merge.into)?;
        if (seat == BranchCheckoutLocation::Here) != merge.is_checked_out
            || matches!(seat, BranchCheckoutLocation::Elsewhere(_))
        {
            deed.retreat()?;
            return Err(PlanBranchError::Switched {
                branch: merge.into.clone(),
            });
        }
        if now.as_ref() != Some(&merge.old) {
            deed.retreat()?;
            return Err(PlanBranchError::Moved {
                branch: merge.into.clone(),
                found: now,
            });
        }
        self.bring_over(&person, &merge.new)?;
        point(pace)?;
        if merge.is_checked_out {
            deed.with_files(pace)
        } else {
            deed.move_branch()
        }
    }

    /// Returns the file placement for the person's working tree.
    pub(super) fn placing(
        &self,
        person: &PersonRepository,
    ) -> Result<FilePlacement, PlanBranchError> {
        let temp = format!("{}{}", artel_files::TEMP_PREFIX, self.mark());
        let temp = OsString::from(temp);
        Ok(FilePlacement::new(
            self.store(),
            &person.repository.top,
            temp,
        )?)
    }

    /// Returns the line's own mark for unfinished files. It is the same at each try.
    pub(super) fn mark(&self) -> String {
        let hash = blake3::hash(self.at.as_os_str().as_bytes()).to_hex();
        hash[..16].to_owned()
    }
}

/// A merge into the branch that the person has checked out.
pub(super) struct CheckedOutBranchMerge<'d> {
    pub(super) line: &'d PlanBranch,
    pub(super) person: &'d PersonRepository,
    merge: &'d PreparedMerge,
}

impl CheckedOutBranchMerge<'_> {
    fn with_files(&self, pace: &mut PlacementFaultInjector) -> Result<(), PlanBranchError> {
        if let Some(why) = self.person.under_way() {
            return Err(PlanBranchError::Busy { why });
        }
        let is_begun = self.is_begun();
        let entries = self.entries()?;
        let mut steps = self.steps()?;
        let is_new = |step: &PlacementStep| entries.get(&step.path) == step.new.as_ref();
        if is_begun && steps.iter().all(is_new) {
            // Files and index were done, only the branch was not. If the person changed a file
            // since then, that is a change to the new file.
            return self.index_and_branch(steps, pace);
        }
        let placing = self.line.placing(self.person)?;
        let states = placing.states(&steps)?;
        note_modes(&mut steps, &states, &placing)?;
        let is_ready = |step: &PlacementStep, state: &PlacementFileState| {
            let is_written = is_begun && matches!(state, PlacementFileState::After);
            let is_as_before = is_written || matches!(state, PlacementFileState::Before(_));
            is_as_before && entries.get(&step.path) == step.old.as_ref()
        };
        let mut touched = blocked(&placing, &steps)?;
        let others = steps.iter().zip(&states);
        let others = others.filter(|(step, state)| !is_ready(step, state));
        touched.extend(others.map(|(step, _)| step.path.clone()));
        if !touched.is_empty() {
            if is_begun {
                self.put_back(steps)?;
            }
            return Err(PlanBranchError::Dirty { files: touched });
        }
        self.begin()?;
        let plan = self.plan(steps);
        match placing.carry_out_from(&plan, &states, pace) {
            Ok(()) => {}
            Err(
                error @ (RunTreeApplyError::Touched { .. } | RunTreeApplyError::TakenBack { .. }),
            ) => {
                self.end();
                return Err(refused(error));
            }
            Err(error) => return Err(error.into()),
        }
        placing.tidy(&plan, &|_| false);
        self.index_and_branch(plan.steps, pace)
    }

    /// Does what comes after the files. If a step fails, index and files are put back.
    fn index_and_branch(
        &self,
        steps: Vec<PlacementStep>,
        pace: &mut PlacementFaultInjector,
    ) -> Result<(), PlanBranchError> {
        let done = point(pace)
            .and_then(|()| self.set_index(&steps, MergeStepSide::New, pace))
            .and_then(|()| point(pace))
            .and_then(|()| self.move_branch());
        match done {
            Ok(()) => {
                point(pace)?;
                self.end();
                Ok(())
            }
            Err(error) if is_killed(pace) => Err(error),
            Err(error) => {
                self.put_back(steps)?;
                Err(error)
            }
        }
    }

    fn move_branch(&self) -> Result<(), PlanBranchError> {
        let PreparedMerge { into, old, new, .. } = self.merge;
        let way = (Some(old.as_str()), Some(new.as_str()));
        self.person
            .move_branch(into, way, &self.line.format, "artel: merge")
    }

    /// Takes back a merge that was cut short and can no longer be completed. Files that the
    /// person has committed since then are left alone.
    fn retreat(&self) -> Result<(), PlanBranchError> {
        if !self.merge.is_checked_out || !self.is_begun() {
            return Ok(());
        }
        let head = self.person.git.run(&["rev-parse", "HEAD^{tree}"])?;
        let head = self.line.store().manifest(&id_of(&head))?;
        let mut steps = self.steps()?;
        steps.retain(|step| head.get(&step.path) == step.old.as_ref());
        self.put_back(steps)
    }

    /// Puts index and files back to before the merge, wherever they still are as the merge
    /// leaves them.
    fn put_back(&self, mut steps: Vec<PlacementStep>) -> Result<(), PlanBranchError> {
        self.line.recover(self.person)?;
        let entries = self.entries()?;
        let is_new = |step: &&PlacementStep| entries.get(&step.path) == step.new.as_ref();
        let set: Vec<PlacementStep> = steps.iter().filter(is_new).cloned().collect();
        if !set.is_empty() {
            self.set_index(
                &set,
                MergeStepSide::Old,
                &mut PlacementFaultInjector::default(),
            )?;
        }
        let entries = self.entries()?;
        steps.retain(|step| entries.get(&step.path) == step.old.as_ref());
        let placing = self.line.placing(self.person)?;
        let states = placing.states(&steps)?;
        note_modes(&mut steps, &states, &placing)?;
        placing.take_done_back(&self.plan(steps), &states)?;
        self.end();
        Ok(())
    }

    /// Notes that this merge may have changed files of the person's.
    fn begin(&self) -> Result<(), PlanBranchError> {
        let note = self.merge.new.as_bytes();
        artel_files::write_atomic(&self.line.at.join(NOTE), note, 0o600)?;
        Ok(())
    }

    fn is_begun(&self) -> bool {
        let note = artel_files::read_bounded(&self.line.at.join(NOTE), 128);
        note.is_ok_and(|note| note == self.merge.new.as_bytes())
    }

    fn end(&self) {
        // A note that stays behind only names a merge that is over.
        drop(fs::remove_file(self.line.at.join(NOTE)));
    }

    fn steps(&self) -> Result<Vec<PlacementStep>, PlanBranchError> {
        let PreparedMerge { old, new, .. } = self.merge;
        let differences = self
            .line
            .store()
            .differences(old, new, DiffLineCounting::Uncounted)?;
        Ok(steps(differences))
    }

    fn plan(&self, steps: Vec<PlacementStep>) -> PlacementPlan {
        PlacementPlan {
            steps,
            folders: self.merge.folders.clone(),
        }
    }

    pub(super) fn entries(&self) -> Result<Entries, PlanBranchError> {
        let entries = self.person.entries()?;
        entries.ok_or_else(|| PlanBranchError::Busy {
            why: UNDECIDED.to_owned(),
        })
    }
}

pub(super) fn side(step: &PlacementStep, towards: MergeStepSide) -> Option<&GitTreeFile> {
    match towards {
        MergeStepSide::Old => step.old.as_ref(),
        MergeStepSide::New => step.new.as_ref(),
    }
}

/// Notes the permissions of the person's files, so that they can be restored.
fn note_modes(
    steps: &mut [PlacementStep],
    states: &[PlacementFileState],
    placing: &FilePlacement,
) -> Result<(), RunTreeError> {
    for (step, state) in steps.iter_mut().zip(states) {
        if step.mode != 0 {
            continue;
        }
        let stat = match state {
            PlacementFileState::Before(stat) => stat.as_deref().copied(),
            PlacementFileState::After => placing.origin.look(&step.path)?,
            PlacementFileState::Touched => None,
        };
        let mode = stat.map_or(0, |stat| stat.st_mode & 0o7777);
        let was_run = step.old.as_ref().is_some_and(GitTreeFile::is_executable);
        step.mode = match (is_executable(mode), was_run) {
            (false, true) => mode | (mode & 0o444) >> 2,
            (true, false) => mode & !0o111,
            _ => mode,
        };
    }
    Ok(())
}

fn refused(error: RunTreeApplyError) -> PlanBranchError {
    match error {
        RunTreeApplyError::Touched { paths } => PlanBranchError::Dirty { files: paths },
        error => error.into(),
    }
}

/// A point at which tests can stop a merge.
pub(super) fn point(pace: &mut PlacementFaultInjector) -> Result<(), PlanBranchError> {
    match pace.point(Path::new(".")) {
        Ok(()) => Ok(()),
        Err(PlacementHalt::Failed(_, error)) => Err(error.into()),
        Err(PlacementHalt::Touched(path)) => Err(PlanBranchError::Dirty { files: vec![path] }),
        #[cfg(test)]
        Err(PlacementHalt::Killed) => Err(PlanBranchError::Busy {
            why: "killed".to_owned(),
        }),
    }
}

#[cfg(not(test))]
fn is_killed(_: &PlacementFaultInjector) -> bool {
    false
}

#[cfg(test)]
fn is_killed(pace: &PlacementFaultInjector) -> bool {
    pace.is_stopped()
}
