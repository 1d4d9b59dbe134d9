//! Finds and removes what is no longer needed: finished worktrees, blobs that no event
//! names, old logs, and leftovers of crashes.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use artel_journal::{BlobStore, EventFilter, EventQuery};
use artel_types::{BlobHash, Fact, Failure, FailureCode, Timestamp};
use serde::Serialize;

use crate::init::FOLDERS;
use crate::trouble::path_text;
use crate::workshop::Workshop;

/// The reason why something can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CleanupReason {
    Worktree,
    /// A blob that no event names.
    Blob,
    /// A log older than `clean.logs_after`.
    Log,
    /// A file that a crash left half-written.
    Leftover,
}

/// A file or folder that can be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CleanupCandidate {
    pub sort: CleanupReason,
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// The space it uses.
    pub bytes: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CleanupOutcome {
    /// The number of files and folders removed.
    pub removed: u64,
    /// The space they used, in bytes.
    pub bytes: u64,
}

/// Minimum age of what is removed. Younger files may belong to something under way: a blob
/// is written before the event that names it.
const YOUNG: Duration = Duration::from_secs(3600);

impl Workshop {
    /// Lists what can be removed. Work that is open or undecided is never listed.
    pub fn rubbish(&self) -> Result<Vec<CleanupCandidate>, Failure> {
        let mut found = self.finished_worktrees()?;
        found.extend(self.orphan_blobs()?);
        found.extend(self.old_logs());
        found.extend(self.leftovers());
        found.sort_by(|one, other| (one.sort, &one.path).cmp(&(other.sort, &other.path)));
        Ok(found)
    }

    pub fn clean(&self, rubbish: &[CleanupCandidate]) -> Result<CleanupOutcome, Failure> {
        let mut cleaned = CleanupOutcome::default();
        for item in rubbish {
            let removed = if item.sort == CleanupReason::Worktree {
                artel_files::remove_tree(&item.path)
            } else {
                fs::remove_file(&item.path)
            };
            match removed {
                Ok(()) => {
                    cleaned.removed += 1;
                    cleaned.bytes += item.bytes;
                }
                Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
                Err(cause) => {
                    let what = format!("could not remove `{}`", item.path.display());
                    return Err(Failure::new(FailureCode::W008, what).because(cause.to_string()));
                }
            }
        }
        Ok(cleaned)
    }

    /// Finds the worktrees whose run has ended. A worktree is named after its run and can be
    /// removed once the last event of the run's stream is its end.
    fn finished_worktrees(&self) -> Result<Vec<CleanupCandidate>, Failure> {
        let reader = self.reader()?;
        let places = entries(&self.home.state().join("worktrees"));
        if places.is_empty() {
            return Ok(Vec::new());
        }
        // The worktree of a plan run holds the branch that somebody still has to decide about.
        let undecided: BTreeSet<String> = self
            .undecided_runs()?
            .iter()
            .map(ToString::to_string)
            .collect();
        let mut found = Vec::new();
        for path in places {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if undecided.contains(&name) {
                continue;
            }
            let filter = EventFilter {
                stream: Some(format!("run/{name}")),
                ..EventFilter::default()
            };
            let last = reader.records(&EventQuery::of(filter).newest_first().limit(1))?;
            if last
                .first()
                .is_some_and(|record| Fact::ends_stream(&record.kind))
            {
                let bytes = size_of(&path);
                found.push(CleanupCandidate {
                    sort: CleanupReason::Worktree,
                    path,
                    bytes,
                });
            }
        }
        Ok(found)
    }

    fn orphan_blobs(&self) -> Result<Vec<CleanupCandidate>, Failure> {
        let stored = BlobStore::at(self.home.blobs()).list()?;
        if stored.is_empty() {
            return Ok(Vec::new());
        }
        let named = self.named_blobs()?;
        let found = stored
            .into_iter()
            .filter(|blob| !named.contains(&blob.blob))
            .map(|blob| {
                let (shelf, name) = blob.blob.as_str().split_at(2);
                let path = self.home.blobs().join(shelf).join(name);
                CleanupCandidate {
                    sort: CleanupReason::Blob,
                    path,
                    bytes: blob.bytes,
                }
            });
        Ok(found
            .filter(|item| self.is_older(&item.path, YOUNG))
            .collect())
    }

