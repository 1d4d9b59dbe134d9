//! Everything that must hold before a file is written to, at every opening and after every
//! failure alike.

use std::path::Path;

use artel_types::WorkshopId;
use rusqlite::{Connection, OptionalExtension as _};

use crate::anchor::Anchor;
use crate::connect;
use crate::error::JournalError;
use crate::head::{self, Head};
use crate::home::Home;
use crate::keys::Keys;
use crate::objects;
use crate::schema;

/// A file that may be written to.
pub(crate) struct Admitted {
    pub(crate) head: Head,
    /// Up to where the end was signed on this machine.
    pub(crate) anchored: u64,
    /// How often a person has put an earlier journal back.
    pub(crate) restores: usize,
    /// What a person should be told.
    pub(crate) finding: Option<String>,
}

/// Checks that the file is this workshop's, holds only what we made, and that its end fits the
/// chain and the head that was signed on this machine. The caller has the write turn.
pub(crate) fn check(
    connection: &Connection,
    home: &Home,
    keys: &Keys,
    workshop: WorkshopId,
) -> Result<Admitted, JournalError> {
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
    let anchor = Anchor::load(home.data(), workshop)?;
    if let Some(anchor) = &anchor {
        head::check_anchor(connection, home, anchor, keys, head)?;
    }
    connect::move_log_at_close(connection).map_err(failed)?;
    Ok(Admitted {
        head,
        anchored: anchor.as_ref().map_or(0, |anchor| anchor.seq),
        restores: anchor.map_or(0, |anchor| anchor.restored.len()),
        finding,
    })
}

/// Events count from 1; a row below that was put there by somebody else.
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

/// Returns which workshop a journal says it belongs to.
pub(crate) fn named_workshop(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection
        .query_row("SELECT value FROM meta WHERE key = 'workshop'", [], |row| {
            row.get(0)
        })
        .optional()
}
