//! One row of the `event` table as stored, to be hashed or decoded.

use artel_types::{Actor, Event, EventOutcome, Fact, FactDecodeError, StreamName, Timestamp};
use rusqlite::types::ValueRef;
use rusqlite::{Row, ToSql};

use crate::error::JournalError;
use crate::record::JournalRecord;

macro_rules! names {
    () => {
        "seq, stream, stream_seq, at, trace, session, run, cause, actor, via, kind, target, \
         outcome, visibility, schema, payload, prev, hash"
    };
}

/// The columns in table order. The hash covers all of them except itself.
pub(crate) const SELECT: &str = names!();

/// Inserts one row; [`RawEventRow::params`] has the values.
pub(crate) const INSERT: &str = concat!(
    "INSERT INTO event (",
    names!(),
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
);

/// Number of columns in the table.
pub(crate) const WIDTH: usize = 18;

const PREV: usize = 16;
const HASH: usize = 17;

/// A borrowed row. It holds raw values, so whatever is in the file is hashed as it is, even
/// where a tampered column has lost its type.
#[derive(Clone, Copy)]
pub(crate) struct RawEventRow<'a>([ValueRef<'a>; WIDTH]);

impl<'a> RawEventRow<'a> {
    pub(crate) fn of_row(row: &'a Row<'_>) -> rusqlite::Result<Self> {
        let mut values = [ValueRef::Null; WIDTH];
        for (at, value) in values.iter_mut().enumerate() {
            *value = row.get_ref(at)?;
        }
        Ok(Self(values))
    }

    pub(crate) fn of_record(record: &'a JournalRecord) -> Self {
        let text = |text: &'a str| ValueRef::Text(text.as_bytes());
        let optional = |value: &'a Option<String>| value.as_deref().map_or(ValueRef::Null, text);
        let number = |number: u64| ValueRef::Integer(number.cast_signed());
        Self([
            number(record.seq),
            text(&record.stream),
            number(record.stream_seq),
            ValueRef::Integer(record.at.as_micros()),
            text(&record.trace),
            optional(&record.session),
            optional(&record.run),
            record.cause.map_or(ValueRef::Null, number),
            text(&record.actor),
            optional(&record.via),
            text(&record.kind),
            optional(&record.target),
            optional(&record.outcome),
            text(&record.visibility),
            number(u64::from(record.schema)),
            text(&record.payload),
            ValueRef::Blob(&record.prev),
            ValueRef::Blob(&record.hash),
        ])
    }

    /// Returns the values for an insert.
    pub(crate) fn params(&self) -> [BorrowedSqlValue<'a>; WIDTH] {
        self.0.map(BorrowedSqlValue)
    }

    /// Returns everything that the hash covers.
    pub(crate) fn hashed(&self) -> &[ValueRef<'a>] {
        &self.0[..HASH]
    }

