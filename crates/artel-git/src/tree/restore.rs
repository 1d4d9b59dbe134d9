//! Restores a run's files to a snapshot.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::aside::SetAsideReason;
use super::beneath::{NewFileMode, NewPathContent, NoFollowFolder};
use super::snapshot::UnnamedSnapshot;
use super::store::{DiffLineCounting, GitTreeDifference, GitTreeFile};
use super::{RunTree, RunTreeError, RunTreeSnapshot};

/// Name of an unfinished file. The next one replaces a leftover.
pub(crate) const TEMP: &str = ".artel-tmp-restore";

/// The outcome of a restore.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunTreeRestoreOutcome {
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// Files and folders that were removed.
    pub removed: Vec<PathBuf>,
    /// Ignored folders of dependencies and build results, which were left alone.
    pub left: Vec<PathBuf>,
}

impl RunTree {
    /// Restores the files to exactly what they were: bytes, links, executable bits, empty
    /// folders. Removes everything else, except ignored folders of dependencies and build
    /// results. If it is cut short, it can be repeated.
    pub fn restore(
        &self,
        snapshot: &RunTreeSnapshot,
    ) -> Result<RunTreeRestoreOutcome, RunTreeError> {
        self.own.lead()?;
        let taken = self.take()?;
        let beneath = NoFollowFolder::open(&self.own.files)?.without_waiting();
        let differences =
            self.store()
                .differences(&taken.tree, snapshot.tree(), DiffLineCounting::Uncounted)?;
        let mut restored = RunTreeRestoreOutcome {
            left: taken.walk.left_out.clone(),
            ..RunTreeRestoreOutcome::default()
        };
        let cleared = self.clear_aside(&beneath, &taken)?;
        let differences = self.with_cleared(differences, snapshot, &cleared)?;
        restored.removed.extend(cleared);
        for gone in differences.iter().filter(|one| one.new.is_none()) {
            beneath.remove(&gone.path)?;
            restored.removed.push(gone.path.clone());
        }
        let empty = self.empty_then(snapshot, &taken)?;
        let wanted = folders_of(&taken, &differences, &empty);
        // Deepest first.
        for folder in taken.walk.folders.iter().rev() {
            if !wanted.contains(folder.as_path()) && beneath.remove_empty(folder)? {
                restored.removed.push(folder.clone());
            }
        }
        self.write_back(&beneath, &differences, &mut restored)?;
        for folder in &empty {
            beneath.make_folders(folder)?;
        }
        Ok(restored)
    }

    /// Removes what no snapshot holds, except what was there when the run began.
    fn clear_aside(
        &self,
        beneath: &NoFollowFolder,
        taken: &UnnamedSnapshot,
    ) -> Result<Vec<PathBuf>, RunTreeError> {
        let mut cleared = Vec::new();
        for one in &taken.walk.set_aside {
            if self.began.held(&one.path) {
                continue;
            }
            if let SetAsideReason::TooManyIn(_) = one.why {
                self.clear_files_of(beneath, &one.path, taken)?;
                continue;
            }
            self.clear(beneath, &one.path)?;
            cleared.push(one.path.clone());
        }
        Ok(cleared)
    }

