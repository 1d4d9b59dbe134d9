//! One write turn: a transaction in which waiting commands are carried out together.

use std::collections::HashMap;

use artel_types::{Clock, WorkshopId};
use rusqlite::{Connection, OptionalExtension as _};

use crate::anchor::CheckpointRef;
use crate::chain::{ChainHasher, checkpoint_message};
use crate::columns::{INSERT, RawEventRow};
use crate::error::{JournalAppendError, JournalError};
use crate::head::{self, JournalHead};
use crate::home::JournalFolders;
use crate::keys::JournalSigningKeys;
use crate::lease::{self, LeaseClockReading};
use crate::order::{AppendReceipt, PreparedEventBatch};

/// A checkpoint is signed at every multiple of this sequence number.
pub(crate) const CHECKPOINT_EVERY: u64 = 100;

/// State that the writer keeps between turns. All of it can be read from the file again. It
/// is dropped as soon as another process has written, or a turn has failed.
pub(crate) struct JournalWriterCache {
    pub(crate) workshop: WorkshopId,
    pub(crate) head: Option<JournalHead>,
    /// End of the chain when the turn began.
    began: Option<JournalHead>,
    /// Checkpoint signed in this turn, not yet written.
    signing: Option<Checkpoint>,
    /// Newest checkpoint that is signed and written.
    pub(crate) signed: Option<Checkpoint>,
    positions: HashMap<String, u64>,
    hasher: ChainHasher,
}

/// A signed head of the journal.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    pub(crate) head: JournalHead,
    pub(crate) at: i64,
    pub(crate) signer: [u8; 32],
    pub(crate) signature: Vec<u8>,
}

impl Checkpoint {
    /// Returns the checkpoint in the form that the anchor stores.
    pub(crate) fn signed(&self) -> CheckpointRef<'_> {
        CheckpointRef {
            seq: self.head.seq,
            hash: self.head.hash,
            at: self.at,
            signer: &self.signer,
            signature: &self.signature,
        }
    }
}

impl JournalWriterCache {
    pub(crate) fn new(workshop: WorkshopId) -> Self {
        Self {
            workshop,
            head: None,
            began: None,
            signing: None,
            signed: None,
            positions: HashMap::new(),
            hasher: ChainHasher::default(),
        }
    }

    /// Starts from an end of the chain that was just checked.
    pub(crate) fn starting_at(workshop: WorkshopId, head: JournalHead) -> Self {
        Self {
            head: Some(head),
            ..Self::new(workshop)
        }
    }

    /// Drops what a failed turn left here. A head that it signed was never written: if it were
    /// kept, it would become the anchor, and the journal would seem to have been cut.
    pub(crate) fn forget(&mut self) {
        self.head = None;
        self.signing = None;
        self.positions.clear();
    }

    /// Returns the end of the chain before the turn that failed.
    pub(crate) fn head_before_turn(&self) -> Option<JournalHead> {
        self.began
    }

    /// Keeps the checkpoint that the turn signed, now that it is written.
    pub(crate) fn committed(&mut self) {
        if let Some(signed) = self.signing.take() {
            self.signed = Some(signed);
        }
    }
}

/// One transaction, in which writer commands are carried out.
pub(crate) struct WriteTransaction<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) memory: &'a mut JournalWriterCache,
    pub(crate) keys: &'a JournalSigningKeys,
    pub(crate) clock: &'a Clock,
    pub(crate) home: &'a JournalFolders,
}

