//! Chooses the key for a call: the order in which places are searched.

use std::fmt;

use artel_types::Secret;
use artel_types::model::Provider;

use crate::{DEFAULT_ACCOUNT, KeyLocation, Vault, VaultError};

/// The places that a key may come from.
pub struct KeySources<'a> {
    /// The provider whose key is wanted.
    pub provider: Provider,
    /// The account named by `ARTEL_ACCOUNT` or in the model's entry. It takes precedence over
    /// the environment: a person who names an account means it.
    pub account: Option<&'a str>,
    /// The variable that the model's entry names.
    pub api_key_env: Option<&'a str>,
    /// Looks up a variable of the process environment.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    pub vault: &'a Vault,
}

/// A key with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundKey {
    pub secret: Secret,
    pub from: KeyOrigin,
}

/// The origin of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOrigin {
    /// The environment variable of this name.
    Env(String),
    /// The system's key store, under this account.
    System(String),
    /// The encrypted file, under this account.
    File(String),
}

/// Finds the key. A named account is looked up in the vault alone. Otherwise the order is:
/// the named variable, the provider's usual variables, the default account. A named
/// variable or account without a key is an error: using another key would bill somebody
/// else.
pub fn find(sources: KeySources<'_>) -> Result<Option<FoundKey>, VaultError> {
    let provider = sources.provider.as_str();
    if let Some(account) = sources.account {
        let missing = || VaultError::Missing {
            provider: provider.to_owned(),
            account: account.to_owned(),
        };
        return stored(&sources, account)?.ok_or_else(missing).map(Some);
    }
    if let Some(name) = sources.api_key_env {
        let missing = || VaultError::NoVariable {
            name: name.to_owned(),
            provider: provider.to_owned(),
        };
        return variable(&sources, name).ok_or_else(missing).map(Some);
    }
    let usual = sources.provider.key_variables();
    match usual.iter().find_map(|name| variable(&sources, name)) {
        Some(found) => Ok(Some(found)),
        None => stored(&sources, DEFAULT_ACCOUNT),
    }
}

/// Reads a key from a variable. Space around it is trimmed: it is a typing mistake, as no
/// key contains space.
fn variable(sources: &KeySources<'_>, name: &str) -> Option<FoundKey> {
    let text = Secret::new((sources.environment)(name)?);
    let key = text.expose().trim();
    (!key.is_empty()).then(|| FoundKey {
        secret: Secret::new(key),
        from: KeyOrigin::Env(name.to_owned()),
    })
}

fn stored(sources: &KeySources<'_>, account: &str) -> Result<Option<FoundKey>, VaultError> {
    let found = sources.vault.look_up(sources.provider.as_str(), account)?;
    Ok(found.map(|(secret, place)| {
        let account = account.to_owned();
        let from = match place {
            KeyLocation::System => KeyOrigin::System(account),
            KeyLocation::File => KeyOrigin::File(account),
        };
        FoundKey { secret, from }
    }))
}

impl fmt::Display for KeyOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "the variable `{name}`"),
            Self::System(account) => write!(f, "{}, account `{account}`", KeyLocation::System),
            Self::File(account) => write!(f, "{}, account `{account}`", KeyLocation::File),
        }
    }
}
