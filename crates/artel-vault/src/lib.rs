//! The only crate that keeps keys.
//!
//! A key goes to the system's key store where there is one that answers, and otherwise into an
//! encrypted file in the user's data folder. The file also holds the list of all keys, wherever
//! their values are, so that listing asks nobody and a key is looked for in one place only.
//!
//! The file is bound to this machine and this user: a copy of it, or of the whole folder, opens
//! nowhere else. That keeps keys out of backups and synchronised folders; it does not keep them
//! from other programs of the same user, who can read whatever the user can.
#![warn(missing_docs)]

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

pub use answers::{Forgotten, Kept, Place, Removed, Stored};
pub use error::VaultError;
pub use find::{Found, Origin, Sources, find};
pub use name::DEFAULT_ACCOUNT;
pub use store::{StoreError, SystemStore};
pub use vault::Vault;

#[cfg(test)]
mod tests;
