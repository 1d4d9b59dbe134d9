//! Models and providers as people see them: what an alias stands for, and the health of a
//! provider.

use artel_model::{ModelAliasEntry, RecordedProviderHealth};
use artel_types::model::{ModelSpec, Provider};
use artel_types::{
    BreakerClosed, EventDraft, Fact, Failure, FailureCode, Money, ProviderResumed, StreamName,
    Timestamp,
};
use serde::Serialize;

use crate::book::ACCOUNT;
use crate::caller::CommandContext;
use crate::models::{ModelDirectory, key_origin, needs_key};
use crate::trouble::WorkshopFailures;
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// One model with everything that is known about it.
#[derive(Debug, Clone, Serialize)]
pub struct ModelDetail {
    /// The alias or name that was asked for.
    pub alias: String,
    pub provider: Provider,
    pub model: String,
    /// The way the alias was resolved.
    pub how: String,
    /// The address of the provider, or `None` if it has none.
    pub base_url: Option<String>,
    /// Whether the model runs on this machine.
    pub is_local: bool,
    /// Where its key comes from.
    pub key: String,
    /// Its limits and prices.
    pub card: ModelInfo,
    /// The provider's name in the journal and for `artel model reset`.
    pub provider_name: String,
    /// The health of the provider.
    pub health: String,
    /// When the provider will be asked again, if it is suspended.
    pub until: Option<Timestamp>,
}

/// The known facts about a model, for readers. `None` means unknown, never zero.
#[derive(Debug, Clone, Serialize)]
pub struct ModelInfo {
    /// Tokens that a conversation may have.
    pub context: Option<u64>,
    /// Tokens that a reply may have.
    pub max_output: Option<u64>,
    /// The price of a million tokens.
    pub usd_per_million: Option<UsdTokenPrices>,
}

/// Prices of a million tokens, in US dollars.
#[derive(Debug, Clone, Serialize)]
pub struct UsdTokenPrices {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from the cache; `None` means the same as `input`.
    pub cache_read: Option<f64>,
    /// Tokens written to the cache; `None` means the same as `input`.
    pub cache_write: Option<f64>,
}

impl From<ModelSpec> for ModelInfo {
    fn from(card: ModelSpec) -> Self {
        let dollars = |money: Money| money.0 as f64 / 1_000_000.0;
        Self {
            context: card.context,
            max_output: card.max_output,
            usd_per_million: card
                .input
                .zip(card.output)
                .map(|(input, output)| UsdTokenPrices {
                    input: dollars(input),
                    output: dollars(output),
                    cache_read: card.cache_read.map(dollars),
                    cache_write: card.cache_write.map(dollars),
                }),
        }
    }
}

/// One alias and what it stands for here.
#[derive(Debug, Clone, Serialize)]
pub struct ModelRow {
    pub alias: String,
    pub provider: Option<Provider>,
    pub model: Option<String>,
    /// Its limits and prices.
    pub card: Option<ModelInfo>,
    /// The way the alias was resolved, or the reason why it cannot be.
    pub how: String,
}

impl From<ModelAliasEntry> for ModelRow {
    fn from(listed: ModelAliasEntry) -> Self {
        let alias = listed.alias;
        match listed.choice {
            Ok(chosen) => Self {
                alias,
                provider: Some(chosen.entry.provider),
                model: Some(chosen.entry.model),
                card: Some(chosen.card.into()),
                how: chosen.resolved,
            },
            Err(failure) => Self {
                alias,
                provider: None,
                model: None,
                card: None,
                how: failure.what,
            },
        }
    }
}

/// A provider that is not asked for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspendedProvider {
    /// Its name in the journal and for `artel model reset`.
    pub name: String,
    /// Why it is suspended.
    pub by: ProviderSuspensionCause,
    /// When it will be asked again.
    pub until: Timestamp,
    /// The latest recorded reason.
    pub why: String,
}

/// Why a provider is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderSuspensionCause {
    /// The provider asked for a pause.
    Itself,
    /// The provider failed too often.
    Failures,
}

impl SuspendedProvider {
    /// Returns the suspension of a provider, or `None` if it may be asked.
    pub(crate) fn of(
        name: &str,
        standing: &RecordedProviderHealth,
        now: Timestamp,
    ) -> Option<Self> {
        let paused = standing
            .paused
            .map(|(_, until)| (ProviderSuspensionCause::Itself, until));
        let open = standing
            .open_until
            .map(|until| (ProviderSuspensionCause::Failures, until));
        let mut held = [paused, open].into_iter().flatten();
        let (by, until) = held.find(|(_, until)| *until > now)?;
        Some(Self {
            name: name.to_owned(),
            by,
            until,
            why: standing.why.clone(),
        })
    }
}

impl CommandContext {
    /// Finds the models that can be used here, inside or outside of a workshop.
    pub async fn models_here(
        &self,
        named: Option<&str>,
    ) -> Result<ModelDirectory, WorkshopFailures> {
        let settings = self.settings_here()?;
        Ok(ModelDirectory::find(self, &settings, named).await)
    }