    /// Returns the hashed values with `prev` in place of the stored one.
    pub(crate) fn hashed_with_prev<'b>(&self, prev: &'b [u8]) -> [ValueRef<'b>; HASH]
    where
        'a: 'b,
    {
        let mut values = [ValueRef::Null; HASH];
        values.copy_from_slice(&self.0[..HASH]);
        values[PREV] = ValueRef::Blob(prev);
        values
    }

    /// Returns the value of the column at this position.
    pub(crate) fn value(&self, at: usize) -> ValueRef<'a> {
        self.0[at]
    }

    pub(crate) fn seq(&self) -> u64 {
        match self.0[0] {
            ValueRef::Integer(seq) => seq.cast_unsigned(),
            _ => 0,
        }
    }

    pub(crate) fn prev(&self) -> Option<[u8; 32]> {
        self.bytes(PREV)
    }

    pub(crate) fn hash(&self) -> Option<[u8; 32]> {
        self.bytes(HASH)
    }

    pub(crate) fn kind(&self) -> Option<&'a str> {
        self.text(10).ok()
    }

    pub(crate) fn payload(&self) -> Option<&'a str> {
        self.text(15).ok()
    }

    fn bytes(&self, at: usize) -> Option<[u8; 32]> {
        match self.0[at] {
            ValueRef::Blob(bytes) => bytes.try_into().ok(),
            _ => None,
        }
    }

    fn bad(&self, what: impl Into<String>) -> JournalError {
        JournalError::Decode {
            seq: self.seq(),
            what: what.into(),
        }
    }

    pub(crate) fn text(&self, at: usize) -> Result<&'a str, JournalError> {
        self.optional(at)?
            .ok_or_else(|| self.bad(format!("column {at} is empty")))
    }

    pub(crate) fn optional(&self, at: usize) -> Result<Option<&'a str>, JournalError> {
        match self.0[at] {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => std::str::from_utf8(bytes)
                .map(Some)
                .map_err(|_| self.bad(format!("column {at} is not UTF-8"))),
            _ => Err(self.bad(format!("column {at} is not text"))),
        }
    }

    fn number(&self, at: usize) -> Result<u64, JournalError> {
        match self.0[at] {
            ValueRef::Integer(number) => Ok(number.cast_unsigned()),
            _ => Err(self.bad(format!("column {at} is not a number"))),
        }
    }

    pub(crate) fn at(&self) -> Result<Timestamp, JournalError> {
        Ok(Timestamp::from_micros(self.number(3)?.cast_signed()))
    }

    fn cause(&self) -> Result<Option<u64>, JournalError> {
        if self.0[7] == ValueRef::Null {
            Ok(None)
        } else {
            self.number(7).map(Some)
        }
    }

    /// Copies the row, with strings as they are stored.
    pub(crate) fn record(&self) -> Result<JournalRecord, JournalError> {
        let owned = |at| self.optional(at).map(|text| text.map(str::to_owned));
        Ok(JournalRecord {
            seq: self.number(0)?,
            stream: self.text(1)?.to_owned(),
            stream_seq: self.number(2)?,
            at: self.at()?,
            trace: self.text(4)?.to_owned(),
            session: owned(5)?,
            run: owned(6)?,
            cause: self.cause()?,
            actor: self.text(8)?.to_owned(),
            via: owned(9)?,
            kind: self.text(10)?.to_owned(),
            target: owned(11)?,
            outcome: owned(12)?,
            visibility: self.text(13)?.to_owned(),
            schema: u32::try_from(self.number(14)?).unwrap_or(u32::MAX),
            payload: self.text(15)?.to_owned(),
            prev: self
                .prev()
                .ok_or_else(|| self.bad("`prev` is not a hash"))?,
            hash: self
                .hash()
                .ok_or_else(|| self.bad("`hash` is not a hash"))?,
        })
    }

    /// Decodes the row into the event that state machines fold.
    pub(crate) fn event(&self) -> Result<Event, JournalError> {
        let id = |at: usize| -> Result<&'a str, JournalError> { self.text(at) };
        let bad = |what: &str| self.bad(what);
        let schema = u32::try_from(self.number(14)?).unwrap_or(u32::MAX);
        Ok(Event {
            seq: self.number(0)?,
            stream: StreamName::new(self.text(1)?).map_err(|error| self.bad(error.to_string()))?,
            stream_seq: self.number(2)?,
            at: self.at()?,
            trace: id(4)?.parse().map_err(|_| bad("`trace` is not an id"))?,
            session: self.parsed(5, "`session` is not an id")?,
            run: self.parsed(6, "`run` is not an id")?,
            cause: self.cause()?,
            actor: Actor::from_columns(self.text(8)?, self.optional(9)?)
                .map_err(|error| self.bad(error.to_string()))?,
            target: self.optional(11)?.map(str::to_owned),
            outcome: self.parsed::<EventOutcome>(12, "`outcome` is not a known word")?,
            visibility: self
                .text(13)?
                .parse()
                .map_err(|()| bad("`visibility` is not known"))?,
            fact: self
                .fact(schema)
                .map_err(|error| JournalError::decode(self.seq(), &error))?,
        })
    }

    fn fact(&self, schema: u32) -> Result<Fact, FactDecodeError> {
        Fact::decode(
            self.kind().unwrap_or_default(),
            schema,
            self.payload().unwrap_or_default(),
        )
    }

    fn parsed<T: std::str::FromStr>(
        &self,
        at: usize,
        what: &str,
    ) -> Result<Option<T>, JournalError> {
        self.optional(at)?
            .map(|text| text.parse().map_err(|_| self.bad(what)))
            .transpose()
    }
}

/// An SQL value that is bound without being copied.
pub(crate) struct BorrowedSqlValue<'a>(ValueRef<'a>);

impl ToSql for BorrowedSqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(self.0))
    }
}
