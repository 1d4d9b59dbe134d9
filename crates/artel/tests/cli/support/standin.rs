//! Stand-ins of model providers as the models of a house.

use std::fs;

use artel_testkit::standin::{Answer, Format, StandIn};

use super::{Artel, House};

/// A key that every stand-in accepts.
pub(crate) const KEY: &str = "sk-canary-7f3a9c0e5b21d8";

/// Returns the provider whose format it is.
pub(crate) fn provider(format: Format) -> &'static str {
    match format {
        Format::Anthropic => "anthropic",
        Format::Responses => "openai",
        Format::Chat => "openai-chat",
        Format::Google => "google",
        Format::Ollama => "ollama",
    }
}

/// Starts a provider that calls the tool it is offered, and speaks otherwise.
pub(crate) fn obliging(format: Format) -> StandIn {
    StandIn::start(
        format,
        [Answer::obliging("Hello, whoever you are.").repeating()],
    )
}

/// Returns an entry for a model, as people write it.
pub(crate) fn entry(alias: &str, format: Format, stand_in: &StandIn) -> String {
    format!(
        "[models.{alias}]\nprovider = \"{}\"\nmodel = \"tiny\"\nbase_url = \"{}\"\n\
         api_key_env = \"MY_KEY\"\n",
        provider(format),
        stand_in.url()
    )
}

impl House {
    /// Writes the workshop's settings.
    pub(crate) fn settings(&self, text: &str) {
        fs::write(self.workshop.join("artel.toml"), text).unwrap();
    }

    /// Makes a house whose default model is a stand-in.
    pub(crate) fn with_model(format: Format, stand_in: &StandIn) -> Self {
        let house = Self::new();
        house.settings(&entry("default", format, stand_in));
        house
    }

    /// Prepares a command for programs, with the key that entries name.
    pub(crate) fn keyed<const N: usize>(&self, words: [&str; N]) -> Artel {
        self.artel(words).env("MY_KEY", KEY)
    }
}
