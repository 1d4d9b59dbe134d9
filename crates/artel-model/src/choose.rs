//! Which model answers: what a skill, a role or a person asks for becomes one configured model.
//!
//! Pure: what is configured, which keys there are and what a local Ollama has is handed in. There
//! is never a silent fallback: every choice says how it came about, and what cannot be resolved is
//! refused with what could be.

mod chosen;
mod refusal;

use std::collections::BTreeMap;

use artel_types::Failure;
use artel_types::model::{ModelCard, ModelEntry, Provider};

use crate::catalogue::{Catalogue, Class};

/// Aliases that need no entry.
const BUILT_IN: [&str; 8] = [
    "default", "inherit", "fast", "balanced", "strong", "haiku", "sonnet", "opus",
];

/// Everything a choice is made from.
#[derive(Debug, Clone, Default)]
pub struct Menu {
    /// The entries of `[models]`, by alias.
    pub entries: BTreeMap<String, ModelEntry>,
    /// What `ARTEL_MODEL` or `--model` says: an alias or `provider:model`. It replaces every
    /// choice, since a person's word beats a skill's.
    pub override_with: Option<String>,
    /// The providers that there is a key for, the preferred one first.
    pub keyed: Vec<Provider>,
    /// The models of a local Ollama.
    pub ollama: Vec<String>,
    /// What is known of models.
    pub catalogue: Catalogue,
}

/// A model that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// What was asked for: an alias, or `provider:model`.
    pub wanted: String,
    /// How that was resolved, in a few words for people.
    pub resolved: String,
    /// Who answers, and how they are reached.
    pub entry: ModelEntry,
    /// What is known of the model.
    pub card: ModelCard,
}

/// An alias, and what it means here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The alias.
    pub alias: String,
    /// The model that it means, or why it means none.
    pub choice: Result<Chosen, Failure>,
}

/// An entry, and how it was found.
type Found = (ModelEntry, String);

impl Menu {
    /// Chooses a model for an alias, for `provider:model`, or for nobody's wish in particular.
    pub fn choose(&self, wanted: Option<&str>) -> Result<Chosen, Failure> {
        let wanted = wanted.unwrap_or("default");
        let (entry, resolved) = match self.override_word() {
            Some(word) => {
                let (entry, how) = self.resolve(word)?;
                (entry, format!("ARTEL_MODEL: {how}"))
            }
            None => self.resolve(wanted)?,
        };
        Ok(Chosen {
            wanted: wanted.to_owned(),
            resolved,
            card: self.catalogue.card(entry.provider, &entry.model),
            entry,
        })
    }

    /// Tells whether it depends on the models of a local Ollama what is chosen: then, and only
    /// then, it is worth asking for them.
    pub fn needs_ollama(&self) -> bool {
        let is_by_default = self.override_word().is_none_or(|word| {
            let is_class = Class::of_alias(word).is_some() && !self.entries.contains_key(word);
            is_class || matches!(word, "default" | "inherit")
        });
        is_by_default && self.configured().is_none() && self.by_key().is_none()
    }

    /// Returns every alias with what it means here: the entries first, then the built-in ones.
    pub fn list(&self) -> Vec<Listed> {
        let listed = |alias: &str| Listed {
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

    /// An empty variable counts as not set, as everywhere.
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
        if let Some(class) = Class::of_alias(word) {
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
            Some((ModelEntry::named(Provider::Ollama, model), how.to_owned()))
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
            let model = self.catalogue.of_class(*provider, Class::Balanced)?;
            let how = format!("class balanced of {provider}, which there is a key for");
            Some((ModelEntry::named(*provider, model), how))
        })
    }

    /// The person's own entry for a class: who says what `fast` is has said what `haiku` is in a
    /// skill that others wrote.
    fn entry_of_class(&self, class: Class) -> Option<Found> {
        let entry = self.entries.get(class.as_str())?;
        Some((entry.clone(), format!("entry [models.{class}]")))
    }

    /// The nearest class of the default's provider, reached as the default is. A server elsewhere
    /// may have models of its own, of which nobody knows the classes; one whose default is a known
    /// model of the provider stands in front of it.
    fn by_class(&self, class: Class) -> Result<Found, Failure> {
        let (mut entry, how) = self.by_default()?;
        let provider = entry.provider;
        let model = self.catalogue.of_class(provider, class);
        let has_classes =
            chosen::is_at_usual_place(&entry) || Catalogue::knows(provider, &entry.model);
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

/// Takes `provider:model` at its word. The model's own name may have colons.
fn by_name(provider: &str, model: &str) -> Result<Found, Failure> {
    let known: Provider = provider
        .parse()
        .map_err(|_| refusal::no_such_provider(provider))?;
    if model.trim().is_empty() {
        return Err(refusal::no_model_named(known));
    }
    Ok((ModelEntry::named(known, model), "as named".to_owned()))
}

#[cfg(test)]
mod tests;
