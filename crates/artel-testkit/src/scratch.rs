//! A journal in a folder that is removed with the test.

use std::path::Path;
use std::time::Duration;

use artel_journal::{
    Journal, JournalFolders, JournalOptions, JournalReader, JournalSigningKeys,
    JournalVerification, verify,
};
use artel_types::{Clock, TraceId, WorkshopId};
use tempfile::TempDir;

use crate::clock::system_clock;

/// A temporary workshop: its state folder and its data folder.
pub struct Scratch {
    folder: TempDir,
    /// The state and data folders of the journal.
    pub home: JournalFolders,
    /// The workshop that the journal belongs to.
    pub workshop: WorkshopId,
    /// The options with which the journal is opened.
    pub options: JournalOptions,
}

impl Scratch {
    /// Creates the folders. The journal uses the machine's clock.
    pub fn new() -> Self {
        Self::with_clock(system_clock())
    }

    /// Creates the folders, with a clock of the test's own.
    pub fn with_clock(clock: Clock) -> Self {
        Self::of(tempfile::tempdir().expect("a temporary folder"), clock)
    }

    /// Creates the folders inside another one, for tests where the disk matters.
    pub fn inside(folder: &Path) -> Self {
        let folder = TempDir::new_in(folder).expect("a temporary folder");
        Self::of(folder, system_clock())
    }

    fn of(folder: TempDir, clock: Clock) -> Self {
        let home = JournalFolders::new(folder.path().join(".artel"), folder.path().join("data"));
        let options = JournalOptions {
            patience: Duration::from_secs(60),
            ..JournalOptions::new(clock, TraceId::from_random([1; 16]))
        };
        Self {
            folder,
            home,
            workshop: WorkshopId::from_random([9; 16]),
            options,
        }
    }

    /// Returns the folder that holds everything.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Creates the journal.
    pub fn create(&self) -> Journal {
        Journal::create(&self.home, self.workshop, self.options.clone())
            .expect("a journal")
            .journal
    }

    /// Opens the journal.
    pub fn open(&self) -> Journal {
        Journal::open(&self.home, self.workshop, self.options.clone())
            .expect("the journal")
            .journal
    }

    /// Opens the journal for reading.
    pub fn reader(&self) -> JournalReader {
        JournalReader::open(&self.home).expect("the journal")
    }

    /// Verifies the journal.
    pub fn verify(&self) -> JournalVerification {
        let keys = JournalSigningKeys::load(self.home.data(), self.workshop).expect("the keys");
        verify(&self.home, self.workshop, &keys).expect("a journal that can be looked at")
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
