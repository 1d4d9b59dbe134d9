//! State folded from events. It can be dropped at any time, and folding gives the same
//! state again.

use std::ops::ControlFlow;

use artel_types::Event;
use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::chain::Hash;
use crate::error::JournalError;
use crate::head::JournalHead;
use crate::keys;
use crate::query::EventQuery;
use crate::reader::JournalReader;
use crate::turn::WriteTransaction;

/// A named, versioned fold of events into a state. Raise the version whenever `fold`
/// changes; older snapshots are then passed over.
#[derive(Debug, Clone, Copy)]
pub struct JournalProjection<S> {
    /// Name of its snapshot.
    pub name: &'static str,
    /// Version of `fold`.
    pub version: u32,
    /// Adds one event to the state. It must be pure.
    pub fold: fn(&mut S, &Event),
}

/// A snapshot of the state, to be stored.
pub(crate) struct ProjectionSnapshot {
    name: &'static str,
    version: u32,
    /// The last event in the state, with the hash it had when it was folded.
    end: JournalHead,
    state: Vec<u8>,
}

impl<S: Default + Serialize + DeserializeOwned> JournalProjection<S> {
    /// Returns the state and the number of the last event in it. Starts from the snapshot if
    /// one fits, and folds only later events.
    pub fn state(&self, reader: &JournalReader) -> Result<(S, u64), JournalError> {
        let (state, end) = self.current(reader)?;
        Ok((state, end.map_or(0, |end| end.seq)))
    }

    /// Returns the state folded from the first event on, ignoring any snapshot.
    pub fn rebuilt(&self, reader: &JournalReader) -> Result<(S, u64), JournalError> {
        let (state, end) = self.fold_on(reader, S::default(), None)?;
        Ok((state, end.map_or(0, |end| end.seq)))
    }

    /// Returns the state with a snapshot of it, or `None` for the snapshot if there are no
    /// events.
    pub(crate) fn kept(
        &self,
        reader: &JournalReader,
    ) -> Result<(S, Option<ProjectionSnapshot>), JournalError> {
        let (state, end) = self.current(reader)?;
        let bytes = serde_json::to_vec(&state).map_err(|error| JournalError::Database {
            what: error.to_string(),
        })?;
        let kept = end.map(|end| ProjectionSnapshot {
            name: self.name,
            version: self.version,
            end,
            state: bytes,
        });
        Ok((state, kept))
    }

    fn current(&self, reader: &JournalReader) -> Result<(S, Option<JournalHead>), JournalError> {
        let signer = keys::own_signer(reader.home().data());
        let snapshot = reader.with(|connection| match signer {
            Some(signer) => load(connection, self.name, self.version, &signer),
            None => Ok(None),
        })?;
        let start = snapshot.and_then(|(end, bytes)| {
            serde_json::from_slice(&bytes)
                .ok()
                .map(|state| (state, Some(end)))
        });
        let (state, end) = start.unwrap_or_default();
        self.fold_on(reader, state, end)
    }

    fn fold_on(
        &self,
        reader: &JournalReader,
        mut state: S,
        mut end: Option<JournalHead>,
    ) -> Result<(S, Option<JournalHead>), JournalError> {
        let after = end.map_or(0, |end| end.seq);
        reader.scan(&EventQuery::all().after(after), |columns| {
            let event = columns.event()?;
            (self.fold)(&mut state, &event);
            end = columns.hash().map(|hash| JournalHead {
                seq: event.seq,
                hash,
            });
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((state, end))
    }
}

/// Returns a snapshot that fits: same version, signed by this user, and taken of this very
/// chain. Any other is passed over, which loses nothing.
fn load(
    connection: &Connection,
    name: &str,
    version: u32,
    signer: &[u8],
) -> rusqlite::Result<Option<(JournalHead, Vec<u8>)>> {
    let select = "SELECT seq, hash, state, signature FROM snapshot WHERE name = ? AND version = ?";
    // If the table has another shape, as in format 1, no snapshot fits.
    let Ok(mut statement) = connection.prepare_cached(select) else {
        return Ok(None);
    };
    let found = statement
        .query_row((name, version), |row| {
            let place: (Option<i64>, Option<Hash>) = (row.get(0).ok(), row.get(1).ok());
            let bytes: (Option<Vec<u8>>, Option<Vec<u8>>) = (row.get(2).ok(), row.get(3).ok());
            Ok((place, bytes))
        })
        .optional()?;
    let Some(((Some(seq), Some(hash)), (Some(state), Some(signature)))) = found else {
        return Ok(None);
    };
    let seq = seq.cast_unsigned();
    let end = JournalHead { seq, hash };
    let message = message(name, version, end, &state);
    if !keys::is_signed(signer, &message, &signature) || hash_at(connection, seq)? != Some(hash) {
        return Ok(None);
    }
    Ok(Some((end, state)))
}

/// Returns the bytes that a snapshot's signature covers.
fn message(name: &str, version: u32, end: JournalHead, state: &[u8]) -> Vec<u8> {
    let mut message = b"artel snapshot 1".to_vec();
    message.extend_from_slice(&version.to_le_bytes());
    message.extend_from_slice(&end.seq.to_le_bytes());
    message.extend_from_slice(&end.hash);
    message.extend_from_slice(blake3::hash(state).as_bytes());
    message.extend_from_slice(name.as_bytes());
    message
}

pub(crate) fn hash_at(connection: &Connection, seq: u64) -> rusqlite::Result<Option<Hash>> {
    connection
        .prepare_cached("SELECT hash FROM event WHERE seq = ?")?
        .query_row([seq.cast_signed()], |row| row.get(0))
        .optional()
}

/// Stores a snapshot, inside a write turn, if the events it was folded from are still in
/// the chain.
pub(crate) fn keep(desk: &WriteTransaction<'_>, kept: &ProjectionSnapshot) -> rusqlite::Result<()> {
    let ProjectionSnapshot {
        name,
        version,
        end,
        state,
    } = kept;
    let message = message(name, *version, *end, state);
    let is_current = hash_at(desk.connection, end.seq)? == Some(end.hash);
    let Some((_, signature)) = desk.keys.sign(&message).ok().filter(|_| is_current) else {
        return Ok(());
    };
    desk.connection
        .prepare_cached(
            "INSERT OR REPLACE INTO snapshot (name, version, seq, hash, state, signature) \
             VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .execute((
            name,
            version,
            end.seq.cast_signed(),
            end.hash,
            state,
            signature,
        ))?;
    Ok(())
}
