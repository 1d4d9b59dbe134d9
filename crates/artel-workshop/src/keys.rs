//! Keys of providers: tried before they are stored, never shown.

use artel_config::Settings;
use artel_model::Chosen;
use artel_types::model::{Fault, FaultKind, ModelEntry, Provider};
use artel_types::{Code, Failure, REDACTED, Redactor, Secret, Timestamp};
use artel_vault::{DEFAULT_ACCOUNT, Forgotten, Kept, Origin, Place, Removed, VaultError};
use artel_wire::Wire;
use serde::Serialize;

use crate::caller::Caller;
use crate::models::{Models, text_of};
use crate::trouble::Problems;

/// A list of models comes at once, or something is wrong.
const LONGEST_TRY: std::time::Duration = std::time::Duration::from_secs(15);

/// Under this name the key store keeps what tools name; no provider has it.
const TOOLS: &str = "tool";

/// Whose key is meant.
#[derive(Debug, Clone)]
pub struct Account {
    /// The provider.
    pub provider: Provider,
    /// The account; the usual one if nothing.
    pub name: Option<String>,
}

/// A key that was stored.
#[derive(Debug, Clone, Serialize)]
pub struct Stored {
    /// The provider.
    pub provider: String,
    /// The account.
    pub account: String,
    /// Where it is now.
    pub place: String,
    /// How many models the provider listed when the key was tried.
    pub models: usize,
    /// What a person should be told.
    pub notes: Vec<String>,
}

/// The keys there are.
#[derive(Debug, Clone, Serialize)]
pub struct KeyReport {
    /// Each of them.
    pub keys: Vec<KeyStatus>,
    /// What is named and is not there.
    pub notes: Vec<String>,
}

/// What is known about one key, without the key.
#[derive(Debug, Clone, Serialize)]
pub struct KeyStatus {
    /// The provider.
    pub provider: String,
    /// The account; nothing for a variable.
    pub account: Option<String>,
    /// Where the key is.
    pub place: String,
    /// Since when it is stored.
    pub since: Option<Timestamp>,
    /// Whether a call would use it, as things are configured here.
    pub is_used: bool,
}

impl Caller {
    /// Finds out whether a key could be stored, before anybody is asked for one.
    pub fn prepare_key(&self, account: &Account) -> Result<(), Failure> {
        wire_of(account.provider)?;
        let (vault, name) = (self.vault(), self.account_name(account));
        vault.list()?;
        match vault.get(account.provider.as_str(), &name) {
            Err(error @ VaultError::BadName { .. }) => {
                Err(Failure::from(error).advise("`--account work`, for example"))
            }
            // Whatever else is wrong with what is there, it is about to be replaced.
            _ => Ok(()),
        }
    }

    /// Tries a key in a call that costs nothing, and stores it if the provider accepts it.
    pub async fn store_key(&self, account: &Account, key: Secret) -> Result<Stored, Problems> {
        let wire = wire_of(account.provider)?;
        let settings = self.settings_here()?;
        let chosen = Chosen {
            wanted: account.provider.to_string(),
            resolved: "as named".to_owned(),
            entry: entry_of(account.provider, &self.account_name(account), &settings),
            card: Default::default(),
        };
        let models = Models::bare(self, &settings);
        let remote = models.remote_with(wire, &chosen, Some(key.clone()))?;
        let looked = tokio::time::timeout(LONGEST_TRY, remote.look()).await;
        let looked = looked.unwrap_or_else(|_| {
            let said = format!("nothing came for {} s", LONGEST_TRY.as_secs());
            Err(Fault::new(FaultKind::Silent, said))
        });
        let listed = looked.map_err(|fault| not_tried(&chosen, &key, &fault))?;
        let name = self.account_name(account);
        let now = self.clock().now();
        let kept = self
            .vault()
            .set(account.provider.as_str(), &name, &key, now)
            .map_err(Failure::from)?;
        let (place, notes) = described(&kept, &key);
        Ok(Stored {
            provider: account.provider.to_string(),
            account: name,
            place,
            models: listed.len(),
            notes,
        })
    }

    /// Finds out whether a secret for tools could be stored under this name.
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

    /// Stores a secret that tools name. Nobody can be asked whether it is right.
    pub fn store_tool_secret(&self, name: &str, secret: &Secret) -> Result<Stored, Failure> {
        let kept = self.vault().set(TOOLS, name, secret, self.clock().now())?;
        let (place, notes) = described(&kept, secret);
        Ok(Stored {
            provider: TOOLS.to_owned(),
            account: name.to_owned(),
            place,
            models: 0,
            notes,
        })
    }

    /// Removes a secret that tools name.
    pub fn remove_tool_secret(&self, name: &str) -> Result<(), Failure> {
        match self.vault().remove(TOOLS, name)? {
            Removed::From(_) => Ok(()),
            Removed::Absent => Err(Failure::new(
                Code::K003,
                format!("no secret is stored for tools under the name `{name}`"),
            )
            .advise("`artel auth status` lists what is stored")),
        }
    }

    /// Returns a stored secret that a tool names.
    pub(crate) fn tool_secret(&self, name: &str) -> Option<Secret> {
        self.vault().get(TOOLS, name).ok()?
    }

    /// Returns the names of the secrets that are stored for tools.
    pub(crate) fn tool_secret_names(&self) -> Result<Vec<String>, Failure> {
        let stored = self.vault().list()?.into_iter();
        let of_tools = stored.filter(|stored| stored.provider == TOOLS);
        Ok(of_tools.map(|stored| stored.account).collect())
    }

