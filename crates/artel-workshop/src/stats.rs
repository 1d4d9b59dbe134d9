//! The counts of what is in the journal, kept as a projection like any other.

use std::collections::BTreeMap;

use artel_journal::JournalProjection;
use artel_types::{Event, Failure, Timestamp};
use serde::{Deserialize, Serialize};

use crate::workshop::Workshop;

/// Counts over all events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEventCounts {
    /// Number of events.
    pub events: u64,
    /// Time of the first event.
    pub first: Option<Timestamp>,
    /// Time of the last event.
    pub last: Option<Timestamp>,
    /// Number of events of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// Number of events by each actor.
    pub actors: BTreeMap<String, u64>,
}

/// The event counts with the sizes of the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JournalStorageStats {
    #[serde(flatten)]
    pub stats: JournalEventCounts,
    /// Bytes of the journal file and its log.
    pub journal_bytes: u64,
    /// Number of blobs.
    pub blobs: u64,
    /// Bytes of all blobs.
    pub blob_bytes: u64,
    /// Number of backups.
    pub backups: u64,
}

/// The projection that derives the counts from events.
pub(crate) const STATS: JournalProjection<JournalEventCounts> = JournalProjection {
    name: "stats",
    version: 1,
    fold,
};

fn fold(stats: &mut JournalEventCounts, event: &Event) {
    stats.events += 1;
    stats.first.get_or_insert(event.at);
    stats.last = Some(event.at);
    *stats.kinds.entry(event.fact.kind().to_owned()).or_default() += 1;
    *stats.actors.entry(event.actor.to_string()).or_default() += 1;
}

impl Workshop {
    /// Counts the contents of the journal.
    pub fn stats(&self) -> Result<JournalStorageStats, Failure> {
        let (stats, _) = STATS.state(&*self.reader_as_it_is()?)?;
        let blobs = artel_journal::BlobStore::at(self.home.blobs()).list()?;
        let size = |suffix: &str| {
            let mut name = self.home.journal().into_os_string();
            name.push(suffix);
            std::fs::metadata(name).map_or(0, |about| about.len())
        };
        Ok(JournalStorageStats {
            stats,
            journal_bytes: size("") + size("-wal"),
            blobs: blobs.len() as u64,
            blob_bytes: blobs.iter().map(|blob| blob.bytes).sum(),
            backups: self.backups().1 as u64,
        })
    }
}
