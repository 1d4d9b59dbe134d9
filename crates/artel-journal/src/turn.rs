//! One write turn: a transaction in which waiting orders are carried out together.

use std::collections::HashMap;

use artel_types::{Clock, WorkshopId};
use rusqlite::{Connection, OptionalExtension as _};

use crate::chain::{Hasher, checkpoint_message};
use crate::columns::{Columns, INSERT};
use crate::error::AppendError;
use crate::head::Head;
use crate::keys::Keys;
use crate::lease::{self, Moment};
use crate::order::{Prepared, Receipt};

/// A checkpoint is signed at every sequence number that this divides.
pub(crate) const CHECKPOINT_EVERY: u64 = 100;

/// What the writer remembers between turns. Everything here can be read again from the file; it
/// is dropped as soon as somebody else has written, or a turn has failed.
pub(crate) struct Memory {
    pub(crate) workshop: WorkshopId,
    pub(crate) head: Option<Head>,
    pub(crate) signed: Option<Checkpoint>,
    positions: HashMap<String, u64>,
    hasher: Hasher,
}

/// A signed head.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    pub(crate) head: Head,
    pub(crate) at: i64,
    pub(crate) signer: [u8; 32],
    pub(crate) signature: Vec<u8>,
}

impl Memory {
    pub(crate) fn new(workshop: WorkshopId) -> Self {
        Self {
            workshop,
            head: None,
            signed: None,
            positions: HashMap::new(),
            hasher: Hasher::default(),
        }
    }

    /// Drops what a failed turn left here. A head that it signed was never written: kept, it
    /// would become the anchor, and the journal would seem to have been cut.
    pub(crate) fn forget(&mut self) {
        self.head = None;
        self.signed = None;
        self.positions.clear();
    }
}

/// The desk at which orders are carried out, inside one transaction.
pub(crate) struct Desk<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) memory: &'a mut Memory,
    pub(crate) keys: &'a Keys,
    pub(crate) clock: &'a Clock,
}

impl Desk<'_> {
    /// Reads the head: another process may have written since our last turn.
    pub(crate) fn begin(&mut self) -> rusqlite::Result<()> {
        let head =
            Head::read(self.connection)?.unwrap_or_else(|| Head::genesis(self.memory.workshop));
        if self.memory.head != Some(head) {
            self.memory.positions.clear();
            self.memory.head = Some(head);
        }
        Ok(())
    }

    pub(crate) fn head(&self) -> Head {
        self.memory
            .head
            .unwrap_or_else(|| Head::genesis(self.memory.workshop))
    }

    pub(crate) fn moment(&self) -> Moment {
        Moment {
            wall: self.clock.now(),
            uptime: self.clock.uptime(),
        }
    }

    /// Records one batch, or says why not; a refusal leaves no trace in the transaction.
    pub(crate) fn append(
        &mut self,
        mut batch: Prepared,
    ) -> rusqlite::Result<Result<Receipt, AppendError>> {
        if let Some(refusal) = self.refusal(&batch)? {
            return Ok(Err(refusal));
        }
        let at = self.clock.now();
        let first = self.head().seq + 1;
        let mut stream_seqs = Vec::with_capacity(batch.records.len());
        for record in &mut batch.records {
            let head = self.head();
            record.at = at;
            record.seq = head.seq + 1;
            record.stream_seq = self.position(&record.stream)? + 1;
            record.prev = head.hash;
            record.hash = self
                .memory
                .hasher
                .event(Columns::of_record(record).hashed());
            self.insert(&Columns::of_record(record))?;
            self.memory.head = Some(Head {
                seq: record.seq,
                hash: record.hash,
            });
            stream_seqs.push(record.stream_seq);
            self.remember(std::mem::take(&mut record.stream), record.stream_seq);
            if record.seq.is_multiple_of(CHECKPOINT_EVERY) {
                self.sign_head()?;
            }
        }
        Ok(Ok(Receipt {
            seqs: first..=self.head().seq,
            stream_seqs,
        }))
    }

    fn refusal(&mut self, batch: &Prepared) -> rusqlite::Result<Option<AppendError>> {
        if let Some(fence) = &batch.fence
            && !lease::is_current(self.connection, fence)?
        {
            return Ok(Some(AppendError::Fenced {
                name: fence.name.clone(),
            }));
        }
        if let Some((stream, expected)) = &batch.expected {
            let found = self.position(stream.as_str())?;
            if found != *expected {
                let (stream, expected) = (stream.clone(), *expected);
                return Ok(Some(AppendError::Conflict {
                    stream,
                    expected,
                    found,
                }));
            }
        }
        Ok(None)
    }

    fn insert(&self, columns: &Columns<'_>) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(INSERT)?
            .execute(rusqlite::params_from_iter(columns.params()))?;
        Ok(())
    }

    /// Returns the last position in a stream, also where the stream was archived.
    fn position(&self, stream: &str) -> rusqlite::Result<u64> {
        if let Some(position) = self.memory.positions.get(stream) {
            return Ok(*position);
        }
        let position: Option<i64> = self
            .connection
            .prepare_cached(
                "SELECT coalesce((SELECT max(stream_seq) FROM event WHERE stream = ?1), \
                 (SELECT stream_seq FROM archived_stream WHERE stream = ?1))",
            )?
            .query_row([stream], |row| row.get(0))
            .optional()?
            .flatten();
        Ok(position.unwrap_or(0).cast_unsigned())
    }

    fn remember(&mut self, stream: String, position: u64) {
        // Streams come and go; what is forgotten is read again.
        if self.memory.positions.len() >= 10_000 {
            self.memory.positions.clear();
        }
        self.memory.positions.insert(stream, position);
    }

    /// Signs the head, unless it is signed already.
    pub(crate) fn sign_head(&mut self) -> rusqlite::Result<()> {
        let head = self.head();
        if head.seq == 0
            || self
                .memory
                .signed
                .as_ref()
                .is_some_and(|old| old.head == head)
        {
            return Ok(());
        }
        let at = self.clock.now().as_micros();
        let message = checkpoint_message(head.seq, &head.hash, at);
        // Opening for writing made sure of the key, so this fails only in a bug.
        let Ok((signer, signature)) = self.keys.sign(&message) else {
            return Ok(());
        };
        self.connection
            .prepare_cached(
                "INSERT OR IGNORE INTO checkpoint (seq, hash, at, signer, signature) \
                 VALUES (?, ?, ?, ?, ?)",
            )?
            .execute((head.seq.cast_signed(), head.hash, at, signer, &signature))?;
        self.memory.signed = Some(Checkpoint {
            head,
            at,
            signer,
            signature,
        });
        Ok(())
    }
}
