//! The keys: stored, found, listed, removed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_types::{Secret, Timestamp};

use crate::contents::VaultEntry;
use crate::file::KeyFile;
use crate::{
    ForgetAllKeysOutcome, KeyLocation, KeyRemovalOutcome, KeyStorageOutcome, KeyStoreError,
    StoredKey, SystemKeyStore, VaultError, name,
};

/// Longest accepted key, in bytes. No provider's keys are that long; a whole file passed
/// by mistake is.
const LONGEST_KEY: usize = 64 * 1024;

/// Number of late answers after which the system's key store is not asked again: each one
/// takes seconds, and a person is waiting.
const MOST_LATE: usize = 2;

/// All keys of this user on this machine.
pub struct Vault {
    file: KeyFile,
    system: Option<Arc<dyn SystemKeyStore>>,
}

impl Vault {
    /// Opens the vault in a data folder. Creates nothing and reads only the machine's id.
    pub fn open(data_dir: &Path, system: Option<Arc<dyn SystemKeyStore>>) -> Self {
        let file = KeyFile::in_folder(data_dir);
        Self { file, system }
    }

    /// Returns the file that changes whenever a key is stored or removed, wherever its value
    /// is.
    pub fn list_file(&self) -> PathBuf {
        self.file.path()
    }

    /// Returns the key of an account, or `None` if none is stored.
    pub fn get(&self, provider: &str, account: &str) -> Result<Option<Secret>, VaultError> {
        let found = self.look_up(provider, account)?;
        Ok(found.map(|(key, _)| key))
    }

    /// Stores a key and replaces an existing one. The key goes to the system's key store if
    /// that accepts it, otherwise into the file.
    pub fn set(
        &self,
        provider: &str,
        account: &str,
        key: &Secret,
        now: Timestamp,
    ) -> Result<KeyStorageOutcome, VaultError> {
        name::check(provider, account)?;
        check_key(key)?;
        let _turn = self.file.take_turn()?;
        // Read before anything is stored: an unreadable list would be lost.
        let mut entries = self.file.read()?;
        let offered = self.system.as_ref().map(|system| {
            let taken = system.set(provider, account, key);
            taken.map(|()| system.name().to_owned())
        });
        let (kept, value) = match offered {
            Some(Ok(store)) => (KeyStorageOutcome::System { store }, None),
            refused => {
                let (path, instead) = (self.file.path(), refused.and_then(Result::err));
                (KeyStorageOutcome::File { path, instead }, Some(key.clone()))
            }
        };
        entries.retain(|entry| !entry.is_of(provider, account));
        entries.push(VaultEntry {
            provider: provider.to_owned(),
            account: account.to_owned(),
            since: now,
            value,
        });
        self.file.write(entries)?;
        Ok(kept)
    }

    /// Removes a key from wherever it is.
    pub fn remove(&self, provider: &str, account: &str) -> Result<KeyRemovalOutcome, VaultError> {
        name::check(provider, account)?;
        // Removing a missing key creates no file.
        if !self.file.is_there() {
            return Ok(KeyRemovalOutcome::Absent);
        }
        let _turn = self.file.take_turn()?;
        let mut entries = self.file.read()?;
        let Some(at) = entries.iter().position(|e| e.is_of(provider, account)) else {
            return Ok(KeyRemovalOutcome::Absent);
        };
        let place = self.empty(&entries[at])?;
        drop(entries.remove(at));
        self.file.write(entries)?;
        Ok(KeyRemovalOutcome::From(place))
    }

    /// Removes every key, even if the file can no longer be read. Keys that the system's key
    /// store did not remove stay on the list, so that they are not forgotten there.
    pub fn forget_all(&self) -> Result<ForgetAllKeysOutcome, VaultError> {
        let (keys, left) = (Some(0), Vec::new());
        if !self.file.is_there() {
            return Ok(ForgetAllKeysOutcome { keys, left });
        }
        let _turn = self.file.take_turn()?;
        let Ok(entries) = self.file.read() else {
            self.file.remove()?;
            return Ok(ForgetAllKeysOutcome { keys: None, left });
        };
        let all = entries.len();
        let left: Vec<VaultEntry> = entries
            .into_iter()
            .filter(|entry| self.empty(entry).is_err())
            .collect();
        let forgotten = ForgetAllKeysOutcome {
            keys: Some(all - left.len()),
            left: left.iter().map(StoredKey::from).collect(),
        };
        if left.is_empty() {
            self.file.remove()?;
        } else {
            self.file.write(left)?;
        }
        Ok(forgotten)
    }

