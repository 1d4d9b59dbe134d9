//! The answer as a whole.

use serde::{Deserialize, Serialize};

use super::{Part, ToolCall};

/// What a model answered, once it has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The provider's name for this answer, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model as the provider names it, which may be more exact than what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was said, in order.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub stop: Stop,
    /// What it took; nothing where the provider did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl Reply {
    /// Returns the words, without thoughts and calls.
    pub fn text(&self) -> String {
        let words = self.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        words.collect()
    }

    /// Returns what the model wants done, in its order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It said what it had to say.
    End,
    /// It wants tools run.
    ToolUse,
    /// It may not say more: the limit of the answer is reached.
    MaxTokens,
    /// It came to a text at which it should stop.
    StopSequence,
    /// It, or a filter of the provider, will not answer.
    Refusal,
    /// The conversation fills the model's window.
    ContextFull,
    /// The provider interrupted a long turn; sending it back lets the model go on.
    Paused,
    /// A reason that this build does not know, in the provider's word.
    Other(String),
}

/// Tokens of one call. A provider's own way of counting is already translated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// All that was read, cached or not.
    pub input: u64,
    /// Of it, read from the provider's cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Of it, written to the provider's cache.
    #[serde(default)]
    pub cache_write: u64,
    /// All that was written, thoughts included.
    pub output: u64,
    /// Of it, thoughts.
    #[serde(default)]
    pub thinking: u64,
}

impl Usage {
    /// No call has more tokens; who says so is not believed.
    pub const MOST: u64 = 100_000_000;

    /// Tells whether the numbers can be true.
    pub fn is_believable(&self) -> bool {
        self.input <= Self::MOST && self.output <= Self::MOST
    }

    /// Returns all tokens together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}
