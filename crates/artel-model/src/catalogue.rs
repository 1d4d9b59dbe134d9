//! What is known of models: prices, limits, classes.
//!
//! A list is shipped in the binary and ages from that day on; what the person says about a model
//! comes first, field by field. Nothing here is needed to call a model: one that nobody knows has
//! an empty card, and its cost is unknown.

mod ids;
mod shipped;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use artel_types::model::{ModelCard, Provider, ThinkingStyle};
use serde::Deserialize;

use shipped::Shipped;

/// What is known of models.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    extra: BTreeMap<String, ModelCard>,
}

/// A model on the shipped list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The provider's name for it.
    pub id: String,
    /// What sort of model it is.
    pub class: Class,
    /// Its limits and prices.
    pub card: ModelCard,
}

/// What a model is good for, compared with others of its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Quick and cheap.
    Fast,
    /// In between.
    Balanced,
    /// The best at hard work.
    Strong,
}

static SHIPPED: LazyLock<Shipped> = LazyLock::new(Shipped::read);

impl Catalogue {
    /// Takes the shipped list and what the person says about models.
    pub fn shipped(extra: &BTreeMap<String, ModelCard>) -> Self {
        Self {
            extra: extra.clone(),
        }
    }

    /// Returns the day on which the shipped list was made.
    pub fn as_of() -> &'static str {
        &SHIPPED.as_of
    }

    /// Returns the shipped models of a provider, those that stand for their class first.
    pub fn known(provider: Provider) -> &'static [Known] {
        SHIPPED.of(provider)
    }

    /// Tells whether a model is one of a provider's own.
    pub fn knows(provider: Provider, model: &str) -> bool {
        let known = Self::known(provider).iter().map(|known| known.id.as_str());
        ids::find(known, model).is_some()
    }

    /// Returns what is known of a model; nothing of it, if nobody knows it.
    pub fn card(&self, provider: Provider, model: &str) -> ModelCard {
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

    /// Returns the model that a class means at a provider.
    pub fn of_class(&self, provider: Provider, class: Class) -> Option<&str> {
        let mut known = Self::known(provider).iter();
        known
            .find(|known| known.class == class)
            .map(|known| known.id.as_str())
    }
}

impl Class {
    /// Every class, the quickest first.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Balanced, Self::Strong];

    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Balanced => "balanced",
            Self::Strong => "strong",
        }
    }

    /// Returns the class that an alias stands for. Skills name those of one vendor, and must run
    /// unchanged with any.
    pub fn of_alias(alias: &str) -> Option<Self> {
        match alias {
            "fast" | "haiku" => Some(Self::Fast),
            "balanced" | "sonnet" => Some(Self::Balanced),
            "strong" | "opus" => Some(Self::Strong),
            _ => None,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns the lists that a model may stand on. Chat Completions are spoken by many who pass calls
/// on to others, and then say to whom, as in `anthropic/claude-…`.
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

/// Puts what the person says over what is shipped. A price of theirs holds for conversations of
/// every length. Thinking with effort is what every card says that says nothing, so it changes
/// nothing.
fn over(shipped: ModelCard, extra: ModelCard) -> ModelCard {
    let prices = [
        extra.input,
        extra.output,
        extra.cache_read,
        extra.cache_write,
    ];
    let has_price = prices.iter().any(Option::is_some);
    ModelCard {
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
