//! What the daemon said while nobody looked: a file that grows.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::workshop::Workshop;

/// How much of a log is looked at at once.
const MOST: u64 = 1024 * 1024;

/// A part of what the daemon said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonLog {
    /// The text.
    pub text: String,
    /// Where it ends, to go on from.
    pub position: u64,
}

impl Workshop {
    /// Returns the end of what the daemon said; one that said nothing has an empty log.
    pub fn daemon_said_last(&self) -> DaemonLog {
        let log = self.daemon_log();
        let length = std::fs::metadata(&log).map_or(0, |about| about.len());
        since(&log, length.saturating_sub(MOST))
    }

    /// Returns what the daemon said after a place in its log.
    pub fn daemon_said(&self, after: u64) -> DaemonLog {
        since(&self.daemon_log(), after)
    }
}

fn since(log: &Path, position: u64) -> DaemonLog {
    let read = || {
        let mut file = File::open(log)?;
        file.seek(SeekFrom::Start(position))?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    // A log that is not there says nothing.
    let bytes = read().unwrap_or_default();
    DaemonLog {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        position: position.saturating_add(bytes.len() as u64),
    }
}
