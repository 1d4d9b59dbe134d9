//! Providers, and models as they are configured.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Money;

/// Maximum length of an account name.
const LONGEST_ACCOUNT: usize = 64;

/// A kind of provider; each has its own wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    #[serde(rename = "openai")]
    OpenAi,
    /// Chat Completions, as OpenAI designed it and many others offer it.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// Google Gemini.
    Google,
    /// Ollama.
    Ollama,
    /// A script or a recording instead of a model.
    Rehearsal,
}

/// Error for text that does not name a provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no provider `{0}`")]
pub struct UnknownProviderError(pub String);

impl Provider {
    /// Every provider, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::OpenAiChat,
        Self::Google,
        Self::Ollama,
        Self::Rehearsal,
    ];

    /// Returns the word used in configuration and journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Google => "google",
            Self::Ollama => "ollama",
            Self::Rehearsal => "rehearsal",
        }
    }

    /// Returns the environment variables that usually hold its key; the first one that is
    /// set wins.
    pub fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::OpenAi | Self::OpenAiChat => &["OPENAI_API_KEY"],
            Self::Google => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Ollama | Self::Rehearsal => &[],
        }
    }

    /// Returns the default URL, or `None` for a rehearsal, which has no address.
    pub fn usual_url(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::OpenAi | Self::OpenAiChat => Some("https://api.openai.com/v1"),
            Self::Google => Some("https://generativelanguage.googleapis.com"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::Rehearsal => None,
        }
    }
}

impl FromStr for Provider {
    type Err = UnknownProviderError;

