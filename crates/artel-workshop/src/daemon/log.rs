//! The daemon's log: a file that grows, and is rotated when it becomes too long.

use std::fs::{File, Metadata};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::workshop::Workshop;

/// Size at which a log is rotated, in bytes.
const LONG: u64 = 8 * 1024 * 1024;

/// Maximum number of bytes that one read of the log returns.
const MOST: u64 = 1024 * 1024;

/// A section of the daemon's log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonLogSlice {
    pub text: String,
    /// The position of its end, from which the next read continues.
    pub position: u64,
}

/// Writes the daemon's output to its log file, however the daemon was started. Output that
/// went only to a terminal or to systemd could not be shown later to a person who asks for
/// the log.
///
/// The file is opened at the first line. A second daemon, which finds the lease taken and
/// ends, therefore leaves the log of the first alone.
#[derive(Debug)]
pub struct DaemonLogWriter {
    log: PathBuf,
    state: Mutex<DaemonLogState>,
}

#[derive(Debug)]
enum DaemonLogState {
    /// Nothing was written yet.
    Unopened,
    /// The open file and its length in bytes.
    Open(File, u64),
    /// The process's output already goes to the log, or the log cannot be written.
    Elsewhere,
}

impl DaemonLogWriter {
    /// Writes one line. A log that cannot be written does not stop the daemon.
    pub fn write(&self, line: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, DaemonLogState::Unopened) {
            *state = if is_said_to(&self.log) {
                DaemonLogState::Elsewhere
            } else {
                opened(&self.log)
            };
        }
        let DaemonLogState::Open(file, length) = &mut *state else {
            return;
        };
        // One write per line, so that no other writer can cut it in two.
        if file.write_all(format!("{line}\n").as_bytes()).is_ok() {
            *length += line.len() as u64 + 1;
        }
        if *length > LONG {
            *state = opened(&self.log);
        }
    }
}

/// Opens a log for appending, and rotates it first if it has become too long.
fn opened(log: &Path) -> DaemonLogState {
    set_aside(log);
    let made = log.parent().map_or(Ok(()), std::fs::create_dir_all);
    let mut options = File::options();
    options.create(true).append(true).mode(0o600);
    match made.and_then(|()| options.open(log)) {
        Ok(file) => {
            let length = file.metadata().map_or(0, |about| about.len());
            DaemonLogState::Open(file, length)
        }
        Err(_) => DaemonLogState::Elsewhere,
    }
}

/// Returns whether the standard error of this process already goes to the log, as it does
/// for a daemon that was started in the background.
fn is_said_to(log: &Path) -> bool {
    let said = std::fs::metadata("/proc/self/fd/2");
    let same =
        |one: Metadata, other: Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    match (said, std::fs::metadata(log)) {
        (Ok(said), Ok(log)) => same(said, log),
        _ => false,
    }
}

/// Rotates a log that has become too long. The previous log is kept beside it.
pub(super) fn set_aside(log: &Path) {
    let is_long = std::fs::metadata(log).is_ok_and(|about| about.len() > LONG);
    if is_long {
        // If the log cannot be renamed, it keeps growing.
        drop(std::fs::rename(log, log.with_extension("log.1")));
    }
}

impl Workshop {
    pub fn daemon_jotter(&self) -> DaemonLogWriter {
        DaemonLogWriter {
            log: self.daemon_log(),
            state: Mutex::new(DaemonLogState::Unopened),
        }
    }

    /// Returns the end of the daemon's log; empty if there is no log.
    pub fn daemon_said_last(&self) -> DaemonLogSlice {
        let log = self.daemon_log();
        let length = std::fs::metadata(&log).map_or(0, |about| about.len());
        since(&log, length.saturating_sub(MOST))
    }

    /// Returns the part of the daemon's log after a position.
    pub fn daemon_said(&self, after: u64) -> DaemonLogSlice {
        since(&self.daemon_log(), after)
    }
}

fn since(log: &Path, position: u64) -> DaemonLogSlice {
    let read = || {
        let mut file = File::open(log)?;
        // A log that is now shorter is a new one.
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
    // A missing log reads as empty.
    let (position, mut bytes) = read().unwrap_or((position, Vec::new()));
    // An unfinished line is returned later, when it is complete.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    bytes.truncate(whole.map_or(0, |at| at + 1));
    DaemonLogSlice {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        position: position.saturating_add(bytes.len() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_written_down_and_a_long_log_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("logs/daemon.log");
        let jotter = DaemonLogWriter {
            log: log.clone(),
            state: Mutex::new(DaemonLogState::Unopened),
        };
        assert!(!log.exists(), "nothing was said");
        jotter.write("one");
        jotter.write("two");
        assert_eq!(since(&log, 0).text, "one\ntwo\n");
        jotter.write(&"x".repeat(usize::try_from(LONG).unwrap()));
        jotter.write("three");
        assert_eq!(since(&log, 0).text, "three\n");
        let aside = std::fs::metadata(log.with_extension("log.1")).unwrap();
        assert_eq!(aside.len(), LONG + 9);
    }

    #[test]
    fn whole_lines_are_told_once_and_a_log_that_begins_anew_from_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("daemon.log");
        assert_eq!(since(&log, 0), DaemonLogSlice::default());
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
