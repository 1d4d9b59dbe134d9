//! Proves that nothing was changed, or names the first event that was.

use std::ops::ControlFlow;
use std::path::Path;

use artel_types::{BlobHash, WorkshopId};
use rusqlite::Connection;
use serde::Serialize;

use crate::admit;
use crate::anchor::JournalAnchor;
use crate::archive::{self, ArchiveInfo};
use crate::chain::Hash;
use crate::connect;
use crate::error::JournalError;
use crate::head::JournalHead;
use crate::home::JournalFolders;
use crate::indexes::ExpectedIndexSums;
use crate::keys::{JournalSigningKeys, UNKNOWN_SIGNER, hex};
use crate::objects;
use crate::pages::{self, JournalFileCheck};
use crate::query::EventQuery;
use crate::reader;
use crate::turn::CHECKPOINT_EVERY;
use crate::walk::ChainWalk;

/// The result of verifying a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JournalVerification {
    /// Whether the whole journal fits.
    pub ok: bool,
    /// Number of events before the first one that does not fit.
    pub events: u64,
    /// Number of signatures checked.
    pub signatures: u64,
    /// The first event that does not fit, if any.
    pub first_bad: Option<FirstBadEvent>,
    /// The stored value that is missing or changed, if that is the problem.
    pub bad_value: Option<BlobHash>,
    /// Number of the last event that a restore can trust.
    #[serde(skip)]
    pub(crate) intact: u64,
}

/// The first event that does not fit, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirstBadEvent {
    /// Sequence number of the event.
    pub seq: u64,
    /// Reason such as `changed`, `missing`, `reordered` or `truncated tail`, with the evidence.
    pub what: String,
}

/// Verifies a workshop's journal: every event, every signature, every archive, the file
/// itself, and the head that was signed on this machine.
pub fn verify(
    home: &JournalFolders,
    workshop: WorkshopId,
    keys: &JournalSigningKeys,
) -> Result<JournalVerification, JournalError> {
    // The anchor is read before the file: events appended in between can only be newer.
    let anchor = JournalAnchor::load(home.data(), workshop);
    let file = home.journal();
    let connection = connect::reader(&file)?;
    let mut verified = examine(&file, &connection, home, workshop, keys)?;
    match anchor {
        Ok(Some(anchor)) => compare(&mut verified, &connection, home, &anchor, keys)?,
        Ok(None) => {}
        Err(error) => verified.blame(verified.events + 1, format!("signed head: {error}")),
    }
    Ok(verified)
}

/// Verifies a copy of the journal, such as a backup. A copy has no signed head to compare
/// it with.
pub fn verify_file(
    file: &Path,
    home: &JournalFolders,
    workshop: WorkshopId,
    keys: &JournalSigningKeys,
) -> Result<JournalVerification, JournalError> {
    examine(file, &connect::reader(file)?, home, workshop, keys)
}

impl JournalVerification {
    /// Returns whether the only problem is that this user does not know the signer.
    pub fn has_unknown_signer(&self) -> bool {
        let is_unknown = |bad: &FirstBadEvent| bad.what.contains(UNKNOWN_SIGNER);
        self.first_bad.as_ref().is_some_and(is_unknown)
    }

    /// Notes that an event names a stored value that cannot be read as it was stored.
    pub fn blame_value(&mut self, seq: u64, value: BlobHash, error: &JournalError) {
        self.blame(seq, error.to_string());
        self.bad_value = Some(value);
    }

    fn blame(&mut self, seq: u64, what: impl Into<String>) {
        let is_first = self.first_bad.as_ref().is_none_or(|bad| seq < bad.seq);
        if is_first {
            self.first_bad = Some(FirstBadEvent {
                seq,
                what: what.into(),
            });
        }
        self.ok = false;
    }
}

