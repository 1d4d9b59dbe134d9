//! The end of the chain, and the check at every opening that it fits.

use std::ops::ControlFlow;

use artel_types::WorkshopId;
use rusqlite::{Connection, OptionalExtension as _};

use crate::anchor::JournalAnchor;
use crate::chain::{self, ChainHasher, Hash, checkpoint_message};
use crate::error::JournalError;
use crate::home::JournalFolders;
use crate::keys::JournalSigningKeys;
use crate::query::EventQuery;
use crate::reader;
use crate::turn::CHECKPOINT_EVERY;

/// The last event of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JournalHead {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
}

impl JournalHead {
    pub(crate) fn genesis(workshop: WorkshopId) -> Self {
        Self {
            seq: 0,
            hash: chain::genesis(workshop),
        }
    }

    /// Reads the head that the last write stored.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        connection
            .prepare_cached("SELECT seq, hash FROM head WHERE id = 1")?
            .query_row([], |row| {
                Ok(Self {
                    seq: row.get::<_, i64>(0)?.cast_unsigned(),
                    hash: row.get(1)?,
                })
            })
            .optional()
    }

    pub(crate) fn write(self, connection: &Connection) -> rusqlite::Result<()> {
        connection
            .prepare_cached("INSERT OR REPLACE INTO head (id, seq, hash) VALUES (1, ?, ?)")?
            .execute((self.seq.cast_signed(), self.hash))?;
        Ok(())
    }
}

/// Recomputes the chain from the newest good checkpoint to the end. That checkpoint's
/// signature vouches for everything before it; `verify` checks the earlier events too.
pub(crate) fn check_tail(
    connection: &Connection,
    home: &JournalFolders,
    keys: &JournalSigningKeys,
    workshop: WorkshopId,
) -> Result<(JournalHead, Option<String>), JournalError> {
    let sql = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
    let (start, finding) = newest_checkpoint(connection, keys).map_err(sql)?;
    let head = start.unwrap_or_else(|| JournalHead::genesis(workshop));
    let head = walk_on(connection, home, head)?;
    let stored = JournalHead::read(connection).map_err(sql)?;
    if stored != Some(head) {
        let what = match stored {
            Some(stored) if stored.seq > head.seq => "the end of the journal is cut off",
            Some(_) => "it is not the event that was written last",
            None => "the head is gone",
        };
        let seq = if stored.is_some_and(|stored| stored.seq > head.seq) {
            head.seq + 1
        } else {
            head.seq
        };
        return Err(JournalError::Damaged {
            seq: seq.max(1),
            what: what.to_owned(),
        });
    }
    Ok((head, finding))
}

/// Continues from a head that is known to be right, and returns the end of the chain after
/// it.
pub(crate) fn walk_on(
    connection: &Connection,
    home: &JournalFolders,
    from: JournalHead,
) -> Result<JournalHead, JournalError> {
    walk(connection, home, from, &EventQuery::all().after(from.seq))
}

