//! A request to a model. It carries the whole conversation, since a model remembers
//! nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Everything a model needs to reply. The model itself is not part of it: the same request
/// can be put to another model, and a recording fits no matter which model made it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The system prompt; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// The conversation, oldest message first.
    pub messages: Vec<ModelMessage>,
    /// The tools that the model may call, in a stable order so that provider caches stay
    /// valid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Arc<ToolSpec>>,
    /// Whether the model must call a tool.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tool_choice: ToolChoice,
    /// The format that the reply must have, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ReplyFormat>,
    /// Maximum number of output tokens; `None` means the model's own limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Sampling temperature; `None` means the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts at which the model stops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// How hard the model should think; `None` means the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingEffort>,
    /// How long the provider should keep the unchanging beginning of the conversation.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache: PromptCacheLifetime,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    /// The person, or somebody speaking for them; also the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMessage {
    /// The speaker.
    pub role: MessageRole,
    /// The parts of the message, in order.
    pub parts: Vec<MessagePart>,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum MessagePart {
    /// Text.
    Text {
        /// The text itself.
        text: String,
        /// The signature that the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<ProviderSignature>,
    },
    /// A picture shown to the model.
    Image(MessageImage),
    /// The model's thought before it replied.
    Thinking {
        /// The thought, as far as the provider shows it; may be empty.
        text: String,
        /// The signature that the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<ProviderSignature>,
    },
    /// A tool call that the model wants carried out.
    ToolCall(ToolCall),
    /// The result of a tool call.
    ToolResult(ToolResult),
}

/// A token that a provider issued and wants back unchanged. It means nothing to other
/// providers, so a codec sends back only those of its own wire.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProviderSignature {
    /// The wire format it belongs to: `anthropic`, `openai`, `google`.
    pub wire: String,
    /// The token.
    pub data: String,
}

/// A picture in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageImage {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The bytes, in standard base64.
    pub data: String,
}

/// The model's wish to have a tool run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Id that links the call with its result: the provider's, or one made by the codec if
    /// the provider gives none.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as the model wrote them. Models make mistakes, so this may be
    /// anything.
    pub arguments: String,
    /// The signature that the provider wants back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<ProviderSignature>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Id of the call that it answers.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The text of the result. It may be long, and a conversation is copied in every turn,
    /// so copies share it.
    pub text: Arc<str>,
    /// Pictures in the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<MessageImage>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
}

/// A tool as it is described to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name: 1 to 64 letters, digits, `-` or `_`.
    pub name: String,
    /// What the tool does and when to use it.
    pub description: String,
    /// The JSON Schema of the arguments, which are an object.
    pub schema: Value,
}

/// The tools that the model may or must call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool may be called.
    None,
    /// At least one tool must be called.
    Any,
    /// The tool of this name must be called.
    Named(String),
}

/// The format of a reply that is data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyFormat {
    /// A name for the format, which some providers require.
    pub name: String,
    /// The JSON Schema that the reply's text must fit.
    pub schema: Value,
}

/// The amount of thinking asked of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingEffort {
    /// Not at all.
    Off,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// Hard.
    High,
}

/// The time for which a provider should cache what it has read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptCacheLifetime {
    /// The provider's default.
    #[default]
    Unset,
    /// Minutes, because the next turn comes soon.
    Short,
    /// About an hour, because a person has to answer first.
    Long,
}

/// Error for arguments that are not a JSON object. Its text is meant for the model, which
/// can correct them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the arguments of `{tool}` are not a JSON object: {why}; call it again with valid arguments"
)]
pub struct ToolArgumentsError {
    /// The name of the tool.
    pub tool: String,
    /// The parser's message.
    pub why: String,
}

impl ToolCall {
    /// Parses the arguments. Empty text means no arguments.
    pub fn input(&self) -> Result<Map<String, Value>, ToolArgumentsError> {
        let text = self.arguments.trim();
        if text.is_empty() {
            return Ok(Map::new());
        }
        let bad = |why: String| ToolArgumentsError {
            tool: self.name.chars().take(64).collect(),
            why,
        };
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(fields),
            Ok(other) => Err(bad(format!("they are {}", sort(&other)))),
            Err(error) => Err(bad(error.to_string())),
        }
    }
}

fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl ModelMessage {
    /// Creates a message from the person.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: MessageRole::User,
            parts: vec![MessagePart::text(text)],
        }
    }

    /// Creates a message from the model.
    pub fn assistant(parts: Vec<MessagePart>) -> Self {
        Self {
            role: MessageRole::Assistant,
            parts,
        }
    }

    /// Creates a message with the tool results of one turn.
    pub fn results(results: impl IntoIterator<Item = ToolResult>) -> Self {
        Self {
            role: MessageRole::User,
            parts: results.into_iter().map(MessagePart::ToolResult).collect(),
        }
    }
}

impl MessagePart {
    /// Creates a part with plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            seal: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_arguments_are_an_observation() {
        let check = |arguments: &str, expected: Result<usize, &str>| {
            let call = ToolCall {
                id: "1".into(),
                name: "read".into(),
                arguments: arguments.into(),
                seal: None,
            };
            let found = call.input().map(|fields| fields.len());
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{arguments}"),
                (Err(error), Err(why)) => {
                    let shown = error.to_string();
                    assert!(shown.contains(why) && shown.contains("`read`"), "{shown}");
                }
                other => panic!("{arguments}: {other:?}"),
            }
        };
        check("", Ok(0));
        check(" {} ", Ok(0));
        check(r#"{"path":"a","n":1}"#, Ok(2));
        check("[1]", Err("they are a list"));
        check("\"x\"", Err("they are a string"));
        check("{\"path\": ", Err("EOF"));
        check("{} {}", Err("trailing"));
        check("NaN", Err("expected"));
        check(&"[".repeat(100_000), Err("recursion"));
    }

    #[test]
    fn what_is_not_said_is_not_written() {
        let request = ModelRequest {
            messages: vec![ModelMessage::user("hello")],
            ..ModelRequest::default()
        };
        let written = serde_json::to_string(&request).unwrap();
        assert_eq!(
            written,
            r#"{"messages":[{"role":"user","parts":[{"part":"text","text":"hello"}]}]}"#
        );
        assert_eq!(
            serde_json::from_str::<ModelRequest>(&written).unwrap(),
            request
        );
    }
}
