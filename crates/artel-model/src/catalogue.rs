//! The known models: prices, limits, classes.
//!
//! A list is shipped in the binary and ages from that day on; the person's own settings for
//! a model take precedence, field by field. Nothing here is needed to call a model: an
//! unknown one has an empty card, and its cost is unknown.

mod ids;
mod shipped;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use artel_types::model::{ModelSpec, Provider, ThinkingStyle};
use serde::Deserialize;

use shipped::ShippedCatalogue;

/// The known models with their prices and limits.
#[derive(Debug, Clone, Default)]
pub struct ModelCatalogue {
    extra: BTreeMap<String, ModelSpec>,
}

/// A model on the shipped list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueModel {
    /// Name that the provider gives it.
    pub id: String,
    /// Class of the model among the provider's models.
    pub class: ModelClass,
    /// Its limits and prices.
    pub card: ModelSpec,
}

/// The strength of a model, compared with others of its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelClass {
    /// Quick and cheap.
    Fast,
    /// Between the two others.
    Balanced,
    /// Best at hard work.
    Strong,
}

static SHIPPED: LazyLock<ShippedCatalogue> = LazyLock::new(ShippedCatalogue::read);

impl ModelCatalogue {
    /// Combines the shipped list with the person's settings for models.
    pub fn shipped(extra: &BTreeMap<String, ModelSpec>) -> Self {
        Self {
            extra: extra.clone(),
        }
    }

    /// Returns the day on which the shipped list was made.
    pub fn as_of() -> &'static str {
        &SHIPPED.as_of
    }

    /// Returns the shipped models of a provider. The first one of each class stands for it.
    pub fn known(provider: Provider) -> &'static [CatalogueModel] {
        SHIPPED.of(provider)
    }

    /// Returns whether a model is one of the provider's own.
    pub fn knows(provider: Provider, model: &str) -> bool {
        let known = Self::known(provider).iter().map(|known| known.id.as_str());
        ids::find(known, model).is_some()
    }

    /// Returns the card of a model. It is empty if nobody knows the model.
    pub fn card(&self, provider: Provider, model: &str) -> ModelSpec {
        let lists = lists(provider, model);
        let known: Vec<_> = lists.iter().flat_map(|list| Self::known(*list)).collect();
        let shipped = ids::find(known.iter().map(|known| known.id.as_str()), model)
            .and_then(|id| known.iter().find(|known| known.id == id))
            .map(|known| known.card)
            .unwrap_or_default();
        let extra = ids::find(self.extra.keys().map(String::as_str), model);
        match extra.and_then(|id| self.extra.get(id)) {
            Some(extra) => over(shipped, *extra),
            None => shipped,
        }
    }

    /// Returns the provider's model for a class, if it has one.
    pub fn of_class(&self, provider: Provider, class: ModelClass) -> Option<&str> {
        let mut known = Self::known(provider).iter();
        known
            .find(|known| known.class == class)
            .map(|known| known.id.as_str())
    }
}

impl ModelClass {
    /// All classes, the quickest first.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Balanced, Self::Strong];

    /// Returns the class as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Balanced => "balanced",
            Self::Strong => "strong",
        }
    }

    /// Returns the class that an alias stands for. Skills use one vendor's model names as
    /// aliases, and must run unchanged with any vendor.
    pub fn of_alias(alias: &str) -> Option<Self> {
        match alias {
            "fast" | "haiku" => Some(Self::Fast),
            "balanced" | "sonnet" => Some(Self::Balanced),
            "strong" | "opus" => Some(Self::Strong),
            _ => None,
        }
    }
}

impl fmt::Display for ModelClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns the lists that may have a model. Many servers speak Chat Completions and pass
/// calls on to others; they then name the vendor, as in `anthropic/claude-…`.
fn lists(provider: Provider, model: &str) -> Vec<Provider> {
    const LISTED: [Provider; 3] = [Provider::Anthropic, Provider::OpenAi, Provider::Google];
    match (provider, model.rsplit_once('/')) {
        (Provider::OpenAiChat, Some((vendor, _))) => {
            let named = LISTED.into_iter().filter(|it| it.as_str() == vendor);
            named.collect()
        }
        (Provider::OpenAiChat, None) => LISTED.to_vec(),
        _ => vec![provider],
    }
}

/// Puts the person's settings over the shipped card. A price of theirs holds for
/// conversations of every length. Thinking with effort is the default of every card, so it
/// changes nothing.
fn over(shipped: ModelSpec, extra: ModelSpec) -> ModelSpec {
    let prices = [
        extra.input,
        extra.output,
        extra.cache_read,
        extra.cache_write,
    ];
    let has_price = prices.iter().any(Option::is_some);
    ModelSpec {
        context: extra.context.or(shipped.context),
        max_output: extra.max_output.or(shipped.max_output),
        input: extra.input.or(shipped.input),
        output: extra.output.or(shipped.output),
        cache_read: extra.cache_read.or(shipped.cache_read),
        cache_write: extra.cache_write.or(shipped.cache_write),
        thinking: match extra.thinking {
            ThinkingStyle::Effort => shipped.thinking,
            other => other,
        },
        long: extra.long.or(shipped.long.filter(|_| !has_price)),
    }
}

#[cfg(test)]
mod tests;
