//! Comparing the person's folder with what a run began with and what it left.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ring::digest;
use rustix::fs::{FileType, Stat};

use super::super::TreeError;
use super::super::beneath::{Content, is_executable};
use super::super::plan::Step;
use super::super::store::Side;
use super::{Placing, is_folder};

/// Files up to so many bytes are compared with what git has of them; larger ones by their hash.
const COMPARED_AS_A_WHOLE: u64 = 1 << 20;

/// So many bytes of a large file are in memory at a time.
const PIECE: usize = 64 << 10;

/// How the person's file stands to a step.
pub(crate) enum State {
    /// As the run began with it; the stamp tells whether it stays so.
    Before(Option<Box<Stat>>),
    /// As the run left it.
    After,
    /// Neither: the person's.
    Touched,
}

/// A step, and what may be at its path.
struct Candidate {
    number: usize,
    side: Side,
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
        // What is there has to be compared, first with the old, then with the new.
        for side in [
            |step: &Step| step.old.clone(),
            |step: &Step| step.new.clone(),
        ] {
            let candidates = asked
                .iter()
                .filter(|number| matches!(states[**number], State::Touched))
                .filter_map(|number| {
                    let side = side(&steps[*number])?;
                    Some(Candidate {
                        number: *number,
                        side,
                    })
                });
            let candidates: Vec<Candidate> = candidates.collect();
            for (number, stat) in self.equal(steps, &candidates)? {
                let step = &steps[number];
                states[number] = if step.old == side(step) {
                    State::Before(Some(Box::new(stat)))
                } else {
                    State::After
                };
            }
        }
        Ok(states)
    }

    /// Finds those steps at whose path there is what the side of the candidate says. What is of
    /// another size is not read, and what is large is not held in memory.
    fn equal(
        &self,
        steps: &[Step],
        candidates: &[Candidate],
    ) -> Result<Vec<(usize, Stat)>, TreeError> {
        let ids: Vec<&str> = candidates.iter().map(|one| one.side.id.as_str()).collect();
        let sizes = self.store.sizes(&ids)?;
        let mut equal = Vec::new();
        let mut small = Vec::new();
        for (Candidate { number, side }, size) in candidates.iter().zip(sizes) {
            let path = &steps[*number].path;
            let Some(stat) = self.origin.look(path)? else {
                continue;
            };
            if !may_hold(&stat, side, size) {
                continue;
            }
            if side.is_link() || size <= COMPARED_AS_A_WHOLE {
                small.push((*number, side, size, stat));
            } else if self.has_hash(path, side, size)? {
                equal.push((*number, stat));
            }
        }
        let ids: Vec<&str> = small.iter().map(|one| one.1.id.as_str()).collect();
        let sizes: Vec<u64> = small.iter().map(|one| one.2).collect();
        self.store.contents_of_sizes(&ids, &sizes, |index, bytes| {
            let (number, side, size, stat) = small[index];
            let there = self.origin.content(&steps[number].path, size)?;
            if holds(&there, side, bytes) {
                equal.push((number, stat));
            }
            Ok::<(), TreeError>(())
        })?;
        Ok(equal)
    }

    /// Tells whether a file has the hash by which git knows the side, reading it in pieces.
    fn has_hash(&self, path: &Path, side: &Side, size: u64) -> Result<bool, TreeError> {
        // A repository has one of two hashes, and they differ in length.
        let algorithm = match side.id.len() {
            40 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            _ => &digest::SHA256,
        };
        let mut hash = digest::Context::new(algorithm);
        hash.update(format!("blob {size}\0").as_bytes());
        // A file that grows meanwhile is another one.
        let mut file = self.origin.open_file(path)?.take(size.saturating_add(1));
        let mut piece = vec![0; PIECE];
        loop {
            let read = file.read(&mut piece);
            match read.map_err(TreeError::system("read", path))? {
                0 => break,
                length => hash.update(&piece[..length]),
            }
        }
        let hash = hash.finish();
        let hex = hash.as_ref().iter().map(|byte| format!("{byte:02x}"));
        Ok(hex.collect::<String>() == side.id)
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

/// Tells from what the system knows whether a side can be there.
fn may_hold(stat: &Stat, side: &Side, size: u64) -> bool {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            !side.is_link()
                && is_executable(stat.st_mode) == side.is_executable()
                && u64::try_from(stat.st_size) == Ok(size)
        }
        FileType::Symlink => side.is_link(),
        _ => false,
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
