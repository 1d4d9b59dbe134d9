//! What it means that something could not be written: where there is no room it is waited for, and
//! everything else is an error.

use std::path::Path;

use artel_types::{Lack, Room, Shortage, Waiting};

use crate::durable;
use crate::error::JournalError;

/// Tells whether an error is a lack of room. SQLite calls only one sort of it by its name, so where
/// it speaks of the disk there is a look at the disk itself.
pub(crate) fn shortage(error: &JournalError, room: &Room, path: &Path) -> Option<Shortage> {
    match error {
        JournalError::DiskFull { .. } => Some(room.shortage(path).unwrap_or(Shortage::Full)),
        JournalError::Io { .. } | JournalError::ReadOnly { .. } | JournalError::File { .. } => {
            let log = durable::beside(path, "-wal");
            room.shortage(&log).or_else(|| room.shortage(path))
        }
        JournalError::Unsettled { cause, .. } => shortage(cause, room, path),
        _ => None,
    }
}

/// What opening the file for writing takes at most.
const TO_OPEN: u64 = 64 * 1024;

/// Opens the file for writing once there is room for that. On a disk that is read-only from the
/// start nothing was begun that would have to go on, so that is an error.
pub(crate) fn until_opened<T>(
    room: &Room,
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

/// Does something that writes a file of so many bytes, and where there is no room for it waits and
/// does it again.
pub(crate) fn until_written<T>(
    room: &Room,
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
            waiting = room.wait(Lack { why, need, at });
        }
        let Some(pause) = waiting.as_ref().and_then(Waiting::pause) else {
            return Err(error);
        };
        std::thread::park_timeout(pause);
    }
}