/// Follows the chain on this thread while another thread checks the file itself: each takes
/// about half of the time.
fn examine(
    file: &Path,
    connection: &Connection,
    home: &JournalFolders,
    workshop: WorkshopId,
    keys: &JournalSigningKeys,
) -> Result<JournalVerification, JournalError> {
    let failed = |error: rusqlite::Error| JournalError::sqlite(file, &error);
    // One view for everything that follows. Writers continue meanwhile.
    let view = connection.unchecked_transaction().map_err(failed)?;
    let look = JournalFileCheck::open(file, &view)?;
    let stop = look.interrupt_handle();
    let mut tally = look.indexes().map(ExpectedIndexSums::new);
    std::thread::scope(|scope| {
        let look = scope.spawn(move || look.take());
        let followed = follow(&view, home, workshop, keys, &mut tally);
        if !followed.as_ref().is_ok_and(|verified| verified.ok) {
            // The first bad event is already named; the state of the pages changes nothing.
            stop.interrupt();
            return followed;
        }
        let cut_short = |_| Err("the look at its pages was cut short".to_owned());
        let found = look.join().unwrap_or_else(cut_short);
        let judged = found.and_then(|found| match (tally, found) {
            (Some(tally), Some(found)) => tally.compare(&found),
            _ => Ok(()),
        });
        followed.map(|mut verified| {
            if let Err(what) = judged {
                verified.blame(verified.events + 1, format!("damaged file: {what}"));
            }
            verified
        })
    })
}

fn follow(
    view: &Connection,
    home: &JournalFolders,
    workshop: WorkshopId,
    keys: &JournalSigningKeys,
    tally: &mut Option<ExpectedIndexSums>,
) -> Result<JournalVerification, JournalError> {
    let failed = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
    let mut verified = JournalVerification {
        ok: true,
        events: 0,
        signatures: 0,
        first_bad: None,
        bad_value: None,
        intact: 0,
    };
    let format = connect::format(view, &home.journal())?;
    let planted = objects::check(view, format).map_err(failed)?;
    if let Some(planted) = planted.as_ref().filter(|planted| planted.is_table) {
        verified.blame(1, format!("damaged file: {}", planted.what));
        return Ok(verified);
    }
    let mut walk = ChainWalk::new(workshop);
    let walked = walk.along(view, home, keys, tally);
    verified.events = walk.head.seq;
    verified.signatures = walk.signatures;
    verified.intact = walk.intact();
    match walked {
        Ok(None) => {}
        Ok(Some(bad)) => verified.blame(bad.seq, bad.what),
        Err(JournalError::Archive { path, what }) => {
            verified.blame(
                walk.head.seq + 1,
                format!("missing: archive {} {what}", path.display()),
            );
        }
        Err(error) => verified.blame(walk.head.seq + 1, format!("unreadable: {error}")),
    }
    if let Some(bad) = walk.bad_checkpoint.take() {
        verified.blame(bad.seq, bad.what);
    }
    if verified.ok {
        let end = check_end(view, walk.head);
        if let Some(bad) = end.unwrap_or_else(|error| Some(unreadable(walk.head.seq, &error))) {
            verified.blame(bad.seq, bad.what);
        }
    }
    if verified.ok && admit::has_added_rows(view).map_err(failed)? {
        verified.blame(0, "added: there are events with numbers below 1");
    }
    if verified.ok && admit::named_workshop(view).map_err(failed)? != Some(workshop.to_string()) {
        verified.blame(
            verified.events + 1,
            "damaged file: it names another workshop",
        );
    }
    if let Some(planted) = planted.filter(|_| verified.ok) {
        verified.blame(
            verified.events + 1,
            format!("damaged file: {}", planted.what),
        );
    }
    if verified.ok {
        check_archives(view, home, keys, &mut verified);
    }
    Ok(verified)
}

fn unreadable(seq: u64, error: &rusqlite::Error) -> FirstBadEvent {
    FirstBadEvent {
        seq: seq + 1,
        what: format!("unreadable: {error}"),
    }
}

