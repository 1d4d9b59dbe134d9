//! Differences between a run's files and a snapshot, and the files of a snapshot.

use std::path::{Path, PathBuf};

use super::store::{DiffLineCounting, GitTreeDifference, GitTreeFile};
use super::{RunTree, RunTreeError, RunTreeSnapshot};

/// One file that a run made, changed or removed. A moved file counts as removed and made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTreeChange {
    /// Path relative to the files.
    pub path: PathBuf,
    /// Kind of the change.
    pub kind: RunTreeChangeKind,
    /// Number of added lines, or `None` if the file is not text.
    pub lines_added: Option<u64>,
    /// Number of removed lines, or `None` if the file is not text.
    pub lines_removed: Option<u64>,
    /// Current size in bytes.
    pub bytes: u64,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// Whether it is new and git ignores it. Such files are put in place only if they are
    /// named.
    pub is_ignored: bool,
}

/// The kinds of change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunTreeChangeKind {
    /// The file is new.
    Made,
    /// The file has other bytes, or is a link where a file was.
    Changed,
    /// The file was deleted.
    Deleted,
    /// Only the executable bit changed.
    Mode,
}

impl RunTreeChange {
    /// Returns whether the file is something other than text.
    pub fn is_binary(&self) -> bool {
        self.lines_added.is_none()
    }
}

impl RunTree {
    /// Returns what the run has made, changed and removed since a snapshot, in path order.
    pub fn changes(&self, since: &RunTreeSnapshot) -> Result<Vec<RunTreeChange>, RunTreeError> {
        let taken = self.take()?;
        let mut rules = self.rules();
        let differences =
            self.store()
                .differences(since.tree(), &taken.tree, DiffLineCounting::Counted)?;
        let change = |difference: GitTreeDifference| {
            let kind = difference.kind();
            let path = &difference.path;
            let bytes = taken.walk.files.get(path).map_or(0, |seen| seen.stamp.size);
            let side = difference.new.as_ref().or(difference.old.as_ref());
            RunTreeChange {
                kind,
                lines_added: difference.lines.map(|(added, _)| added),
                lines_removed: difference.lines.map(|(_, removed)| removed),
                bytes,
                is_link: side.is_some_and(GitTreeFile::is_link),
                is_ignored: kind == RunTreeChangeKind::Made && rules.ignores_file(path),
                path: difference.path,
            }
        };
        Ok(differences.into_iter().map(change).collect())
    }

    /// Returns the content of a file at a snapshot. Returns `None` if there was none, if it was
    /// a link, or if it was larger than `most` bytes.
    pub fn file_at(
        &self,
        snapshot: &RunTreeSnapshot,
        path: &Path,
        most: u64,
    ) -> Result<Option<Vec<u8>>, RunTreeError> {
        let store = self.store();
        let files = store.manifest(snapshot.tree())?;
        let Some(side) = files.get(path).filter(|side| !side.is_link()) else {
            return Ok(None);
        };
        let ids = [side.id.as_str()];
        if store.sizes(&ids)?.first().is_none_or(|size| *size > most) {
            return Ok(None);
        }
        let mut held = None;
        store.contents(&ids, |_, bytes| {
            held = Some(bytes.to_vec());
            Ok::<(), RunTreeError>(())
        })?;
        Ok(held)
    }

    /// Returns the difference as text, for these paths or, if there are none, for all.
    pub fn diff(
        &self,
        since: &RunTreeSnapshot,
        paths: &[PathBuf],
    ) -> Result<Vec<u8>, RunTreeError> {
        let taken = self.take()?;
        let mut arguments = vec![
            "diff-tree",
            "-r",
            "-p",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            since.tree(),
            &taken.tree,
            "--",
        ];
        let text = |path: &PathBuf| path.to_str().map(str::to_owned);
        let named: Vec<String> = paths.iter().filter_map(text).collect();
        if named.len() < paths.len() {
            // Git takes its arguments as UTF-8 text here, so another name cannot be passed.
            return Err(RunTreeError::NotBelow {
                path: paths
                    .iter()
                    .find(|p| p.to_str().is_none())
                    .cloned()
                    .unwrap_or_default(),
                folder: self.own.files.clone(),
            });
        }
        arguments.extend(named.iter().map(String::as_str));
        Ok(self.own.private().run(&arguments)?)
    }
}
