//! What the daemon said while nobody looked: a file that grows, and begins anew when it is long.

use std::fs::{File, Metadata};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::workshop::Workshop;

/// A log longer than this is set aside.
const LONG: u64 = 8 * 1024 * 1024;

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

/// Where a daemon writes down what it says, whoever started it: what it says elsewhere, in a
/// terminal or to systemd, is not to be found there later by whoever asks for its log.
///
/// Nothing is opened before there is a line: a second daemon, which finds the place taken and ends,
/// leaves the log of the first alone.
#[derive(Debug)]
pub struct DaemonJotter {
    log: PathBuf,
    state: Mutex<Jotting>,
}

#[derive(Debug)]
enum Jotting {
    /// Nothing was said so far.
    Unopened,
    /// So many bytes are in it.
    Open(File, u64),
    /// What is said gets there by itself, or there is no way to write it.
    Elsewhere,
}

impl DaemonJotter {
    /// Writes down a line. A log that cannot be written keeps no daemon from its work.
    pub fn write(&self, line: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, Jotting::Unopened) {
            *state = match is_said_to(&self.log) {
                true => Jotting::Elsewhere,
                false => opened(&self.log),
            };
        }
        let Jotting::Open(file, length) = &mut *state else {
            return;
        };
        // One write for each line, so that none is cut by another's.
        if file.write_all(format!("{line}\n").as_bytes()).is_ok() {
            *length += line.len() as u64 + 1;
        }
        if *length > LONG {
            *state = opened(&self.log);
        }
    }
}

/// Opens a log at its end; one that has become long begins anew.
fn opened(log: &Path) -> Jotting {
    set_aside(log);
    let made = log.parent().map_or(Ok(()), std::fs::create_dir_all);
    let mut options = File::options();
    options.create(true).append(true).mode(0o600);
    match made.and_then(|()| options.open(log)) {
        Ok(file) => {
            let length = file.metadata().map_or(0, |about| about.len());
            Jotting::Open(file, length)
        }
        Err(_) => Jotting::Elsewhere,
    }
}

/// Tells whether what this process says already ends in the log: one that was started in the
/// background has nothing else to say it to.
fn is_said_to(log: &Path) -> bool {
    let said = std::fs::metadata("/proc/self/fd/2");
    let same =
        |one: Metadata, other: Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    match (said, std::fs::metadata(log)) {
        (Ok(said), Ok(log)) => same(said, log),
        _ => false,
    }
}

/// Begins a log anew that has become long; the last one stays beside it.
pub(super) fn set_aside(log: &Path) {
    let is_long = std::fs::metadata(log).is_ok_and(|about| about.len() > LONG);
    if is_long {
        // Where it cannot be moved it goes on growing, as before.
        drop(std::fs::rename(log, log.with_extension("log.1")));
    }
}

impl Workshop {
    /// Returns what writes down what the daemon says.
    pub fn daemon_jotter(&self) -> DaemonJotter {
        DaemonJotter {
            log: self.daemon_log(),
            state: Mutex::new(Jotting::Unopened),
        }
    }

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
    fn what_is_said_is_written_down_and_a_long_log_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("logs/daemon.log");
        let jotter = DaemonJotter {
            log: log.clone(),
            state: Mutex::new(Jotting::Unopened),
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
