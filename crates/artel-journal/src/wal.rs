//! Finds a write that a crash cut off in the middle.
//!
//! SQLite silently drops such a write when it opens the file. We report it: a reader of the
//! journal should know that something was under way that was never acknowledged.
//!
//! Only the log is read here. Closing any other file of the database would release the
//! locks that SQLite holds on it in this process; that is how POSIX locks work.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::durable;

const LOG_HEADER: u64 = 32;
const FRAME_HEADER: usize = 24;

/// Longest log that is checked, in bytes. A longer one means that a reader kept it from
/// being emptied for long; reading through it would delay the start.
const LONGEST: u64 = 128 << 20;

/// Returns how many bytes after the last whole transaction belong to a write that was cut
/// off.
///
/// The caller has the write turn, so nobody is in the middle of a write now.
pub(crate) fn torn_bytes(journal: &Path) -> u64 {
    // If there is no log, or it cannot be read, there is nothing to report. Opening a pipe
    // would block forever.
    let log = durable::beside(journal, "-wal");
    if !log.symlink_metadata().is_ok_and(|about| about.is_file()) {
        return 0;
    }
    let Ok(log) = File::open(log) else {
        return 0;
    };
    look(&log).unwrap_or(0)
}

fn look(log: &File) -> Option<u64> {
    let length = log.metadata().ok()?.len();
    if !(LOG_HEADER..=LONGEST).contains(&length) {
        return None;
    }
    let mut header = [0; LOG_HEADER as usize];
    log.read_exact_at(&mut header, 0).ok()?;
    let sum = WalChecksum::of_magic(word(&header, 0))?;
    let mut sum = sum.over(&header[..24]);
    if sum.pair != (word(&header, 24), word(&header, 28)) {
        return None;
    }
    let page = usize::try_from(word(&header, 8)).ok()?;
    let mut frame = vec![0; FRAME_HEADER + page];
    let (mut place, mut committed) = (LOG_HEADER, LOG_HEADER);
    while log.read_exact_at(&mut frame, place).is_ok() {
        let is_current = frame[8..16] == header[16..24];
        sum = sum.over(&frame[..8]).over(&frame[FRAME_HEADER..]);
        if !is_current || sum.pair != (word(&frame, 16), word(&frame, 20)) {
            break;
        }
        place += frame.len() as u64;
        if word(&frame, 4) != 0 {
            committed = place;
        }
    }
    let rest = Some(length - committed).filter(|rest| *rest > 0);
    if place > committed {
        return rest;
    }
    let next = committed + frame.len() as u64;
    match WalFrameSalts::at(log, committed) {
        // Each round overwrites the log from its start: this frame is from an older round.
        WalFrameSalts::Are(found) if found != header[16..24] => None,
        WalFrameSalts::Are(_) if next > length => rest,
        // The next frame is from the same round too, and the first does not continue what is
        // committed. So both are the rest of a longer write that was cut off and reported
        // before; its beginning has been overwritten since.
        WalFrameSalts::Are(found) if WalFrameSalts::at(log, next) == WalFrameSalts::Are(found) => {
            None
        }
        WalFrameSalts::Are(_) | WalFrameSalts::Cut => rest,
    }
}

/// Salts of a frame, which tell in which round of the log it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalFrameSalts {
    Are([u8; 8]),
    /// The file ends before the salts.
    Cut,
}

impl WalFrameSalts {
    fn at(log: &File, frame: u64) -> Self {
        let mut found = [0; 8];
        let read = log.read_exact_at(&mut found, frame + 8);
        read.map_or(Self::Cut, |()| Self::Are(found))
    }
}

/// The running checksum of SQLite's log. It is taken over pairs of 32-bit words, in the
/// byte order that the log's magic number names.
#[derive(Clone, Copy)]
struct WalChecksum {
    pair: (u32, u32),
    is_big_endian: bool,
}

impl WalChecksum {
    fn of_magic(magic: u32) -> Option<Self> {
        (magic & !1 == 0x377f_0682).then_some(Self {
            pair: (0, 0),
            is_big_endian: magic & 1 == 1,
        })
    }

    fn over(mut self, bytes: &[u8]) -> Self {
        for pair in bytes.chunks_exact(8) {
            let read = |at: usize| {
                let bytes = [pair[at], pair[at + 1], pair[at + 2], pair[at + 3]];
                if self.is_big_endian {
                    u32::from_be_bytes(bytes)
                } else {
                    u32::from_le_bytes(bytes)
                }
            };
            let (first, second) = (read(0), read(4));
            self.pair.0 = self.pair.0.wrapping_add(first).wrapping_add(self.pair.1);
            self.pair.1 = self.pair.1.wrapping_add(second).wrapping_add(self.pair.0);
        }
        self
    }
}

/// Reads a number of the log's own headers, which are big-endian.
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
