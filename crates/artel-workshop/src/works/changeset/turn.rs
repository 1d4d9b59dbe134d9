//! The changeset lock: one process at a time decides about changesets.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use artel_types::{Failure, FailureCode};

/// The right to decide about changesets. The lock ends with the process.
pub(super) struct ChangesetLock(
    #[expect(dead_code, reason = "the lock is held as long as the file is open")] File,
);

impl ChangesetLock {
    /// Takes the lock if it is free.
    pub(super) fn take(file: &Path) -> Result<Option<Self>, Failure> {
        let file = open(file)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(unlocked(&error)),
        }
    }

    /// Waits for the lock, up to a time limit.
    pub(super) fn wait(file: &Path, patience: Duration) -> Result<Self, Failure> {
        let file = open(file)?;
        let (tell, told) = mpsc::channel();
        // If the lock comes too late, no receiver is left, and dropping the file releases it.
        std::thread::spawn(move || drop(tell.send(file.lock().map(|()| file))));
        match told.recv_timeout(patience) {
            Ok(Ok(file)) => Ok(Self(file)),
            Ok(Err(error)) => Err(unlocked(&error)),
            Err(_) => Err(Failure::new(
                FailureCode::J011,
                "another process decides about changesets and does not end",
            )
            .advise("`artel changeset list` shows how they stand; try again then")),
        }
    }
}

fn open(file: &Path) -> Result<File, Failure> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(file);
    opened.map_err(|cause| {
        let what = format!("could not open `{}`", file.display());
        Failure::new(FailureCode::W008, what)
            .because(cause.to_string())
            .advise("look at its folder, owner and mode, then repeat")
    })
}

fn unlocked(error: &io::Error) -> Failure {
    Failure::new(FailureCode::W008, "changesets could not be locked").because(error.to_string())
}
