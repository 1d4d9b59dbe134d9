//! A journal in a folder that goes away with the test.

use std::path::Path;
use std::time::Duration;

use artel_journal::{Home, Journal, Keys, Options, Reader, Verified, verify};
use artel_types::{Clock, TraceId, WorkshopId};
use tempfile::TempDir;

use crate::clock::system_clock;

/// A temporary workshop's state folder and data folder.
pub struct Scratch {
    folder: TempDir,
    /// Where the journal lives.
    pub home: Home,
    /// Whose journal it is.
    pub workshop: WorkshopId,
    /// What it is opened with.
    pub options: Options,
}

impl Scratch {
    /// Makes the folders; the journal's clock is the machine's.
    pub fn new() -> Self {
        Self::with_clock(system_clock())
    }

    /// Makes the folders with a clock of the test's own.
    pub fn with_clock(clock: Clock) -> Self {
        Self::of(tempfile::tempdir().expect("a temporary folder"), clock)
    }

    /// Makes the folders inside another one, where it matters which disk they are on.
    pub fn inside(folder: &Path) -> Self {
        let folder = TempDir::new_in(folder).expect("a temporary folder");
        Self::of(folder, system_clock())
    }

    fn of(folder: TempDir, clock: Clock) -> Self {
        let home = Home::new(folder.path().join(".artel"), folder.path().join("data"));
        let options = Options {
            patience: Duration::from_secs(60),
            ..Options::new(clock, TraceId::from_random([1; 16]))
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

    /// Makes the journal.
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
    pub fn reader(&self) -> Reader {
        Reader::open(&self.home).expect("the journal")
    }

    /// Verifies the journal.
    pub fn verify(&self) -> Verified {
        let keys = Keys::load(self.home.data(), self.workshop).expect("the keys");
        verify(&self.home, self.workshop, &keys).expect("a journal that can be looked at")
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
