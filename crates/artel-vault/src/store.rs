//! The seam to the key store of the system, such as the Secret Service of a desktop.

use artel_types::Secret;

/// A key store of the system, outside of Artel's own folder.
///
/// An implementation answers or gives up within a few seconds, never waits for a person, and
/// puts no value into its errors. What `set` acknowledged, `get` returns until `set` or `remove`
/// is called for the same names, by whichever process.
pub trait SystemStore: Send + Sync {
    /// Returns what people call it.
    fn name(&self) -> &str;

    /// Returns the key, or nothing if there is none under these names.
    fn get(&self, provider: &str, account: &str) -> Result<Option<Secret>, StoreError>;

    /// Stores a key in the place of the one that was there.
    fn set(&self, provider: &str, account: &str, key: &Secret) -> Result<(), StoreError>;

    /// Removes the key; it is fine if there is none.
    fn remove(&self, provider: &str, account: &str) -> Result<(), StoreError>;
}

/// Why a key store did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is none, or it cannot be spoken with from here.
    #[error("it cannot be used: {0}")]
    Unavailable(String),
    /// It is locked, and only a person can unlock it.
    #[error("it is locked")]
    Locked,
    /// It did not answer in time.
    #[error("it did not answer in time")]
    TimedOut,
    /// It said no.
    #[error("it refused: {0}")]
    Refused(String),
}
