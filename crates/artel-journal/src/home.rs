//! Where the journal's files are.

use std::path::{Path, PathBuf};

use artel_types::WorkshopId;

use crate::anchor;
use crate::error::JournalError;

/// The two folders a journal lives in: the workshop's state, and the user's own data folder, which
/// agents never see and which therefore holds the key and the newest signed head.
#[derive(Debug, Clone)]
pub struct Home {
    state: PathBuf,
    data: PathBuf,
}

impl Home {
    /// Names the workshop's `.artel` folder and the user's data folder.
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

    /// Returns the journal file.
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal.db")
    }

    /// Returns the log of what is not in the journal file yet.
    pub fn log(&self) -> PathBuf {
        self.state.join("journal.db-wal")
    }

    /// Returns the folder of large values.
    pub fn blobs(&self) -> PathBuf {
        self.state.join("blobs")
    }

    /// Returns the folder of copies.
    pub fn backups(&self) -> PathBuf {
        self.state.join("backups")
    }

    /// Returns the folder of pruned streams.
    pub fn archive(&self) -> PathBuf {
        self.state.join("archive")
    }

    /// Returns the folder where damaged files are set aside; nothing is deleted from it.
    pub fn damaged(&self) -> PathBuf {
        self.state.join("damaged")
    }

    /// Removes what the user's data folder holds about a journal that is gone. As long as the
    /// journal is there this does nothing: its newest signed head is what shows that it was cut.
    pub fn forget(&self, workshop: WorkshopId) -> Result<(), JournalError> {
        if self.journal().symlink_metadata().is_ok() {
            return Ok(());
        }
        anchor::forget(&self.data, workshop)
    }

    /// Returns the folder of locks.
    pub(crate) fn locks(&self) -> PathBuf {
        self.state.join("run")
    }
}

/// Shows a path to programs; a name that is not text is shown as nearly as it can be.
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
        let home = Home::new(folder.path().join("state"), folder.path().join("data"));
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
