//! Compares the person's folder with what a run began with and what it left.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ring::digest;
use rustix::fs::{FileType, Stat};

use super::super::RunTreeError;
use super::super::beneath::{PathContent, is_executable};
use super::super::plan::PlacementStep;
use super::super::store::GitTreeFile;
use super::{FilePlacement, is_folder};

/// Largest file, in bytes, that is compared with git's content directly. A larger one is
/// compared by hash.
const COMPARED_AS_A_WHOLE: u64 = 1 << 20;

/// Number of bytes of a large file in memory at a time.
const PIECE: usize = 64 << 10;

/// The state of the person's file with respect to a step.
pub(crate) enum PlacementFileState {
    /// As the run began with it. The stamp shows whether it stays so.
    Before(Option<Box<Stat>>),
    /// As the run left it.
    After,
    /// Neither: the person touched it.
    Touched,
}

/// A step, and the content that may be at its path.
struct PlacementCandidate {
    number: usize,
    side: GitTreeFile,
}

impl FilePlacement {
    /// Determines the state of the person's file for each step.
    pub(crate) fn states(
        &self,
        steps: &[PlacementStep],
    ) -> Result<Vec<PlacementFileState>, RunTreeError> {
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
        // Existing files have to be compared, first with the old content, then with the new.
        for side in [
            |step: &PlacementStep| step.old.clone(),
            |step: &PlacementStep| step.new.clone(),
        ] {
            let candidates = asked
                .iter()
                .filter(|number| matches!(states[**number], PlacementFileState::Touched))
                .filter_map(|number| {
                    let side = side(&steps[*number])?;
                    Some(PlacementCandidate {
                        number: *number,
                        side,
                    })
                });
            let candidates: Vec<PlacementCandidate> = candidates.collect();
            for (number, stat) in self.equal(steps, &candidates)? {
                let step = &steps[number];
                states[number] = if step.old == side(step) {
                    PlacementFileState::Before(Some(Box::new(stat)))
                } else {
                    PlacementFileState::After
                };
            }
        }
        Ok(states)
    }

    /// Finds the candidates whose content is at their path. A file of another size is not read,
    /// and a large file is not held in memory.
    fn equal(
        &self,
        steps: &[PlacementStep],
        candidates: &[PlacementCandidate],
    ) -> Result<Vec<(usize, Stat)>, RunTreeError> {
        let ids: Vec<&str> = candidates.iter().map(|one| one.side.id.as_str()).collect();
        let sizes = self.store.sizes(&ids)?;
        let mut equal = Vec::new();
        let mut small = Vec::new();
        for (PlacementCandidate { number, side }, size) in candidates.iter().zip(sizes) {
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
            Ok::<(), RunTreeError>(())
        })?;
        Ok(equal)
    }

    /// Returns whether a file has the hash by which git knows the content. The file is read in
    /// pieces.
    fn has_hash(&self, path: &Path, side: &GitTreeFile, size: u64) -> Result<bool, RunTreeError> {
        // A repository uses one of two hashes, which differ in length.
        let algorithm = match side.id.len() {
            40 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            _ => &digest::SHA256,
        };
        let mut hash = digest::Context::new(algorithm);
        hash.update(format!("blob {size}\0").as_bytes());
        // A file that grows in the meantime is a different one.
        let mut file = self.origin.open_file(path)?.take(size.saturating_add(1));
        let mut piece = vec![0; PIECE];
        loop {
            let read = file.read(&mut piece);
            match read.map_err(RunTreeError::system("read", path))? {
                0 => break,
                length => hash.update(&piece[..length]),
            }
        }
        let hash = hash.finish();
        let hex = hash.as_ref().iter().map(|byte| format!("{byte:02x}"));
        Ok(hex.collect::<String>() == side.id)
    }

    /// Returns what can be said without comparing bytes, and whether the bytes have to be
    /// compared.
    fn glance(
        &self,
        step: &PlacementStep,
        gone: &BTreeSet<&Path>,
    ) -> Result<(PlacementFileState, bool), RunTreeError> {
        let stat = match self.origin.look(&step.path) {
            Ok(stat) => stat,
            Err(RunTreeError::LedAway { .. }) if self.is_behind_gone(&step.path, gone) => None,
            Err(RunTreeError::LedAway { .. }) => return Ok((PlacementFileState::Touched, false)),
            Err(error) => return Err(error),
        };
        Ok(match (stat, &step.old, &step.new) {
            (None, None, _) => (PlacementFileState::Before(None), false),
            (None, Some(_), None) => (PlacementFileState::After, false),
            (None, Some(_), Some(_)) => (PlacementFileState::Touched, false),
            (Some(stat), None, Some(_)) if is_folder(stat) => {
                let is_free = self.will_be_empty(&step.path, gone);
                let state = if is_free {
                    PlacementFileState::Before(None)
                } else {
                    PlacementFileState::Touched
                };
                (state, false)
            }
            // The folder is there because the plan puts it where the run removed a file.
            (Some(stat), Some(_), None) if is_folder(stat) => (PlacementFileState::After, false),
            (Some(_), _, _) => (PlacementFileState::Touched, true),
        })
    }

    /// Returns whether the link in the way is one that the plan removes first.
    fn is_behind_gone(&self, path: &Path, gone: &BTreeSet<&Path>) -> bool {
        path.ancestors().skip(1).any(|above| gone.contains(above))
    }

    /// Returns whether a folder holds only files that the plan removes or has already removed.
    /// An empty folder of the person's is theirs.
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

/// Returns whether the content can be at the path, judging by the file's status alone.
fn may_hold(stat: &Stat, side: &GitTreeFile, size: u64) -> bool {
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

fn holds(content: &PathContent, side: &GitTreeFile, bytes: &[u8]) -> bool {
    match content {
        PathContent::File { bytes: here, mode } => {
            !side.is_link() && is_executable(*mode) == side.is_executable() && here == bytes
        }
        PathContent::Link(target) => side.is_link() && target.as_bytes() == bytes,
        PathContent::Nothing | PathContent::Other => false,
    }
}