    /// Lists the keys, sorted by name.
    pub fn list(&self) -> Result<Vec<StoredKey>, VaultError> {
        Ok(self.file.read()?.iter().map(StoredKey::from).collect())
    }

    /// Returns the values of all readable keys, so that the caller can redact them in texts. A
    /// key that the system's key store does not return does not stop the search for the
    /// others.
    pub fn secrets(&self) -> Vec<Secret> {
        let entries = self.file.read().unwrap_or_default();
        let (in_file, elsewhere): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.value.is_some());
        let mut late = 0;
        let in_system = elsewhere.iter().filter_map(|entry| {
            let answer = (late < MOST_LATE).then(|| self.ask(entry))?;
            late += usize::from(is_late(&answer));
            answer.ok().flatten()
        });
        in_file
            .iter()
            .filter_map(|entry| entry.value.clone())
            .chain(in_system)
            .collect()
    }

    /// Returns a key and the place where it was.
    pub(crate) fn look_up(
        &self,
        provider: &str,
        account: &str,
    ) -> Result<Option<(Secret, KeyLocation)>, VaultError> {
        name::check(provider, account)?;
        let entries = self.file.read()?;
        let Some(entry) = entries.iter().find(|e| e.is_of(provider, account)) else {
            return Ok(None);
        };
        match &entry.value {
            Some(key) => Ok(Some((key.clone(), KeyLocation::File))),
            None => Ok(self.ask(entry)?.map(|key| (key, KeyLocation::System))),
        }
    }

    /// Binds the file to another machine or user than the current ones.
    #[cfg(test)]
    pub(crate) fn bound_to(mut self, machine: &str, user: u32) -> Self {
        self.file.bind_to(machine, user);
        self
    }

    /// Asks the system's key store for the value of an entry.
    fn ask(&self, entry: &VaultEntry) -> Result<Option<Secret>, VaultError> {
        self.with_system(entry, |system| system.get(&entry.provider, &entry.account))
    }

    /// Removes the value of an entry from the system's key store. A value in the file goes
    /// with its entry.
    fn empty(&self, entry: &VaultEntry) -> Result<KeyLocation, VaultError> {
        let removed = self.with_system(entry, |system| {
            system.remove(&entry.provider, &entry.account)
        });
        if entry.value.is_some() {
            // An older value may still be in the system's store, from a time when the store
            // answered. It is never looked up there again, so a store that does not answer now
            // does no harm.
            return Ok(KeyLocation::File);
        }
        removed.map(|()| KeyLocation::System)
    }

    fn with_system<T>(
        &self,
        entry: &VaultEntry,
        work: impl FnOnce(&dyn SystemKeyStore) -> Result<T, KeyStoreError>,
    ) -> Result<T, VaultError> {
        let nothing_there = || KeyStoreError::Unavailable("there is none here".to_owned());
        let system = self.system.as_deref().ok_or_else(nothing_there);
        system.and_then(work).map_err(|cause| VaultError::Store {
            provider: entry.provider.clone(),
            account: entry.account.clone(),
            cause,
        })
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault")
            .field("file", &self.file.path())
            .field("system", &self.system.as_ref().map(|store| store.name()))
            .finish_non_exhaustive()
    }
}

fn is_late<T>(answer: &Result<T, VaultError>) -> bool {
    let cause = KeyStoreError::TimedOut;
    matches!(answer, Err(VaultError::Store { cause: found, .. }) if *found == cause)
}

fn check_key(key: &Secret) -> Result<(), VaultError> {
    let why = match key.expose() {
        text if text.trim().is_empty() => "it is empty",
        text if text.len() > LONGEST_KEY => "it is longer than 64 KiB",
        _ => return Ok(()),
    };
    Err(VaultError::BadKey { why })
}