    /// Removes the files directly in a folder that no snapshot holds.
    fn clear_files_of(
        &self,
        beneath: &NoFollowFolder,
        folder: &Path,
        taken: &UnnamedSnapshot,
    ) -> Result<(), RunTreeError> {
        let whole = self.own.files.join(folder);
        let failed = || RunTreeError::system("list", &whole);
        for entry in std::fs::read_dir(&whole).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let path = folder.join(entry.file_name());
            let is_folder = entry.file_type().map_err(failed())?.is_dir();
            let is_git = entry.file_name().eq_ignore_ascii_case(".git");
            if !is_folder && !is_git && !taken.walk.files.contains_key(&path) {
                beneath.remove(&path)?;
            }
        }
        Ok(())
    }

    /// Adds the snapshot's files below removed paths: no comparison covered them.
    fn with_cleared(
        &self,
        mut differences: Vec<GitTreeDifference>,
        snapshot: &RunTreeSnapshot,
        cleared: &[PathBuf],
    ) -> Result<Vec<GitTreeDifference>, RunTreeError> {
        if cleared.is_empty() {
            return Ok(differences);
        }
        let cleared: BTreeSet<&Path> = cleared.iter().map(PathBuf::as_path).collect();
        let known: BTreeSet<PathBuf> = differences.iter().map(|one| one.path.clone()).collect();
        for (path, side) in self.store().manifest(snapshot.tree())? {
            let is_cleared = path.ancestors().any(|above| cleared.contains(above));
            if is_cleared && !known.contains(&path) {
                differences.push(GitTreeDifference::written_again(path, side));
            }
        }
        Ok(differences)
    }

    /// Returns the folders that were empty at the snapshot. If its name now belongs to another
    /// snapshot, returns the folders that are empty today.
    fn empty_then(
        &self,
        snapshot: &RunTreeSnapshot,
        taken: &UnnamedSnapshot,
    ) -> Result<Vec<PathBuf>, RunTreeError> {
        match self.record(snapshot.label()) {
            Ok((tree, empty)) if tree == snapshot.tree() => Ok(empty),
            Ok(_) | Err(RunTreeError::NoSnapshot { .. }) => Ok(taken.walk.empty.clone()),
            Err(error) => Err(error),
        }
    }

    fn write_back(
        &self,
        beneath: &NoFollowFolder,
        differences: &[GitTreeDifference],
        restored: &mut RunTreeRestoreOutcome,
    ) -> Result<(), RunTreeError> {
        let wanted: Vec<(&Path, &GitTreeFile)> = differences
            .iter()
            .filter_map(|one| Some((one.path.as_path(), one.new.as_ref()?)))
            .collect();
        let ids: Vec<&str> = wanted.iter().map(|(_, side)| side.id.as_str()).collect();
        self.store().contents(&ids, |number, bytes| {
            let (path, side) = wanted[number];
            let content = wanted_of(side, bytes);
            let is_blocked = beneath.look(path)?.is_some_and(is_folder);
            if is_blocked {
                self.clear(beneath, path)?;
            }
            beneath.put(path, content, TEMP.as_ref())?;
            restored.written.push(path.to_owned());
            Ok::<(), RunTreeError>(())
        })
    }

    /// Removes whatever is at a path, with everything in it.
    fn clear(&self, beneath: &NoFollowFolder, path: &Path) -> Result<(), RunTreeError> {
        let Some(stat) = beneath.look(path)? else {
            return Ok(());
        };
        if !is_folder(stat) {
            return beneath.remove(path);
        }
        let whole = self.own.files.join(path);
        artel_files::remove_tree(&whole).map_err(RunTreeError::system("remove", &whole))
    }
}

pub(crate) fn is_folder(stat: rustix::fs::Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir()
}

pub(crate) fn wanted_of<'w>(side: &GitTreeFile, bytes: &'w [u8]) -> NewPathContent<'w> {
    if side.is_link() {
        return NewPathContent::Link(OsStr::from_bytes(bytes));
    }
    let mode = NewFileMode::New(if side.is_executable() { 0o777 } else { 0o666 });
    NewPathContent::File { bytes, mode }
}

/// Returns every folder that will hold something, or is to be there empty.
fn folders_of<'f>(
    taken: &'f UnnamedSnapshot,
    differences: &'f [GitTreeDifference],
    empty: &'f [PathBuf],
) -> BTreeSet<&'f Path> {
    let gone = differences.iter().filter(|one| one.new.is_none());
    let gone: BTreeSet<&PathBuf> = gone.map(|one| &one.path).collect();
    let there = taken.walk.files.keys().filter(|path| !gone.contains(path));
    let coming = differences.iter().filter(|one| one.new.is_some());
    there
        .chain(coming.map(|one| &one.path))
        .flat_map(|path| path.ancestors().skip(1))
        .chain(empty.iter().flat_map(|path| path.ancestors()))
        .collect()
}
