//! A person's home folder and a workshop, for one test.

use std::fs;
use std::path::{Path, PathBuf};

use artel_journal::{Journal, JournalFolders, JournalOptions, JournalReader};
use artel_testkit::system_clock;
use artel_types::{Clock, TraceId, WorkshopId};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Artel, Seen};

/// Who lives in every house.
pub(crate) const ADA: &str = "ada@example.org";

/// A temporary home folder with a workshop folder beside it.
pub(crate) struct House {
    folder: TempDir,
    tools: TempDir,
    /// The person's home folder.
    pub(crate) home: PathBuf,
    /// Where the workshop is, or can be made.
    pub(crate) workshop: PathBuf,
}

impl House {
    /// Makes a home folder with a git identity, and an empty folder for a workshop.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // On some systems the temporary folder is a link; the binary shows real paths.
        let root = folder.path().canonicalize().unwrap();
        let (home, workshop) = (root.join("home"), root.join("shop"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&workshop).unwrap();
        let identity = format!("[user]\n\temail = {ADA}\n");
        fs::write(home.join(".gitconfig"), identity).unwrap();
        Self {
            folder,
            tools: tools(),
            home,
            workshop,
        }
    }

    /// The same with a workshop in it.
    pub(crate) fn new() -> Self {
        let house = Self::empty();
        house.artel(["init"]).run().expect(0);
        house
    }

    /// The same with this many events in all, the first two of which are those of `init`.
    pub(crate) fn with_events(count: u64) -> Self {
        let house = Self::new();
        house.append(super::notes("notes", count - 2));
        house
    }

    /// Returns the folder that holds everything.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Prepares a command, standing in the workshop.
    pub(crate) fn artel<const N: usize>(&self, words: [&str; N]) -> Artel {
        Artel::new(&self.home, &self.workshop, self.tools.path()).words(words)
    }

    /// Runs a command that must succeed.
    pub(crate) fn ok<const N: usize>(&self, words: [&str; N]) -> Seen {
        self.artel(words).run().expect(0)
    }

    /// Returns the user's data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.home.join(".local/share/artel")
    }

    /// Returns a path in the workshop's state folder.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.workshop.join(".artel").join(name)
    }

    /// Returns the journal file.
    pub(crate) fn journal_file(&self) -> PathBuf {
        self.state("journal.db")
    }

    /// Returns where the journal lives, for the library.
    pub(crate) fn journal_home(&self) -> JournalFolders {
        JournalFolders::new(self.workshop.join(".artel"), self.data())
    }

    /// Returns the workshop's id, as its marker has it.
    pub(crate) fn id(&self) -> WorkshopId {
        let marker = fs::read(self.state("workshop.json")).unwrap();
        let marker: serde_json::Value = serde_json::from_slice(&marker).unwrap();
        marker["id"].as_str().unwrap().parse().unwrap()
    }

    /// Opens the journal as another process of the same person would.
    pub(crate) fn journal(&self, clock: Clock) -> Journal {
        let options = JournalOptions::new(clock, TraceId::from_random([1; 16]));
        Journal::open(&self.journal_home(), self.id(), options)
            .unwrap()
            .journal
    }

    /// Records events.
    pub(crate) fn append(&self, drafts: impl IntoIterator<Item = artel_types::EventDraft>) {
        let journal = self.journal(system_clock());
        journal
            .append(artel_journal::EventBatch::of(drafts))
            .wait()
            .unwrap();
    }

    /// Returns the kinds of all events, in order.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let reader = JournalReader::open(&self.journal_home()).unwrap();
        let records = reader.records(&artel_journal::EventQuery::all()).unwrap();
        records.into_iter().map(|record| record.kind).collect()
    }

    /// Changes the journal file behind Artel's back.
    pub(crate) fn tamper(&self, sql: &str) {
        let connection = Connection::open(self.journal_file()).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// Returns the backups, oldest first.
    pub(crate) fn backups(&self) -> Vec<PathBuf> {
        let mut files = artel_journal::backups(&self.journal_home());
        files.reverse();
        files
    }

    /// Makes a folder in the house.
    pub(crate) fn folder(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.root().join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }
}

/// Makes a folder with the one program that the binary may look for: what it finds must not
/// depend on the machine.
fn tools() -> TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let git = folder.path().join("git");
    fs::write(&git, "#!/bin/sh\necho git version 2.47.1\n").unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}
