//! Proves that the indexes of the event table agree with the events.
//!
//! `PRAGMA integrity_check` looks up every event in every index, which takes longer than
//! following the chain. Here each index is read once from end to end. If its entries
//! ascend, and together are exactly those that the events require, then every look-up finds
//! what it should. Sums of keyed hashes show that the entries are the same; nobody knew the
//! key when the file was written.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::ops::Range;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::columns::{RawEventRow, SELECT};

/// The indexes of the `event` table, as the file defines them.
#[derive(Debug, Clone)]
pub(crate) struct EventTableIndexes {
    list: Vec<EventTableIndex>,
    key: RandomState,
}

#[derive(Debug, Clone)]
struct EventTableIndex {
    name: String,
    /// Positions of the indexed columns in a row.
    columns: Vec<usize>,
    /// Whether the index leaves out events without a value.
    is_partial: bool,
}

/// For each index, the sum over its entries; their order does not matter.
pub(crate) type Sums = Vec<u64>;

/// Sums of the index entries that the events require, added up while the events are read.
pub(crate) struct ExpectedIndexSums {
    indexes: EventTableIndexes,
    sums: Sums,
    entry: Vec<u8>,
}

impl ExpectedIndexSums {
    pub(crate) fn new(indexes: EventTableIndexes) -> Self {
        Self {
            sums: vec![0; indexes.list.len()],
            indexes,
            entry: Vec::new(),
        }
    }

    /// Adds the entries of one event.
    pub(crate) fn add(&mut self, columns: &RawEventRow<'_>) {
        for (index, sum) in self.indexes.list.iter().zip(&mut self.sums) {
            let values = index.columns.iter().map(|at| columns.value(*at));
            if index.is_partial && values.clone().any(|value| value == ValueRef::Null) {
                continue;
            }
            encode(values.chain([columns.value(0)]), &mut self.entry);
            *sum = sum.wrapping_add(self.indexes.hash(&self.entry));
        }
    }

    /// Compares the sums with those of the indexes, and names the first index that differs.
    pub(crate) fn compare(&self, found: &Sums) -> Result<(), String> {
        let mut pairs = self.sums.iter().zip(found);
        match pairs.position(|(asked, found)| asked != found) {
            None => Ok(()),
            Some(at) => Err(format!(
                "index {} does not hold what the events say",
                self.indexes.list[at].name
            )),
        }
    }
}

impl EventTableIndexes {
    /// Reads the definitions, or returns `None` if one of them has an unknown form.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let mut statement = connection.prepare(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'event'",
        )?;
        let mut rows = statement.query([])?;
        let mut list = Vec::new();
        while let Some(row) = rows.next()? {
            let (name, sql): (String, Option<String>) = (row.get(0)?, row.get(1)?);
            let Some(index) = sql.and_then(|sql| EventTableIndex::parse(name, &sql)) else {
                return Ok(None);
            };
            list.push(index);
        }
        let key = RandomState::new();
        Ok(Some(Self { list, key }))
    }

    /// Reads every index from end to end. Skips the entries of events in `later`, which were
    /// appended after the view that the events are read from.
    pub(crate) fn add_up(
        &self,
        connection: &Connection,
        later: &Range<i64>,
    ) -> Result<Sums, String> {
        let sum = |index: &EventTableIndex| {
            self.add_up_one(connection, index, later)
                .map_err(|error| format!("index {}: {error}", index.name))?
                .ok_or_else(|| format!("index {} is out of order", index.name))
        };
        self.list.iter().map(sum).collect()
    }

    fn add_up_one(
        &self,
        connection: &Connection,
        index: &EventTableIndex,
        later: &Range<i64>,
    ) -> rusqlite::Result<Option<u64>> {
        let mut statement = connection.prepare(&index.sql())?;
        let width = statement.column_count();
        let mut rows = statement.query([])?;
        let (mut sum, mut entry, mut before) = (0_u64, Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            let mut values = [ValueRef::Null; 4];
            for (at, value) in values[..width].iter_mut().enumerate() {
                *value = row.get_ref(at)?;
            }
            encode(values[..width].iter().copied(), &mut entry);
            if entry <= before {
                return Ok(None);
            }
            if !matches!(values[width - 1], ValueRef::Integer(seq) if later.contains(&seq)) {
                sum = sum.wrapping_add(self.hash(&entry));
            }
            std::mem::swap(&mut entry, &mut before);
        }
        Ok(Some(sum))
    }

    fn hash(&self, entry: &[u8]) -> u64 {
        let mut hasher = self.key.build_hasher();
        hasher.write(entry);
        hasher.finish()
    }
}

impl EventTableIndex {
    /// Parses the forms that our own formats use: columns, optionally restricted to those that
    /// are not null.
    fn parse(name: String, sql: &str) -> Option<Self> {
        let rest = sql.strip_prefix(&format!("CREATE INDEX {name} ON event ("))?;
        let (list, condition) = rest.split_once(')')?;
        let place = |wanted: &str| SELECT.split(", ").position(|column| column == wanted);
        let columns: Vec<usize> = list.split(", ").map(place).collect::<Option<_>>()?;
        let is_partial = condition == format!(" WHERE {list} IS NOT NULL");
        let is_known = (is_partial || condition.is_empty()) && columns.len() <= 3;
        is_known.then_some(Self {
            name,
            columns,
            is_partial,
        })
    }

    /// Returns the statement that reads the entries in index order.
    fn sql(&self) -> String {
        let names: Vec<&str> = SELECT.split(", ").collect();
        let list: Vec<&str> = self.columns.iter().map(|at| names[*at]).collect();
        let list = list.join(", ");
        let condition = if self.is_partial {
            format!(" WHERE {list} IS NOT NULL")
        } else {
            String::new()
        };
        let name = &self.name;
        format!("SELECT {list}, seq FROM event INDEXED BY {name}{condition}")
    }
}

/// Encodes an entry. Different entries have different bytes, and the bytes sort as SQLite
/// sorts the entries.
fn encode<'a>(values: impl Iterator<Item = ValueRef<'a>>, entry: &mut Vec<u8>) {
    entry.clear();
    for value in values {
        match value {
            ValueRef::Null => entry.push(0),
            ValueRef::Integer(number) => {
                entry.push(1);
                entry.extend_from_slice(&(number ^ i64::MIN).to_be_bytes());
            }
            // No indexed column ever holds a real number. If one does, its wrong order shows the
            // damage.
            ValueRef::Real(number) => {
                entry.push(2);
                entry.extend_from_slice(&number.to_bits().to_be_bytes());
            }
            ValueRef::Text(bytes) => encode_bytes(3, bytes, entry),
            ValueRef::Blob(bytes) => encode_bytes(4, bytes, entry),
        }
    }
}

/// Writes bytes with a zero at the end, and escapes the zeros within them.
fn encode_bytes(tag: u8, bytes: &[u8], entry: &mut Vec<u8>) {
    entry.push(tag);
    for (number, part) in bytes.split(|byte| *byte == 0).enumerate() {
        if number > 0 {
            entry.extend_from_slice(&[0, 0xff]);
        }
        entry.extend_from_slice(part);
    }
    entry.push(0);
}
