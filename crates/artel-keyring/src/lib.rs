//! The desktop's key store: the Secret Service of freedesktop.org, which GNOME, KDE and
//! KeePassXC offer on the session bus.
//!
//! It needs eight calls of a protocol that has not changed in many years, so this crate
//! speaks the protocol itself: the libraries for it bring fifty crates and an executor, or
//! a C library that must be present when Artel starts. Values cross the bus's socket
//! unencrypted (`plain`): the socket belongs to the user and is as private as the store
//! behind it.
//!
//! This crate never asks a person to unlock anything: a locked store reports that it is
//! locked, and the key goes to the encrypted file instead. No call waits longer than two
//! seconds.

mod address;
mod bus;
mod message;
mod service;
mod wire;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use artel_types::Secret;
use artel_vault::{KeyStoreError, SystemKeyStore};

use crate::address::DbusAddress;
use crate::service::{KeyringItemName, SecretService};

/// Time limit for the store's answer to one request.
const LIMIT: Duration = Duration::from_secs(2);

/// Number of tries for one request. While GNOME's store saves a change, its own
/// collections and items disappear for a moment, for other callers too. Every request is
/// safe to repeat.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(50);

/// The Secret Service behind a session bus.
#[derive(Debug, Clone)]
pub struct Keyring {
    address: DbusAddress,
    limit: Duration,
}

impl Keyring {
    /// Finds the store by the address of the session bus, in the format of
    /// `DBUS_SESSION_BUS_ADDRESS`. Returns `None` without a bus, as on a machine without a
    /// desktop. Does not connect yet.
    pub fn at(bus_address: Option<&str>) -> Option<Self> {
        let address = DbusAddress::parse(bus_address?)?;
        let limit = LIMIT;
        Some(Self { address, limit })
    }

    /// Runs the work on its own thread, so that a call that hangs there does not hang the
    /// caller. A late thread ends by itself, since its socket has the same limit.
    fn within_limit<T: Send + 'static>(
        &self,
        work: impl Fn(&mut SecretService) -> Result<T, KeyStoreError> + Send + 'static,
    ) -> Result<T, KeyStoreError> {
        let (address, limit) = (self.address.clone(), self.limit);
        let (answer, answers) = mpsc::sync_channel(1);
        let late = move || {
            let done = SecretService::connect(&address, limit)
                .and_then(|mut service| repeat(|| work(&mut service)));
            // The caller may have given up already.
            drop(answer.send(done));
        };
        let started = thread::Builder::new()
            .name("artel-keyring".to_owned())
            .spawn(late);
        if let Err(cause) = started {
            return Err(KeyStoreError::Unavailable(cause.to_string()));
        }
        let answer = answers.recv_timeout(limit);
        answer.unwrap_or(Err(KeyStoreError::TimedOut))
    }
}

/// Repeats refused work, since the store may miss its own items briefly while it saves.
fn repeat<T>(mut work: impl FnMut() -> Result<T, KeyStoreError>) -> Result<T, KeyStoreError> {
    for _ in 1..TRIES {
        match work() {
            Err(KeyStoreError::Refused(_)) => thread::park_timeout(PAUSE),
            settled => return settled,
        }
    }
    work()
}

impl SystemKeyStore for Keyring {
    fn name(&self) -> &str {
        "the desktop's key store"
    }

    fn get(&self, provider: &str, account: &str) -> Result<Option<Secret>, KeyStoreError> {
        let item = KeyringItemName::new(provider, account);
        self.within_limit(move |service| service.get(&item))
    }

    fn set(&self, provider: &str, account: &str, key: &Secret) -> Result<(), KeyStoreError> {
        let (item, key) = (KeyringItemName::new(provider, account), key.clone());
        self.within_limit(move |service| service.set(&item, &key))
    }

    fn remove(&self, provider: &str, account: &str) -> Result<(), KeyStoreError> {
        let item = KeyringItemName::new(provider, account);
        self.within_limit(move |service| service.remove(&item))
    }
}

#[cfg(test)]
mod tests;
