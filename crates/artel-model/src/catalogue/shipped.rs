//! The list in the binary: its file format and its parsed form.

use artel_types::Money;
use artel_types::model::{LongContextPrices, ModelSpec, Provider, ThinkingStyle};
use serde::Deserialize;

use super::{Class, Known};

const TEXT: &str = include_str!("../../data/models.toml");

#[derive(Debug, Default)]
pub(super) struct Shipped {
    pub(super) as_of: String,
    anthropic: Vec<Known>,
    openai: Vec<Known>,
    google: Vec<Known>,
}

/// The TOML file of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    as_of: String,
    anthropic: Vec<Row>,
    openai: Vec<Row>,
    google: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    class: Class,
    context: Option<u64>,
    max_output: Option<u64>,
    input: Option<Dollars>,
    output: Option<Dollars>,
    cache_read: Option<Dollars>,
    cache_write: Option<Dollars>,
    #[serde(default)]
    thinking: ThinkingStyle,
    long: Option<Long>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    above: u64,
    input: Dollars,
    output: Dollars,
    cache_read: Option<Dollars>,
    cache_write: Option<Dollars>,
}

/// A price with few digits, so that rounding to millionths gives back the written number.
#[derive(Deserialize, Clone, Copy)]
struct Dollars(f64);

impl Shipped {
    /// Reads the list. A test makes sure that it can be read. If it could not, no model would
    /// be known, and everything would still work.
    pub(super) fn read() -> Self {
        Self::parse(TEXT).unwrap_or_default()
    }

    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let written: Written = toml::from_str(text)?;
        let known = |rows: Vec<Row>| rows.into_iter().map(Known::from).collect();
        Ok(Self {
            as_of: written.as_of,
            anthropic: known(written.anthropic),
            openai: known(written.openai),
            google: known(written.google),
        })
    }

    pub(super) fn of(&self, provider: Provider) -> &[Known] {
        match provider {
            Provider::Anthropic => &self.anthropic,
            Provider::OpenAi => &self.openai,
            Provider::Google => &self.google,
            Provider::OpenAiChat | Provider::Ollama | Provider::Rehearsal => &[],
        }
    }
}

impl From<Row> for Known {
    fn from(row: Row) -> Self {
        let money = |dollars: Option<Dollars>| dollars.map(Money::from);
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

impl From<Dollars> for Money {
    fn from(dollars: Dollars) -> Self {
        Self((dollars.0 * 1_000_000.0).round() as u64)
    }
}

#[cfg(test)]
pub(super) const fn text() -> &'static str {
    TEXT
}
