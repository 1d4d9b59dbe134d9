//! Estimates the number of tokens before anybody has counted.
//!
//! The provider's count is the truth and replaces the estimate. Until then a little too
//! much is better than too little: an excess reservation is given back, and whatever was
//! cut needlessly is still in the journal.

use std::iter::Sum;
use std::ops::Add;

use artel_types::model::{MessagePart, ModelMessage, ModelRequest, ToolSpec};

/// Bytes per token: text of all kinds has between three and four.
pub const BYTES_PER_TOKEN: u64 = 3;

/// Tokens that providers count for an image of ordinary size.
const TOKENS_PER_IMAGE: u64 = 1_600;

/// Overhead around every part, in bytes.
pub(crate) const AROUND_PART: u64 = 12;

/// The size of something that is sent. Sizes add up without rounding errors; tokens do
/// not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PromptSize {
    /// Bytes of text.
    pub bytes: u64,
    /// Number of images.
    pub images: u64,
}

impl PromptSize {
    /// Measures one part of a message.
    pub fn of_part(part: &MessagePart) -> Self {
        let (bytes, images) = match part {
            MessagePart::Text { text, .. } | MessagePart::Thinking { text, .. } => (text.len(), 0),
            MessagePart::Image(_) => (0, 1),
            MessagePart::ToolCall(call) => (call.name.len() + call.arguments.len(), 0),
            MessagePart::ToolResult(result) => (result.text.len(), result.images.len()),
        };
        Self {
            bytes: bytes as u64 + AROUND_PART,
            images: images as u64,
        }
    }

    /// Measures a message.
    pub fn of_message(message: &ModelMessage) -> Self {
        message.parts.iter().map(Self::of_part).sum()
    }

    /// Measures a conversation.
    pub fn of_messages(messages: &[ModelMessage]) -> Self {
        messages.iter().map(Self::of_message).sum()
    }

    /// Measures a tool as it is described to the model.
    pub fn of_tool(tool: &ToolSpec) -> Self {
        let schema = tool.schema.to_string().len();
        Self::of_bytes(tool.name.len() + tool.description.len() + schema)
    }

    /// Measures a text.
    pub fn of_text(text: &str) -> Self {
        Self::of_bytes(text.len())
    }

    /// Measures everything in a request.
    pub fn of_request(request: &ModelRequest) -> Self {
        let tools: Self = request.tools.iter().map(|tool| Self::of_tool(tool)).sum();
        Self::of_text(&request.system) + Self::of_messages(&request.messages) + tools
    }

    fn of_bytes(bytes: usize) -> Self {
        Self {
            bytes: bytes as u64,
            images: 0,
        }
    }

    /// Returns the estimated number of tokens.
    pub fn tokens(self) -> u64 {
        of_bytes(self.bytes).saturating_add(self.images.saturating_mul(TOKENS_PER_IMAGE))
    }
}

impl Add for PromptSize {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            images: self.images.saturating_add(other.images),
        }
    }
}

impl Sum for PromptSize {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), Add::add)
    }
}

/// Returns the tokens of this many bytes of text.
pub fn of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Returns the tokens of a request.
pub fn of_request(request: &ModelRequest) -> u64 {
    PromptSize::of_request(request).tokens()
}

/// Returns the tokens of a conversation.
pub fn of_messages(messages: &[ModelMessage]) -> u64 {
    PromptSize::of_messages(messages).tokens()
}

#[cfg(test)]
mod tests {
    use artel_types::model::{MessageImage, MessageRole, ToolCall, ToolResult};
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_that_is_sent_is_counted() {
        let image = MessageImage {
            media_type: "image/png".into(),
            data: "A".repeat(1_000_000),
        };
        let of_part = |part: MessagePart| ModelRequest {
            messages: vec![ModelMessage {
                role: MessageRole::User,
                parts: vec![part],
            }],
            ..ModelRequest::default()
        };
        let call = ToolCall {
            id: "not counted".into(),
            name: "read".into(),
            arguments: "x".repeat(14),
            seal: None,
        };
        let result = ToolResult {
            id: "1".into(),
            name: "read".into(),
            text: "x".repeat(18).into(),
            images: vec![image.clone(), image.clone()],
            is_error: false,
        };
        let tool = ToolSpec {
            name: "read".into(),
            description: "it reads".into(),
            schema: json!({}),
        };
        let with = |system: &str, tools: Vec<ToolSpec>| ModelRequest {
            system: system.into(),
            tools: tools.into_iter().map(Into::into).collect(),
            ..ModelRequest::default()
        };
        let table = [
            ("nothing", ModelRequest::default(), 0),
            (
                "words",
                of_part(MessagePart::text("a".repeat(3_000))),
                1_004,
            ),
            ("a picture", of_part(MessagePart::Image(image)), 1_604),
            ("a call", of_part(MessagePart::ToolCall(call)), 10),
            ("a result", of_part(MessagePart::ToolResult(result)), 3_210),
            ("standing words", with("abcd", Vec::new()), 2),
            ("a tool", with("", vec![tool]), 5),
        ];
        for (name, request, tokens) in table {
            assert_eq!(of_request(&request), tokens, "{name}");
            let messages = PromptSize::of_messages(&request.messages);
            assert!(messages.tokens() <= tokens, "{name}");
        }
    }
}
