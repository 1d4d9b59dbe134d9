//! The models that can be asked from a workshop: chosen, reached, and called through the gateway.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artel_config::{Environment, Settings};
use artel_files::read_bounded;
use artel_journal::Journal;
use artel_model::{
    Address, Cassette, Catalogue, Chosen, Connections, Gateway, Menu, Model, Rehearsal, Remote,
    Setup, Take, Watched,
};
use artel_rules::breaker::Thresholds;
use artel_types::model::{ModelEntry, Provider};
use artel_types::{Code, Failure, Redactor, Secret};
use artel_vault::{Found, Origin, Sources, Vault, find};
use artel_wire::Wire;

use crate::book::{ACCOUNT, JournalBook};
use crate::caller::Caller;
use crate::providers::ModelRow;
use crate::trouble::file_failure;
use crate::workshop::Workshop;

/// A local model server answers at once or is not there.
const LOCAL_PATIENCE: Duration = Duration::from_millis(700);

/// A script or a recording is small.
const LARGEST_SCRIPT: u64 = 64 * 1024 * 1024;

/// What can be asked, and how it is reached.
pub struct Models {
    menu: Menu,
    vault: Vault,
    environment: Environment,
    connections: Connections,
    idle_timeout: Duration,
    clock: artel_types::Clock,
    /// Made once each: a rehearsal remembers how far it has come.
    made: Mutex<HashMap<String, Arc<dyn Model>>>,
}

impl Workshop {
    /// Finds out which models can be asked in this workshop.
    pub async fn models(&self, named: Option<&str>) -> Models {
        Models::find(&self.caller, &self.settings, named).await
    }

    /// Opens the gateway of this workshop on its journal.
    pub async fn gateway(&self, journal: &Journal) -> Result<Gateway, Failure> {
        // So that the next opening folds only what comes from here on.
        journal.keep(&ACCOUNT).await?;
        let settings = &self.settings;
        Gateway::open(Setup {
            book: Arc::new(JournalBook::new(journal.clone())),
            clock: self.caller.clock.clone(),
            redactor: self.redactor(),
            limits: settings.budget.clone(),
            slots: usize::try_from(settings.gateway.slots.value).unwrap_or(usize::MAX),
            max_wait: settings.gateway.max_wait.value,
            thresholds: Thresholds::MODEL,
        })
    }

    /// Returns what takes secrets out: those of the environment, those that are stored, and those
    /// in variables that the settings name.
    pub(crate) fn redactor(&self) -> Redactor {
        let environment = &self.caller.environment;
        let named = self.settings.models.values();
        let named = named.filter_map(|entry| entry.value.api_key_env.as_deref());
        let named = named.filter_map(|name| text_of(environment, name).map(Secret::new));
        let mut secrets: Vec<Secret> = named.collect();
        secrets.extend(self.caller.secrets());
        Redactor::of_known_values(&secrets)
    }
}

impl Models {
    /// Finds out which models can be asked. A local Ollama is looked for only where nothing else
    /// is configured. `named` is what the person named for this command; it beats `ARTEL_MODEL`.
    pub(crate) async fn find(caller: &Caller, settings: &Settings, named: Option<&str>) -> Self {
        let mut models = Self::bare(caller, settings);
        if let Some(named) = named {
            models.menu.override_with = Some(named.to_owned());
        }
        if models.menu.needs_ollama() {
            models.menu.ollama = models.local_models().await;
        }
        models
    }

    /// Takes what settings, environment and stored keys say; nobody is asked yet.
    pub(crate) fn bare(caller: &Caller, settings: &Settings) -> Self {
        let (environment, vault) = (caller.environment.clone(), caller.vault());
        let entries = settings.models.iter();
        Self {
            menu: Menu {
                entries: entries
                    .map(|(alias, entry)| (alias.clone(), entry.value.clone()))
                    .collect(),
                override_with: text_of(&environment, "ARTEL_MODEL"),
                keyed: keyed(&environment, &vault),
                ollama: Vec::new(),
                catalogue: Catalogue::shipped(&settings.prices),
            },
            vault,
            environment,
            connections: Connections::new(settings.gateway.connect_timeout.value),
            idle_timeout: settings.gateway.idle_timeout.value,
            clock: caller.clock.clone(),
            made: Mutex::default(),
        }
    }

    /// Returns what every alias means here.
    pub fn list(&self) -> Vec<ModelRow> {
        self.menu.list().into_iter().map(ModelRow::from).collect()
    }

    /// Chooses a model: by alias, as `provider:model`, or the default.
    pub fn choose(&self, wanted: Option<&str>) -> Result<Chosen, Failure> {
        self.menu.choose(wanted).map_err(|failure| {
            // Where the stored keys cannot be read, that is why there seem to be none.
            match (failure.code, self.vault.list()) {
                (Code::M004, Err(error)) => error.into(),
                _ => failure,
            }
        })
    }

    /// Finds the key that a choice would use, if there is one.
    pub fn key_of(&self, entry: &ModelEntry) -> Result<Option<Found>, Failure> {
        let variable = |name: &str| text_of(&self.environment, name);
        let named = text_of(&self.environment, "ARTEL_ACCOUNT");
        let account = entry.account.as_deref().or(named.as_deref());
        Ok(find(Sources {
            provider: entry.provider,
            account: account.filter(|_| needs_key(entry.provider)),
            api_key_env: entry.api_key_env.as_deref(),
            environment: &variable,
            vault: &self.vault,
        })?)
    }

