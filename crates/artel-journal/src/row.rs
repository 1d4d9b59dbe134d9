//! A borrowed stored event: its envelope is cheap to read, and its fact is decoded only on
//! demand.

use artel_types::{Event, RunId, Timestamp, TraceId};

use crate::columns::RawEventRow;
use crate::error::JournalError;
use crate::record::JournalRecord;

/// A stored event that is borrowed. A fold over a long journal sees every event and decodes
/// only the few it needs.
pub struct JournalRecordRef<'r>(RawEventRow<'r>);

impl<'r> JournalRecordRef<'r> {
    /// Borrows a record.
    pub fn of(record: &'r JournalRecord) -> Self {
        Self(RawEventRow::of_record(record))
    }

    pub(crate) fn new(columns: RawEventRow<'r>) -> Self {
        Self(columns)
    }

    /// Returns the sequence number among all events, from 1.
    pub fn seq(&self) -> u64 {
        self.0.seq()
    }

    /// Returns when the event was recorded, or `None` if the column is damaged.
    pub fn at(&self) -> Option<Timestamp> {
        self.0.at().ok()
    }

    /// Returns the dotted kind, or `None` if the column is damaged.
    pub fn kind(&self) -> Option<&'r str> {
        self.0.kind()
    }

    /// Returns the stream of the event, or `None` if the column is damaged.
    pub fn stream(&self) -> Option<&'r str> {
        self.0.text(1).ok()
    }

    /// Returns the trace of the event, if the column names one.
    pub fn trace(&self) -> Option<TraceId> {
        self.0.text(4).ok()?.parse().ok()
    }

    /// Returns the run of the event, if the column names one.
    pub fn run(&self) -> Option<RunId> {
        self.0.optional(6).ok()??.parse().ok()
    }

    /// Copies the event as it is stored.
    pub fn record(&self) -> Result<JournalRecord, JournalError> {
        self.0.record()
    }

    /// Decodes the row into the typed event.
    pub fn event(&self) -> Result<Event, JournalError> {
        self.0.event()
    }
}

impl std::fmt::Debug for JournalRecordRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "JournalRecordRef({}, {})",
            self.seq(),
            self.kind().unwrap_or("?")
        )
    }
}
