//! State folded from events. It can be dropped at any time and comes back the same.

use std::ops::ControlFlow;

use artel_types::Event;
use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::JournalError;
use crate::query::Query;
use crate::reader::Reader;

/// How a state follows from events. Raise the version whenever `fold` changes: older snapshots
/// are then passed over.
#[derive(Debug, Clone, Copy)]
pub struct Projection<S> {
    /// Names its snapshot.
    pub name: &'static str,
    /// The version of `fold`.
    pub version: u32,
    /// Adds one event; pure.
    pub fold: fn(&mut S, &Event),
}

/// A snapshot to be stored.
pub(crate) struct Kept {
    pub(crate) name: &'static str,
    pub(crate) version: u32,
    pub(crate) seq: u64,
    pub(crate) state: Vec<u8>,
}

impl<S: Default + Serialize + DeserializeOwned> Projection<S> {
    /// Returns the state with the last event in it: from the snapshot where one fits, and folding
    /// only what came later.
    pub fn state(&self, reader: &Reader) -> Result<(S, u64), JournalError> {
        let snapshot = reader.with(|connection| load(connection, self.name, self.version))?;
        let start = snapshot.and_then(|(seq, bytes)| {
            serde_json::from_slice(&bytes)
                .ok()
                .map(|state| (state, seq))
        });
        self.fold_on(reader, start.unwrap_or_default())
    }

    /// Returns the state folded from the first event on, whatever snapshots say.
    pub fn rebuilt(&self, reader: &Reader) -> Result<(S, u64), JournalError> {
        self.fold_on(reader, (S::default(), 0))
    }

    fn fold_on(&self, reader: &Reader, start: (S, u64)) -> Result<(S, u64), JournalError> {
        let (mut state, mut last) = start;
        reader.visit_events(&Query::all().after(last), |event| {
            (self.fold)(&mut state, &event);
            last = event.seq;
            ControlFlow::Continue(())
        })?;
        Ok((state, last))
    }

    pub(crate) fn kept(&self, state: &S, seq: u64) -> Result<Kept, JournalError> {
        let state = serde_json::to_vec(state).map_err(|error| JournalError::Database {
            what: error.to_string(),
        })?;
        Ok(Kept {
            name: self.name,
            version: self.version,
            seq,
            state,
        })
    }
}

/// Returns a snapshot that fits: same version, and taken of this very chain.
fn load(
    connection: &Connection,
    name: &str,
    version: u32,
) -> rusqlite::Result<Option<(u64, Vec<u8>)>> {
    let found = connection
        .prepare_cached("SELECT seq, hash, state FROM snapshot WHERE name = ? AND version = ?")?
        .query_row((name, version), |row| {
            // Values of another type are no snapshot of ours; nothing is lost without it.
            Ok((row.get(0).ok(), row.get(1).ok(), row.get(2).ok()))
        })
        .optional()?;
    let Some((Some(seq), hash @ Some(_), Some(state))) = found else {
        return Ok(None);
    };
    let seq = i64::cast_unsigned(seq);
    Ok((hash_at(connection, seq)? == hash).then_some((seq, state)))
}

fn hash_at(connection: &Connection, seq: u64) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT hash FROM event WHERE seq = ?")?
        .query_row([seq.cast_signed()], |row| row.get(0))
        .optional()
}

/// Stores a snapshot, inside a write turn.
pub(crate) fn keep(connection: &Connection, kept: &Kept) -> rusqlite::Result<()> {
    let Some(hash) = hash_at(connection, kept.seq)? else {
        return Ok(());
    };
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO snapshot (name, version, seq, hash, state) \
             VALUES (?, ?, ?, ?, ?)",
        )?
        .execute((
            kept.name,
            kept.version,
            kept.seq.cast_signed(),
            hash,
            &kept.state,
        ))?;
    Ok(())
}