    /// Returns the hashes of all blobs that events name, archived events included.
    fn named_blobs(&self) -> Result<BTreeSet<BlobHash>, Failure> {
        let mut named = BTreeSet::new();
        self.reader()?.visit(&EventQuery::all(), |record| {
            named.extend(blobs_in(&record.payload));
            ControlFlow::Continue(())
        })?;
        Ok(named)
    }

    fn old_logs(&self) -> Vec<CleanupCandidate> {
        let age = self.settings.clean.logs_after.value;
        let logs = entries(&self.home.state().join("logs"));
        self.older(logs, age, CleanupReason::Log)
    }

    fn leftovers(&self) -> Vec<CleanupCandidate> {
        let state = self.home.state();
        let own = [
            state.to_owned(),
            self.home.backups(),
            self.home.archive(),
            self.root.clone(),
        ];
        let shown = FOLDERS.iter().map(|folder| self.root.join(folder));
        let files = own
            .into_iter()
            .chain(shown)
            .flat_map(|folder| entries(&folder))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default();
                let is_temporary = path.extension().is_some_and(|end| end == "tmp");
                is_temporary && path.starts_with(state)
                    || artel_files::is_unfinished(name)
                    || name == "journal.restoring"
            });
        self.older(files.collect(), YOUNG, CleanupReason::Leftover)
    }

    fn older(
        &self,
        files: Vec<PathBuf>,
        age: Duration,
        sort: CleanupReason,
    ) -> Vec<CleanupCandidate> {
        let old = files
            .into_iter()
            .filter(|path| path.is_file() && self.is_older(path, age));
        old.map(|path| CleanupCandidate {
            sort,
            bytes: size_of(&path),
            path,
        })
        .collect()
    }

    fn is_older(&self, path: &Path, age: Duration) -> bool {
        let Ok(changed) = fs::symlink_metadata(path).and_then(|about| about.modified()) else {
            return false;
        };
        let since = changed
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let changed = Timestamp::from_micros(0).after(since);
        self.caller.clock.now().since(changed) >= age
    }
}

/// Returns the hashes of the blobs that the payload of an event names. A model's text is
/// never mistaken for one: quotes in text are escaped, and among named texts a size is not
/// a number.
pub(crate) fn blobs_in(payload: &str) -> impl Iterator<Item = BlobHash> {
    let named = payload.split("\"blob\":\"").skip(1);
    named.filter_map(|rest| {
        let (address, rest) = rest.split_at_checked(64)?;
        let size = rest.strip_prefix("\",\"bytes\":")?;
        let has_size = size.starts_with(|first: char| first.is_ascii_digit());
        let blob = BlobHash::try_from(address.to_owned()).ok();
        blob.filter(|_| has_size)
    })
}

/// Returns the entries of a folder. A missing folder counts as empty, and so does a link,
/// because its target belongs to somebody else.
fn entries(folder: &Path) -> Vec<PathBuf> {
    if folder.is_symlink() {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

/// Returns the size of a file or folder, in bytes. Links are counted but not followed.
fn size_of(path: &Path) -> u64 {
    let Ok(about) = fs::symlink_metadata(path) else {
        return 0;
    };
    if about.is_dir() {
        entries(path).iter().map(|path| size_of(path)).sum()
    } else {
        about.len()
    }
}

#[cfg(test)]
mod tests {
    use super::blobs_in;

    #[test]
    fn only_references_to_stored_values_are_taken_for_one() {
        let address = "0f".repeat(32);
        let count = |payload: &str| blobs_in(payload).count();
        assert_eq!(
            count(&format!(r#"{{"a":{{"blob":"{address}","bytes":7}}}}"#)),
            1
        );
        for words in [
            format!(r#"{{"values":{{"blob":"{address}","bytes":"7"}}}}"#),
            format!(r#"{{"text":"{{\"blob\":\"{address}\",\"bytes\":7}}"}}"#),
            format!(r#"{{"blob":"{address}"}}"#),
            r#"{"blob":"short","bytes":7}"#.to_owned(),
        ] {
            assert_eq!(count(&words), 0, "{words}");
        }
    }
}
