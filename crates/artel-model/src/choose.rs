//! Chooses the model: the wish of a skill, a role or a person becomes one configured model.
//!
//! This is pure: the configuration, the available keys and the models of a local Ollama are
//! passed in. There is never a silent fallback: every choice says how it came about, and a
//! wish that cannot be resolved is refused with the possible ones.

mod chosen;
mod refusal;

use std::collections::BTreeMap;

use artel_types::Failure;
use artel_types::model::{ModelAliasSettings, ModelSpec, Provider};

use crate::catalogue::{ModelCatalogue, ModelClass};

/// Aliases that need no entry in the configuration.
const BUILT_IN: [&str; 8] = [
    "default", "inherit", "fast", "balanced", "strong", "haiku", "sonnet", "opus",
];

/// Everything that a model is chosen from.
#[derive(Debug, Clone, Default)]
pub struct ModelSelector {
    /// The entries of `[models]`, by alias.
    pub entries: BTreeMap<String, ModelAliasSettings>,
    /// Value of `ARTEL_MODEL` or `--model`: an alias or `provider:model`. It replaces every
    /// choice, because a person's word beats a skill's.
    pub override_with: Option<String>,
    /// Providers with a key, the preferred one first.
    pub keyed: Vec<Provider>,
    /// Models of a local Ollama.
    pub ollama: Vec<String>,
    /// The known models.
    pub catalogue: ModelCatalogue,
}

/// A chosen model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenModel {
    /// The wish: an alias, or `provider:model`.
    pub wanted: String,
    /// Explanation for people of how the wish was resolved, in a few words.
    pub resolved: String,
    /// Provider and model, and how to reach them.
    pub entry: ModelAliasSettings,
    /// Limits and prices of the model, as far as known.
    pub card: ModelSpec,
}

/// An alias, and what it resolves to here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAliasEntry {
    /// Name of the alias.
    pub alias: String,
    /// Model that the alias resolves to, or the reason that it resolves to none.
    pub choice: Result<ChosenModel, Failure>,
}

/// An entry, and how it was found.
type Found = (ModelAliasSettings, String);

impl ModelSelector {
    /// Chooses a model for an alias or for `provider:model`. `None` means the default.
    pub fn choose(&self, wanted: Option<&str>) -> Result<ChosenModel, Failure> {
        let wanted = wanted.unwrap_or("default");
        let (entry, resolved) = match self.override_word() {
            Some(word) => {
                let (entry, how) = self.resolve(word)?;
                (entry, format!("ARTEL_MODEL: {how}"))
            }
            None => self.resolve(wanted)?,
        };
        Ok(ChosenModel {
            wanted: wanted.to_owned(),
            resolved,
            card: self.catalogue.card(entry.provider, &entry.model),
            entry,
        })
    }

    /// Returns whether the choice depends on the models of a local Ollama. Only then are they
    /// worth asking for.
    pub fn needs_ollama(&self) -> bool {
        let is_by_default = self.override_word().is_none_or(|word| {
            let is_class = ModelClass::of_alias(word).is_some() && !self.entries.contains_key(word);
            is_class || matches!(word, "default" | "inherit")
        });
        is_by_default && self.configured().is_none() && self.by_key().is_none()
    }

    /// Returns every alias with what it resolves to here: the configured entries first, then
    /// the built-in ones.
    pub fn list(&self) -> Vec<ModelAliasEntry> {
        let listed = |alias: &str| ModelAliasEntry {
            alias: alias.to_owned(),
            choice: self.choose(Some(alias)),
        };
        self.aliases().into_iter().map(listed).collect()
    }

    fn aliases(&self) -> Vec<&str> {
        let entries = self.entries.keys().map(String::as_str);
        let built_in = BUILT_IN.iter().copied();
        let missing = built_in.filter(|alias| !self.entries.contains_key(*alias));
        entries.chain(missing).collect()
    }

    /// Returns the override. As everywhere, an empty variable counts as not set.
    fn override_word(&self) -> Option<&str> {
        let word = self.override_with.as_deref()?.trim();
        (!word.is_empty()).then_some(word)
    }

    fn resolve(&self, word: &str) -> Result<Found, Failure> {
        if matches!(word, "default" | "inherit") {
            return self.by_default();
        }
        if let Some(entry) = self.entries.get(word) {
            return Ok((entry.clone(), format!("entry [models.{word}]")));
        }
        if let Some(class) = ModelClass::of_alias(word) {
            let found = self.entry_of_class(class);
            return found.map_or_else(|| self.by_class(class), Ok);
        }
        match word.split_once(':') {
            Some((provider, model)) => by_name(provider, model),
            None => Err(refusal::no_such_alias(word, &self.aliases())),
        }
    }

    fn by_default(&self) -> Result<Found, Failure> {
        let found = self.configured().or_else(|| self.by_key());
        let found = found.or_else(|| {
            let model = self.ollama.first()?;
            let how = "the first model of the local Ollama";
            Some((
                ModelAliasSettings::named(Provider::Ollama, model),
                how.to_owned(),
            ))
        });
        found.ok_or_else(|| refusal::nothing_configured(self.entries.len()))
    }

    fn configured(&self) -> Option<Found> {
        if let Some(entry) = self.entries.get("default") {
            return Some((entry.clone(), "entry [models.default]".to_owned()));
        }
        let mut entries = self.entries.iter();
        match (entries.next(), entries.next()) {
            (Some((alias, entry)), None) => {
                Some((entry.clone(), format!("[models.{alias}], the only entry")))
            }
            _ => None,
        }
    }

    fn by_key(&self) -> Option<Found> {
        self.keyed.iter().find_map(|provider| {
            let model = self.catalogue.of_class(*provider, ModelClass::Balanced)?;
            let how = format!("class balanced of {provider}, which there is a key for");
            Some((ModelAliasSettings::named(*provider, model), how))
        })
    }

    /// Returns the person's own entry for a class. A person who defines `fast` also defines
    /// `haiku` in a skill that others wrote.
    fn entry_of_class(&self, class: ModelClass) -> Option<Found> {
        let entry = self.entries.get(class.as_str())?;
        Some((entry.clone(), format!("entry [models.{class}]")))
    }

    /// Returns the nearest class of the default's provider, reached as the default is. A server
    /// elsewhere may have models of its own, whose classes nobody knows. But if its default is
    /// a known model of the provider, the server is a proxy for that provider.
    fn by_class(&self, class: ModelClass) -> Result<Found, Failure> {
        let (mut entry, how) = self.by_default()?;
        let provider = entry.provider;
        let model = self.catalogue.of_class(provider, class);
        let has_classes =
            chosen::is_at_usual_place(&entry) || ModelCatalogue::knows(provider, &entry.model);
        match model.filter(|_| has_classes) {
            Some(model) => {
                entry.model = model.to_owned();
                Ok((entry, format!("nearest class {class} of {provider}")))
            }
            None => {
                let place = chosen::name_of_place(&entry);
                let why = format!("no classes are known of {place}, so the default: {how}");
                Ok((entry, why))
            }
        }
    }
}

/// Takes `provider:model` literally. The model's own name may contain colons.
fn by_name(provider: &str, model: &str) -> Result<Found, Failure> {
    let known: Provider = provider
        .parse()
        .map_err(|_| refusal::no_such_provider(provider))?;
    if model.trim().is_empty() {
        return Err(refusal::no_model_named(known));
    }
    Ok((
        ModelAliasSettings::named(known, model),
        "as named".to_owned(),
    ))
}

#[cfg(test)]
mod tests;
