//! Walks along the chain: every event in order, and every signature on the way.

use std::ops::ControlFlow;

use artel_types::WorkshopId;
use rusqlite::{Connection, OptionalExtension as _};

use crate::chain::{ChainHasher, checkpoint_message};
use crate::columns::RawEventRow;
use crate::error::JournalError;
use crate::head::JournalHead;
use crate::home::JournalFolders;
use crate::indexes::ExpectedIndexSums;
use crate::keys::JournalSigningKeys;
use crate::query::EventQuery;
use crate::reader::{self, RecordOrigin};
use crate::verify::FirstBadEvent;

/// A walk along the chain.
pub(crate) struct ChainWalk {
    pub(crate) head: JournalHead,
    pub(crate) signatures: u64,
    pub(crate) bad_checkpoint: Option<FirstBadEvent>,
    hasher: ChainHasher,
    /// The last event vouched for by a signature, which may come after a bad checkpoint.
    vouched: u64,
}

struct CheckpointRow {
    seq: u64,
    hash: Vec<u8>,
    at: i64,
    signer: Vec<u8>,
    signature: Vec<u8>,
}

impl ChainWalk {
    pub(crate) fn new(workshop: WorkshopId) -> Self {
        Self {
            head: JournalHead::genesis(workshop),
            hasher: ChainHasher::default(),
            signatures: 0,
            bad_checkpoint: None,
            vouched: 0,
        }
    }

