//! Proves that nothing was changed, or names the first event that was.

use std::ops::ControlFlow;
use std::path::Path;

use artel_types::WorkshopId;
use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;

use crate::anchor::Anchor;
use crate::archive;
use crate::chain::{Hash, Hasher, checkpoint_message};
use crate::columns::Columns;
use crate::connect;
use crate::error::JournalError;
use crate::head::Head;
use crate::home::Home;
use crate::keys::{Keys, hex};
use crate::query::Query;
use crate::reader;
use crate::turn::CHECKPOINT_EVERY;

/// What `verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Whether everything fits.
    pub ok: bool,
    /// How many events fit before the first that does not.
    pub events: u64,
    /// How many signatures were checked.
    pub signatures: u64,
    /// The first event that does not fit.
    pub first_bad: Option<FirstBad>,
    /// Up to where the events can be trusted, for a restore.
    #[serde(skip)]
    pub(crate) intact: u64,
}

/// The first event that does not fit, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirstBad {
    /// Its sequence number.
    pub seq: u64,
    /// `changed`, `missing`, `reordered`, `truncated tail`, … with what gave it away.
    pub what: String,
}

/// Checks a workshop's journal: every event, every signature, every archive, the file itself, and
/// the head that was signed on this machine.
pub fn verify(home: &Home, workshop: WorkshopId, keys: &Keys) -> Result<Verified, JournalError> {
    // The anchor is read before the file: what is appended in between can only be newer.
    let anchor = Anchor::load(home.data(), workshop);
    let connection = connect::reader(&home.journal())?;
    let mut verified = examine(&connection, home, workshop, keys)?;
    match anchor {
        Ok(Some(anchor)) => compare(&mut verified, &connection, home, &anchor, keys)?,
        Ok(None) => {}
        Err(error) => verified.blame(verified.events + 1, format!("signed head: {error}")),
    }
    Ok(verified)
}

/// Checks a copy of the journal, such as a backup; there is no signed head to compare it with.
pub fn verify_file(
    file: &Path,
    home: &Home,
    workshop: WorkshopId,
    keys: &Keys,
) -> Result<Verified, JournalError> {
    examine(&connect::reader(file)?, home, workshop, keys)
}

impl Verified {
    fn blame(&mut self, seq: u64, what: impl Into<String>) {
        let is_first = self.first_bad.as_ref().is_none_or(|bad| seq < bad.seq);
        if is_first {
            self.first_bad = Some(FirstBad {
                seq,
                what: what.into(),
            });
        }
        self.ok = false;
    }
}

fn examine(
    connection: &Connection,
    home: &Home,
    workshop: WorkshopId,
    keys: &Keys,
) -> Result<Verified, JournalError> {
    let failed = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
    // One view for all that follows; writers go on meanwhile.
    let view = connection.unchecked_transaction().map_err(failed)?;
    let mut verified = Verified {
        ok: true,
        events: 0,
        signatures: 0,
        first_bad: None,
        intact: 0,
    };
    let mut walk = Walk::new(workshop);
    let walked = walk.along(&view, home, keys);
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
        let end = check_end(&view, walk.head);
        if let Some(bad) = end.unwrap_or_else(|error| Some(unreadable(walk.head.seq, &error))) {
            verified.blame(bad.seq, bad.what);
        }
    }
    if verified.ok {
        check_archives(&view, home, keys, &mut verified);
    }
    if verified.ok {
        check_pages(&view, &mut verified);
    }
    Ok(verified)
}

fn unreadable(seq: u64, error: &rusqlite::Error) -> FirstBad {
    FirstBad {
        seq: seq + 1,
        what: format!("unreadable: {error}"),
    }
}

/// The walk along the chain.
struct Walk {
    head: Head,
    hasher: Hasher,
    signatures: u64,
    bad_checkpoint: Option<FirstBad>,
    /// The last event vouched for by a signature behind a bad checkpoint.
    vouched: u64,
}

struct SignedAt {
    seq: u64,
    hash: Vec<u8>,
    at: i64,
    signer: Vec<u8>,
    signature: Vec<u8>,
}

impl Walk {
    fn new(workshop: WorkshopId) -> Self {
        Self {
            head: Head::genesis(workshop),
            hasher: Hasher::default(),
            signatures: 0,
            bad_checkpoint: None,
            vouched: 0,
        }
    }

