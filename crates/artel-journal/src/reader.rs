//! Reads events: from a damaged file as far as it goes, and from archives too.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use artel_types::{Event, RunId, Timestamp, WorkshopId};
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _};

use crate::anchor::JournalAnchor;
use crate::archive;
use crate::chain::checkpoint_message;
use crate::columns::RawEventRow;
use crate::connect;
use crate::error::JournalError;
use crate::head::{self, JournalHead};
use crate::home::JournalFolders;
use crate::keys::{self, JournalSigningKeys};
use crate::lease::{self, LeaseInfo};
use crate::query::{EventFilter, EventQuery, EventSortOrder};
use crate::record::JournalRecord;
use crate::row::JournalRecordRef;
use crate::turn::CHECKPOINT_EVERY;
use crate::writer::identity;

/// The kind of id that a trace is looked up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceLookupKey {
    /// The id of the trace itself.
    Trace,
    /// The id of a run that belongs to it.
    Run,
    /// The id of a session that it belongs to.
    Session,
}

/// Reads a journal. It never writes, and never waits for a writer.
pub struct JournalReader {
    home: JournalFolders,
    path: PathBuf,
    idle: Mutex<IdleReadConnections>,
    lookout: Mutex<JournalChangeDetector>,
}

/// A version of the journal as a reader saw it. Two equal versions mean that nobody wrote
/// in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalVersion {
    /// Number of the reader's change detector; each counts versions on its own.
    lookout: u64,
    version: i64,
}

impl JournalVersion {
    /// Returns whether both versions are of the same file. If so, the later one has everything
    /// that the earlier one had.
    pub fn is_same_file_as(&self, other: &Self) -> bool {
        self.lookout == other.lookout
    }
}

/// A connection that only detects whether something was written since it last looked.
#[derive(Default)]
struct JournalChangeDetector {
    identity: Option<(u64, u64)>,
    connection: Option<Connection>,
    number: u64,
}

/// Idle connections for the next read, all to the same file.
struct IdleReadConnections {
    identity: Option<(u64, u64)>,
    connections: Vec<Connection>,
}

/// Largest number of idle connections; each has a cache of its own.
const MOST_IDLE: usize = 8;

impl JournalReader {
    /// Opens the journal for reading.
    pub fn open(home: &JournalFolders) -> Result<Self, JournalError> {
        let path = home.journal();
        let first = connect::reader(&path)?;
        Ok(Self {
            home: home.clone(),
            idle: Mutex::new(IdleReadConnections {
                identity: identity(&path),
                connections: vec![first],
            }),
            lookout: Mutex::default(),
            path,
        })
    }

    /// Refuses a journal that names another workshop. A journal that no longer names any is
    /// damaged, and can still be read.
    pub fn refuse_foreign(&self, workshop: WorkshopId) -> Result<(), JournalError> {
        self.with_result(|connection| {
            match crate::admit::refuse_foreign(connection, &self.path, workshop) {
                Err(error @ JournalError::Foreign { .. }) => Err(error),
                _ => Ok(()),
            }
        })
    }

    /// Refuses a journal whose end is missing: it has fewer events than it says itself, or than
    /// were signed on this machine. The rest would pass for everything that ever happened.
    pub fn refuse_cut(&self, workshop: WorkshopId) -> Result<(), JournalError> {
        // The anchor is read first: it follows what is written, so no writer can make it seem
        // ahead. If it cannot be read, writers and `verify` report that.
        let anchor = JournalAnchor::load(self.home.data(), workshop)
            .ok()
            .flatten();
        let (last, told) = self.with(|connection| {
            // The head is read before the events: an event written in between can only add to
            // them.
            let told = JournalHead::read(connection)?;
            let last = "SELECT coalesce(max(seq), 0) FROM event";
            let last: i64 = connection
                .prepare_cached(last)?
                .query_row([], |row| row.get(0))?;
            Ok((last.cast_unsigned(), told))
        })?;
        let signed = anchor.map_or(0, |anchor| anchor.seq);
        if last < signed {
            return Err(JournalError::Shortened {
                found: last,
                signed,
            });
        }
        if told.is_some_and(|head| last < head.seq) {
            let what = "the end of the journal is cut off".to_owned();
            return Err(JournalError::Damaged {
                seq: last + 1,
                what,
            });
        }
        Ok(())
    }