    fn from_str(word: &str) -> Result<Self, UnknownProviderError> {
        Self::ALL
            .into_iter()
            .find(|provider| provider.as_str() == word)
            .ok_or_else(|| UnknownProviderError(word.chars().take(64).collect()))
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The settings of one `[models.<alias>]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAliasSettings {
    /// The provider of the model.
    pub provider: Provider,
    /// The provider's own name for the model; for a rehearsal, the script.
    pub model: String,
    /// The base URL, if not the default: the part before `/chat/completions`, `/responses`,
    /// `/v1/messages`, `/v1beta/models` or `/api/chat`.
    pub base_url: Option<String>,
    /// The environment variable that holds the key, if not the usual one.
    pub api_key_env: Option<String>,
    /// The stored account whose key is used; it takes precedence over the environment.
    pub account: Option<String>,
    /// Headers that are sent with every call.
    pub headers: BTreeMap<String, String>,
    /// How long the provider may be silent in the middle of a reply.
    pub timeout: Option<Duration>,
    /// A proxy for this provider alone; `none` to ignore the proxy of the environment.
    pub proxy: Option<String>,
}

impl ModelAliasSettings {
    /// Creates settings for a model at its provider's default URL.
    pub fn named(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            api_key_env: None,
            account: None,
            headers: BTreeMap::new(),
            timeout: None,
            proxy: None,
        }
    }
}

/// Returns whether `text` is a valid account name: 1 to 64 letters, digits, `-`, `_`, `.`
/// and `@`, so that the name can be used in settings, a command and a key store alike.
pub fn is_account(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    (1..=LONGEST_ACCOUNT).contains(&text.len()) && text.bytes().all(is_plain)
}

/// The known limits and prices of one model. `None` means not known, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSpec {
    /// Maximum number of tokens of the conversation.
    pub context: Option<u64>,
    /// Maximum number of tokens of a reply.
    pub max_output: Option<u64>,
    /// Price of a million input tokens.
    pub input: Option<Money>,
    /// Price of a million output tokens.
    pub output: Option<Money>,
    /// Price of a million tokens read from the cache; `None` means the price of input
    /// tokens.
    pub cache_read: Option<Money>,
    /// Price of a million tokens written to the cache; `None` means the price of input
    /// tokens.
    pub cache_write: Option<Money>,
    /// How the model is told how hard to think.
    #[serde(default)]
    pub thinking: ThinkingStyle,
    /// The prices for long conversations, if they are higher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongContextPrices>,
}

/// The prices of a whole call whose conversation exceeds a number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongContextPrices {
    /// Number of input tokens, including cached ones, up to which the usual prices apply.
    pub above: u64,
    /// Price of a million input tokens.
    pub input: Money,
    /// Price of a million output tokens.
    pub output: Money,
    /// Price of a million tokens read from the cache; `None` means the price of input
    /// tokens.
    #[serde(default)]
    pub cache_read: Option<Money>,
    /// Price of a million tokens written to the cache; `None` means the price of input
    /// tokens.
    #[serde(default)]
    pub cache_write: Option<Money>,
}

/// The form in which a model is told how hard to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingStyle {
    /// A word for the effort.
    #[default]
    Effort,
    /// A number of tokens.
    Budget,
    /// The model cannot think, or cannot be told how hard to.
    None,
}

impl ModelSpec {
    /// Returns the cost of a call, or `None` if a price it needs is not known. The cost is
    /// rounded up, so that a bill is never larger than what was shown.
    pub fn cost(&self, usage: &super::TokenUsage) -> Option<Money> {
        let long = self.long.filter(|long| usage.input > long.above);
        let (input, output, cache_read, cache_write) = match long {
            Some(long) => (long.input, long.output, long.cache_read, long.cache_write),
            None => (self.input?, self.output?, self.cache_read, self.cache_write),
        };
        let read = usage.cache_read.min(usage.input);
        let written = usage.cache_write.min(usage.input - read);
        let plain = usage.input - read - written;
        let parts = [
            (plain, input),
            (read, cache_read.unwrap_or(input)),
            (written, cache_write.unwrap_or(input)),
            (usage.output, output),
        ];
        let millionths: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(price.0))
            .sum();
        let money = millionths.div_ceil(1_000_000);
        Some(Money(u64::try_from(money).unwrap_or(u64::MAX)))
    }

    /// Returns the cost of `more` output tokens after `before` of them, or `None` if a
    /// price is not known. It depends on `input`, because output after a long conversation
    /// costs more. The costs of the parts add up to the cost of the whole.
    pub fn growth(&self, input: u64, before: u64, more: u64) -> Option<Money> {
        let cost = |output| {
            let usage = super::TokenUsage {
                input,
                output,
                ..super::TokenUsage::default()
            };
            self.cost(&usage)
        };
        let (short, long) = (cost(before)?, cost(before.saturating_add(more))?);
        Some(Money(long.0.saturating_sub(short.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::TokenUsage;
    use super::*;

    #[test]
    fn providers_read_back() {
        for provider in Provider::ALL {
            assert_eq!(provider.to_string().parse(), Ok(provider));
            let json = serde_json::to_string(&provider).unwrap();
            assert_eq!(json, format!("\"{provider}\""));
        }
        assert!("claude".parse::<Provider>().is_err());
    }

    #[test]
    fn accounts_have_short_and_plain_names() {
        let longest = "a".repeat(64);
        for good in [
            "a",
            "Work",
            "work_2",
            "me.example",
            "ada@example.com",
            &longest,
        ] {
            assert!(is_account(good), "{good}");
        }
        let too_long = "a".repeat(65);
        for bad in ["", "a b", "a/b", "a:b", "a\0", "a\n", "é", &too_long] {
            assert!(!is_account(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_call_costs_what_its_tokens_cost() {
        let card = ModelSpec {
            input: Some(Money(3_000_000)),
            output: Some(Money(15_000_000)),
            cache_read: Some(Money(300_000)),
            cache_write: Some(Money(3_750_000)),
            ..ModelSpec::default()
        };
        let usage = TokenUsage {
            input: 1_000_000,
            cache_read: 600_000,
            cache_write: 100_000,
            output: 10_000,
            thinking: 4_000,
        };
        let dollars = 300_000 * 3 + 600_000 * 3 / 10 + 100_000 * 375 / 100 + 10_000 * 15;
        assert_eq!(card.cost(&usage), Some(Money(dollars)));
        assert_eq!(ModelSpec::default().cost(&usage), None);
        // More tokens cached than read is a provider's mistake, not a credit.
        let odd = TokenUsage {
            cache_read: u64::MAX,
            input: 10,
            ..TokenUsage::default()
        };
        assert_eq!(card.cost(&odd), Some(Money(3)));
    }

    fn dearer_when_long() -> ModelSpec {
        ModelSpec {
            input: Some(Money(1_000_000)),
            output: Some(Money(2_000_000)),
            cache_read: Some(Money(100_000)),
            long: Some(LongContextPrices {
                above: 100_000,
                input: Money(5_000_000),
                output: Money(10_000_000),
                cache_read: Some(Money(500_000)),
                cache_write: None,
            }),
            ..ModelSpec::default()
        }
    }

    #[test]
    fn an_answer_that_grows_costs_by_what_was_read() {
        let card = dearer_when_long();
        for (input, before, more, cost) in [
            (0, 0, 1_000, 2_000),
            (100_000, 500, 1_000, 2_000),
            (100_001, 500, 1_000, 10_000),
            (100_001, 500, 0, 0),
            (100_001, u64::MAX, 1, 0),
        ] {
            let grown = card.growth(input, before, more);
            assert_eq!(grown, Some(Money(cost)), "{input} {before} {more}");
        }
        assert_eq!(ModelSpec::default().growth(1, 1, 1), None);
        // A tenth of a millionth per token: rounding neither loses anything nor counts it
        // twice.
        let cheap = ModelSpec {
            input: Some(Money(0)),
            output: Some(Money(100_000)),
            ..ModelSpec::default()
        };
        let parts = (0..25).map(|before| cheap.growth(7, before, 1).unwrap().0);
        assert_eq!(parts.sum::<u64>(), 3);
    }

    #[test]
    fn a_long_conversation_costs_more_as_a_whole() {
        let card = dearer_when_long();
        let usage = |input| TokenUsage {
            input,
            cache_read: 50_000,
            output: 1_000,
            ..TokenUsage::default()
        };
        let short = 50_000 + 50_000 / 10 + 2 * 1_000;
        let long = 5 * 50_001 + 50_000 / 2 + 10 * 1_000;
        assert_eq!(card.cost(&usage(100_000)), Some(Money(short)));
        assert_eq!(card.cost(&usage(100_001)), Some(Money(long)));
    }
}
