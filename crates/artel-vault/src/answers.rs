//! What the vault answers: where keys went, where they are, what is gone.

use std::fmt;
use std::path::PathBuf;

use artel_types::Timestamp;
use serde::Serialize;

use crate::StoreError;
use crate::contents::Entry;

/// Where the value of a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In the system's key store.
    System,
    /// In the encrypted file.
    File,
}

/// Where a key went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Into the system's key store.
    System {
        /// What people call it.
        store: String,
    },
    /// Into the encrypted file.
    File {
        /// The file.
        path: PathBuf,
        /// Why not into the system's key store, if there is one.
        instead: Option<StoreError>,
    },
}

/// Whether there was anything to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removed {
    /// The key is gone from where it was.
    From(Place),
    /// There was none.
    Absent,
}

/// What [`Vault::forget_all`](crate::Vault::forget_all) did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// How many keys are gone; nothing if the file could not be read, so that nobody can tell.
    pub keys: Option<usize>,
    /// Keys that are still on the list because the system's key store did not remove them.
    pub left: Vec<Stored>,
}

/// A key on the list; its value is not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stored {
    /// Whose key it is.
    pub provider: String,
    /// For which account.
    pub account: String,
    /// Where its value is.
    pub place: Place,
    /// When it was stored.
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
