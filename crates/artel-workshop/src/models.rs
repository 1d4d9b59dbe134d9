//! The models that a workshop can use: choosing one, connecting to it, and calling it
//! through the gateway.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artel_config::{ProcessEnvironment, Settings};
use artel_files::read_bounded;
use artel_journal::Journal;
use artel_model::{
    Cassette, CassetteTake, ChosenModel, Gateway, GatewaySetup, Model, ModelAddress,
    ModelCatalogue, ModelSelector, ProviderHttpClientPool, RehearsalModel, RemoteModel,
    SilenceTimeoutModel,
};
use artel_rules::breaker::BreakerThresholds;
use artel_types::model::{ModelAliasSettings, Provider};
use artel_types::{Failure, FailureCode, Secret, SecretRedactor};
use artel_vault::{FoundKey, KeyOrigin, KeySources, Vault, VaultError, find};
use artel_wire::WireFormat;

use crate::book::{ACCOUNT, JournalGatewayStore};
use crate::caller::CommandContext;
use crate::gateways::{GatewayTerms, shared_gateway};
use crate::providers::ModelRow;
use crate::trouble::file_failure;
use crate::workshop::Workshop;

/// Time limit for reaching a local model server: it answers at once or is not running.
const LOCAL_PATIENCE: Duration = Duration::from_millis(700);

/// Size limit of a script or recording, in bytes.
const LARGEST_SCRIPT: u64 = 64 * 1024 * 1024;

/// The available models, and how each is reached.
pub struct ModelDirectory {
    menu: ModelSelector,
    vault: Vault,
    /// Why the stored keys cannot be read.
    no_keys: Option<Failure>,
    environment: ProcessEnvironment,
    connections: ProviderHttpClientPool,
    idle_timeout: Duration,
    clock: artel_types::Clock,
    /// The rehearsals in progress, by script.
    begun: Mutex<HashMap<String, Arc<dyn Model>>>,
    /// The keys that calls have used.
    used: Mutex<Vec<Secret>>,
}

impl Workshop {
    /// Finds the models that can be used in this workshop. An untrusted workshop is refused
    /// even if it was named explicitly: its settings could send keys anywhere.
    pub async fn models(&self, named: Option<&str>) -> Result<ModelDirectory, Failure> {
        self.caller.refuse_untrusted(self.id(), self.root())?;
        Ok(ModelDirectory::find(&self.caller, &self.settings, named).await)
    }

    /// Refuses a model that cannot be used, before anything that names it is recorded.
    pub async fn ensure_model(&self, named: Option<&str>) -> Result<(), Failure> {
        if let Some(named) = named {
            self.models(Some(named)).await?.choose(Some(named))?;
        }
        Ok(())
    }

    /// Returns the gateway of this workshop on its journal. A gateway that this process has
    /// already opened with the same settings and keys is shared.
    pub async fn gateway(
        &self,
        journal: &Journal,
        models: &ModelDirectory,
    ) -> Result<Gateway, Failure> {
        // The next opening then folds only later events.
        journal.keep(&ACCOUNT).await?;
        let settings = &self.settings;
        let mut secrets = self.secrets();
        secrets.extend(models.used_keys());
        let terms = GatewayTerms {
            limits: settings.budget.clone(),
            slots: usize::try_from(settings.gateway.slots.value).unwrap_or(usize::MAX),
            max_wait: settings.gateway.max_wait.value,
            secrets,
        };
        let setup = GatewaySetup {
            formats: Some(self.caller.formats()),
            book: Arc::new(JournalGatewayStore::new(journal.clone())),
            clock: self.caller.clock.clone(),
            redactor: SecretRedactor::of_known_values(&terms.secrets),
            limits: terms.limits.clone(),
            slots: terms.slots,
            max_wait: terms.max_wait,
            thresholds: BreakerThresholds::MODEL,
        };
        shared_gateway(self.home.state(), terms, || Gateway::open(setup))
    }

    /// Returns a redactor for the secrets of the environment, the stored keys, and the
    /// variables that the settings name.
    pub(crate) fn redactor(&self) -> SecretRedactor {
        SecretRedactor::of_known_values(&self.secrets())
    }

