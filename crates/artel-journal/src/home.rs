//! Paths of the journal's files.

use std::path::{Path, PathBuf};

use artel_types::WorkshopId;

use crate::anchor;
use crate::error::JournalError;

/// The two folders a journal lives in: the workshop's state folder and the user's own data
/// folder. Agents never see the data folder, so it holds the signing key and the newest
/// signed head.
#[derive(Debug, Clone)]
pub struct JournalFolders {
    state: PathBuf,
    data: PathBuf,
}

impl JournalFolders {
    /// Creates the pair from the workshop's `.artel` folder and the user's data folder.
    pub fn new(state: impl Into<PathBuf>, data: impl Into<PathBuf>) -> Self {
        Self {
            state: state.into(),
            data: data.into(),
        }
    }

    /// Returns the workshop's state folder.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Returns the user's data folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the path of the journal file.
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal.db")
    }

    /// Returns the path of the write-ahead log, which holds what is not in the journal file
    /// yet.
    pub fn log(&self) -> PathBuf {
        self.state.join("journal.db-wal")
    }

    /// Returns the folder of large values (blobs).
    pub fn blobs(&self) -> PathBuf {
        self.state.join("blobs")
    }

    /// Returns the folder of backups.
    pub fn backups(&self) -> PathBuf {
        self.state.join("backups")
    }

    /// Returns the folder of archives, which hold pruned streams.
    pub fn archive(&self) -> PathBuf {
        self.state.join("archive")
    }

    /// Returns the folder where damaged files are set aside. Artel never deletes from it.
    pub fn damaged(&self) -> PathBuf {
        self.state.join("damaged")
    }

    /// Removes what the user's data folder holds about a journal that is gone. Does nothing
    /// while the journal exists: its newest signed head is what shows that it was cut.
    pub fn forget(&self, workshop: WorkshopId) -> Result<(), JournalError> {
        if self.journal().symlink_metadata().is_ok() {
            return Ok(());
        }
        anchor::forget(&self.data, workshop)
    }

    pub(crate) fn locks(&self) -> PathBuf {
        self.state.join("run")
    }
}

/// Serializes a path as text. A name that is not UTF-8 is shown as nearly as possible.
pub(crate) fn path_text<S: serde::Serializer>(
    path: &Path,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_head_of_a_journal_is_forgotten_only_once_the_journal_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let home = JournalFolders::new(folder.path().join("state"), folder.path().join("data"));
        let workshop = WorkshopId::from_random([7; 16]);
        let head = home.data().join(format!("heads/{workshop}.json"));
        fs::create_dir_all(home.data().join("heads")).unwrap();
        fs::create_dir_all(home.state()).unwrap();
        fs::write(&head, "{}").unwrap();
        fs::write(home.journal(), "").unwrap();
        home.forget(workshop).unwrap();
        assert!(head.exists());
        fs::remove_file(home.journal()).unwrap();
        home.forget(workshop).unwrap();
        assert!(!head.exists());
        home.forget(workshop).unwrap();
    }
}
