//! The vault's answers: where keys were stored, where they are, what was removed.

use std::fmt;
use std::path::PathBuf;

use artel_types::Timestamp;
use serde::Serialize;

use crate::KeyStoreError;
use crate::contents::VaultEntry;

/// The place where a key's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyLocation {
    /// The system's key store.
    System,
    /// The encrypted file.
    File,
}

/// The place where a newly stored key went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStorageOutcome {
    /// The system's key store.
    System {
        /// The name that people know the store by.
        store: String,
    },
    /// The encrypted file.
    File {
        path: PathBuf,
        /// The reason why the system's key store did not take it, or `None` without such a store.
        instead: Option<KeyStoreError>,
    },
}

/// Whether there was a key to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRemovalOutcome {
    /// The key was removed from this place.
    From(KeyLocation),
    /// No such key was stored.
    Absent,
}

/// The result of [`Vault::forget_all`](crate::Vault::forget_all).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetAllKeysOutcome {
    /// Number of removed keys, or `None` if the file could not be read and the number is
    /// unknown.
    pub keys: Option<usize>,
    /// Keys that stay on the list because the system's key store did not remove them.
    pub left: Vec<StoredKey>,
}

/// A key on the list, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredKey {
    /// The provider that issued the key.
    pub provider: String,
    pub account: String,
    /// The place of its value.
    pub place: KeyLocation,
    /// The time when it was stored.
    pub since: Timestamp,
}

impl From<&VaultEntry> for StoredKey {
    fn from(entry: &VaultEntry) -> Self {
        let place = match entry.value {
            Some(_) => KeyLocation::File,
            None => KeyLocation::System,
        };
        Self {
            provider: entry.provider.clone(),
            account: entry.account.clone(),
            place,
            since: entry.since,
        }
    }
}

impl fmt::Display for KeyLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "the system key store",
            Self::File => "the encrypted file",
        })
    }
}