    /// Returns the details of one model.
    pub async fn show_model(&self, alias: Option<&str>) -> Result<ModelDetail, WorkshopFailures> {
        let models = self.models_here(alias).await?;
        self.shown_of(&models, alias)
    }

    /// Returns the details of one model. An alias from the list gives the model that runs
    /// would use.
    pub async fn show_listed(&self, alias: &str) -> Result<ModelDetail, WorkshopFailures> {
        let models = self.models_here(None).await?;
        if models.list().iter().any(|row| row.alias == alias) {
            return self.shown_of(&models, Some(alias));
        }
        self.show_model(Some(alias)).await
    }

    fn shown_of(
        &self,
        models: &ModelDirectory,
        alias: Option<&str>,
    ) -> Result<ModelDetail, WorkshopFailures> {
        let chosen = models.choose(alias)?;
        let key = match models.key_of(&chosen.entry) {
            Ok(None) if needs_key(chosen.entry.provider) => {
                format!(
                    "none; `artel auth set {}` stores one",
                    chosen.entry.provider
                )
            }
            Ok(found) => key_origin(found.as_ref()),
            Err(failure) => failure.what,
        };
        let provider_name = chosen.health_name();
        let standing = match self.workshop() {
            Ok(workshop) => workshop.standing(&provider_name)?,
            Err(_) => RecordedProviderHealth::default(),
        };
        let (health, until) = health(&standing, self.clock().now());
        Ok(ModelDetail {
            alias: chosen.wanted.clone(),
            provider: chosen.entry.provider,
            model: chosen.entry.model.clone(),
            how: chosen.resolved.clone(),
            base_url: Some(chosen.base_url()).filter(|url| !url.is_empty()),
            is_local: chosen.is_local(),
            key,
            card: chosen.card.into(),
            provider_name,
            health,
            until,
        })
    }
}

impl Workshop {
    fn standing(&self, provider: &str) -> Result<RecordedProviderHealth, Failure> {
        let (account, _) = ACCOUNT.state(&*self.reader()?)?;
        Ok(account.standings.get(provider).cloned().unwrap_or_default())
    }

    /// Ends the suspension of a provider. Returns the names that were suspended: a provider
    /// with several addresses has several names.
    pub fn reset_provider(&self, name: &str) -> Result<Vec<String>, Failure> {
        let word = name.split(':').next().unwrap_or(name);
        if word.parse::<Provider>().is_err() {
            return Err(unknown(name));
        }
        let (account, _) = ACCOUNT.state(&*self.reader()?)?;
        let held: Vec<String> = account
            .standings
            .iter()
            .filter(|(known, _)| *known == name || known.split(':').next() == Some(name))
            .filter(|(_, standing)| standing.open_until.is_some() || standing.paused.is_some())
            .map(|(known, _)| known.clone())
            .collect();
        if held.is_empty() {
            return Ok(held);
        }
        let mut drafts = Vec::new();
        for provider in &held {
            drafts.extend(self.reset_drafts(provider)?);
        }
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        journal
            .append(artel_journal::EventBatch::of(drafts))
            .wait()?;
        Ok(held)
    }

    fn reset_drafts(&self, provider: &str) -> Result<[EventDraft; 2], Failure> {
        let stream = StreamName::provider(provider)
            .map_err(|error| Failure::new(FailureCode::X001, error.to_string()))?;
        let draft = |fact: Fact| EventDraft {
            stream: stream.clone(),
            ..self.draft(fact)
        };
        let (provider, why) = (provider.to_owned(), "reset by hand".to_owned());
        let closed = BreakerClosed {
            provider: provider.clone(),
            why,
        };
        Ok([
            draft(closed.into()),
            draft(ProviderResumed { provider }.into()),
        ])
    }
}

fn health(standing: &RecordedProviderHealth, now: Timestamp) -> (String, Option<Timestamp>) {
    if let Some(held) = SuspendedProvider::of("", standing, now) {
        let how = match held.by {
            ProviderSuspensionCause::Itself => "asked for a pause",
            ProviderSuspensionCause::Failures => "left alone",
        };
        let text = format!("{how} until {} ({})", held.until, held.why);
        return (text, Some(held.until));
    }
    if let Some(until) = standing.open_until {
        let text = format!("failed lately ({}); the next call tries it", standing.why);
        return (text, Some(until));
    }
    ("well, as far as known".to_owned(), None)
}

fn unknown(name: &str) -> Failure {
    let known: Vec<_> = Provider::ALL.iter().map(|known| known.as_str()).collect();
    let shown: String = name.chars().take(80).collect();
    Failure::new(FailureCode::M001, format!("there is no provider `{shown}`"))
        .because(format!("the providers are {}", known.join(", ")))
        .advise("`artel model show` names the provider of a model")
}