    fn along(
        &mut self,
        connection: &Connection,
        home: &Home,
        keys: &Keys,
    ) -> Result<Option<FirstBad>, JournalError> {
        let failed = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
        let mut bad = None;
        let mut pages = Checkpoints::new(connection).map_err(failed)?;
        reader::scan(connection, home, &Query::all(), |columns| {
            if let Err(what) = self.step(columns) {
                bad = Some(what);
                return Ok(ControlFlow::Break(()));
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

    /// Goes one event further, if it fits.
    fn step(&mut self, columns: &Columns<'_>) -> Result<(), Misfit> {
        let expected = self.head.seq + 1;
        let misfit = |reason| {
            Err(Misfit {
                seq: columns.seq(),
                reason,
            })
        };
        if columns.seq() != expected {
            return misfit(Reason::Gap);
        }
        let own = self.hasher.event(columns.hashed());
        let is_whole = columns.hash() == Some(own);
        if columns.prev() == Some(self.head.hash) {
            if !is_whole {
                return misfit(Reason::Changed);
            }
            self.head = Head {
                seq: expected,
                hash: own,
            };
            return Ok(());
        }
        let with_prev = self
            .hasher
            .event(&columns.hashed_with_prev(&self.head.hash));
        if columns.hash() == Some(with_prev) {
            return misfit(Reason::Changed);
        }
        misfit(if is_whole {
            Reason::BreakBefore
        } else {
            Reason::Elsewhere
        })
    }

    fn check_signature(&mut self, signed: &SignedAt, keys: &Keys) {
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
                let bad = FirstBad {
                    seq: signed.seq,
                    what: format!("bad checkpoint: {what}"),
                };
                self.bad_checkpoint.get_or_insert(bad);
            }
        }
    }

    /// Returns up to where the events can be gone on with. A bad checkpoint is forgiven if a later
    /// one vouches for what lies before it.
    fn intact(&self) -> u64 {
        match &self.bad_checkpoint {
            Some(bad) if self.vouched < bad.seq => bad.seq - 1,
            _ => self.head.seq,
        }
    }
}

struct Misfit {
    seq: u64,
    reason: Reason,
}

enum Reason {
    /// The sequence number jumps.
    Gap,
    /// The event's own content does not have its hash.
    Changed,
    /// The event is whole but continues another one.
    BreakBefore,
    /// Neither the content nor the link fits.
    Elsewhere,
}

/// Says what happened to the event after `head`.
fn diagnose(connection: &Connection, head: Head, misfit: Misfit) -> rusqlite::Result<FirstBad> {
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
    let bad = |seq: u64, what: String| Ok(FirstBad { seq, what });
    match (misfit.reason, elsewhere) {
        (Reason::Changed, _) => bad(
            expected,
            "changed: its content does not have its hash".into(),
        ),
        (_, Some(seq)) => bad(
            expected,
            format!("reordered: the event of this place stands at {seq}"),
        ),
        (Reason::Gap, None) => bad(
            expected,
            format!("missing: the next event there is has number {}", misfit.seq),
        ),
        // The event before was rewritten with a new hash; its successor still names the old one.
        (Reason::BreakBefore, None) if head.seq > 0 => bad(
            head.seq,
            "changed: the next event continues a different one".into(),
        ),
        (Reason::BreakBefore | Reason::Elsewhere, None) => bad(
            expected,
            "changed: it does not continue the event before it".into(),
        ),
    }
}

/// Reads the checkpoints alongside the events, a page at a time.
struct Checkpoints<'a> {
    connection: &'a Connection,
    page: std::collections::VecDeque<SignedAt>,
    read_to: i64,
    is_last: bool,
}

impl<'a> Checkpoints<'a> {
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
            Ok(SignedAt {
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

    fn at(&mut self, seq: u64) -> rusqlite::Result<Option<SignedAt>> {
        if self.page.is_empty() && !self.is_last {
            self.turn_page()?;
        }
        match self.page.front() {
            Some(signed) if signed.seq <= seq => Ok(self.page.pop_front()),
            _ => Ok(None),
        }
    }
}

/// Checks what stands at the end: the head, and that no checkpoint is missing.
fn check_end(connection: &Connection, end: Head) -> rusqlite::Result<Option<FirstBad>> {
    let bad = |seq: u64, what: &str| {
        Ok(Some(FirstBad {
            seq,
            what: what.to_owned(),
        }))
    };
    match Head::read(connection)? {
        Some(head) if head == end => {}
        Some(head) if head.seq > end.seq => {
            return bad(end.seq + 1, "truncated tail: the head names later events");
        }
        Some(_) => return bad(end.seq, "changed: the head names another event"),
        None => return bad(end.seq + 1, "truncated tail: the head is gone"),
    }
    let (expected, last) = (end.seq / CHECKPOINT_EVERY, end.seq.cast_signed());
    let found: i64 = connection.query_row(
        "SELECT count(*) FROM checkpoint WHERE seq % 100 = 0 AND seq <= ?",
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

fn check_archives(connection: &Connection, home: &Home, keys: &Keys, verified: &mut Verified) {
    let path = home.journal();
    let archives = match archive::list(connection, &path) {
        Ok(archives) => archives,
        Err(error) => return verified.blame(1, format!("unreadable: {error}")),
    };
    for info in archives {
        verified.signatures += 1;
        let judged = archive::open(home, &info.file)
            .and_then(|archive| {
                archive::digest(&archive).map_err(|error| JournalError::sqlite(&path, &error))
            })
            .map_err(|error| error.to_string())
            .and_then(|(digest, events)| {
                if digest.as_slice() != info.digest || events != info.events {
                    return Err(format!("its digest is {}", hex(&digest)));
                }
                let message = archive::message(&info.file, info.events, &info.digest);
                keys.check(&info.signer, &message, &info.signature)
                    .map_err(str::to_owned)
            });
        if let Err(what) = judged {
            verified.blame(1, format!("bad archive {}: {what}", info.file));
        }
    }
}

/// Lets SQLite check its own pages and indexes: a wrong index would hide events from a query.
fn check_pages(connection: &Connection, verified: &mut Verified) {
    let said = connection.query_row("PRAGMA integrity_check(1)", [], |row| {
        row.get::<_, String>(0)
    });
    match said {
        Ok(word) if word == "ok" => {}
        Ok(what) => verified.blame(verified.events + 1, format!("damaged file: {what}")),
        Err(error) => verified.blame(verified.events + 1, format!("damaged file: {error}")),
    }
}

/// Compares with the head that was signed on this machine and kept outside the workshop.
fn compare(
    verified: &mut Verified,
    connection: &Connection,
    home: &Home,
    anchor: &Anchor,
    keys: &Keys,
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
    let query = Query::all().after(anchor.seq.saturating_sub(1)).limit(1);
    reader::scan(connection, home, &query, |columns| {
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