    /// Walks to the end, or to the first event that does not fit. Adds the events in the
    /// journal itself to the tally, if there is one.
    pub(crate) fn along(
        &mut self,
        connection: &Connection,
        home: &JournalFolders,
        keys: &JournalSigningKeys,
        tally: &mut Option<ExpectedIndexSums>,
    ) -> Result<Option<FirstBadEvent>, JournalError> {
        let failed = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
        let mut bad = None;
        let mut pages = CheckpointReader::new(connection).map_err(failed)?;
        reader::scan_with_origin(connection, home, &EventQuery::all(), |origin, columns| {
            if let Err(what) = self.step(columns) {
                bad = Some(what);
                return Ok(ControlFlow::Break(()));
            }
            if let (Some(tally), RecordOrigin::Journal) = (&mut *tally, origin) {
                tally.add(columns);
            }
            if let Some(signed) = pages.at(columns.seq()).map_err(failed)? {
                self.check_signature(&signed, keys);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        match bad {
            None => Ok(None),
            Some(bad) => diagnose(connection, self.head, bad)
                .map(Some)
                .map_err(failed),
        }
    }

    /// Walks one event further, if it fits.
    fn step(&mut self, columns: &RawEventRow<'_>) -> Result<(), ChainMismatch> {
        let expected = self.head.seq + 1;
        let misfit = |reason| {
            Err(ChainMismatch {
                seq: columns.seq(),
                reason,
            })
        };
        if columns.seq() != expected {
            return misfit(ChainMismatchReason::Gap);
        }
        let own = self.hasher.event(columns.hashed());
        let is_whole = columns.hash() == Some(own);
        if columns.prev() == Some(self.head.hash) {
            if !is_whole {
                return misfit(ChainMismatchReason::Changed);
            }
            self.head = JournalHead {
                seq: expected,
                hash: own,
            };
            return Ok(());
        }
        let with_prev = self
            .hasher
            .event(&columns.hashed_with_prev(&self.head.hash));
        if columns.hash() == Some(with_prev) {
            return misfit(ChainMismatchReason::Changed);
        }
        misfit(if is_whole {
            ChainMismatchReason::BreakBefore
        } else {
            ChainMismatchReason::Elsewhere
        })
    }

    fn check_signature(&mut self, signed: &CheckpointRow, keys: &JournalSigningKeys) {
        self.signatures += 1;
        let message = checkpoint_message(signed.seq, &signed.hash, signed.at);
        let judged = if signed.hash == self.head.hash {
            keys.check(&signed.signer, &message, &signed.signature)
        } else {
            Err("it was signed with another hash")
        };
        match judged {
            Ok(()) => self.vouched = signed.seq,
            Err(what) => {
                let bad = FirstBadEvent {
                    seq: signed.seq,
                    what: format!("bad checkpoint: {what}"),
                };
                self.bad_checkpoint.get_or_insert(bad);
            }
        }
    }

    /// Returns the last event from which the journal can be continued. A bad checkpoint is
    /// forgiven if a later one vouches for what lies before it.
    pub(crate) fn intact(&self) -> u64 {
        match &self.bad_checkpoint {
            Some(bad) if self.vouched < bad.seq => bad.seq - 1,
            _ => self.head.seq,
        }
    }
}

struct ChainMismatch {
    seq: u64,
    reason: ChainMismatchReason,
}

enum ChainMismatchReason {
    /// The sequence number jumps.
    Gap,
    /// The event's own content does not match its hash.
    Changed,
    /// The event is intact but continues a different one.
    BreakBefore,
    /// Neither the content nor the link fits.
    Elsewhere,
}

/// Finds out what happened to the event after `head`.
fn diagnose(
    connection: &Connection,
    head: JournalHead,
    misfit: ChainMismatch,
) -> rusqlite::Result<FirstBadEvent> {
    let expected = head.seq + 1;
    let successor: Option<i64> = connection
        .query_row(
            "SELECT seq FROM event WHERE prev = ? LIMIT 1",
            [head.hash],
            |row| row.get(0),
        )
        .optional()?;
    let elsewhere = successor
        .map(i64::cast_unsigned)
        .filter(|seq| *seq != misfit.seq);
    let bad = |seq: u64, what: String| Ok(FirstBadEvent { seq, what });
    match (misfit.reason, elsewhere) {
        (ChainMismatchReason::Changed, _) => bad(
            expected,
            "changed: its content does not have its hash".into(),
        ),
        (_, Some(seq)) => bad(
            expected,
            format!("reordered: the event of this place stands at {seq}"),
        ),
        (ChainMismatchReason::Gap, None) => bad(
            expected,
            format!("missing: the next event there is has number {}", misfit.seq),
        ),
        // The event before was rewritten with a new hash; its successor still names the old one.
        (ChainMismatchReason::BreakBefore, None) if head.seq > 0 => bad(
            head.seq,
            "changed: the next event continues a different one".into(),
        ),
        (ChainMismatchReason::BreakBefore | ChainMismatchReason::Elsewhere, None) => bad(
            expected,
            "changed: it does not continue the event before it".into(),
        ),
    }
}

/// Reads the checkpoints alongside the events, a page at a time.
struct CheckpointReader<'a> {
    connection: &'a Connection,
    page: std::collections::VecDeque<CheckpointRow>,
    read_to: i64,
    is_last: bool,
}

impl<'a> CheckpointReader<'a> {
    fn new(connection: &'a Connection) -> rusqlite::Result<Self> {
        let mut checkpoints = Self {
            connection,
            page: Default::default(),
            read_to: 0,
            is_last: false,
        };
        checkpoints.turn_page()?;
        Ok(checkpoints)
    }

    fn turn_page(&mut self) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT seq, hash, at, signer, signature FROM checkpoint WHERE seq > ? \
             ORDER BY seq LIMIT 1000",
        )?;
        let rows = statement.query_map([self.read_to], |row| {
            Ok(CheckpointRow {
                seq: row.get::<_, i64>(0)?.cast_unsigned(),
                hash: row.get(1)?,
                at: row.get(2)?,
                signer: row.get(3)?,
                signature: row.get(4)?,
            })
        })?;
        self.page = rows.collect::<Result<_, _>>()?;
        self.is_last = self.page.len() < 1000;
        self.read_to = self
            .page
            .back()
            .map_or(self.read_to, |last| last.seq.cast_signed());
        Ok(())
    }

    fn at(&mut self, seq: u64) -> rusqlite::Result<Option<CheckpointRow>> {
        if self.page.is_empty() && !self.is_last {
            self.turn_page()?;
        }
        match self.page.front() {
            Some(signed) if signed.seq <= seq => Ok(self.page.pop_front()),
            _ => Ok(None),
        }
    }
}
