//! A complete reply.

use serde::{Deserialize, Serialize};

use super::{MessagePart, ToolCall};

/// A model's reply, once it has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The provider's id for this reply, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model, as the provider names it, which may be more exact than the requested
    /// name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The parts of the reply, in order.
    pub parts: Vec<MessagePart>,
    /// Why the reply ended.
    pub stop: ReplyStopReason,
    /// The tokens used, or `None` if the provider did not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
}

impl ModelReply {
    /// Returns the text, without thoughts and tool calls.
    pub fn text(&self) -> String {
        let words = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        words.collect()
    }

    /// Returns the tool calls, in the model's order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// The reason why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyStopReason {
    /// The model finished its reply.
    End,
    /// The model wants tools to be run.
    ToolUse,
    /// The output limit was reached.
    MaxTokens,
    /// The model came to one of the stop texts of the request.
    StopSequence,
    /// The model, or a filter of the provider, refuses to answer.
    Refusal,
    /// The conversation fills the model's context window.
    ContextFull,
    /// The provider interrupted a long turn; sending the reply back lets the model
    /// continue.
    Paused,
    /// A reason that this build does not know, in the provider's words.
    Other(String),
}

/// The tokens of one call. The provider's own way of counting has already been translated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Input tokens, cached or not.
    pub input: u64,
    /// The part of `input` that was read from the provider's cache.
    #[serde(default)]
    pub cache_read: u64,
    /// The part of `input` that was written to the provider's cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Output tokens, including thoughts.
    pub output: u64,
    /// The part of `output` that was spent on thoughts.
    #[serde(default)]
    pub thinking: u64,
}

impl TokenUsage {
    /// No call uses more tokens than this; a larger count is not believed.
    pub const MOST: u64 = 100_000_000;

    /// Returns whether the numbers are plausible.
    pub fn is_believable(&self) -> bool {
        self.input <= Self::MOST && self.output <= Self::MOST
    }

    /// Returns the sum of all tokens.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}
