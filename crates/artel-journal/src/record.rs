//! An event as stored: readable whatever its kind, even one that this build does not know.

use artel_types::{Event, Timestamp};
use serde::Serialize;
use serde::ser::SerializeStruct as _;

use crate::columns::RawEventRow;
use crate::error::JournalError;
use crate::keys::hex;

/// A stored event with its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRecord {
    /// Sequence number among all events, from 1.
    pub seq: u64,
    /// Stream that the event belongs to.
    pub stream: String,
    /// Position in that stream, from 1.
    pub stream_seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// Trace id of the piece of work it belongs to.
    pub trace: String,
    /// Session id, if any.
    pub session: Option<String>,
    /// Run id, if any.
    pub run: Option<String>,
    /// Sequence number of the event that led to this one.
    pub cause: Option<u64>,
    /// Actor who did it, as `kind:id`.
    pub actor: String,
    /// Surface through which it was done.
    pub via: Option<String>,
    /// Kind of the event, as a dotted name.
    pub kind: String,
    /// Target that it was done to.
    pub target: Option<String>,
    /// Outcome of the act.
    pub outcome: Option<String>,
    /// Visibility: who is shown the event.
    pub visibility: String,
    /// Schema version of the payload.
    pub schema: u32,
    /// The payload as JSON text.
    pub payload: String,
    /// Hash of the previous event.
    pub prev: [u8; 32],
    /// Hash of this event.
    pub hash: [u8; 32],
}

impl JournalRecord {
    /// Decodes the record into the typed event.
    pub fn event(&self) -> Result<Event, JournalError> {
        RawEventRow::of_record(self).event()
    }
}

impl Serialize for JournalRecord {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, id) = self.actor.split_once(':').unwrap_or(("", &self.actor));
        let mut map = serializer.serialize_struct("Record", 17)?;
        map.serialize_field("seq", &self.seq)?;
        map.serialize_field("stream", &self.stream)?;
        map.serialize_field("stream_seq", &self.stream_seq)?;
        map.serialize_field("at", &self.at)?;
        map.serialize_field("trace", &self.trace)?;
        map.serialize_field("session", &self.session)?;
        map.serialize_field("run", &self.run)?;
        map.serialize_field("cause", &self.cause)?;
        map.serialize_field(
            "actor",
            &RecordActorJson {
                kind,
                id,
                via: self.via.as_deref(),
            },
        )?;
        map.serialize_field("kind", &self.kind)?;
        map.serialize_field("target", &self.target)?;
        map.serialize_field("outcome", &self.outcome)?;
        map.serialize_field("visibility", &self.visibility)?;
        map.serialize_field("schema", &self.schema)?;
        match serde_json::from_str::<serde_json::Value>(&self.payload) {
            Ok(payload) => map.serialize_field("payload", &payload)?,
            // A damaged payload is still shown, as the text it is.
            Err(_) => map.serialize_field("payload", &self.payload)?,
        }
        map.serialize_field("prev", &hex(&self.prev))?;
        map.serialize_field("hash", &hex(&self.hash))?;
        map.end()
    }
}

#[derive(Serialize)]
struct RecordActorJson<'a> {
    kind: &'a str,
    id: &'a str,
    via: Option<&'a str>,
}
