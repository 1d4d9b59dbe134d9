//! Encoding that several formats share.

use artel_types::model::{
    MessagePart, MessageRole, ModelMessage, ModelRequest, ReplyFormat, ToolCall, ToolResult,
};
use serde_json::{Map, Value, json};

use crate::wire::{WireRequest, WireTarget};

/// Consecutive messages of one role, joined.
pub(crate) struct MergedMessage<'a> {
    pub(crate) role: MessageRole,
    pub(crate) parts: Vec<&'a MessagePart>,
}

/// Joins messages of the same role. The results of simultaneous calls must stand together,
/// and strict templates want the roles to alternate.
pub(crate) fn turns(messages: &[ModelMessage]) -> Vec<MergedMessage<'_>> {
    let mut turns: Vec<MergedMessage<'_>> = Vec::new();
    for message in messages {
        match turns.last_mut() {
            Some(turn) if turn.role == message.role => turn.parts.extend(&message.parts),
            _ => turns.push(MergedMessage {
                role: message.role,
                parts: message.parts.iter().collect(),
            }),
        }
    }
    turns
}

impl<'a> MergedMessage<'a> {
    /// Returns all text, one paragraph per part.
    pub(crate) fn text(&self) -> String {
        let words = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text { text, .. } if !text.is_empty() => Some(text.as_str()),
            _ => None,
        });
        words.collect::<Vec<_>>().join("\n\n")
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &'a ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    pub(crate) fn results(&self) -> impl Iterator<Item = &'a ToolResult> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

/// Returns a call with this body and no headers yet.
pub(crate) fn outgoing(path: &str, body: &Value) -> WireRequest {
    WireRequest {
        path: path.to_owned(),
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
    }
}

/// Returns the output limit that the request asks for, cut to the model's maximum.
pub(crate) fn max_output(target: &WireTarget<'_>, request: &ModelRequest) -> Option<u64> {
    let wanted = request.max_output?;
    Some(target.max_output.map_or(wanted, |most| wanted.min(most)))
}

/// Returns the temperature if JSON can hold it.
pub(crate) fn temperature(request: &ModelRequest) -> Option<f64> {
    request.temperature.filter(|value| value.is_finite())
}

/// Returns the text of a tool result. These formats cannot mark a failure, so the text
/// does.
pub(crate) fn result_text(result: &ToolResult) -> String {
    if result.is_error {
        format!("error: {}", result.text)
    } else {
        result.text.to_string()
    }
}

/// Returns a call's arguments in a form that can be sent back. Anything but an object
/// becomes an empty one, since servers refuse a conversation that contains it. The call's
/// result says what was wrong.
pub(crate) fn arguments(call: &ToolCall) -> Value {
    Value::Object(call.input().unwrap_or_default())
}

/// Returns the schema of a tool's arguments with what servers insist on: the type `object`
/// and a `properties` member, even if it is empty.
pub(crate) fn parameters(schema: &Value) -> Value {
    let mut fields = schema.as_object().cloned().unwrap_or_else(Map::new);
    fields.entry("type").or_insert_with(|| json!("object"));
    fields.entry("properties").or_insert_with(|| json!({}));
    Value::Object(fields)
}

/// Returns the tools in the shape that Chat Completions introduced and others adopted.
pub(crate) fn function_tools(request: &ModelRequest) -> Vec<Value> {
    let tools = request.tools.iter().map(|tool| {
        json!({
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": parameters(&tool.schema),
            },
        })
    });
    tools.collect()
}

/// Returns a format's name with only the characters that are allowed.
pub(crate) fn format_name(format: &ReplyFormat) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name = format.name.chars().take(64);
    let name: String = name.map(|c| if allowed(c) { c } else { '_' }).collect();
    match name.as_str() {
        "" => "answer".to_owned(),
        _ => name,
    }
}

/// Returns a conversation as the list of messages that Chat Completions made common, the
/// system prompt first. Each format encodes the turns in its own way.
pub(crate) fn messages(
    request: &ModelRequest,
    user: fn(&MergedMessage<'_>, &mut Vec<Value>),
    assistant: fn(&MergedMessage<'_>) -> Option<Value>,
) -> Vec<Value> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    for turn in turns(&request.messages) {
        match turn.role {
            MessageRole::User => user(&turn, &mut messages),
            MessageRole::Assistant => messages.extend(assistant(&turn)),
        }
    }
    messages
}