    fn secrets(&self) -> Vec<Secret> {
        let environment = &self.caller.environment;
        let named = self.settings.models.values();
        let named = named.filter_map(|entry| entry.value.api_key_env.as_deref());
        let named = named.filter_map(|name| text_of(environment, name));
        let named = named.map(|text| Secret::new(text.trim()));
        let mut secrets: Vec<Secret> = named.collect();
        secrets.extend(self.caller.secrets());
        secrets
    }
}

impl ModelDirectory {
    /// Finds the models that can be used. A local Ollama server is asked only if nothing else
    /// is configured. A model that the person named for this command takes precedence over
    /// `ARTEL_MODEL`, but is not chosen yet.
    pub(crate) async fn find(
        caller: &CommandContext,
        settings: &Settings,
        named: Option<&str>,
    ) -> Self {
        let mut models = Self::bare(caller, settings);
        if named.is_some() {
            models.menu.override_with = None;
        }
        if models.menu.needs_ollama() {
            models.menu.ollama = models.local_models().await;
        }
        models
    }

    /// Builds the directory from settings, environment and stored keys, without asking any
    /// server.
    pub(crate) fn bare(caller: &CommandContext, settings: &Settings) -> Self {
        let (environment, vault) = (caller.environment.clone(), caller.vault());
        let (keyed, no_keys) = keyed(&environment, &vault);
        let entries = settings.models.iter();
        Self {
            menu: ModelSelector {
                entries: entries
                    .map(|(alias, entry)| (alias.clone(), entry.value.clone()))
                    .collect(),
                override_with: override_of(&environment),
                keyed,
                ollama: Vec::new(),
                catalogue: ModelCatalogue::shipped(&settings.prices),
            },
            vault,
            no_keys,
            environment,
            connections: ProviderHttpClientPool::new(settings.gateway.connect_timeout.value),
            idle_timeout: settings.gateway.idle_timeout.value,
            clock: caller.clock.clone(),
            begun: Mutex::default(),
            used: Mutex::default(),
        }
    }

    /// Returns what each alias stands for here.
    pub fn list(&self) -> Vec<ModelRow> {
        self.menu.list().into_iter().map(ModelRow::from).collect()
    }

    /// Chooses a model: by alias, as `provider:model`, or the default.
    pub fn choose(&self, wanted: Option<&str>) -> Result<ChosenModel, Failure> {
        self.menu.choose(wanted).map_err(|failure| {
            // If the stored keys cannot be read, that is why there seem to be none.
            match &self.no_keys {
                Some(why) if failure.code == FailureCode::M004 => why.clone(),
                _ => failure,
            }
        })
    }

    /// Finds the key that an entry would use, if there is one.
    pub fn key_of(&self, entry: &ModelAliasSettings) -> Result<Option<FoundKey>, Failure> {
        // An entry that needs no key and names none must not depend on whether stored keys can be
        // read.
        if !needs_key(entry.provider) && entry.account.is_none() && entry.api_key_env.is_none() {
            return Ok(None);
        }
        let variable = |name: &str| text_of(&self.environment, name);
        let named = text_of(&self.environment, "ARTEL_ACCOUNT");
        let account = entry.account.as_deref().or(named.as_deref());
        let found = find(KeySources {
            provider: entry.provider,
            account: account.filter(|_| needs_key(entry.provider)),
            api_key_env: entry.api_key_env.as_deref(),
            environment: &variable,
            vault: &self.vault,
        });
        let may_need_none = entry.provider == Provider::OpenAiChat
            && entry.base_url.is_some()
            && entry.api_key_env.is_none();
        match found {
            // An account that was set for all commands is not meant for a server that needs no
            // key.
            Err(VaultError::Missing { .. }) if entry.account.is_none() && may_need_none => Ok(None),
            found => Ok(found?),
        }
    }

    /// Returns the chosen model, ready for calls.
    pub fn connect(
        &self,
        chosen: &ChosenModel,
        workshop: &Workshop,
    ) -> Result<Arc<dyn Model>, Failure> {
        match WireFormat::of(chosen.entry.provider) {
            Some(wire) => Ok(Arc::new(self.remote(wire, chosen)?)),
            None => self.rehearsal(chosen, workshop),
        }
    }

