//! The hash chain: each event's hash covers every stored field and the hash before it.

use artel_types::WorkshopId;
use rusqlite::types::ValueRef;

/// A BLAKE3 hash.
pub(crate) type Hash = [u8; 32];

/// Computes hashes, reusing one buffer.
#[derive(Default)]
pub(crate) struct ChainHasher {
    buffer: Vec<u8>,
}

impl ChainHasher {
    /// Returns the hash of one event. Every value is hashed with its type and length, so two
    /// different rows never have the same bytes.
    pub(crate) fn event(&mut self, values: &[ValueRef<'_>]) -> Hash {
        self.buffer.clear();
        self.buffer.extend_from_slice(b"artel event 1");
        for value in values {
            match *value {
                ValueRef::Null => self.buffer.push(0),
                ValueRef::Integer(number) => {
                    self.buffer.push(1);
                    self.buffer.extend_from_slice(&number.to_le_bytes());
                }
                ValueRef::Real(number) => {
                    self.buffer.push(2);
                    self.buffer.extend_from_slice(&number.to_le_bytes());
                }
                ValueRef::Text(bytes) => self.sized(3, bytes),
                ValueRef::Blob(bytes) => self.sized(4, bytes),
            }
        }
        *blake3::hash(&self.buffer).as_bytes()
    }

    fn sized(&mut self, tag: u8, bytes: &[u8]) {
        self.buffer.push(tag);
        self.buffer
            .extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.buffer.extend_from_slice(bytes);
    }
}

/// Returns the hash that stands before the first event. It depends on the workshop, so one
/// workshop's journal cannot pass for another's.
pub(crate) fn genesis(workshop: WorkshopId) -> Hash {
    *blake3::hash(format!("artel journal {workshop}").as_bytes()).as_bytes()
}

/// Returns the bytes that a checkpoint signs.
pub(crate) fn checkpoint_message(seq: u64, hash: &[u8], at: i64) -> Vec<u8> {
    let mut message = b"artel checkpoint 1".to_vec();
    message.extend_from_slice(&seq.to_le_bytes());
    message.extend_from_slice(&at.to_le_bytes());
    message.extend_from_slice(hash);
    message
}
