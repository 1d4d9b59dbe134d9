//! API keys of providers. A key is tried before it is stored, and is never shown.

use artel_config::Settings;
use artel_model::ChosenModel;
use artel_types::model::{ModelAliasSettings, ModelFault, ModelFaultKind, Provider};
use artel_types::{Failure, FailureCode, REDACTED, Secret, SecretRedactor, Timestamp};
use artel_vault::{
    DEFAULT_ACCOUNT, ForgetAllKeysOutcome, KeyLocation, KeyOrigin, KeyRemovalOutcome,
    KeyStorageOutcome, VaultError,
};
use artel_wire::WireFormat;
use serde::Serialize;

use crate::caller::CommandContext;
use crate::models::{ModelDirectory, text_of};
use crate::trouble::WorkshopFailures;

/// Time limit for trying a key. A provider lists its models at once, or something is
/// wrong.
const LONGEST_TRY: std::time::Duration = std::time::Duration::from_secs(15);

/// The name under which the key store keeps secrets for tools. No provider has this name.
const TOOLS: &str = "tool";

/// The account that a key belongs to.
#[derive(Debug, Clone)]
pub struct KeyAccount {
    pub provider: Provider,
    /// The account, or `None` for the default account.
    pub name: Option<String>,
}

/// The result of storing a key.
#[derive(Debug, Clone, Serialize)]
pub struct StoredKeyOutcome {
    pub provider: String,
    pub account: String,
    /// Where the key is stored.
    pub place: String,
    /// The number of models that the provider listed when the key was tried.
    pub models: usize,
    /// Notes for the person.
    pub notes: Vec<String>,
}

/// The keys that exist.
#[derive(Debug, Clone, Serialize)]
pub struct KeyReport {
    pub keys: Vec<KeyStatus>,
    /// Accounts and keys that are named somewhere but do not exist.
    pub notes: Vec<String>,
}

/// The known facts about one key, without the key itself.
#[derive(Debug, Clone, Serialize)]
pub struct KeyStatus {
    pub provider: String,
    /// The account, or `None` if the key is in an environment variable.
    pub account: Option<String>,
    /// Where the key is stored.
    pub place: String,
    /// When it was stored.
    pub since: Option<Timestamp>,
    /// Whether a call would use it with the current configuration.
    pub is_used: bool,
}

impl CommandContext {
    /// Checks whether a key could be stored, before the person is asked for it.
    pub fn prepare_key(&self, account: &KeyAccount) -> Result<(), Failure> {
        wire_of(account.provider)?;
        let (vault, name) = (self.vault(), self.account_name(account));
        vault.list()?;
        match vault.get(account.provider.as_str(), &name) {
            Err(error @ VaultError::BadName { .. }) => {
                Err(Failure::from(error).advise("`--account work`, for example"))
            }
            // Any other problem with the stored key does not matter: the key is about to be
            // replaced.
            _ => Ok(()),
        }
    }

    /// Tries a key with a free call, and stores it if the provider accepts it.
    pub async fn store_key(
        &self,
        account: &KeyAccount,
        key: Secret,
    ) -> Result<StoredKeyOutcome, WorkshopFailures> {
        let wire = wire_of(account.provider)?;
        let settings = self.settings_here()?;
        let chosen = ChosenModel {
            wanted: account.provider.to_string(),
            resolved: "as named".to_owned(),
            entry: entry_of(account.provider, &self.account_name(account), &settings),
            card: Default::default(),
        };
        let models = ModelDirectory::bare(self, &settings);
        let remote = models.remote_with(wire, &chosen, Some(key.clone()))?;
        let looked = tokio::time::timeout(LONGEST_TRY, remote.look()).await;
        let looked = looked.unwrap_or_else(|_| {
            let said = format!("nothing came for {} s", LONGEST_TRY.as_secs());
            Err(ModelFault::new(ModelFaultKind::Silent, said))
        });
        let listed = looked.map_err(|fault| not_tried(&chosen, &key, &fault))?;
        let name = self.account_name(account);
        let now = self.clock().now();
        let kept = self
            .vault()
            .set(account.provider.as_str(), &name, &key, now)
            .map_err(Failure::from)?;
        let (place, notes) = described(&kept, &key);
        Ok(StoredKeyOutcome {
            provider: account.provider.to_string(),
            account: name,
            place,
            models: listed.len(),
            notes,
        })
    }

    /// Checks whether a secret for tools could be stored under this name.
    pub fn prepare_tool_secret(&self, name: &str) -> Result<(), Failure> {
        let vault = self.vault();
        vault.list()?;
        match vault.get(TOOLS, name) {
            Err(error @ VaultError::BadName { .. }) => {
                Err(Failure::from(error).advise("`artel auth set --tool github`, for example"))
            }
            _ => Ok(()),
        }
    }