    /// Lists what keys there are and which are used, without showing any.
    pub fn key_status(&self) -> Result<KeyReport, Problems> {
        let settings = self.settings_here()?;
        let models = Models::bare(self, &settings);
        let stored = self.vault().list().map_err(Failure::from)?;
        let mut keys = Vec::new();
        for provider in Provider::ALL {
            let entries = entries_of(provider, &settings);
            let used = |entry: &ModelEntry| models.key_of(entry).ok().flatten();
            let used: Vec<Origin> = entries
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

    /// Removes a stored key. Returns the name of the account.
    pub fn remove_key(&self, account: &Account) -> Result<String, Failure> {
        let (name, provider) = (self.account_name(account), account.provider.as_str());
        match self.vault().remove(provider, &name)? {
            Removed::From(_) => Ok(name),
            Removed::Absent => Err(Failure::new(
                Code::K003,
                format!("no key is stored for `{provider}` under the account `{name}`"),
            )
            .advise("`artel auth status` lists what is stored")),
        }
    }

    /// Returns how many stored keys are too short to be known again in other text.
    pub(crate) fn short_keys(&self) -> usize {
        let is_short = |key: &Secret| key.expose().len() < artel_types::SHORTEST_KNOWN_VALUE;
        let stored = self.stored_secrets().iter();
        stored.filter(|key| is_short(key)).count()
    }

    /// Removes all stored keys, also where they can no longer be read.
    pub fn forget_keys(&self) -> Result<Forgotten, Failure> {
        Ok(self.vault().forget_all()?)
    }

    /// Returns the account that is meant: the one that is named, here or for all commands.
    fn account_name(&self, account: &Account) -> String {
        let named = account.name.clone().or_else(|| self.named_account());
        named.unwrap_or_else(|| DEFAULT_ACCOUNT.to_owned())
    }

    fn named_account(&self) -> Option<String> {
        text_of(&self.environment, "ARTEL_ACCOUNT")
    }

    /// Says what was named and is not there: no other key takes its place.
    fn missing_keys(
        &self,
        models: &Models,
        settings: &Settings,
        stored: &[artel_vault::Stored],
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

/// Returns where a key belongs: to the entry of its account, else to the default, else to the
/// first entry that names the provider. A key of one account must not be shown to another's server.
fn entry_of(provider: Provider, account: &str, settings: &Settings) -> ModelEntry {
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
        .unwrap_or_else(|| ModelEntry::named(provider, ""))
}

/// Returns the entries that name a provider; without any, it is asked at its usual place.
fn entries_of(provider: Provider, settings: &Settings) -> Vec<ModelEntry> {
    let entries = settings.models.values().map(|entry| &entry.value);
    let entries = entries.filter(|entry| entry.provider == provider);
    let entries: Vec<_> = entries.cloned().collect();
    if entries.is_empty() {
        return vec![ModelEntry::named(provider, "")];
    }
    entries
}

/// Returns the variables that may hold a key: those that entries name, then the usual ones.
fn variables_of(provider: Provider, entries: &[ModelEntry]) -> Vec<String> {
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
    fn of_variable(provider: Provider, name: &str, used: &[Origin]) -> Self {
        Self {
            provider: provider.to_string(),
            account: None,
            place: format!("variable {name}"),
            since: None,
            is_used: used.contains(&Origin::Env(name.to_owned())),
        }
    }

    fn of_stored(stored: &artel_vault::Stored, used: &[Origin]) -> Self {
        let is_this = |origin: &Origin| match origin {
            Origin::System(account) | Origin::File(account) => *account == stored.account,
            Origin::Env(_) => false,
        };
        Self {
            provider: stored.provider.clone(),
            account: Some(stored.account.clone()),
            place: match stored.place {
                Place::System => "system key store".to_owned(),
                Place::File => "encrypted file".to_owned(),
            },
            since: Some(stored.since),
            is_used: used.iter().any(is_this),
        }
    }
}

/// Says why a key was not tried, or was refused. A provider may repeat the key in what it says.
fn not_tried(chosen: &Chosen, key: &Secret, fault: &Fault) -> Failure {
    let (provider, url) = (chosen.entry.provider, chosen.base_url());
    let said = fault.message.replace(key.expose(), REDACTED);
    let said = Redactor::of_known_values([key]).redact(&said).into_owned();
    if fault.kind == FaultKind::Key {
        return Failure::new(Code::K002, format!("`{provider}` did not accept the key"))
            .because(said)
            .advise("nothing was stored; copy the key again and repeat");
    }
    let what = format!("the key could not be tried at `{url}`: {}", fault.kind);
    Failure::new(Code::M009, what).because(said).advise(format!(
        "nothing was stored; repeat when `{provider}` answers there, or mend `base_url`"
    ))
}

fn described(kept: &Kept, key: &Secret) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let place = match kept {
        Kept::System { store } => format!("the system key store ({store})"),
        Kept::File { path, instead } => {
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

fn wire_of(provider: Provider) -> Result<Wire, Failure> {
    Wire::of(provider)
        .filter(|_| !provider.key_variables().is_empty())
        .ok_or_else(|| keyless(provider))
}

fn keyless(provider: Provider) -> Failure {
    Failure::new(Code::C004, format!("`{provider}` needs no key"))
        .advise("keys are for `anthropic`, `openai`, `openai-chat` and `google`")
}
