//! What differs between two snapshots, and the contents of one.

use std::path::{Path, PathBuf};

use super::store::{Difference, Lines, Side};
use super::{RunTree, Snapshot, TreeError};

/// One file that a run made, changed or removed. A file that was moved is removed and made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path, relative to the files.
    pub path: PathBuf,
    /// What was done.
    pub kind: ChangeKind,
    /// Lines that are new; nothing for what is not text.
    pub lines_added: Option<u64>,
    /// Lines that are gone.
    pub lines_removed: Option<u64>,
    /// How many bytes it holds now.
    pub bytes: u64,
    /// It is a symbolic link.
    pub is_link: bool,
    /// It is new and git ignores it. Such files are put in place only when they are named.
    pub is_ignored: bool,
}

/// What was done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It was not there.
    Made,
    /// It has other bytes, or is a link where a file was.
    Changed,
    /// It is gone.
    Deleted,
    /// It only became executable, or no longer is.
    Mode,
}

impl Change {
    /// Tells whether it holds something else than text.
    pub fn is_binary(&self) -> bool {
        self.lines_added.is_none()
    }
}

impl RunTree {
    /// Returns what the run made, changed and removed since a snapshot, in the order of paths.
    pub fn changes(&self, since: &Snapshot) -> Result<Vec<Change>, TreeError> {
        let taken = self.take()?;
        let mut rules = self.rules();
        let differences = self
            .store()
            .differences(since.tree(), &taken.tree, Lines::Counted)?;
        let change = |difference: Difference| {
            let kind = difference.kind();
            let path = &difference.path;
            let bytes = taken.walk.files.get(path).map_or(0, |seen| seen.stamp.size);
            let side = difference.new.as_ref().or(difference.old.as_ref());
            Change {
                kind,
                lines_added: difference.lines.map(|(added, _)| added),
                lines_removed: difference.lines.map(|(_, removed)| removed),
                bytes,
                is_link: side.is_some_and(Side::is_link),
                is_ignored: kind == ChangeKind::Made && rules.ignores_file(path),
                path: difference.path,
            }
        };
        Ok(differences.into_iter().map(change).collect())
    }

    /// Returns what a file held at a snapshot; nothing where there was none, where it was a link,
    /// or where it had more than `most` bytes.
    pub fn file_at(
        &self,
        snapshot: &Snapshot,
        path: &Path,
        most: u64,
    ) -> Result<Option<Vec<u8>>, TreeError> {
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
            Ok::<(), TreeError>(())
        })?;
        Ok(held)
    }

    /// Returns the difference as text, of these paths or of all.
    pub fn diff(&self, since: &Snapshot, paths: &[PathBuf]) -> Result<Vec<u8>, TreeError> {
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
            // A name that is no text cannot be an argument here.
            return Err(TreeError::NotBelow {
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