    /// Returns the model of a choice, ready to be asked.
    pub fn connect(&self, chosen: &Chosen, workshop: &Workshop) -> Result<Arc<dyn Model>, Failure> {
        let name = format!("{}:{}", chosen.health_name(), chosen.entry.model);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = made.get(&name) {
            return Ok(model.clone());
        }
        let model: Arc<dyn Model> = match Wire::of(chosen.entry.provider) {
            Some(wire) => Arc::new(self.remote(wire, chosen)?),
            None => {
                let patience = chosen.entry.timeout.unwrap_or(self.idle_timeout);
                let rehearsal = rehearsal(&chosen.entry.model, workshop)?;
                Arc::new(Watched::new(Arc::new(rehearsal), patience))
            }
        };
        made.insert(name, model.clone());
        Ok(model)
    }

    /// Returns the model behind HTTP that a choice means.
    pub fn remote(&self, wire: Wire, chosen: &Chosen) -> Result<Remote, Failure> {
        let entry = &chosen.entry;
        let key = self.key_of(entry)?.map(|found| found.secret);
        if key.is_none() && self.needs_key(chosen) {
            return Err(no_key(entry.provider));
        }
        self.remote_with(wire, chosen, key)
    }

    /// Tells whether nobody answers without a key: so it is at the usual places.
    pub(crate) fn needs_key(&self, chosen: &Chosen) -> bool {
        needs_key(chosen.entry.provider) && chosen.entry.base_url.is_none()
    }

    pub(crate) fn remote_with(
        &self,
        wire: Wire,
        chosen: &Chosen,
        key: Option<Secret>,
    ) -> Result<Remote, Failure> {
        let entry = &chosen.entry;
        let base_url = chosen.base_url();
        let proxy = match entry.proxy.as_deref() {
            Some("none") => None,
            Some(proxy) => Some(proxy.to_owned()),
            None => self.environment.proxy_for(&base_url),
        };
        let address = Address {
            wire,
            base_url,
            key,
            headers: entry.headers.clone().into_iter().collect(),
            patience: entry.timeout.unwrap_or(self.idle_timeout),
        };
        let connection = self.connections.through(proxy.as_deref())?;
        let (model, clock) = (entry.model.clone(), self.clock.clone());
        Ok(Remote::new(connection, address, model, chosen.card, clock))
    }

    /// Asks a local Ollama for its models. Nobody there is no failure.
    async fn local_models(&self) -> Vec<String> {
        let entry = ModelEntry::named(Provider::Ollama, "");
        let chosen = Chosen {
            wanted: "ollama".to_owned(),
            resolved: "the usual place".to_owned(),
            entry,
            card: Default::default(),
        };
        let Ok(remote) = self.remote_with(Wire::Ollama, &chosen, None) else {
            return Vec::new();
        };
        let asked = tokio::time::timeout(LOCAL_PATIENCE, remote.look()).await;
        asked.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// Returns the providers for which there is a key, in the order in which they are preferred.
fn keyed(environment: &Environment, vault: &Vault) -> Vec<Provider> {
    let variable = |name: &str| text_of(environment, name);
    let account = text_of(environment, "ARTEL_ACCOUNT");
    [Provider::Anthropic, Provider::OpenAi, Provider::Google]
        .into_iter()
        .filter(|provider| {
            let sources = Sources {
                provider: *provider,
                account: account.as_deref(),
                api_key_env: None,
                environment: &variable,
                vault,
            };
            matches!(find(sources), Ok(Some(_)))
        })
        .collect()
}

pub(crate) fn needs_key(provider: Provider) -> bool {
    !provider.key_variables().is_empty()
}

fn no_key(provider: Provider) -> Failure {
    let variables = provider.key_variables().join("` or `");
    Failure::new(Code::M003, format!("`{provider}` needs a key"))
        .because(format!(
            "`{variables}` is not set, and no key is stored for it"
        ))
        .advise(format!("`artel auth set {provider}`"))
}

/// Opens a script, a recording in a file, or a recording in this workshop's own journal.
fn rehearsal(name: &str, workshop: &Workshop) -> Result<Rehearsal, Failure> {
    let path = Path::new(name);
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("yaml" | "yml") => Rehearsal::load(&script(path, workshop)?, name),
        Some("jsonl") => recording(&script(path, workshop)?),
        _ => Ok(Rehearsal::play(workshop.cassette(name)?)),
    }
}

/// Reads a recording. What stands there as the request is what is expected, also where somebody
/// has edited it since: the fingerprint beside it is that of what was once asked.
fn recording(text: &str) -> Result<Rehearsal, Failure> {
    let cassette = Cassette::read_jsonl(text)
        .map_err(|failure| failure.advise("`artel model record TRACE > FILE` makes one"))?;
    let takes = cassette.takes().iter();
    let takes = takes.map(|take| Take::new(take.request.clone(), take.reply.clone()));
    Ok(Rehearsal::play(Cassette::new(takes.collect())))
}

fn script(path: &Path, workshop: &Workshop) -> Result<String, Failure> {
    let path = workshop.caller.absolute(path);
    let bytes =
        read_bounded(&path, LARGEST_SCRIPT).map_err(|error| file_failure(Code::M011, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        Failure::new(Code::M011, format!("`{}` is not text", path.display()))
            .because(error.utf8_error().to_string())
    })
}

/// Returns a variable as text; an empty one counts as not set.
pub(crate) fn text_of(environment: &Environment, name: &str) -> Option<String> {
    let text = environment.get(name)?.to_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns where a key comes from, for people.
pub fn key_origin(found: Option<&Found>) -> String {
    match found.map(|found| &found.from) {
        None => "none".to_owned(),
        Some(Origin::Env(name)) => format!("the variable `{name}`"),
        Some(origin) => origin.to_string(),
    }
}
