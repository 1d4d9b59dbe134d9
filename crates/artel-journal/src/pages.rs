//! Checks the file itself, its pages and its indexes, while the chain is verified.

use std::ops::Range;
use std::path::Path;

use rusqlite::{Connection, InterruptHandle};

use crate::archive;
use crate::connect;
use crate::error::JournalError;
use crate::head::JournalHead;
use crate::indexes::{EventTableIndexes, Sums};

/// Lets SQLite check everything it can: pages, and every event in every index.
pub(crate) fn check(connection: &Connection) -> Result<(), String> {
    ask(connection, "PRAGMA integrity_check(1)")
}

/// A second view of the file, checked on a thread of its own.
pub(crate) struct JournalFileCheck {
    connection: Connection,
    indexes: Option<EventTableIndexes>,
    later: Range<i64>,
}

impl JournalFileCheck {
    /// Opens the file again. `first` is the view that the events are read from.
    pub(crate) fn open(file: &Path, first: &Connection) -> Result<Self, JournalError> {
        let failed = |error: rusqlite::Error| JournalError::sqlite(file, &error);
        let connection = connect::reader(file)?;
        connection.execute_batch("BEGIN").map_err(failed)?;
        let (mut indexes, mut later) = (None, 0..0);
        // Events may have been appended between the two views, which only adds to the second. If
        // some were also pruned, or if the file is damaged here, SQLite does the whole check.
        if let (Ok(old), Ok(new)) = (state(first, file), state(&connection, file))
            && old.1 == new.1
        {
            indexes = EventTableIndexes::read(&connection).ok().flatten();
            later = old.0 + 1..new.0 + 1;
        }
        Ok(Self {
            connection,
            indexes,
            later,
        })
    }

    /// Returns the indexes whose entries are to be added up from the events.
    pub(crate) fn indexes(&self) -> Option<EventTableIndexes> {
        self.indexes.clone()
    }

    /// Returns the handle that ends the check early.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// Checks everything. Returns the sums of the indexes, or `None` if SQLite compared them
    /// itself.
    pub(crate) fn take(self) -> Result<Option<Sums>, String> {
        let Some(indexes) = &self.indexes else {
            return check(&self.connection).map(|()| None);
        };
        ask(&self.connection, "PRAGMA quick_check(1)")?;
        for table in other_tables(&self.connection).map_err(|error| error.to_string())? {
            ask(
                &self.connection,
                &format!("PRAGMA integrity_check(\"{}\")", table.replace('"', "\"\"")),
            )?;
        }
        indexes.add_up(&self.connection, &self.later).map(Some)
    }
}

/// Returns the number of the last event, and the number of archives.
fn state(connection: &Connection, file: &Path) -> Result<(i64, usize), JournalError> {
    let head = JournalHead::read(connection).map_err(|error| JournalError::sqlite(file, &error))?;
    let archives = archive::list(connection, file)?;
    Ok((
        head.map_or(0, |head| head.seq.cast_signed()),
        archives.len(),
    ))
}

fn other_tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'event'")?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}

fn ask(connection: &Connection, pragma: &str) -> Result<(), String> {
    let said = connection.query_row(pragma, [], |row| row.get::<_, String>(0));
    match said {
        Ok(word) if word == "ok" => Ok(()),
        Ok(what) => Err(what),
        Err(error) => Err(error.to_string()),
    }
}