    /// Stores a secret for tools. It cannot be tried first, because there is no provider to
    /// ask.
    pub fn store_tool_secret(
        &self,
        name: &str,
        secret: &Secret,
    ) -> Result<StoredKeyOutcome, Failure> {
        let kept = self.vault().set(TOOLS, name, secret, self.clock().now())?;
        let (place, notes) = described(&kept, secret);
        Ok(StoredKeyOutcome {
            provider: TOOLS.to_owned(),
            account: name.to_owned(),
            place,
            models: 0,
            notes,
        })
    }

    /// Removes a secret for tools.
    pub fn remove_tool_secret(&self, name: &str) -> Result<(), Failure> {
        match self.vault().remove(TOOLS, name)? {
            KeyRemovalOutcome::From(_) => Ok(()),
            KeyRemovalOutcome::Absent => Err(Failure::new(
                FailureCode::K003,
                format!("no secret is stored for tools under the name `{name}`"),
            )
            .advise("`artel auth status` lists what is stored")),
        }
    }

    /// Returns the stored secret that a tool names.
    pub(crate) fn tool_secret(&self, name: &str) -> Option<Secret> {
        self.vault().get(TOOLS, name).ok()?
    }

    /// Returns the names of the secrets that are stored for tools.
    pub(crate) fn tool_secret_names(&self) -> Result<Vec<String>, Failure> {
        let stored = self.vault().list()?.into_iter();
        let of_tools = stored.filter(|stored| stored.provider == TOOLS);
        Ok(of_tools.map(|stored| stored.account).collect())
    }

    /// Lists the keys and whether each is used, without showing any key.
    pub fn key_status(&self) -> Result<KeyReport, WorkshopFailures> {
        let settings = self.settings_here()?;
        let models = ModelDirectory::bare(self, &settings);
        let stored = self.vault().list().map_err(Failure::from)?;
        let mut keys = Vec::new();
        for provider in Provider::ALL {
            let entries = entries_of(provider, &settings);
            let used = |entry: &ModelAliasSettings| models.key_of(entry).ok().flatten();
            let used: Vec<KeyOrigin> = entries
                .iter()
                .filter_map(used)
                .map(|key| key.from)
                .collect();
            for name in variables_of(provider, &entries) {
                if text_of(&self.environment, &name).is_some() {
                    keys.push(KeyStatus::of_variable(provider, &name, &used));
                }
            }
            let stored = stored.iter();
            let stored = stored.filter(|stored| stored.provider == provider.as_str());
            keys.extend(stored.map(|stored| KeyStatus::of_stored(stored, &used)));
        }
        let of_tools = stored.iter().filter(|stored| stored.provider == TOOLS);
        keys.extend(of_tools.map(|stored| KeyStatus::of_stored(stored, &[])));
        Ok(KeyReport {
            keys,
            notes: self.missing_keys(&models, &settings, &stored),
        })
    }

    /// Removes a stored key, and returns the name of its account.
    pub fn remove_key(&self, account: &KeyAccount) -> Result<String, Failure> {
        let (name, provider) = (self.account_name(account), account.provider.as_str());
        match self.vault().remove(provider, &name)? {
            KeyRemovalOutcome::From(_) => Ok(name),
            KeyRemovalOutcome::Absent => Err(Failure::new(
                FailureCode::K003,
                format!("no key is stored for `{provider}` under the account `{name}`"),
            )
            .advise("`artel auth status` lists what is stored")),
        }
    }

    /// Returns the number of stored keys that are too short to be recognized in other text.
    pub(crate) fn short_keys(&self) -> usize {
        let is_short = |key: &Secret| key.expose().len() < artel_types::SHORTEST_KNOWN_VALUE;
        let stored = self.stored_secrets().iter();
        stored.filter(|key| is_short(key)).count()
    }

    /// Removes all stored keys, including those that can no longer be read.
    pub fn forget_keys(&self) -> Result<ForgetAllKeysOutcome, Failure> {
        Ok(self.vault().forget_all()?)
    }

    /// Returns the account that is meant: the one named for this key, the one named for all
    /// commands, or the default.
    fn account_name(&self, account: &KeyAccount) -> String {
        let named = account.name.clone().or_else(|| self.named_account());
        named.unwrap_or_else(|| DEFAULT_ACCOUNT.to_owned())
    }

    fn named_account(&self) -> Option<String> {
        text_of(&self.environment, "ARTEL_ACCOUNT")
    }

    /// Returns notes about keys that are named but do not exist. No other key takes their
    /// place.
    fn missing_keys(
        &self,
        models: &ModelDirectory,
        settings: &Settings,
        stored: &[artel_vault::StoredKey],
    ) -> Vec<String> {
        let entries = settings.models.iter();
        let missing = entries.filter_map(|(alias, entry)| {
            let failure = models.key_of(&entry.value).err()?;
            Some(format!("the model `{alias}` has no key: {}", failure.what))
        });
        let named = self.named_account();
        let named = named.filter(|name| stored.iter().all(|stored| stored.account != *name));
        let named = named.map(|name| {
            format!("no key is stored for the account `{name}`, which `ARTEL_ACCOUNT` names")
        });
        missing.chain(named).collect()
    }
}

