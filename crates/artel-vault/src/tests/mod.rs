//! Tests of the vault's public interface, on real files.

mod conformance;
mod damage;
mod golden;
mod order;
mod places;
mod plain;
mod texts;
mod together;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use artel_types::{Secret, Timestamp};
use tempfile::TempDir;

use crate::{KeyStoreError, SystemKeyStore, Vault};

const CANARY: &str = "sk-canary-0123456789abcdef";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

/// A data folder that has not been created yet.
struct House {
    root: TempDir,
}

impl House {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        Self { root }
    }

    /// Stores one key in the file.
    fn with_a_key() -> Self {
        let house = Self::new();
        let key = Secret::new(CANARY);
        house
            .vault()
            .set("anthropic", "default", &key, at(1))
            .unwrap();
        house
    }

    fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    fn vault(&self) -> Vault {
        Vault::open(&self.data(), None)
    }

    fn vault_with(&self, store: &Arc<Shelf>) -> Vault {
        Vault::open(
            &self.data(),
            Some(Arc::clone(store) as Arc<dyn SystemKeyStore>),
        )
    }

    fn names(&self) -> Vec<String> {
        names_in(&self.data())
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A key store in memory that fails on demand.
#[derive(Default)]
struct Shelf {
    keys: Mutex<BTreeMap<String, Secret>>,
    failure: Mutex<Option<KeyStoreError>>,
    /// An account for which every operation fails, with the error.
    odd: Mutex<Option<(String, KeyStoreError)>>,
    asked: Mutex<u32>,
}

impl Shelf {
    fn fail(&self, failure: impl Into<Option<KeyStoreError>>) {
        *self.failure.lock().unwrap() = failure.into();
    }

    fn fail_at(&self, account: &str, failure: KeyStoreError) {
        *self.odd.lock().unwrap() = Some((account.to_owned(), failure));
    }

    fn values(&self) -> Vec<String> {
        let keys = self.keys.lock().unwrap();
        keys.values().map(|key| key.expose().to_owned()).collect()
    }

    fn asked(&self) -> u32 {
        *self.asked.lock().unwrap()
    }

    fn answer(&self, account: &str) -> Result<(), KeyStoreError> {
        *self.asked.lock().unwrap() += 1;
        if let Some((odd, failure)) = &*self.odd.lock().unwrap()
            && odd == account
        {
            return Err(failure.clone());
        }
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().map_or(Ok(()), Err)
    }
}

impl SystemKeyStore for Shelf {
    fn name(&self) -> &str {
        "the shelf"
    }

    fn get(&self, provider: &str, account: &str) -> Result<Option<Secret>, KeyStoreError> {
        self.answer(account)?;
        let keys = self.keys.lock().unwrap();
        Ok(keys.get(&format!("{provider} {account}")).cloned())
    }

    fn set(&self, provider: &str, account: &str, key: &Secret) -> Result<(), KeyStoreError> {
        self.answer(account)?;
        let mut keys = self.keys.lock().unwrap();
        keys.insert(format!("{provider} {account}"), key.clone());
        Ok(())
    }

    fn remove(&self, provider: &str, account: &str) -> Result<(), KeyStoreError> {
        self.answer(account)?;
        let mut keys = self.keys.lock().unwrap();
        keys.remove(&format!("{provider} {account}"));
        Ok(())
    }
}

#[test]
fn the_shelf_is_a_store_like_any_other() {
    conformance::run(&Shelf::default());
}
