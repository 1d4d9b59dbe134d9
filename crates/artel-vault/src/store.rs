//! The seam to the system's key store, such as the Secret Service of a desktop.

use artel_types::Secret;

/// A key store of the operating system, outside Artel's own folder.
///
/// An implementation answers or gives up within a few seconds, never waits for a person,
/// and puts no value into its errors. After an acknowledged `set`, `get` returns that key
/// until any process calls `set` or `remove` for the same names.
pub trait SystemKeyStore: Send + Sync {
    /// Returns the name that people know the store by.
    fn name(&self) -> &str;

    /// Returns the key, or `None` if nothing is stored under these names.
    fn get(&self, provider: &str, account: &str) -> Result<Option<Secret>, KeyStoreError>;

    /// Stores a key and replaces an existing one.
    fn set(&self, provider: &str, account: &str, key: &Secret) -> Result<(), KeyStoreError>;

    /// Removes the key. A missing key is not an error.
    fn remove(&self, provider: &str, account: &str) -> Result<(), KeyStoreError>;
}

/// Why a key store did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyStoreError {
    /// The store does not exist or cannot be reached from here.
    #[error("it cannot be used: {0}")]
    Unavailable(String),
    /// The store is locked, and only a person can unlock it.
    #[error("it is locked")]
    Locked,
    /// The store did not answer in time.
    #[error("it did not answer in time")]
    TimedOut,
    /// The store refused the request.
    #[error("it refused: {0}")]
    Refused(String),
}
