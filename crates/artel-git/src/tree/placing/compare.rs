//! Comparing the person's folder with what a run began with and what it left.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::Stat;

use super::super::TreeError;
use super::super::beneath::{Content, is_executable};
use super::super::plan::Step;
use super::super::store::Side;
use super::{Placing, is_folder};

/// How the person's file stands to a step.
pub(crate) enum State {
    /// As the run began with it; the stamp tells whether it stays so.
    Before(Option<Box<Stat>>),
    /// As the run left it.
    After,
    /// Neither: the person's.
    Touched,
}

impl Placing {
    /// Finds out how the person's files stand to the steps.
    pub(crate) fn states(&self, steps: &[Step]) -> Result<Vec<State>, TreeError> {
        let gone = steps.iter().filter(|step| step.new.is_none());
        let gone: BTreeSet<&Path> = gone.map(|step| step.path.as_path()).collect();
        let mut states = Vec::with_capacity(steps.len());
        let mut asked = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let (state, ask) = self.glance(step, &gone)?;
            if ask {
                asked.push(number);
            }
            states.push(state);
        }
        // What is there has to be compared byte by byte, first with the old, then with the new.
        for side in [
            |step: &Step| step.old.clone(),
            |step: &Step| step.new.clone(),
        ] {
            let sides: Vec<(usize, Side)> = asked
                .iter()
                .filter(|number| matches!(states[**number], State::Touched))
                .filter_map(|number| Some((*number, side(&steps[*number])?)))
                .collect();
            let ids: Vec<&str> = sides.iter().map(|(_, side)| side.id.as_str()).collect();
            self.store.contents(&ids, |index, bytes| {
                let (number, side) = &sides[index];
                let step = &steps[*number];
                let stat = self.origin.look(&step.path)?;
                if holds(&self.origin.content(&step.path)?, side, bytes) {
                    states[*number] = if step.old.as_ref() == Some(side) {
                        State::Before(stat.map(Box::new))
                    } else {
                        State::After
                    };
                }
                Ok::<(), TreeError>(())
            })?;
        }
        Ok(states)
    }

    /// Says what can be said without comparing bytes, and whether they have to be compared.
    fn glance(&self, step: &Step, gone: &BTreeSet<&Path>) -> Result<(State, bool), TreeError> {
        let stat = match self.origin.look(&step.path) {
            Ok(stat) => stat,
            Err(TreeError::LedAway { .. }) if self.is_behind_gone(&step.path, gone) => None,
            Err(TreeError::LedAway { .. }) => return Ok((State::Touched, false)),
            Err(error) => return Err(error),
        };
        Ok(match (stat, &step.old, &step.new) {
            (None, None, _) => (State::Before(None), false),
            (None, Some(_), None) => (State::After, false),
            (None, Some(_), Some(_)) => (State::Touched, false),
            (Some(stat), None, Some(_)) if is_folder(stat) => {
                let is_free = self.will_be_empty(&step.path, gone);
                let state = if is_free {
                    State::Before(None)
                } else {
                    State::Touched
                };
                (state, false)
            }
            // A folder stands where the run removed a file, because the plan puts it there.
            (Some(stat), Some(_), None) if is_folder(stat) => (State::After, false),
            (Some(_), _, _) => (State::Touched, true),
        })
    }

    /// Tells whether what leads away is itself a link that the plan removes first.
    fn is_behind_gone(&self, path: &Path, gone: &BTreeSet<&Path>) -> bool {
        path.ancestors().skip(1).any(|above| gone.contains(above))
    }

    /// Tells whether a folder holds nothing but files that the plan removes, or removed already. An
    /// empty folder of the person's is theirs.
    fn will_be_empty(&self, folder: &Path, gone: &BTreeSet<&Path>) -> bool {
        let is_planned = gone.iter().any(|path| path.starts_with(folder));
        let Ok(entries) = std::fs::read_dir(self.folder.join(folder)) else {
            return false;
        };
        is_planned
            && entries.into_iter().all(|entry| {
                entry.is_ok_and(|entry| {
                    let path = folder.join(entry.file_name());
                    let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                    gone.contains(path.as_path()) || (is_folder && self.will_be_empty(&path, gone))
                })
            })
    }
}

fn holds(content: &Content, side: &Side, bytes: &[u8]) -> bool {
    match content {
        Content::File { bytes: here, mode } => {
            !side.is_link() && is_executable(*mode) == side.is_executable() && here == bytes
        }
        Content::Link(target) => side.is_link() && target.as_bytes() == bytes,
        Content::Nothing | Content::Other => false,
    }
}
