//! Lets processes take turns at writing.
//!
//! SQLite's own lock is not fair: a process that commits in a loop can keep another one out
//! for seconds. Two locks make it fair. A process that waits for the turn holds `next`
//! meanwhile, so the process that just wrote has to queue behind it. The system releases
//! both locks when a process dies.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use artel_types::Clock;

use crate::durable;
use crate::error::JournalError;

/// Interval at which a held lock is tried again.
const PAUSE: Duration = Duration::from_millis(1);

/// The two locks of one journal, which queue processes for writing.
pub(crate) struct WriteTurnQueue {
    next: File,
    turn: File,
    path: PathBuf,
    patience: Duration,
    clock: Clock,
}

impl WriteTurnQueue {
    pub(crate) fn open(
        locks: &Path,
        patience: Duration,
        clock: Clock,
    ) -> Result<Self, JournalError> {
        durable::make_folder(locks).map_err(|cause| JournalError::file("make", locks, cause))?;
        let path = locks.join("journal-turn.lock");
        Ok(Self {
            next: durable::lock_file(&locks.join("journal-next.lock"))?,
            turn: durable::lock_file(&path)?,
            path,
            patience,
            clock,
        })
    }

    /// Waits for the write turn. It lasts until the guard is dropped.
    pub(crate) fn enter(&self) -> Result<WriteTurn<'_>, JournalError> {
        let since = self.clock.uptime();
        self.wait(&self.next, since)?;
        let entered = self.wait(&self.turn, since);
        unlock(&self.next);
        entered?;
        self.sign();
        Ok(WriteTurn { turnstile: self })
    }

    fn wait(&self, lock: &File, since: Duration) -> Result<(), JournalError> {
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(cause)) => {
                    return Err(JournalError::file("lock", &self.path, cause));
                }
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = self.clock.uptime().saturating_sub(since);
            if waited >= self.patience {
                return Err(JournalError::Busy {
                    holder: self.holder(),
                    seconds: waited.as_secs(),
                });
            }
            std::thread::park_timeout(PAUSE);
        }
    }

    /// Leaves our process id in the lock file, for the error message of a process that waits
    /// too long.
    fn sign(&self) {
        use std::os::unix::fs::FileExt as _;
        let id = format!("{:<10}", std::process::id());
        // Only a message depends on it, so a full disk must not stop the turn.
        drop(self.turn.write_at(id.as_bytes(), 0));
    }

    fn holder(&self) -> String {
        let id = std::fs::read_to_string(&self.path).unwrap_or_default();
        match id.trim().parse::<u32>() {
            Ok(id) => format!("process {id}"),
            Err(_) => "another process".to_owned(),
        }
    }
}

/// The right to write. Dropping it passes the turn on.
pub(crate) struct WriteTurn<'a> {
    turnstile: &'a WriteTurnQueue,
}

impl Drop for WriteTurn<'_> {
    fn drop(&mut self) {
        unlock(&self.turnstile.turn);
    }
}

fn unlock(lock: &File) {
    // Unlocking an open file does not fail; closing it would release the lock as well.
    drop(lock.unlock());
}

#[cfg(test)]
mod tests {
    use artel_testkit::system_clock;

    use super::*;

    #[test]
    fn whoever_waits_too_long_is_told_who_writes() {
        let folder = tempfile::tempdir().unwrap();
        let open = || WriteTurnQueue::open(folder.path(), Duration::ZERO, system_clock()).unwrap();
        let (one, other) = (open(), open());
        let turn = one.enter().unwrap();
        let refused = other.enter().err().unwrap().to_string();
        let holder = format!("process {} has held the write turn", std::process::id());
        assert!(refused.contains(&holder), "{refused}");
        drop(turn);
        assert!(other.enter().is_ok());
    }
}
