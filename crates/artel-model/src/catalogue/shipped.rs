//! The list in the binary: its file format and its parsed form.

use artel_types::Money;
use artel_types::model::{LongContextPrices, ModelSpec, Provider, ThinkingStyle};
use serde::Deserialize;

use super::{CatalogueModel, ModelClass};

const TEXT: &str = include_str!("../../data/models.toml");

#[derive(Debug, Default)]
pub(super) struct ShippedCatalogue {
    pub(super) as_of: String,
    anthropic: Vec<CatalogueModel>,
    openai: Vec<CatalogueModel>,
    google: Vec<CatalogueModel>,
}

/// The TOML file of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShippedCatalogueFile {
    as_of: String,
    anthropic: Vec<ShippedCatalogueRow>,
    openai: Vec<ShippedCatalogueRow>,
    google: Vec<ShippedCatalogueRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShippedCatalogueRow {
    id: String,
    class: ModelClass,
    context: Option<u64>,
    max_output: Option<u64>,
    input: Option<CataloguePrice>,
    output: Option<CataloguePrice>,
    cache_read: Option<CataloguePrice>,
    cache_write: Option<CataloguePrice>,
    #[serde(default)]
    thinking: ThinkingStyle,
    long: Option<ShippedLongPrices>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShippedLongPrices {
    above: u64,
    input: CataloguePrice,
    output: CataloguePrice,
    cache_read: Option<CataloguePrice>,
    cache_write: Option<CataloguePrice>,
}

/// A price with few digits, so that rounding to millionths gives back the written number.
#[derive(Deserialize, Clone, Copy)]
struct CataloguePrice(f64);

impl ShippedCatalogue {
    /// Reads the list. A test makes sure that it can be read. If it could not, no model would
    /// be known, and everything would still work.
    pub(super) fn read() -> Self {
        Self::parse(TEXT).unwrap_or_default()
    }

    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let written: ShippedCatalogueFile = toml::from_str(text)?;
        let known =
            |rows: Vec<ShippedCatalogueRow>| rows.into_iter().map(CatalogueModel::from).collect();
        Ok(Self {
            as_of: written.as_of,
            anthropic: known(written.anthropic),
            openai: known(written.openai),
            google: known(written.google),
        })
    }

    pub(super) fn of(&self, provider: Provider) -> &[CatalogueModel] {
        match provider {
            Provider::Anthropic => &self.anthropic,
            Provider::OpenAi => &self.openai,
            Provider::Google => &self.google,
            Provider::OpenAiChat | Provider::Ollama | Provider::Rehearsal => &[],
        }
    }
}

impl From<ShippedCatalogueRow> for CatalogueModel {
    fn from(row: ShippedCatalogueRow) -> Self {
        let money = |dollars: Option<CataloguePrice>| dollars.map(Money::from);
        let card = ModelSpec {
            context: row.context,
            max_output: row.max_output,
            input: money(row.input),
            output: money(row.output),
            cache_read: money(row.cache_read),
            cache_write: money(row.cache_write),
            thinking: row.thinking,
            long: row.long.map(|long| LongContextPrices {
                above: long.above,
                input: long.input.into(),
                output: long.output.into(),
                cache_read: money(long.cache_read),
                cache_write: money(long.cache_write),
            }),
        };
        Self {
            id: row.id,
            class: row.class,
            card,
        }
    }
}

impl From<CataloguePrice> for Money {
    fn from(dollars: CataloguePrice) -> Self {
        Self((dollars.0 * 1_000_000.0).round() as u64)
    }
}

#[cfg(test)]
pub(super) const fn text() -> &'static str {
    TEXT
}
