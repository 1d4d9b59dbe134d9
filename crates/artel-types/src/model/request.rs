//! The question: a whole conversation, since a model remembers nothing.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Everything a model needs to answer. Which model it is, is not part of it: the same request can
/// be put to another one, and a recording fits whoever gave it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Standing instructions; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call, in a stable order, so that provider caches hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Arc<ToolSpec>>,
    /// Whether it must call something.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tool_choice: ToolChoice,
    /// The form the answer must have, if it must have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// The most tokens it may answer with; the model's own limit if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// How freely it chooses its words; the provider's default if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts at which it stops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// How hard it should think; the provider's default if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Effort>,
    /// How long the unchanging beginning of the conversation is worth keeping at the provider.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache: Cache,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Who is speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person, or whoever speaks for them; also what tools answered.
    User,
    /// The model.
    Assistant,
}

/// One turn of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said, in order.
    pub parts: Vec<Part>,
}

/// One thing said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
        /// What the provider wants back with them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Seal>,
    },
    /// A picture shown to the model.
    Image(Image),
    /// What the model thought before it spoke.
    Thinking {
        /// The thought as far as the provider shows it; may be empty.
        text: String,
        /// What the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Seal>,
    },
    /// The model wants something done.
    ToolCall(ToolCall),
    /// What came of a call.
    ToolResult(ToolResult),
}

/// A token that a provider gave and wants back unchanged. It means nothing to anybody else, so a
/// codec sends back only those of its own wire.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seal {
    /// Which wire format it belongs to: `anthropic`, `openai`, `google`.
    pub wire: String,
    /// The token.
    pub data: String,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    /// Its bytes in standard base64.
    pub data: String,
}

/// A wish of the model to have a tool run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Joins the call with its result; the provider's, or made by the codec where it gives none.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// The arguments as the model wrote them. Models make mistakes: this may be anything.
    pub arguments: String,
    /// What the provider wants back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call it answers.
    pub id: String,
    /// The tool that answered.
    pub name: String,
    /// What it said. It may be long, and a conversation is copied in every turn: copies share it.
    pub text: Arc<str>,
    /// What it showed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
}

/// A tool as the model is told about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// 1 to 64 letters, digits, `-` or `_`.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub schema: Value,
}

/// Whether a tool must be called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As the model sees fit.
    #[default]
    Auto,
    /// None may be called.
    None,
    /// At least one must be called.
    Any,
    /// This one must be called.
    Named(String),
}

/// The form of an answer that is data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// A name for it; some providers want one.
    pub name: String,
    /// The JSON Schema that the answer's text must fit.
    pub schema: Value,
}

/// How hard to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Not at all.
    Off,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// Hard.
    High,
}

/// How long a provider should keep what it has read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// As the provider does by itself.
    #[default]
    Unset,
    /// Minutes: the next turn comes soon.
    Short,
    /// An hour or so: a person has to answer first.
    Long,
}

/// Arguments that are not a JSON object. Its text is meant for the model, which can mend them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the arguments of `{tool}` are not a JSON object: {why}; call it again with valid arguments"
)]
pub struct BadArguments {
    /// Which tool.
    pub tool: String,
    /// What the parser said.
    pub why: String,
}

impl ToolCall {
    /// Reads the arguments. No text at all means no arguments.
    pub fn input(&self) -> Result<Map<String, Value>, BadArguments> {
        let text = self.arguments.trim();
        if text.is_empty() {
            return Ok(Map::new());
        }
        let bad = |why: String| BadArguments {
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

impl Message {
    /// Returns what the person says.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            parts: vec![Part::text(text)],
        }
    }

    /// Returns what the model said.
    pub fn assistant(parts: Vec<Part>) -> Self {
        Self {
            role: Role::Assistant,
            parts,
        }
    }

    /// Returns what tools answered, all results of one turn together.
    pub fn results(results: impl IntoIterator<Item = ToolResult>) -> Self {
        Self {
            role: Role::User,
            parts: results.into_iter().map(Part::ToolResult).collect(),
        }
    }
}

impl Part {
    /// Returns plain words.
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
        let request = Request {
            messages: vec![Message::user("hello")],
            ..Request::default()
        };
        let written = serde_json::to_string(&request).unwrap();
        assert_eq!(
            written,
            r#"{"messages":[{"role":"user","parts":[{"part":"text","text":"hello"}]}]}"#
        );
        assert_eq!(serde_json::from_str::<Request>(&written).unwrap(), request);
    }
}