impl WriteTransaction<'_> {
    /// Continues the chain from its known end. Events that another process appended since our
    /// last turn must continue it: a file that was rolled back or rewritten under us is never
    /// signed.
    pub(crate) fn begin(&mut self) -> Result<(), JournalError> {
        let failed = |error: rusqlite::Error| JournalError::sqlite(self.home.journal(), &error);
        let stored = JournalHead::read(self.connection).map_err(failed)?;
        let known = self.head();
        self.memory.began = stored;
        if stored == Some(known) {
            return Ok(());
        }
        if let Some(stored) = stored.filter(|stored| stored.seq < known.seq) {
            let (found, signed) = (stored.seq, known.seq);
            return Err(JournalError::Shortened { found, signed });
        }
        self.memory.positions.clear();
        let reached = head::walk_on(self.connection, self.home, known)?;
        if stored != Some(reached) || reached == known {
            let what = "it is not the event that was written last".to_owned();
            let seq = known.seq.max(1);
            return Err(JournalError::Damaged { seq, what });
        }
        self.memory.head = Some(reached);
        Ok(())
    }

    pub(crate) fn head(&self) -> JournalHead {
        self.memory
            .head
            .unwrap_or_else(|| JournalHead::genesis(self.memory.workshop))
    }

    /// Stores the end of the chain.
    pub(crate) fn write_head(&mut self) -> Result<(), JournalError> {
        let done = self.head().write(self.connection);
        done.map_err(|error| self.failed(&error))
    }

    /// Turns an SQLite error into an error of this journal.
    pub(crate) fn failed(&self, error: &rusqlite::Error) -> JournalError {
        JournalError::sqlite(self.home.journal(), error)
    }

    pub(crate) fn moment(&self) -> LeaseClockReading {
        LeaseClockReading {
            wall: self.clock.now(),
            uptime: self.clock.uptime(),
        }
    }

    /// Records one batch, or returns why not. A refusal leaves no trace in the transaction.
    pub(crate) fn append(
        &mut self,
        batch: &mut PreparedEventBatch,
    ) -> rusqlite::Result<Result<AppendReceipt, JournalAppendError>> {
        if let Some(refusal) = self.refusal(batch)? {
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
                .event(RawEventRow::of_record(record).hashed());
            self.insert(&RawEventRow::of_record(record))?;
            self.memory.head = Some(JournalHead {
                seq: record.seq,
                hash: record.hash,
            });
            stream_seqs.push(record.stream_seq);
            self.remember(&record.stream, record.stream_seq);
            if record.seq.is_multiple_of(CHECKPOINT_EVERY) {
                self.sign_head()?;
            }
        }
        Ok(Ok(AppendReceipt {
            seqs: first..=self.head().seq,
            stream_seqs,
        }))
    }

    fn refusal(
        &mut self,
        batch: &PreparedEventBatch,
    ) -> rusqlite::Result<Option<JournalAppendError>> {
        if let Some(fence) = &batch.fence
            && !lease::is_current(self.connection, fence)?
        {
            return Ok(Some(JournalAppendError::Fenced {
                name: fence.name.clone(),
            }));
        }
        if let Some((stream, expected)) = &batch.expected {
            let found = self.position(stream.as_str())?;
            if found != *expected {
                let (stream, expected) = (stream.clone(), *expected);
                return Ok(Some(JournalAppendError::Conflict {
                    stream,
                    expected,
                    found,
                }));
            }
        }
        Ok(None)
    }

    fn insert(&self, columns: &RawEventRow<'_>) -> rusqlite::Result<()> {
        let rows = self
            .connection
            .prepare_cached(INSERT)?
            .execute(rusqlite::params_from_iter(columns.params()))?;
        if rows == 1 {
            Ok(())
        } else {
            Err(rusqlite::Error::StatementChangedRows(rows))
        }
    }

    /// Returns the last position in a stream, even if the stream was archived.
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

    fn remember(&mut self, stream: &str, position: u64) {
        // Streams come and go; a forgotten position is read again.
        if self.memory.positions.len() >= 10_000 {
            self.memory.positions.clear();
        }
        match self.memory.positions.get_mut(stream) {
            Some(known) => *known = position,
            None => drop(self.memory.positions.insert(stream.to_owned(), position)),
        }
    }

    /// Signs the head, unless it is already signed.
    pub(crate) fn sign_head(&mut self) -> rusqlite::Result<()> {
        let head = self.head();
        let newest = self.memory.signing.as_ref().or(self.memory.signed.as_ref());
        if head.seq == 0 || newest.is_some_and(|old| old.head == head) {
            return Ok(());
        }
        let at = self.clock.now().as_micros();
        let message = checkpoint_message(head.seq, &head.hash, at);
        // Opening for writing made sure of the key, so only a bug makes this fail.
        let Ok((signer, signature)) = self.keys.sign(&message) else {
            return Ok(());
        };
        self.connection
            .prepare_cached(
                "INSERT OR IGNORE INTO checkpoint (seq, hash, at, signer, signature) \
                 VALUES (?, ?, ?, ?, ?)",
            )?
            .execute((head.seq.cast_signed(), head.hash, at, signer, &signature))?;
        self.memory.signing = Some(Checkpoint {
            head,
            at,
            signer,
            signature,
        });
        Ok(())
    }
}