/// Returns the model entry that a key belongs to: the entry of its account, otherwise the
/// default entry, otherwise the first entry of the provider. A key of one account must not
/// be sent to the server of another.
fn entry_of(provider: Provider, account: &str, settings: &Settings) -> ModelAliasSettings {
    let default = settings.models.get("default");
    let entries = default.into_iter().chain(settings.models.values());
    let entries = entries.map(|entry| &entry.value);
    let entries: Vec<_> = entries.filter(|entry| entry.provider == provider).collect();
    let of = |wanted: Option<&str>| {
        entries
            .iter()
            .find(|entry| entry.account.as_deref() == wanted)
    };
    let found = of(Some(account)).or_else(|| of(None)).copied();
    found
        .cloned()
        .unwrap_or_else(|| ModelAliasSettings::named(provider, ""))
}

/// Returns the entries of a provider. If there are none, returns an entry with the
/// provider's usual address.
fn entries_of(provider: Provider, settings: &Settings) -> Vec<ModelAliasSettings> {
    let entries = settings.models.values().map(|entry| &entry.value);
    let entries = entries.filter(|entry| entry.provider == provider);
    let entries: Vec<_> = entries.cloned().collect();
    if entries.is_empty() {
        return vec![ModelAliasSettings::named(provider, "")];
    }
    entries
}

/// Returns the variables that may hold a key: first those that entries name, then the
/// usual ones.
fn variables_of(provider: Provider, entries: &[ModelAliasSettings]) -> Vec<String> {
    let named = entries.iter().filter_map(|entry| entry.api_key_env.clone());
    let usual = provider.key_variables().iter();
    let mut all: Vec<String> = Vec::new();
    for name in named.chain(usual.map(|name| (*name).to_owned())) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

impl KeyStatus {
    fn of_variable(provider: Provider, name: &str, used: &[KeyOrigin]) -> Self {
        Self {
            provider: provider.to_string(),
            account: None,
            place: format!("variable {name}"),
            since: None,
            is_used: used.contains(&KeyOrigin::Env(name.to_owned())),
        }
    }

    fn of_stored(stored: &artel_vault::StoredKey, used: &[KeyOrigin]) -> Self {
        let is_this = |origin: &KeyOrigin| match origin {
            KeyOrigin::System(account) | KeyOrigin::File(account) => *account == stored.account,
            KeyOrigin::Env(_) => false,
        };
        Self {
            provider: stored.provider.clone(),
            account: Some(stored.account.clone()),
            place: match stored.place {
                KeyLocation::System => "system key store".to_owned(),
                KeyLocation::File => "encrypted file".to_owned(),
            },
            since: Some(stored.since),
            is_used: used.iter().any(is_this),
        }
    }
}

/// Returns the failure for a key that could not be tried or was refused. The key is
/// removed from the provider's message, which may repeat it.
fn not_tried(chosen: &ChosenModel, key: &Secret, fault: &ModelFault) -> Failure {
    let (provider, url) = (chosen.entry.provider, chosen.base_url());
    let said = fault.message.replace(key.expose(), REDACTED);
    let said = SecretRedactor::of_known_values([key])
        .redact(&said)
        .into_owned();
    if fault.kind == ModelFaultKind::Key {
        return Failure::new(
            FailureCode::K002,
            format!("`{provider}` did not accept the key"),
        )
        .because(said)
        .advise("nothing was stored; copy the key again and repeat");
    }
    let what = format!("the key could not be tried at `{url}`: {}", fault.kind);
    Failure::new(FailureCode::M009, what)
        .because(said)
        .advise(format!(
            "nothing was stored; repeat when `{provider}` answers there, or mend `base_url`"
        ))
}

fn described(kept: &KeyStorageOutcome, key: &Secret) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let place = match kept {
        KeyStorageOutcome::System { store } => format!("the system key store ({store})"),
        KeyStorageOutcome::File { path, instead } => {
            if let Some(why) = instead {
                notes.push(format!("the system key store was not used: {why}"));
            }
            format!("the encrypted file {}", path.display())
        }
    };
    if key.expose().len() < artel_types::SHORTEST_KNOWN_VALUE {
        notes.push(format!(
            "the key is so short that it cannot be kept out of logs and the journal (under {} bytes)",
            artel_types::SHORTEST_KNOWN_VALUE
        ));
    }
    (place, notes)
}

fn wire_of(provider: Provider) -> Result<WireFormat, Failure> {
    WireFormat::of(provider)
        .filter(|_| !provider.key_variables().is_empty())
        .ok_or_else(|| keyless(provider))
}

fn keyless(provider: Provider) -> Failure {
    Failure::new(FailureCode::C004, format!("`{provider}` needs no key"))
        .advise("keys are for `anthropic`, `openai`, `openai-chat` and `google`")
}
