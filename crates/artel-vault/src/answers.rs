//! The vault's answers: where keys were stored, where they are, what was removed.

use std::fmt;
use std::path::PathBuf;

use artel_types::Timestamp;
use serde::Serialize;

use crate::StoreError;
use crate::contents::Entry;

/// The place where a key's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The system's key store.
    System,
    /// The encrypted file.
    File,
}

/// The place where a newly stored key went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The system's key store.
    System {
        /// The name that people know the store by.
        store: String,
    },
    /// The encrypted file.
    File {
        path: PathBuf,
        /// The reason why the system's key store did not take it, or `None` without such a store.
        instead: Option<StoreError>,
    },
}

/// Whether there was a key to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removed {
    /// The key was removed from this place.
    From(Place),
    /// No such key was stored.
    Absent,
}

/// The result of [`Vault::forget_all`](crate::Vault::forget_all).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// Number of removed keys, or `None` if the file could not be read and the number is
    /// unknown.
    pub keys: Option<usize>,
    /// Keys that stay on the list because the system's key store did not remove them.
    pub left: Vec<Stored>,
}

/// A key on the list, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stored {
    /// The provider that issued the key.
    pub provider: String,
    pub account: String,
    /// The place of its value.
    pub place: Place,
    /// The time when it was stored.
    pub since: Timestamp,
}

impl From<&Entry> for Stored {
    fn from(entry: &Entry) -> Self {
        let place = match entry.value {
            Some(_) => Place::File,
            None => Place::System,
        };
        Self {
            provider: entry.provider.clone(),
            account: entry.account.clone(),
            place,
            since: entry.since,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "the system key store",
            Self::File => "the encrypted file",
        })
    }
}