fn walk(
    connection: &Connection,
    home: &JournalFolders,
    from: JournalHead,
    query: &EventQuery,
) -> Result<JournalHead, JournalError> {
    let mut head = from;
    let mut hasher = ChainHasher::default();
    reader::scan(connection, home, query, |columns| {
        let fits = columns.seq() == head.seq + 1
            && columns.prev() == Some(head.hash)
            && columns.hash() == Some(hasher.event(columns.hashed()));
        let Some(hash) = columns.hash().filter(|_| fits) else {
            let what = "it does not fit the chain".to_owned();
            let seq = head.seq + 1;
            return Err(JournalError::Damaged { seq, what });
        };
        let seq = columns.seq();
        head = JournalHead { seq, hash };
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(head)
}

/// Rehashes the events of one stretch between two signatures. The last stretch runs to the
/// end.
pub(crate) fn check_stretch(
    connection: &Connection,
    home: &JournalFolders,
    keys: &JournalSigningKeys,
    workshop: WorkshopId,
    stretch: u64,
) -> Result<(), JournalError> {
    let failed = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
    let (first, last) = (stretch * CHECKPOINT_EVERY, (stretch + 1) * CHECKPOINT_EVERY);
    let signed = |seq| signed_at(connection, keys, seq).map_err(failed);
    let bad = |seq: u64, what: &str| {
        let what = what.to_owned();
        Err(JournalError::Damaged { seq, what })
    };
    let start = match (first, signed(first)?) {
        (0, _) => JournalHead::genesis(workshop),
        (_, Some(head)) => head,
        (_, None) => return bad(first, "its checkpoint does not hold"),
    };
    let query = EventQuery::all().after(first).limit(CHECKPOINT_EVERY);
    let end = walk(connection, home, start, &query)?;
    let is_right = if end.seq == last {
        signed(last)? == Some(end)
    } else {
        JournalHead::read(connection).map_err(failed)? == Some(end)
    };
    if is_right {
        Ok(())
    } else {
        bad(end.seq, "its checkpoint does not hold")
    }
}

/// Returns the head that was signed at this event, or `None` if no signature holds.
pub(crate) fn signed_at(
    connection: &Connection,
    keys: &JournalSigningKeys,
    seq: u64,
) -> rusqlite::Result<Option<JournalHead>> {
    let row = connection
        .prepare_cached("SELECT hash, at, signer, signature FROM checkpoint WHERE seq = ?")?
        .query_row([seq.cast_signed()], |row| {
            let signed: (Vec<u8>, Vec<u8>) = (row.get(2)?, row.get(3)?);
            Ok((row.get::<_, Hash>(0)?, row.get::<_, i64>(1)?, signed))
        })
        .optional()?;
    Ok(row.and_then(|(hash, at, (signer, signature))| {
        let message = checkpoint_message(seq, &hash, at);
        let holds = keys.check(&signer, &message, &signature).is_ok();
        holds.then_some(JournalHead { seq, hash })
    }))
}

/// Returns the newest checkpoint whose signature and hash hold, and what was wrong with the
/// newest one if that did not hold.
fn newest_checkpoint(
    connection: &Connection,
    keys: &JournalSigningKeys,
) -> rusqlite::Result<(Option<JournalHead>, Option<String>)> {
    let mut statement = connection.prepare_cached(
        "SELECT c.seq, c.hash, c.at, c.signer, c.signature, e.hash FROM checkpoint c \
         LEFT JOIN event e ON e.seq = c.seq ORDER BY c.seq DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut finding = None;
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, i64>(0)?.cast_unsigned();
        let (hash, signer, signature): (Vec<u8>, Vec<u8>, Vec<u8>) =
            (row.get(1)?, row.get(3)?, row.get(4)?);
        let stored: Option<Vec<u8>> = row.get(5)?;
        let message = checkpoint_message(seq, &hash, row.get(2)?);
        let judged = keys.check(&signer, &message, &signature);
        // The event itself may have been pruned; its checkpoint still vouches for the chain.
        let fits = stored.is_none_or(|stored| stored == hash);
        match (judged, Hash::try_from(hash)) {
            (Ok(()), Ok(hash)) if fits => return Ok((Some(JournalHead { seq, hash }), finding)),
            (Err(what), _) => {
                finding.get_or_insert(format!("checkpoint {seq} was passed over: {what}"));
            }
            _ => {
                finding.get_or_insert(format!("checkpoint {seq} does not fit its event"));
            }
        }
    }
    Ok((None, finding))
}

/// Compares the end of the chain with the newest head signed on this machine.
pub(crate) fn check_anchor(
    connection: &Connection,
    home: &JournalFolders,
    anchor: &JournalAnchor,
    keys: &JournalSigningKeys,
    head: JournalHead,
) -> Result<(), JournalError> {
    let differs = |what: &str| JournalError::Damaged {
        seq: anchor.seq,
        what: what.to_owned(),
    };
    anchor
        .check(keys)
        .map_err(|what| differs(&format!("the signed head kept for it: {what}")))?;
    if anchor.seq > head.seq {
        return Err(JournalError::Shortened {
            found: head.seq,
            signed: anchor.seq,
        });
    }
    let mut found = None;
    let query = EventQuery::all()
        .after(anchor.seq.saturating_sub(1))
        .limit(1);
    reader::scan(connection, home, &query, |columns| {
        found = columns.hash();
        Ok(ControlFlow::Break(()))
    })?;
    if found == anchor.hash_bytes() {
        return Ok(());
    }
    Err(differs(
        "it is not the event that was signed on this machine",
    ))
}