    /// Passes every matching event to the visitor until it breaks off.
    pub fn visit(
        &self,
        query: &EventQuery,
        mut visitor: impl FnMut(JournalRecord) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        self.scan(query, |columns| columns.record().map(&mut visitor))
    }

    /// Passes every matching event, decoded, to the visitor until it breaks off.
    pub fn visit_events(
        &self,
        query: &EventQuery,
        mut visitor: impl FnMut(Event) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        self.scan(query, |columns| columns.event().map(&mut visitor))
    }

    /// Passes the matching events of wanted kinds, decoded, to the visitor. Returns the number
    /// of the last matching event, wanted or not: the next reading continues from there.
    pub fn visit_kinds(
        &self,
        query: &EventQuery,
        is_wanted: impl Fn(&str) -> bool,
        mut visitor: impl FnMut(Event),
    ) -> Result<u64, JournalError> {
        let mut last = query.after;
        self.scan(query, |columns| {
            last = columns.seq();
            if columns.kind().is_none_or(&is_wanted) {
                visitor(columns.event()?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(last)
    }

    /// Passes every matching event to the visitor as it is stored, damaged ones too. The
    /// visitor decides which of them to decode, and what to do about those that cannot be
    /// decoded.
    pub fn visit_rows(
        &self,
        query: &EventQuery,
        mut visitor: impl FnMut(&JournalRecordRef<'_>),
    ) -> Result<(), JournalError> {
        self.scan(query, |columns| {
            visitor(&JournalRecordRef::new(*columns));
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Returns every matching event. Limit the query if there may be many.
    pub fn records(&self, query: &EventQuery) -> Result<Vec<JournalRecord>, JournalError> {
        let mut records = Vec::new();
        self.visit(query, |record| {
            records.push(record);
            ControlFlow::Continue(())
        })?;
        Ok(records)
    }

    /// Returns the journal's current version. This costs far less than reading anything, so
    /// callers that cache what they read check it first.
    pub fn sight(&self) -> Result<JournalVersion, JournalError> {
        let mut lookout = self.lookout.lock().unwrap_or_else(PoisonError::into_inner);
        let lookout = &mut *lookout;
        let now = identity(&self.path);
        if lookout.identity != now {
            lookout.connection = None;
            lookout.identity = now;
        }
        let connection = match &mut lookout.connection {
            Some(connection) => connection,
            empty => {
                lookout.number += 1;
                empty.insert(connect::reader(&self.path)?)
            }
        };
        let version = connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut asked| asked.query_row([], |row| row.get(0)))
            .map_err(|error| JournalError::sqlite(&self.path, &error))?;
        Ok(JournalVersion {
            lookout: lookout.number,
            version,
        })
    }

    /// Returns the sequence number of the last event.
    pub fn head(&self) -> Result<u64, JournalError> {
        self.with(|connection| Ok(JournalHead::read(connection)?.map_or(0, |head| head.seq)))
    }

    /// Lists the leases that somebody holds or left behind, without those that were released.
    pub fn leases(&self) -> Result<Vec<LeaseInfo>, JournalError> {
        self.with(lease::list)
    }

    /// Returns at most `limit` distinct traces whose own id begins with `prefix`, or that have
    /// a run or session whose id does.
    pub fn traces(
        &self,
        by: TraceLookupKey,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<String>, JournalError> {
        self.with_result(|main| {
            let failed = |error: rusqlite::Error| JournalError::sqlite(&self.path, &error);
            let archives = archive::connections(main, &self.home, 0)?;
            let mut found = BTreeSet::new();
            for connection in std::iter::once(main).chain(&archives) {
                let some = distinct_traces(connection, by, prefix, limit).map_err(failed)?;
                found.extend(some);
            }
            Ok(found.into_iter().take(limit).collect())
        })
    }

    /// Passes the matching raw rows to the visitor, merged with those of the archives in the
    /// order of the query.
    pub(crate) fn scan(
        &self,
        query: &EventQuery,
        visitor: impl FnMut(&RawEventRow<'_>) -> Result<ControlFlow<()>, JournalError>,
    ) -> Result<(), JournalError> {
        self.with_result(|connection| {
            let failed = |error: rusqlite::Error| JournalError::sqlite(&self.path, &error);
            // One transaction, so that the list of archives and the rows that are not in them
            // agree.
            let view = connection.unchecked_transaction().map_err(failed)?;
            scan(&view, &self.home, query, visitor)
        })
    }

    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, JournalError> {
        self.with_result(|connection| {
            read(connection).map_err(|error| JournalError::sqlite(&self.path, &error))
        })
    }

    fn with_result<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let connection = match self.take_idle() {
            Some(connection) => connection,
            None => connect::reader(&self.path)?,
        };
        let answer = read(&connection)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.connections.len() < MOST_IDLE && idle.identity == identity(&self.path) {
            idle.connections.push(connection);
        }
        Ok(answer)
    }

    /// Returns an idle connection, unless another file took the journal's place: a reader
    /// follows the file's name, as everyone does who opens it.
    fn take_idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let now = identity(&self.path);
        if idle.identity != now {
            idle.connections.clear();
            idle.identity = now;
        }
        idle.connections.pop()
    }

    /// Checks the events of one run: a run must be resumed from what was recorded. Every
    /// stretch between two signatures that holds an event of the run is hashed again.
    pub fn check_run(&self, run: RunId, workshop: WorkshopId) -> Result<(), JournalError> {
        let keys = JournalSigningKeys::load(self.home.data(), workshop)?;
        let filter = EventFilter {
            run: Some(run.to_string()),
            ..EventFilter::default()
        };
        let mut stretches = BTreeSet::new();
        self.scan(&EventQuery::of(filter), |columns| {
            stretches.insert((columns.seq() - 1) / CHECKPOINT_EVERY);
            Ok(ControlFlow::Continue(()))
        })?;
        self.with_result(|connection| {
            let failed = |error: rusqlite::Error| JournalError::sqlite(&self.path, &error);
            let view = connection.unchecked_transaction().map_err(failed)?;
            stretches.into_iter().try_for_each(|stretch| {
                head::check_stretch(&view, &self.home, &keys, workshop, stretch)
            })
        })
    }

    /// Returns the identity of the file that has the journal's name now.
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        identity(&self.path)
    }

    pub(crate) fn home(&self) -> &JournalFolders {
        &self.home
    }

    /// Lists the streams that a prune with this `before` would move, with their numbers of
    /// events.
    pub fn finished_streams(
        &self,
        before: Timestamp,
        is_final: fn(&str) -> bool,
    ) -> Result<Vec<(String, u64)>, JournalError> {
        self.with(|connection| {
            let streams = archive::finished(connection, before, is_final)?;
            Ok(streams
                .into_iter()
                .map(|found| (found.stream, found.events.cast_unsigned()))
                .collect())
        })
    }

    /// Returns the keys that signed this journal, for the person who decides whether to trust
    /// it. A row whose signature does not match its signer is ignored.
    pub fn signers(&self) -> Result<Vec<[u8; 32]>, JournalError> {
        self.with(|connection| {
            let mut statement =
                connection.prepare("SELECT seq, hash, at, signer, signature FROM checkpoint")?;
            let mut rows = statement.query([])?;
            let mut signers = BTreeSet::new();
            while let Some(row) = rows.next()? {
                let seq = row.get::<_, i64>(0)?.cast_unsigned();
                let (hash, signer, signature): (Vec<u8>, Vec<u8>, Vec<u8>) =
                    (row.get(1)?, row.get(3)?, row.get(4)?);
                let message = checkpoint_message(seq, &hash, row.get(2)?);
                if let Ok(signer) = <[u8; 32]>::try_from(signer)
                    && !signers.contains(&signer)
                    && keys::is_signed(&signer, &message, &signature)
                {
                    signers.insert(signer);
                }
            }
            Ok(signers.into_iter().collect())
        })
    }
}

/// The file that a row was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordOrigin {
    Journal,
    /// An archive, by its position in [`archive::list`].
    Archive(usize),
}

fn distinct_traces(
    connection: &Connection,
    by: TraceLookupKey,
    prefix: &str,
    limit: usize,
) -> rusqlite::Result<BTreeSet<String>> {
    let column = match by {
        TraceLookupKey::Trace => "trace",
        TraceLookupKey::Run => "run",
        TraceLookupKey::Session => "session",
    };
    // Jumps from one id to the next past everything in between: an id may have very many
    // events.
    let next = |from: &str, first: &str| {
        let sql = format!(
            "SELECT {column}, trace FROM event WHERE {column} {from} ? AND {column} < ? \
             AND +seq > 0 ORDER BY {column} LIMIT 1",
        );
        let found = connection
            .prepare_cached(&sql)?
            .query_row((first, format!("{prefix}\u{10FFFF}")), |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            });
        found.optional()
    };
    let mut traces = BTreeSet::new();
    let mut found = next(">=", prefix)?;
    while let Some((id, trace)) = found {
        traces.insert(trace);
        if traces.len() >= limit {
            break;
        }
        found = next(">", &id)?;
    }
    Ok(traces)
}

/// Merges the rows of the journal and of its archives by sequence number.
pub(crate) fn scan(
    main: &Connection,
    home: &JournalFolders,
    query: &EventQuery,
    mut visitor: impl FnMut(&RawEventRow<'_>) -> Result<ControlFlow<()>, JournalError>,
) -> Result<(), JournalError> {
    scan_with_origin(main, home, query, |_, columns| visitor(columns))
}

/// Does the same as [`scan`], and also gives the origin of each row.
pub(crate) fn scan_with_origin(
    main: &Connection,
    home: &JournalFolders,
    query: &EventQuery,
    mut visitor: impl FnMut(RecordOrigin, &RawEventRow<'_>) -> Result<ControlFlow<()>, JournalError>,
) -> Result<(), JournalError> {
    use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
    let failed = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
    let archives = archive::connections(main, home, query.after)?;
    let (sql, values) = query.sql();
    let mut statements: Vec<CachedStatement<'_>> = std::iter::once(main)
        .chain(&archives)
        .map(|connection| connection.prepare_cached(&sql))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    let mut sources = Vec::with_capacity(statements.len());
    for statement in &mut statements {
        let mut rows = statement.query(params(&values)).map_err(failed)?;
        rows.advance().map_err(failed)?;
        sources.push(rows);
    }
    let mut left = query.limit.unwrap_or(u64::MAX);
    while left > 0 {
        let Some(next) = nearest(&sources, query.order).map_err(failed)? else {
            break;
        };
        if let Some(row) = sources[next].get() {
            let columns = RawEventRow::of_row(row).map_err(failed)?;
            let origin = match next.checked_sub(1) {
                None => RecordOrigin::Journal,
                Some(archive) => RecordOrigin::Archive(archive),
            };
            if visitor(origin, &columns)?.is_break() {
                break;
            }
        }
        sources[next].advance().map_err(failed)?;
        left -= 1;
    }
    Ok(())
}

fn params(values: &[Value]) -> impl rusqlite::Params + '_ {
    rusqlite::params_from_iter(values)
}

/// Returns the source that has the next row.
fn nearest(
    sources: &[rusqlite::Rows<'_>],
    order: EventSortOrder,
) -> rusqlite::Result<Option<usize>> {
    use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
    if let [only] = sources {
        return Ok(only.get().map(|_| 0));
    }
    let mut best: Option<(i64, usize)> = None;
    for (at, rows) in sources.iter().enumerate() {
        let Some(row) = rows.get() else { continue };
        let seq: i64 = row.get(0)?;
        let is_nearer = best.is_none_or(|(other, _)| match order {
            EventSortOrder::OldestFirst => seq < other,
            EventSortOrder::NewestFirst => seq > other,
        });
        if is_nearer {
            best = Some((seq, at));
        }
    }
    Ok(best.map(|(_, at)| at))
}

impl std::fmt::Debug for JournalReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JournalReader({})", self.path.display())
    }
}