    /// Returns the rehearsal of a script. The same script gives the same rehearsal, which
    /// remembers how far it has come.
    fn rehearsal(
        &self,
        chosen: &ChosenModel,
        workshop: &Workshop,
    ) -> Result<Arc<dyn Model>, Failure> {
        let name = &chosen.entry.model;
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = begun.get(name) {
            return Ok(model.clone());
        }
        let patience = chosen.entry.timeout.unwrap_or(self.idle_timeout);
        let rehearsal = Arc::new(rehearsal(name, workshop)?);
        let model: Arc<dyn Model> = Arc::new(SilenceTimeoutModel::new(rehearsal, patience));
        begun.insert(name.clone(), model.clone());
        Ok(model)
    }

    /// Returns the keys that calls have used, so that they can be redacted from other text.
    pub(crate) fn used_keys(&self) -> Vec<Secret> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.clone()
    }

    /// Returns the chosen model if it is reached over HTTP.
    pub fn remote(&self, wire: WireFormat, chosen: &ChosenModel) -> Result<RemoteModel, Failure> {
        let entry = &chosen.entry;
        let key = self.key_of(entry)?.map(|found| found.secret);
        if key.is_none() && self.needs_key(chosen) {
            return Err(no_key(entry.provider));
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.extend(key.clone());
        self.remote_with(wire, chosen, key)
    }

    /// Returns whether the model refuses calls without a key, as the providers' usual
    /// addresses do.
    pub(crate) fn needs_key(&self, chosen: &ChosenModel) -> bool {
        needs_key(chosen.entry.provider) && chosen.entry.base_url.is_none()
    }

    pub(crate) fn remote_with(
        &self,
        wire: WireFormat,
        chosen: &ChosenModel,
        key: Option<Secret>,
    ) -> Result<RemoteModel, Failure> {
        let entry = &chosen.entry;
        let base_url = chosen.base_url();
        let proxy = match entry.proxy.as_deref() {
            Some("none") => None,
            Some(proxy) => Some(proxy.to_owned()),
            None => self.environment.proxy_for(&base_url),
        };
        let address = ModelAddress {
            wire,
            base_url,
            key,
            headers: entry.headers.clone().into_iter().collect(),
            patience: entry.timeout.unwrap_or(self.idle_timeout),
        };
        let connection = self.connections.through(proxy.as_deref())?;
        let (model, clock) = (entry.model.clone(), self.clock.clone());
        Ok(RemoteModel::new(
            connection,
            address,
            model,
            chosen.card,
            clock,
        ))
    }

    /// Asks a local Ollama server for its models. No server is not an error.
    async fn local_models(&self) -> Vec<String> {
        let entry = ModelAliasSettings::named(Provider::Ollama, "");
        let chosen = ChosenModel {
            wanted: "ollama".to_owned(),
            resolved: "the usual place".to_owned(),
            entry,
            card: Default::default(),
        };
        let Ok(remote) = self.remote_with(WireFormat::Ollama, &chosen, None) else {
            return Vec::new();
        };
        let asked = tokio::time::timeout(LOCAL_PATIENCE, remote.look()).await;
        asked.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// Returns the providers that have a key, in order of preference, and the failure if keys
/// could not be read.
fn keyed(environment: &ProcessEnvironment, vault: &Vault) -> (Vec<Provider>, Option<Failure>) {
    let variable = |name: &str| text_of(environment, name);
    let account = text_of(environment, "ARTEL_ACCOUNT");
    let (mut keyed, mut why) = (Vec::new(), None);
    for provider in [Provider::Anthropic, Provider::OpenAi, Provider::Google] {
        let found = find(KeySources {
            provider,
            account: account.as_deref(),
            api_key_env: None,
            environment: &variable,
            vault,
        });
        match found {
            Ok(Some(_)) => keyed.push(provider),
            Ok(None) | Err(VaultError::Missing { .. }) => {}
            Err(error) => why = why.or_else(|| Some(error.into())),
        }
    }
    (keyed, why)
}

pub(crate) fn needs_key(provider: Provider) -> bool {
    !provider.key_variables().is_empty()
}

fn no_key(provider: Provider) -> Failure {
    let variables = provider.key_variables().join("` or `");
    Failure::new(FailureCode::M003, format!("`{provider}` needs a key"))
        .because(format!(
            "`{variables}` is not set, and no key is stored for it"
        ))
        .advise(format!("`artel auth set {provider}`"))
}

impl Workshop {
    /// Refuses a recording as the model for planning. The prompts of a plan's agents are
    /// different each time, so no recorded reply would ever match.
    pub(crate) fn can_plan_with(&self, named: Option<&str>) -> Result<(), Failure> {
        let mut models = ModelDirectory::bare(&self.caller, &self.settings);
        if named.is_some() {
            models.menu.override_with = None;
        }
        // If no model can be chosen, the code that needs one reports it.
        let Ok(chosen) = models.choose(named) else {
            return Ok(());
        };
        let name = &chosen.entry.model;
        let is_script = name.ends_with(".yaml") || name.ends_with(".yml");
        if chosen.entry.provider != Provider::Rehearsal || is_script {
            return Ok(());
        }
        let what = format!("the recording `{name}` cannot plan or do planned work");
        Err(Failure::new(FailureCode::M011, what)
            .because(
                "what agents of a plan are told is new each time: reports written since, names of \
                 runs, commits",
            )
            .advise(format!(
                "write a script of what `artel model record {name}` prints (`docs/rehearsal.md`), \
                 and name it as `rehearsal:FILE.yaml`; `artel replay` plays a single run again"
            )))
    }
}

/// Refuses the name of a rehearsal that comes over HTTP.
///
/// What follows `rehearsal:` is a file of this machine or a recording of its journal. Whoever calls
/// may be anywhere, and no role lets them read either. An alias of the settings may mean one.
pub fn refuse_rehearsal_over_http(named: &str) -> Result<(), Failure> {
    let provider = named.split_once(':').map(|(provider, _)| provider);
    if provider.and_then(|word| word.parse().ok()) != Some(Provider::Rehearsal) {
        return Ok(());
    }
    Err(
        Failure::new(FailureCode::C004, "a rehearsal cannot be named over HTTP")
            .because("its script or recording is on the machine of the daemon")
            .advise("make it an entry of `[models]` in `artel.toml` there, and name its alias"),
    )
}

/// Opens a script, a recording in a file, or a recording in this workshop's own journal.
fn rehearsal(name: &str, workshop: &Workshop) -> Result<RehearsalModel, Failure> {
    let path = Path::new(name);
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("yaml" | "yml") => RehearsalModel::load(&script(path, workshop)?, name),
        Some("jsonl") => recording(&script(path, workshop)?),
        _ if name.contains(['/', '.']) => Err(Failure::new(
            FailureCode::M011,
            format!("`{name}` is neither a script nor a recording"),
        )
        .because("a script ends in `.yaml`, a recording in `.jsonl`, and an id has no dots")
        .advise("`docs/rehearsal.md` describes both")),
        _ => Ok(RehearsalModel::play(workshop.cassette(name)?)),
    }
}

/// Reads a recording. The requests in the file are what is expected, even if somebody has
/// edited them since: the stored fingerprints belong to the original requests.
fn recording(text: &str) -> Result<RehearsalModel, Failure> {
    let cassette = Cassette::read_jsonl(text)
        .map_err(|failure| failure.advise("`artel model record TRACE > FILE` makes one"))?;
    let takes = cassette.takes().iter();
    let takes = takes.map(|take| CassetteTake::new(take.request.clone(), take.reply.clone()));
    Ok(RehearsalModel::play(Cassette::new(takes.collect())))
}

fn script(path: &Path, workshop: &Workshop) -> Result<String, Failure> {
    let path = workshop.caller.absolute(path);
    let bytes = read_bounded(&path, LARGEST_SCRIPT)
        .map_err(|error| file_failure(FailureCode::M011, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        Failure::new(
            FailureCode::M011,
            format!("`{}` is not text", path.display()),
        )
        .because(error.utf8_error().to_string())
    })
}

/// Returns the value of `ARTEL_MODEL`. A value that is not UTF-8 cannot name a model, and
/// is refused later.
fn override_of(environment: &ProcessEnvironment) -> Option<String> {
    let said = environment.get("ARTEL_MODEL")?.to_string_lossy();
    (!said.is_empty()).then(|| said.into_owned())
}

/// Returns a variable as text. An empty variable counts as not set.
pub(crate) fn text_of(environment: &ProcessEnvironment, name: &str) -> Option<String> {
    let text = environment.get(name)?.to_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// Describes where a key comes from, for people.
pub fn key_origin(found: Option<&FoundKey>) -> String {
    match found.map(|found| &found.from) {
        None => "none".to_owned(),
        Some(KeyOrigin::Env(name)) => format!("the variable `{name}`"),
        Some(origin) => origin.to_string(),
    }
}
