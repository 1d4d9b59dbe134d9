//! Tracks which of the workshop's own files were put there by runs and plans.
//!
//! Runs and plans can no longer do this. An older Artel let them, if a workshop lay in the
//! folder that a run worked on. Until a person has reviewed such a file, it has no
//! authority: its skills are not used, its roles, tools and policies are not in force, and
//! nothing is approved or filed because of it. Files that a person changes with their own
//! programs are theirs and are never asked about.

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};

use artel_journal::{EventBatch, EventFilter, EventQuery, Journal, JournalReader};
use artel_types::{Fact, Failure, FailureCode, TraceId, WorkshopFileTrusted, counted};

use crate::own_folders::OwnFolders;
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// Size limit of a configuration file, in bytes.
const LARGEST: u64 = 8 << 20;

/// Maximum number of files that an error names.
const MOST_NAMED: usize = 5;

/// Where a file decides what agents may do or are told. Skills have a question of their
/// own, and the inbox takes no such files.
const CONFIGURATION: [&str; 5] = [
    "Agents",
    "Knowledge/Context",
    "Policy",
    "Tools",
    "artel.toml",
];

/// The workshop's own files that runs and plans put in place, each with its latest event.
/// Folded from the journal, each event once.
#[derive(Debug, Default)]
pub(crate) struct PlacedFiles {
    files: BTreeMap<PathBuf, u64>,
    /// The last event that was folded.
    seq: u64,
}

/// A configuration file that a run put in place and that nobody has reviewed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnseenFile {
    pub file: PathBuf,
    /// BLAKE3 hash of its bytes, in hex. `None` if it cannot be read whole: nobody can review
    /// such a file.
    pub hash: Option<String>,
}

impl UnseenFile {
    /// Reads a file that a run put in place. Returns `None` if it is gone.
    fn at(file: &Path) -> Option<Self> {
        match file.symlink_metadata() {
            // Files in a folder are listed under their own paths.
            Ok(about) if about.is_dir() => return None,
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return None,
            Ok(_) | Err(_) => {}
        }
        // A link is hashed as its target, because the target is in force.
        let real = file.canonicalize().ok();
        let bytes = real.and_then(|real| artel_files::read_bounded(&real, LARGEST).ok());
        Some(Self {
            file: file.to_owned(),
            hash: bytes.map(|bytes| blake3::hash(&bytes).to_hex().to_string()),
        })
    }

    /// Returns its name for an error message.
    fn named(&self) -> String {
        let file = self.file.display();
        match self.hash {
            Some(_) => format!("`{file}`"),
            None => format!("`{file}` (which cannot be read whole)"),
        }
    }
}

impl PlacedFiles {
    /// Folds the events since the last call.
    pub(crate) fn follow(
        &mut self,
        reader: &JournalReader,
        own: &OwnFolders,
    ) -> Result<(), Failure> {
        // The head is read first. Events that arrive in between are read again by the next call,
        // which does no harm.
        let head = reader.head()?;
        let since = |kind: &str| match self.seq {
            0 => query(kind).few(),
            seq => query(kind).after(seq),
        };
        let (applied, merged) = (since("run.applied"), since("changeset.merged"));
        for record in reader.records(&applied)? {
            let seq = record.seq;
            if let Fact::RunApplied(applied) = record.event()?.fact {
                self.add(own, Path::new(&applied.folder), &applied.files, seq);
            }
        }
        let merged = reader.records(&merged)?;
        if !merged.is_empty() {
            let folders = folders_of_changesets(reader)?;
            for record in merged {
                let (seq, event) = (record.seq, record.event()?);
                let folder = folders.get(&event.trace);
                if let (Fact::ChangesetMerged(merged), Some(folder)) = (event.fact, folder) {
                    self.add(own, repository_around(folder), &merged.files, seq);
                }
            }
        }
        self.seq = self.seq.max(head);
        Ok(())
    }

    fn add(&mut self, own: &OwnFolders, folder: &Path, files: &[String], seq: u64) {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let files = files.iter().map(|file| folder.join(file));
        for file in files.filter(|file| own.around(file).is_some()) {
            self.files.insert(file, seq);
        }
    }

    /// Returns whether a run put this file in place.
    pub(crate) fn has(&self, file: &Path) -> bool {
        self.files.contains_key(file)
    }

    /// Returns the latest event that put something into a folder.
    pub(crate) fn newest_in(&self, folder: &Path) -> Option<u64> {
        let inside = self
            .files
            .iter()
            .filter(|(file, _)| file.starts_with(folder));
        inside.map(|(_, seq)| *seq).max()
    }
}

