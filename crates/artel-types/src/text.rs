//! Text that may be too large for an event.

use serde::{Deserialize, Serialize};

use crate::BlobHash;

/// Where a large value is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlobRef {
    /// The address of the bytes.
    pub blob: BlobHash,
    /// How many there are.
    pub bytes: u64,
}

/// Text inside the event, or a reference to where it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The text itself.
    Inline(String),
    /// Kept apart because of its size.
    Kept(BlobRef),
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Inline(text.to_owned())
    }
}

/// Returns `1 event`, `2 events`.
pub fn counted(count: u64, one: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {one}s")
    }
}
