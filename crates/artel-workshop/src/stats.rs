//! What is in the journal, counted: a projection like any other.

use std::collections::BTreeMap;

use artel_journal::Projection;
use artel_types::{Event, Failure, Timestamp};
use serde::{Deserialize, Serialize};

use crate::workshop::Workshop;

/// Counts over all events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// How many events there are.
    pub events: u64,
    /// When the first was recorded.
    pub first: Option<Timestamp>,
    /// When the last was recorded.
    pub last: Option<Timestamp>,
    /// How many of each kind.
    pub kinds: BTreeMap<String, u64>,
    /// How many by each actor.
    pub actors: BTreeMap<String, u64>,
}

/// The counts with what the files take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The counts.
    #[serde(flatten)]
    pub stats: Stats,
    /// Bytes of the journal file with its log.
    pub journal_bytes: u64,
    /// How many large values there are.
    pub blobs: u64,
    /// Their bytes.
    pub blob_bytes: u64,
    /// How many backups there are.
    pub backups: u64,
}

/// How the counts follow from events.
pub(crate) const STATS: Projection<Stats> = Projection {
    name: "stats",
    version: 1,
    fold,
};

fn fold(stats: &mut Stats, event: &Event) {
    stats.events += 1;
    stats.first.get_or_insert(event.at);
    stats.last = Some(event.at);
    *stats.kinds.entry(event.fact.kind().to_owned()).or_default() += 1;
    *stats.actors.entry(event.actor.to_string()).or_default() += 1;
}

impl Workshop {
    /// Counts what is in the journal.
    pub fn stats(&self) -> Result<Count, Failure> {
        let (stats, _) = STATS.state(&*self.reader_as_it_is()?)?;
        let blobs = artel_journal::Blobs::at(self.home.blobs()).list()?;
        let size = |suffix: &str| {
            let mut name = self.home.journal().into_os_string();
            name.push(suffix);
            std::fs::metadata(name).map_or(0, |about| about.len())
        };
        Ok(Count {
            stats,
            journal_bytes: size("") + size("-wal"),
            blobs: blobs.len() as u64,
            blob_bytes: blobs.iter().map(|blob| blob.bytes).sum(),
            backups: self.backups().1 as u64,
        })
    }
}
