//! Finds a write that a crash cut off in the middle.
//!
//! SQLite drops such a write by itself when it opens the file, and says nothing. We do: a reader
//! of the journal should know that something was under way that was never acknowledged.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::durable;

const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// Returns how many bytes behind the last whole transaction belong to a write that was cut off.
///
/// `path` is the journal; a connection must have read from it already, so that SQLite has decided
/// how far the log is valid and left the answer in its shared-memory file.
pub(crate) fn torn_bytes(path: &Path) -> u64 {
    let open = |suffix: &str| File::open(durable::beside(path, suffix));
    // Without a log, or with one that cannot be looked at, there is nothing to report.
    let (Ok(log), Ok(index)) = (open("-wal"), open("-shm")) else {
        return 0;
    };
    look(&log, &index).unwrap_or(0)
}

fn look(log: &File, index: &File) -> Option<u64> {
    // The index header: page size at 14 (1 stands for 65,536), last valid frame at 16.
    let mut header = [0; 20];
    index.read_exact_at(&mut header, 0).ok()?;
    let page = u64::from(u16::from_ne_bytes([header[14], header[15]]));
    let page = if page == 1 { 65_536 } else { page };
    let frames = u64::from(u32::from_ne_bytes([
        header[16], header[17], header[18], header[19],
    ]));
    let length = log.metadata().ok()?.len();
    let valid = LOG_HEADER + frames * (FRAME_HEADER + page);
    if length <= valid || length <= LOG_HEADER {
        return None;
    }
    // The log is overwritten from its start in each round; frames of an older round carry other
    // salts than the header and are no part of a write.
    let mut salts = [0; 8];
    log.read_exact_at(&mut salts, 16).ok()?;
    let mut found = [0; 8];
    match log.read_exact_at(&mut found, valid + 8) {
        Ok(()) if found != salts => None,
        _ => Some(length - valid),
    }
}
