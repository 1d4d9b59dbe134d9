//! SQLite alone: the same rows into the same tables at the same durability, without hash
//! chain, signatures, write turns or acknowledgements.

use std::path::Path;
use std::time::Instant;

use artel_journal::{CommitDurability, EventBatch};
use artel_testkit::Scratch;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::append::Round;
use crate::events::Work;

/// Number of rows per transaction.
const BATCH: usize = 64;

/// A loop that inserts prepared rows.
pub(crate) struct Bare {
    connection: Connection,
    insert: String,
    rows: std::vec::IntoIter<Vec<Value>>,
    _folder: tempfile::TempDir,
}

impl Bare {
    /// Prepares `count` rows. Tables, indexes and rows are read from a real journal, so
    /// that they match what a journal has. Each batch holds a row from each of 64 runs, as
    /// when 64 appenders share a commit: rows of a single run would touch far fewer pages
    /// of the indexes.
    pub(crate) fn new(folder: &Path, count: usize) -> Self {
        let mut source = Scratch::inside(folder);
        source.options.durability = CommitDurability::Normal;
        let journal = source.create();
        let mut runs: Vec<Work> = (0..BATCH as u64).map(|run| Work::of_seed(!run)).collect();
        for _ in 0..count.div_ceil(BATCH) {
            let drafts = runs.iter_mut().flat_map(|run| run.take(1));
            journal.append(EventBatch::of(drafts)).wait().unwrap();
        }
        drop(journal);
        let source = Connection::open(source.home.journal()).unwrap();
        let folder = tempfile::tempdir_in(folder).unwrap();
        let connection = Connection::open(folder.path().join("bare.db")).unwrap();
        let page: i64 = source
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .unwrap();
        connection.pragma_update(None, "page_size", page).unwrap();
        for (name, value) in [
            ("journal_mode", "WAL"),
            ("synchronous", "FULL"),
            ("wal_autocheckpoint", "8000"),
            ("cache_size", "-16000"),
        ] {
            connection.pragma_update(None, name, value).unwrap();
        }
        for sql in schema(&source) {
            connection.execute_batch(&sql).unwrap();
        }
        let rows = rows(&source);
        let marks = vec!["?"; rows[0].len()].join(", ");
        Self {
            connection,
            insert: format!("INSERT INTO event VALUES ({marks})"),
            rows: rows.into_iter(),
            _folder: folder,
        }
    }

    /// Inserts `count` rows.
    pub(crate) fn round(&mut self, count: usize) -> Round {
        let rows: Vec<Vec<Value>> = self.rows.by_ref().take(count).collect();
        let begun = Instant::now();
        let waits = rows.chunks(BATCH).map(|batch| {
            let begun = Instant::now();
            self.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            let mut insert = self.connection.prepare_cached(&self.insert).unwrap();
            for row in batch {
                insert.execute(params_from_iter(row)).unwrap();
            }
            self.connection.execute_batch("COMMIT").unwrap();
            begun.elapsed()
        });
        let waits = waits.collect();
        Round::new(rows.len(), begun.elapsed(), waits)
    }
}

fn schema(source: &Connection) -> Vec<String> {
    let mut statement = source
        .prepare("SELECT sql FROM sqlite_schema WHERE sql NOT NULL AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let lines = statement.query_map([], |row| row.get(0)).unwrap();
    lines.collect::<Result<_, _>>().unwrap()
}

fn rows(source: &Connection) -> Vec<Vec<Value>> {
    let mut statement = source.prepare("SELECT * FROM event ORDER BY seq").unwrap();
    let width = statement.column_count();
    let rows = statement.query_map([], |row| (0..width).map(|at| row.get(at)).collect());
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}