impl Workshop {
    /// Returns what runs and plans put among workshops' own files.
    pub(crate) fn placed_files(&self, reader: &JournalReader) -> Result<PlacedFiles, Failure> {
        let mut placed = PlacedFiles::default();
        placed.follow(reader, &self.own_folders()?)?;
        Ok(placed)
    }

    /// Returns the configuration files that a run put in place and nobody has reviewed since.
    /// A reviewed file is the person's to change.
    pub fn unseen_files(&self, reader: &JournalReader) -> Result<Vec<UnseenFile>, Failure> {
        let placed = self.placed_files(reader)?;
        let root = self.root.canonicalize();
        let root = root.unwrap_or_else(|_| self.root.clone());
        let is_read = |file: &Path| {
            let inside = file.strip_prefix(&root);
            inside.is_ok_and(|inside| CONFIGURATION.iter().any(|it| inside.starts_with(it)))
                || !file.starts_with(&root)
        };
        let candidates: Vec<_> = placed
            .files
            .iter()
            .filter(|(file, _)| is_read(file))
            .collect();
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let mut seen: HashMap<PathBuf, u64> = HashMap::new();
        for record in reader.records(&query("workshop.file_trusted").few())? {
            let seq = record.seq;
            if let Fact::WorkshopFileTrusted(trusted) = record.event()?.fact {
                seen.insert(PathBuf::from(trusted.file), seq);
            }
        }
        let mut unseen = Vec::new();
        for (file, seq) in candidates {
            if seen.get(file).is_some_and(|seen| seen > seq) {
                continue;
            }
            unseen.extend(UnseenFile::at(file));
        }
        Ok(unseen)
    }

    /// Refuses to start anything while unreviewed files from runs are in force.
    pub(crate) fn refuse_unseen(&self, reader: &JournalReader) -> Result<(), Failure> {
        let unseen = self.unseen_files(reader)?;
        if unseen.is_empty() {
            return Ok(());
        }
        let named: Vec<_> = unseen
            .iter()
            .take(MOST_NAMED)
            .map(UnseenFile::named)
            .collect();
        let what = format!(
            "a run put {} into the workshop that you have not reviewed: {}",
            counted(unseen.len() as u64, "file"),
            named.join(", ")
        );
        let (why, advice) = match unseen.len() {
            1 => (
                "it controls what agents may do",
                "review it, then delete it or run `artel workshop trust`",
            ),
            _ => (
                "they control what agents may do",
                "review them, then delete them or run `artel workshop trust`",
            ),
        };
        Err(Failure::new(FailureCode::W009, what)
            .because(why)
            .advise(advice))
    }

    /// Records that a person trusts the unreviewed files as they are now, and returns those
    /// files. Files that cannot be read whole are returned too, but not trusted, because nobody
    /// has reviewed them.
    pub fn trust_unseen(&self) -> Result<Vec<UnseenFile>, Failure> {
        let unseen = self.unseen_files(&*self.reader()?)?;
        if unseen.iter().all(|it| it.hash.is_none()) {
            return Ok(unseen);
        }
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        self.record_trusted(&journal, &unseen)?;
        Ok(unseen)
    }

    fn record_trusted(&self, journal: &Journal, files: &[UnseenFile]) -> Result<(), Failure> {
        let drafts = files.iter().filter_map(|it| {
            let file = it.file.display().to_string();
            let hash = it.hash.clone()?;
            let trusted = WorkshopFileTrusted {
                file: file.clone(),
                hash,
            };
            Some(self.draft(trusted).on(file))
        });
        journal.append(EventBatch::of(drafts)).wait()?;
        Ok(())
    }
}

fn query(kind: &str) -> EventQuery {
    EventQuery::of(EventFilter {
        kind: Some(kind.to_owned()),
        ..EventFilter::default()
    })
}

fn folders_of_changesets(reader: &JournalReader) -> Result<HashMap<TraceId, PathBuf>, Failure> {
    let mut folders = HashMap::new();
    for record in reader.records(&query("changeset.created").few())? {
        let event = record.event()?;
        if let Fact::ChangesetCreated(created) = event.fact {
            folders.insert(event.trace, PathBuf::from(created.folder));
        }
    }
    Ok(folders)
}

/// Returns the root of the repository around a folder. The files of a merge are named
/// relative to it.
pub(crate) fn repository_around(folder: &Path) -> &Path {
    let repository = folder.ancestors().find(|it| it.join(".git").exists());
    repository.unwrap_or(folder)
}
