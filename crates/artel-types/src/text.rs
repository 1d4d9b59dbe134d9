//! Text that may be too large for an event.

use serde::{Deserialize, Serialize};

use crate::BlobHash;

/// A reference to a large value that is stored as a blob.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlobRef {
    /// The address of the blob.
    pub blob: BlobHash,
    /// Number of bytes.
    pub bytes: u64,
}

/// Text inside the event, or a reference to where it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RecordedText {
    /// The text itself.
    Inline(String),
    /// A reference to text that is stored as a blob because of its size.
    Kept(BlobRef),
}

impl From<&str> for RecordedText {
    fn from(text: &str) -> Self {
        Self::Inline(text.to_owned())
    }
}

/// Returns a count with its noun, such as `1 event` or `2 events`.
pub fn counted(count: u64, one: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {one}s")
    }
}
