//! The only crate that stores keys.
//!
//! A key goes to the system's key store if there is one that answers, and otherwise into
//! an encrypted file in the user's data folder. The file also holds the list of all keys,
//! wherever their values are, so listing contacts no key store and a key is looked up in
//! one place only.
//!
//! The file is bound to this machine and this user: a copy of the file, or of the whole
//! folder, does not open anywhere else. That keeps keys out of backups and synchronised
//! folders. It does not protect them from other programs of the same user, which can read
//! whatever the user can.

mod answers;
mod contents;
mod error;
mod file;
mod find;
mod name;
mod private;
mod seal;
mod store;
mod vault;

pub use answers::{
    ForgetAllKeysOutcome, KeyLocation, KeyRemovalOutcome, KeyStorageOutcome, StoredKey,
};
pub use error::VaultError;
pub use find::{FoundKey, KeyOrigin, KeySources, find};
pub use name::DEFAULT_ACCOUNT;
pub use store::{KeyStoreError, SystemKeyStore};
pub use vault::Vault;

#[cfg(test)]
mod tests;
