//! The checks that a journal file must pass before it is written to: at every opening, and
//! again after every failure.

use std::path::Path;

use artel_types::WorkshopId;
use rusqlite::{Connection, OptionalExtension as _};

use crate::anchor::JournalAnchor;
use crate::connect;
use crate::error::JournalError;
use crate::head::{self, JournalHead};
use crate::home::JournalFolders;
use crate::keys::JournalSigningKeys;
use crate::objects;
use crate::schema;

/// A journal file that passed every check and may be written to.
pub(crate) struct AdmittedJournalFile {
    pub(crate) head: JournalHead,
    /// Sequence number of the newest event signed on this machine (0: none).
    pub(crate) anchored: u64,
    /// Number of times a person has restored an earlier journal.
    pub(crate) restores: usize,
    /// A remark for the person, such as a checkpoint that was passed over.
    pub(crate) finding: Option<String>,
}

/// Checks that the file belongs to this workshop, holds only objects that Artel made, and
/// ends where both the chain and the head signed on this machine say it does. The caller
/// holds the write turn.
pub(crate) fn check(
    connection: &Connection,
    home: &JournalFolders,
    keys: &JournalSigningKeys,
    workshop: WorkshopId,
) -> Result<AdmittedJournalFile, JournalError> {
    let path = home.journal();
    let failed = |error: rusqlite::Error| JournalError::sqlite(&path, &error);
    refuse_foreign(connection, &path, workshop)?;
    if let Some(planted) = objects::check(connection, schema::newest()).map_err(failed)? {
        return Err(JournalError::Corrupt { what: planted.what });
    }
    if has_added_rows(connection).map_err(failed)? {
        let what = "it holds events with numbers below 1".to_owned();
        return Err(JournalError::Corrupt { what });
    }
    let (head, finding) = head::check_tail(connection, home, keys, workshop)?;
    let anchor = JournalAnchor::load(home.data(), workshop)?;
    if let Some(anchor) = &anchor {
        head::check_anchor(connection, home, anchor, keys, head)?;
    }
    connect::move_log_at_close(connection).map_err(failed)?;
    Ok(AdmittedJournalFile {
        head,
        anchored: anchor.as_ref().map_or(0, |anchor| anchor.seq),
        restores: anchor.map_or(0, |anchor| anchor.restored.len()),
        finding,
    })
}

/// Returns whether the file holds events with numbers below 1. Artel counts from 1, so
/// somebody else put them there.
pub(crate) fn has_added_rows(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare("SELECT 1 FROM event WHERE seq < 1")?
        .exists([])
}

/// Refuses a journal that names another workshop, or none.
pub(crate) fn refuse_foreign(
    connection: &Connection,
    path: &Path,
    workshop: WorkshopId,
) -> Result<(), JournalError> {
    let found = named_workshop(connection).map_err(|error| JournalError::sqlite(path, &error))?;
    if found.as_deref() == Some(workshop.to_string().as_str()) {
        return Ok(());
    }
    Err(JournalError::Foreign {
        path: path.to_owned(),
        found: found.unwrap_or_else(|| "nobody".to_owned()),
        expected: workshop.to_string(),
    })
}

/// Returns the workshop that the journal says it belongs to, if it names one.
pub(crate) fn named_workshop(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection
        .query_row("SELECT value FROM meta WHERE key = 'workshop'", [], |row| {
            row.get(0)
        })
        .optional()
}