/// Checks the end of the journal: the stored head, and that no checkpoint is missing.
fn check_end(connection: &Connection, end: JournalHead) -> rusqlite::Result<Option<FirstBadEvent>> {
    let bad = |seq: u64, what: &str| {
        Ok(Some(FirstBadEvent {
            seq,
            what: what.to_owned(),
        }))
    };
    match JournalHead::read(connection)? {
        Some(head) if head == end => {}
        Some(head) if head.seq > end.seq => {
            return bad(end.seq + 1, "truncated tail: the head names later events");
        }
        Some(_) => return bad(end.seq, "changed: the head names another event"),
        None => return bad(end.seq + 1, "truncated tail: the head is gone"),
    }
    let (expected, last) = (end.seq / CHECKPOINT_EVERY, end.seq.cast_signed());
    let found: i64 = connection.query_row(
        "SELECT count(*) FROM checkpoint WHERE seq % 100 = 0 AND seq > 0 AND seq <= ?",
        [last],
        |row| row.get(0),
    )?;
    if found.cast_unsigned() < expected {
        let seq = first_unsigned(connection, expected)?;
        return bad(seq, "missing checkpoint: every hundredth event is signed");
    }
    let later: i64 = connection.query_row(
        "SELECT count(*) FROM checkpoint WHERE seq > ?",
        [last],
        |row| row.get(0),
    )?;
    if later > 0 {
        return bad(
            end.seq + 1,
            "truncated tail: a checkpoint names later events",
        );
    }
    Ok(None)
}

fn first_unsigned(connection: &Connection, expected: u64) -> rusqlite::Result<u64> {
    for number in 1..=expected {
        let seq = number * CHECKPOINT_EVERY;
        let found: i64 = connection.query_row(
            "SELECT count(*) FROM checkpoint WHERE seq = ?",
            [seq.cast_signed()],
            |row| row.get(0),
        )?;
        if found == 0 {
            return Ok(seq);
        }
    }
    Ok(expected * CHECKPOINT_EVERY)
}

fn check_archives(
    connection: &Connection,
    home: &JournalFolders,
    keys: &JournalSigningKeys,
    verified: &mut JournalVerification,
) {
    let path = home.journal();
    let archives = match archive::list(connection, &path) {
        Ok(archives) => archives,
        Err(error) => return verified.blame(1, format!("unreadable: {error}")),
    };
    for info in archives {
        verified.signatures += 1;
        if let Err(what) = check_archive(connection, &info, home, keys) {
            verified.blame(1, format!("bad archive {}: {what}", info.file));
        }
    }
}

pub(crate) fn check_archive(
    journal: &Connection,
    info: &ArchiveInfo,
    home: &JournalFolders,
    keys: &JournalSigningKeys,
) -> Result<(), String> {
    let failed = |error: rusqlite::Error| error.to_string();
    let archive = archive::open(home, &info.file).map_err(|error| error.to_string())?;
    let (digest, events) = archive::digest(&archive).map_err(failed)?;
    if digest.as_slice() != info.digest || events != info.events {
        return Err(format!("its digest is {}", hex(&digest)));
    }
    let message = archive::message(&info.file, info.events, &info.digest);
    keys.check(&info.signer, &message, &info.signature)?;
    pages::check(&archive)?;
    if archive::knows_positions(journal, &archive, &info.file).map_err(failed)? {
        return Ok(());
    }
    Err("how far its streams had come was changed".to_owned())
}

/// Compares the journal with the head that was signed on this machine and kept outside the
/// workshop.
fn compare(
    verified: &mut JournalVerification,
    connection: &Connection,
    home: &JournalFolders,
    anchor: &JournalAnchor,
    keys: &JournalSigningKeys,
) -> Result<(), JournalError> {
    if let Err(what) = anchor.check(keys) {
        verified.blame(anchor.seq, format!("bad signed head: {what}"));
        return Ok(());
    }
    if !verified.ok {
        return Ok(());
    }
    if anchor.seq > verified.events {
        let what = format!(
            "truncated tail: event {} was signed on this machine",
            anchor.seq
        );
        verified.blame(verified.events + 1, what);
        return Ok(());
    }
    let mut found: Option<Hash> = None;
    let query = EventQuery::all()
        .after(anchor.seq.saturating_sub(1))
        .limit(1);
    // One view: a prune halfway through would move the event away from where it is looked for.
    let failed = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
    let view = connection.unchecked_transaction().map_err(failed)?;
    reader::scan(&view, home, &query, |columns| {
        found = columns.hash();
        Ok(ControlFlow::Break(()))
    })?;
    if found != anchor.hash_bytes() {
        verified.blame(
            anchor.seq,
            "changed: another event was signed on this machine",
        );
        verified.intact = verified.intact.min(anchor.seq.saturating_sub(1));
    }
    Ok(())
}
