//! The person's index, replaced in one step.
//!
//! Git never opens it for writing: a new one is made beside it and takes its place by a rename,
//! under git's own lock. The lock is held for that rename alone, and is a second name of the new
//! index, so one that a kill left can be told from anybody else's.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::TreeError;
use crate::tree::placing::Pace;
use crate::tree::plan::Step;

use super::deed::{Deed, Towards, point, side};
use super::person::{Person, locked};
use super::{Line, LineError, new_name};

/// How often a new index is made when the person's changes meanwhile.
const MOST_TRIES: usize = 5;

impl Line {
    /// Clears away what a kill left in the person's repository.
    pub(super) fn recover(&self, person: &Person) -> Result<(), LineError> {
        let own = &person.repository.own;
        let lock = own.join("index.lock");
        let number = |path: &Path| {
            let about = path.symlink_metadata().ok()?;
            Some((about.dev(), about.ino()))
        };
        let entries = fs::read_dir(own).map_err(TreeError::system("list", own))?;
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
                fs::remove_file(&lock).map_err(TreeError::system("remove", &lock))?;
            }
            drop(fs::remove_file(&ours));
        }
        Ok(())
    }

    /// Where the next index of the person's is made: never where a git that outlived its kill might
    /// still be writing one.
    fn new_index(&self, person: &Person) -> PathBuf {
        let name = format!("{}-{}", self.begins(), new_name());
        person.repository.own.join(name)
    }

    fn begins(&self) -> String {
        format!("artel-index-{}", self.mark())
    }
}

impl Deed<'_> {
    /// Replaces the person's index by one in which the steps' files are of that side.
    pub(super) fn set_index(
        &self,
        steps: &[Step],
        towards: Towards,
        pace: &mut Pace,
    ) -> Result<(), LineError> {
        let new = self.line.new_index(self.person);
        let index = self.person.index();
        for _ in 0..MOST_TRIES {
            let before = stamp(&index);
            let entries = self.entries()?;
            let is_known = |step: &&Step| {
                let entry = entries.get(&step.path);
                entry == step.old.as_ref() || entry == step.new.as_ref()
            };
            let files = steps.iter().filter(|step| !is_known(step));
            let files: Vec<PathBuf> = files.map(|step| step.path.clone()).collect();
            if !files.is_empty() {
                return Err(LineError::Dirty { files });
            }
            self.person.copy_index(&new)?;
            let entries = steps
                .iter()
                .map(|step| (step.path.as_path(), side(step, towards)));
            let top = &self.person.repository.top;
            self.line.set_entries(&new, top, entries)?;
            finish(&new, &index).map_err(TreeError::system("write", &new))?;
            point(pace)?;
            if self.swap(&new, &index, before, pace)? {
                return Ok(());
            }
        }
        Err(LineError::Busy {
            why: "your index keeps changing; try again when nothing else runs git there".to_owned(),
        })
    }

    /// Puts the new index in the place of the old, unless that changed meanwhile.
    fn swap(
        &self,
        new: &Path,
        index: &Path,
        before: Option<Stamp>,
        pace: &mut Pace,
    ) -> Result<bool, LineError> {
        let lock = index.with_extension("lock");
        match fs::hard_link(new, &lock) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                drop(fs::remove_file(new));
                return Err(LineError::Busy { why: locked(&lock) });
            }
            Err(error) => return Err(TreeError::system("lock", &lock)(error).into()),
        }
        point(pace)?;
        let is_same = stamp(index) == before;
        let done = match is_same {
            true => fs::rename(&lock, index),
            false => fs::remove_file(&lock),
        };
        done.map_err(TreeError::system("put in place", index))?;
        point(pace)?;
        drop(fs::remove_file(new));
        Ok(is_same)
    }
}

/// Gives a new index the permissions of the old, and waits for the disk.
fn finish(new: &Path, index: &Path) -> io::Result<()> {
    if let Ok(about) = index.symlink_metadata() {
        fs::set_permissions(new, about.permissions())?;
    }
    File::open(new)?.sync_all()
}

type Stamp = (u64, u64, i64, i64);

/// What tells that a file is still the same.
fn stamp(path: &Path) -> Option<Stamp> {
    let about = path.symlink_metadata().ok()?;
    Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
}
