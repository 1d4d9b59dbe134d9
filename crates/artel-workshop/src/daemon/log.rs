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
        // A log that is shorter than it was is another one.
        let begins = if file.metadata()?.len() < position {
            0
        } else {
            position
        };
        file.seek(SeekFrom::Start(begins))?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>((begins, bytes))
    };
    // A log that is not there says nothing.
    let (position, mut bytes) = read().unwrap_or((position, Vec::new()));
    // A line that is not whole yet is told when it is.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    bytes.truncate(whole.map_or(0, |at| at + 1));
    DaemonLog {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        position: position.saturating_add(bytes.len() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_told_once_and_a_log_that_begins_anew_from_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("daemon.log");
        assert_eq!(since(&log, 0), DaemonLog::default());
        std::fs::write(&log, "one\ntwo\nthr").unwrap();
        let told = since(&log, 0);
        assert_eq!((told.text.as_str(), told.position), ("one\ntwo\n", 8));
        std::fs::write(&log, "one\ntwo\nthr\u{e9}e\n").unwrap();
        let told = since(&log, told.position);
        assert_eq!(told.text, "thr\u{e9}e\n");
        std::fs::write(&log, "anew\n").unwrap();
        assert_eq!(since(&log, told.position).text, "anew\n");
    }
}
