//! D-Bus messages: calls that are sent and the replies to them.

use zeroize::Zeroizing;

use crate::wire::{DbusReader, DbusVariant, DbusWriter};

/// Length of a message's fixed part, which says how long the rest is.
pub(crate) const FIXED: usize = 16;

/// Largest message accepted, in bytes.
const LARGEST: usize = 1 << 20;

const LITTLE_ENDIAN: u8 = b'l';
const PROTOCOL: u8 = 1;

const METHOD_CALL: u8 = 1;
const METHOD_RETURN: u8 = 2;
const ERROR: u8 = 3;

const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const ERROR_NAME: u8 = 4;
const REPLY_SERIAL: u8 = 5;
const DESTINATION: u8 = 6;
const SIGNATURE: u8 = 8;

/// A D-Bus method call with its values.
pub(crate) struct DbusCall<'a> {
    pub(crate) destination: &'a str,
    pub(crate) path: &'a str,
    pub(crate) interface: &'a str,
    pub(crate) member: &'a str,
    pub(crate) signature: &'a str,
    pub(crate) body: DbusWriter,
}

impl DbusCall<'_> {
    /// Encodes the whole message.
    pub(crate) fn encode(&self, serial: u32) -> Zeroizing<Vec<u8>> {
        let body = self.body.bytes();
        // Each field takes at most twelve bytes more than its text.
        let names = [
            self.destination,
            self.path,
            self.interface,
            self.member,
            self.signature,
        ];
        let room: usize = names.iter().map(|name| name.len() + 16).sum();
        let mut message = DbusWriter::with_room(FIXED + room + body.len());
        message.raw(&[LITTLE_ENDIAN, METHOD_CALL, 0, PROTOCOL]);
        message.number(u32::try_from(body.len()).unwrap_or(u32::MAX));
        message.number(serial);
        message.array(|fields| {
            let texts = [
                (PATH, "o", self.path),
                (DESTINATION, "s", self.destination),
                (INTERFACE, "s", self.interface),
                (MEMBER, "s", self.member),
            ];
            for (code, kind, text) in texts {
                fields.pad(8).byte(code).signature(kind).text(text);
            }
            if !self.signature.is_empty() {
                let field = fields.pad(8).byte(SIGNATURE).signature("g");
                field.signature(self.signature);
            }
        });
        message.pad(8).raw(body);
        message.into_bytes()
    }
}

/// The reply to a D-Bus call.
pub(crate) struct DbusReply {
    /// Serial number of the call that it answers, or 0 if the message answers none.
    pub(crate) to: u32,
    /// Name of the error if this is an error reply.
    pub(crate) error: Option<String>,
    signature: String,
    body: Zeroizing<Vec<u8>>,
}

impl DbusReply {
    /// Reads the values with `read`. Returns `None` if they have other types than `signature`
    /// or if some are left over.
    pub(crate) fn read<'r, T>(
        &'r self,
        signature: &str,
        read: impl FnOnce(&mut DbusReader<'r>) -> Option<T>,
    ) -> Option<T> {
        let mut reader = DbusReader::of(&self.body);
        (self.signature == signature).then_some(())?;
        let value = read(&mut reader)?;
        reader.is_at_end().then_some(value)
    }

    /// Decodes a message from its fixed part and the rest.
    pub(crate) fn decode(fixed: &[u8; FIXED], rest: &[u8]) -> Option<Self> {
        let (fields_length, _) = lengths(fixed)?;
        let padded = fields_length.checked_next_multiple_of(8)?;
        let (fields, body) = rest.split_at_checked(padded)?;
        let mut reply = Self {
            to: 0,
            error: None,
            signature: String::new(),
            body: Zeroizing::new(body.to_vec()),
        };
        let is_answer = matches!(fixed[1], METHOD_RETURN | ERROR);
        let mut reader = DbusReader::of(&fields[..fields_length]);
        while !reader.is_at_end() {
            reader.pad(8)?;
            match (reader.byte()?, reader.variant()?) {
                (REPLY_SERIAL, DbusVariant::Number(serial)) if is_answer => reply.to = serial,
                (ERROR_NAME, DbusVariant::Text(name)) => reply.error = Some(name.to_owned()),
                (SIGNATURE, DbusVariant::Text(kinds)) => reply.signature = kinds.to_owned(),
                _ => {}
            }
        }
        if fixed[1] == ERROR && reply.error.is_none() {
            return None;
        }
        Some(reply)
    }
}

/// Returns how many bytes follow the fixed part, or `None` if this cannot be the beginning
/// of a message or the message is too large.
pub(crate) fn rest_length(fixed: &[u8; FIXED]) -> Option<usize> {
    let (fields, body) = lengths(fixed)?;
    let length = fields.checked_next_multiple_of(8)?.checked_add(body)?;
    (length <= LARGEST).then_some(length)
}

/// Returns the lengths of the header fields and of the body.
fn lengths(fixed: &[u8; FIXED]) -> Option<(usize, usize)> {
    let mut reader = DbusReader::of(fixed);
    let (order, _, _, protocol) = (
        reader.byte()?,
        reader.byte()?,
        reader.byte()?,
        reader.byte()?,
    );
    let (body, _serial, fields) = (reader.number()?, reader.number()?, reader.number()?);
    (order == LITTLE_ENDIAN && protocol == PROTOCOL).then_some(())?;
    Some((fields.try_into().ok()?, body.try_into().ok()?))
}
