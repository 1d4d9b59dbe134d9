//! Replaces the person's index in one step.
//!
//! Git never opens it for writing. A new index is made beside it and takes its place by a
//! rename, under git's own lock. The lock is held for that rename only, and is a second
//! name of the new index, so a lock that a kill left can be told from anybody else's.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::RunTreeError;
use crate::tree::placing::PlacementFaultInjector;
use crate::tree::plan::PlacementStep;

use super::deed::{CheckedOutBranchMerge, MergeStepSide, point, side};
use super::person::{PersonRepository, locked};
use super::{PlanBranch, PlanBranchError, new_name};

/// Number of tries at a new index while the person's keeps changing.
const MOST_TRIES: usize = 5;

impl PlanBranch {
    /// Clears away what a kill left in the person's repository.
    pub(super) fn recover(&self, person: &PersonRepository) -> Result<(), PlanBranchError> {
        let own = &person.repository.own;
        let lock = own.join("index.lock");
        let number = |path: &Path| {
            let about = path.symlink_metadata().ok()?;
            Some((about.dev(), about.ino()))
        };
        let entries = fs::read_dir(own).map_err(RunTreeError::system("list", own))?;
        for entry in entries.flatten() {
            let ours = entry.path();
            if !entry
                .file_name()
                .as_bytes()
                .starts_with(self.begins().as_bytes())
            {
                continue;
            }
            // Only we give one file these two names.
            if number(&lock).is_some_and(|held| Some(held) == number(&ours)) {
                fs::remove_file(&lock).map_err(RunTreeError::system("remove", &lock))?;
            }
            drop(fs::remove_file(&ours));
        }
        Ok(())
    }

    /// Returns the path where the person's next index is made. It never is a path that a git
    /// which outlived its kill might still be writing.
    fn new_index(&self, person: &PersonRepository) -> PathBuf {
        let name = format!("{}-{}", self.begins(), new_name());
        person.repository.own.join(name)
    }

    fn begins(&self) -> String {
        format!("artel-index-{}", self.mark())
    }
}

impl CheckedOutBranchMerge<'_> {
    /// Replaces the person's index by one in which the files of the steps are as on the given
    /// side.
    pub(super) fn set_index(
        &self,
        steps: &[PlacementStep],
        towards: MergeStepSide,
        pace: &mut PlacementFaultInjector,
    ) -> Result<(), PlanBranchError> {
        let new = self.line.new_index(self.person);
        let index = self.person.index();
        for _ in 0..MOST_TRIES {
            let before = stamp(&index);
            let entries = self.entries()?;
            let is_known = |step: &&PlacementStep| {
                let entry = entries.get(&step.path);
                entry == step.old.as_ref() || entry == step.new.as_ref()
            };
            let files = steps.iter().filter(|step| !is_known(step));
            let files: Vec<PathBuf> = files.map(|step| step.path.clone()).collect();
            if !files.is_empty() {
                return Err(PlanBranchError::Dirty { files });
            }
            self.person.copy_index(&new)?;
            let entries = steps
                .iter()
                .map(|step| (step.path.as_path(), side(step, towards)));
            let top = &self.person.repository.top;
            self.line.set_entries(&new, top, entries)?;
            finish(&new, &index).map_err(RunTreeError::system("write", &new))?;
            point(pace)?;
            if self.swap(&new, &index, before, pace)? {
                return Ok(());
            }
        }
        Err(PlanBranchError::Busy {
            why: "your index keeps changing; try again when nothing else runs git there".to_owned(),
        })
    }

    /// Puts the new index in the place of the old one, unless that has changed. Returns whether
    /// it did.
    fn swap(
        &self,
        new: &Path,
        index: &Path,
        before: Option<Stamp>,
        pace: &mut PlacementFaultInjector,
    ) -> Result<bool, PlanBranchError> {
        let lock = index.with_extension("lock");
        match fs::hard_link(new, &lock) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                drop(fs::remove_file(new));
                return Err(PlanBranchError::Busy { why: locked(&lock) });
            }
            Err(error) => return Err(RunTreeError::system("lock", &lock)(error).into()),
        }
        point(pace)?;
        let is_same = stamp(index) == before;
        let done = if is_same {
            fs::rename(&lock, index)
        } else {
            fs::remove_file(&lock)
        };
        done.map_err(RunTreeError::system("put in place", index))?;
        point(pace)?;
        drop(fs::remove_file(new));
        Ok(is_same)
    }
}

/// Gives a new index the permissions of the old one, and waits until it is on disk.
fn finish(new: &Path, index: &Path) -> io::Result<()> {
    if let Ok(about) = index.symlink_metadata() {
        fs::set_permissions(new, about.permissions())?;
    }
    File::open(new)?.sync_all()
}

type Stamp = (u64, u64, i64, i64);

/// Returns values that tell whether a file is still the same.
fn stamp(path: &Path) -> Option<Stamp> {
    let about = path.symlink_metadata().ok()?;
    Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
}
