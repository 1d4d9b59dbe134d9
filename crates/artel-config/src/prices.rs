//! Settings of prices: corrections and additions to the shipped list of models.

use std::collections::BTreeMap;

use artel_types::model::{ModelSpec, ThinkingStyle};

use crate::schema::SettingField;
use crate::value::SettingKind;
use crate::values::{SettingSection, SettingValueTable};

/// Number of tokens. No model takes more than the maximum.
const TOKENS: SettingKind = SettingKind::Whole {
    least: 1,
    most: 1_000_000_000,
};

pub(crate) const FIELDS: &[SettingField] = &[
    SettingField {
        key: "prices.<model>.input",
        kind: SettingKind::Usd,
        default: None,
        about: "US dollars for a million tokens read.",
    },
    SettingField {
        key: "prices.<model>.output",
        kind: SettingKind::Usd,
        default: None,
        about: "US dollars for a million tokens written.",
    },
    SettingField {
        key: "prices.<model>.cache_read",
        kind: SettingKind::Usd,
        default: None,
        about: "US dollars for a million tokens read from the cache.",
    },
    SettingField {
        key: "prices.<model>.cache_write",
        kind: SettingKind::Usd,
        default: None,
        about: "US dollars for a million tokens written to the cache.",
    },
    SettingField {
        key: "prices.<model>.context",
        kind: TOKENS,
        default: None,
        about: "How many tokens a conversation may have.",
    },
    SettingField {
        key: "prices.<model>.max_output",
        kind: TOKENS,
        default: None,
        about: "How many tokens an answer may have.",
    },
    SettingField {
        key: "prices.<model>.thinking",
        kind: SettingKind::Choice(&["effort", "budget", "none"]),
        default: None,
        about: "How the model is told how hard to think: a word, a number of tokens, or not at all.",
    },
];

pub(crate) const EXAMPLE: &str = "\
# Prices and limits of models that Artel does not know, or knows otherwise: US dollars for a million
# tokens. What is not named stays as it is; without a price, cost is shown as unknown.
#[prices.\"qwen3-coder\"]
#input = 0.20
#output = 0.80
#cache_read = 0.02
#cache_write = 0.25
#context = 262144
#max_output = 65536
#thinking = \"none\"
";

/// Returns the person's settings for models.
pub(crate) fn cards(values: &SettingValueTable) -> BTreeMap<String, ModelSpec> {
    let named = values.named(&["prices"]).into_iter();
    named
        .map(|(model, settings)| (model, card(&settings)))
        .collect()
}

fn card(settings: &SettingSection<'_>) -> ModelSpec {
    ModelSpec {
        context: settings.whole("context"),
        max_output: settings.whole("max_output"),
        input: settings.usd("input"),
        output: settings.usd("output"),
        cache_read: settings.usd("cache_read"),
        cache_write: settings.usd("cache_write"),
        thinking: match settings.word("thinking") {
            Some("budget") => ThinkingStyle::Budget,
            Some("none") => ThinkingStyle::None,
            _ => ThinkingStyle::Effort,
        },
        long: None,
    }
}
