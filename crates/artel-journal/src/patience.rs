//! Decides what a failed write means: with a full disk the writer waits for room, and
//! anything else is an error.

use std::path::Path;

use artel_types::{DiskShortage, DiskShortageReason, DiskSpaceMonitor, DiskSpaceWait};

use crate::durable;
use crate::error::JournalError;

/// Returns the shortage if an error is a lack of room. SQLite has a code of its own for
/// only one sort of shortage, so for its other disk errors the disk itself is checked.
pub(crate) fn shortage(
    error: &JournalError,
    room: &DiskSpaceMonitor,
    path: &Path,
) -> Option<DiskShortageReason> {
    match error {
        JournalError::DiskFull { .. } => {
            Some(room.shortage(path).unwrap_or(DiskShortageReason::Full))
        }
        JournalError::Io { .. } | JournalError::ReadOnly { .. } | JournalError::File { .. } => {
            let log = durable::beside(path, "-wal");
            room.shortage(&log).or_else(|| room.shortage(path))
        }
        JournalError::Unsettled { cause, .. } => shortage(cause, room, path),
        _ => None,
    }
}

/// Bytes that opening the file for writing takes at most.
const TO_OPEN: u64 = 64 * 1024;

/// Opens the file for writing once there is room for that. A disk that is read-only from
/// the start is an error: nothing was begun yet that would have to continue.
pub(crate) fn until_opened<T>(
    room: &DiskSpaceMonitor,
    path: &Path,
    mut open: impl FnMut() -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    match open() {
        Err(JournalError::ReadOnly { path }) => Err(JournalError::ReadOnly { path }),
        Err(error) if shortage(&error, room, path).is_some() => {
            until_written(room, path, TO_OPEN, open)
        }
        opened => opened,
    }
}

/// Runs `write`, which writes about `bytes` bytes. If there is no room, it waits and tries
/// again.
pub(crate) fn until_written<T>(
    room: &DiskSpaceMonitor,
    path: &Path,
    bytes: u64,
    mut write: impl FnMut() -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    let mut waiting = None;
    loop {
        let error = match write() {
            Ok(written) => return Ok(written),
            Err(error) => error,
        };
        let Some(why) = shortage(&error, room, path) else {
            return Err(error);
        };
        if waiting.is_none() {
            let (need, at) = (Some(bytes), path.to_owned());
            waiting = room.wait(DiskShortage { why, need, at });
        }
        let Some(pause) = waiting.as_ref().and_then(DiskSpaceWait::pause) else {
            return Err(error);
        };
        std::thread::park_timeout(pause);
    }
}
