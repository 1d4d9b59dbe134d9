//! Reads events, also from a damaged file as far as it goes, also those that were archived.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use artel_types::{Event, RunId, Timestamp, WorkshopId};
use rusqlite::types::Value;
use rusqlite::{Connection, Statement};

use crate::archive;
use crate::chain::Hasher;
use crate::columns::Columns;
use crate::connect;
use crate::error::JournalError;
use crate::head::Head;
use crate::home::Home;
use crate::lease::{self, LeaseInfo};
use crate::query::{Filter, Order, Query};
use crate::record::Record;

/// Reads a journal. It never writes, and never waits for a writer.
pub struct Reader {
    home: Home,
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Reader {
    /// Opens the journal for reading.
    pub fn open(home: &Home) -> Result<Self, JournalError> {
        let path = home.journal();
        let first = connect::reader(&path)?;
        Ok(Self {
            home: home.clone(),
            path,
            idle: Mutex::new(vec![first]),
        })
    }

    /// Refuses a journal that names another workshop. One that no longer says whose it is, is
    /// damaged, and can still be read.
    pub fn refuse_foreign(&self, workshop: WorkshopId) -> Result<(), JournalError> {
        self.with_result(|connection| {
            match crate::journal::refuse_foreign(connection, &self.path, workshop) {
                Err(error @ JournalError::Foreign { .. }) => Err(error),
                _ => Ok(()),
            }
        })
    }

    /// Hands over every event that fits until the visitor breaks off.
    pub fn visit(
        &self,
        query: &Query,
        mut visitor: impl FnMut(Record) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        self.scan(query, |columns| columns.record().map(&mut visitor))
    }

    /// Hands over every event that fits, decoded.
    pub fn visit_events(
        &self,
        query: &Query,
        mut visitor: impl FnMut(Event) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        self.scan(query, |columns| columns.event().map(&mut visitor))
    }

    /// Returns every event that fits. Bound the query where there may be many.
    pub fn records(&self, query: &Query) -> Result<Vec<Record>, JournalError> {
        let mut records = Vec::new();
        self.visit(query, |record| {
            records.push(record);
            ControlFlow::Continue(())
        })?;
        Ok(records)
    }

    /// Returns the sequence number of the last event.
    pub fn head(&self) -> Result<u64, JournalError> {
        self.with(|connection| Ok(Head::read(connection)?.map_or(0, |head| head.seq)))
    }

    /// Lists the leases.
    pub fn leases(&self) -> Result<Vec<LeaseInfo>, JournalError> {
        self.with(lease::list)
    }

    /// Returns the distinct traces that begin like this, at most `limit`.
    pub fn traces(&self, prefix: &str, limit: usize) -> Result<Vec<String>, JournalError> {
        let filter = crate::Filter {
            trace: Some(prefix.to_owned()),
            ..Default::default()
        };
        let mut found = Vec::new();
        self.visit(&Query::of(filter), |record| {
            if !found.contains(&record.trace) {
                found.push(record.trace);
            }
            if found.len() < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(found)
    }

    /// Hands over the raw rows that fit, merged with the archives' in the order asked for.
    pub(crate) fn scan(
        &self,
        query: &Query,
        visitor: impl FnMut(&Columns<'_>) -> Result<ControlFlow<()>, JournalError>,
    ) -> Result<(), JournalError> {
        self.with_result(|connection| {
            let failed = |error: rusqlite::Error| JournalError::sqlite(&self.path, &error);
            // One view of the file: which archives there are, and which rows are not in them.
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
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect::reader(&self.path)?,
        };
        let answer = read(&connection)?;
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(connection);
        Ok(answer)
    }

    /// Hashes the events of one run again: what a run is resumed from must be what was recorded.
    pub fn check_run(&self, run: RunId) -> Result<(), JournalError> {
        let filter = Filter {
            run: Some(run.to_string()),
            ..Filter::default()
        };
        let mut hasher = Hasher::default();
        self.scan(&Query::of(filter), |columns| {
            if columns.hash() == Some(hasher.event(columns.hashed())) {
                return Ok(ControlFlow::Continue(()));
            }
            let what = "changed: its content does not have its hash".to_owned();
            Err(JournalError::Damaged {
                seq: columns.seq(),
                what,
            })
        })
    }

    /// Lists the streams that a prune before this moment would move, with their lengths.
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

    /// Returns the keys that signed this journal, for the person who decides to trust it.
    pub fn signers(&self) -> Result<Vec<[u8; 32]>, JournalError> {
        self.with(|connection| {
            let mut statement = connection.prepare("SELECT DISTINCT signer FROM checkpoint")?;
            let rows = statement.query_map([], |row| row.get(0))?;
            rows.collect()
        })
    }
}

/// Which file a row was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Journal,
    Archive,
}

/// Merges the rows of the journal and of its archives by sequence number.
pub(crate) fn scan(
    main: &Connection,
    home: &Home,
    query: &Query,
    mut visitor: impl FnMut(&Columns<'_>) -> Result<ControlFlow<()>, JournalError>,
) -> Result<(), JournalError> {
    scan_with_origin(main, home, query, |_, columns| visitor(columns))
}

/// The same, and says of each row where it is.
pub(crate) fn scan_with_origin(
    main: &Connection,
    home: &Home,
    query: &Query,
    mut visitor: impl FnMut(Origin, &Columns<'_>) -> Result<ControlFlow<()>, JournalError>,
) -> Result<(), JournalError> {
    use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
    let failed = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
    let archives = archive::connections(main, home)?;
    let (sql, values) = query.sql();
    let mut statements: Vec<Statement<'_>> = std::iter::once(main)
        .chain(&archives)
        .map(|connection| connection.prepare(&sql))
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
            let columns = Columns::of_row(row).map_err(failed)?;
            let origin = if next == 0 {
                Origin::Journal
            } else {
                Origin::Archive
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

/// Returns which source has the next row.
fn nearest(sources: &[rusqlite::Rows<'_>], order: Order) -> rusqlite::Result<Option<usize>> {
    use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
    if let [only] = sources {
        return Ok(only.get().map(|_| 0));
    }
    let mut best: Option<(i64, usize)> = None;
    for (at, rows) in sources.iter().enumerate() {
        let Some(row) = rows.get() else { continue };
        let seq: i64 = row.get(0)?;
        let is_nearer = best.is_none_or(|(other, _)| match order {
            Order::OldestFirst => seq < other,
            Order::NewestFirst => seq > other,
        });
        if is_nearer {
            best = Some((seq, at));
        }
    }
    Ok(best.map(|(_, at)| at))
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reader({})", self.path.display())
    }
}
