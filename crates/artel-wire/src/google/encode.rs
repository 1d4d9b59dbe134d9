//! Encodes requests.

use artel_types::model::{
    MessageImage, MessagePart, MessageRole, ModelMessage, ModelRequest, ProviderSignature,
    ThinkingEffort, ThinkingStyle, ToolCall, ToolChoice, ToolResult, ToolSpec,
};
use serde_json::{Map, Value, json};

use super::{WIRE, schema};
use crate::request::{MergedMessage, arguments, max_output, outgoing, temperature, turns};
use crate::wire::{WireRequest, WireTarget};

/// Signature that newer models accept for a call that they did not make themselves, such
/// as one that another provider's model made earlier in the conversation. Without a
/// signature they refuse the whole request.
const NOT_MINE: &str = "skip_thought_signature_validator";

/// Encodes a request for `:streamGenerateContent`.
pub(crate) fn encode(target: &WireTarget<'_>, request: &ModelRequest) -> WireRequest {
    let mut body = Map::new();
    if !request.system.trim().is_empty() {
        let instruction = json!({ "parts": [{ "text": request.system }] });
        body.insert("systemInstruction".into(), instruction);
    }
    body.insert("contents".into(), contents(target, &request.messages));
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(|spec| declaration(spec)).collect();
        let tools = json!([{ "functionDeclarations": declarations }]);
        body.insert("tools".into(), tools);
        if let Some(config) = calling(&request.tool_choice) {
            let config = json!({ "functionCallingConfig": config });
            body.insert("toolConfig".into(), config);
        }
    }
    let config = generation(target, request);
    if !config.is_empty() {
        body.insert("generationConfig".into(), Value::Object(config));
    }
    let model = percent_encoded(target.model);
    let path = format!("/v1beta/models/{model}:streamGenerateContent?alt=sse");
    outgoing(&path, &Value::Object(body))
}

/// Encodes a model name as one segment of the path, whatever characters it has.
fn percent_encoded(model: &str) -> String {
    let model = model.strip_prefix("models/").unwrap_or(model);
    model.bytes().fold(String::new(), |mut path, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
        path
    })
}

fn generation(target: &WireTarget<'_>, request: &ModelRequest) -> Map<String, Value> {
    let mut config = Map::new();
    if let Some(tokens) = max_output(target, request) {
        config.insert("maxOutputTokens".into(), tokens.max(1).into());
    }
    if let Some(temperature) = temperature(request) {
        config.insert("temperature".into(), temperature.clamp(0.0, 2.0).into());
    }
    if !request.stop.is_empty() {
        config.insert("stopSequences".into(), json!(request.stop));
    }
    if let Some(format) = &request.format {
        config.insert("responseMimeType".into(), "application/json".into());
        config.insert("responseSchema".into(), schema::reduced(&format.schema));
    }
    if let Some(thinking) = thinking(target.thinking, request.thinking) {
        config.insert("thinkingConfig".into(), thinking);
    }
    config
}

/// Returns the thinking settings. Models that take a level cannot be told not to think at
/// all; `low` is the least.
fn thinking(style: ThinkingStyle, effort: Option<ThinkingEffort>) -> Option<Value> {
    let effort = effort?;
    let is_shown = effort != ThinkingEffort::Off;
    match style {
        ThinkingStyle::None => None,
        ThinkingStyle::Effort => {
            let level = match effort {
                ThinkingEffort::Off | ThinkingEffort::Low => "low",
                ThinkingEffort::Medium => "medium",
                ThinkingEffort::High => "high",
            };
            Some(json!({ "thinkingLevel": level, "includeThoughts": is_shown }))
        }
        ThinkingStyle::Budget => {
            let budget = match effort {
                ThinkingEffort::Off => 0,
                ThinkingEffort::Low => 2_048,
                ThinkingEffort::Medium => 8_192,
                ThinkingEffort::High => 24_576,
            };
            Some(json!({ "thinkingBudget": budget, "includeThoughts": is_shown }))
        }
    }
}

fn declaration(spec: &ToolSpec) -> Value {
    let mut declaration = json!({ "name": spec.name });
    if !spec.description.trim().is_empty() {
        declaration["description"] = spec.description.as_str().into();
    }
    let parameters = schema::reduced(&spec.schema);
    // A tool without arguments has no parameters; an empty object is refused.
    if parameters["properties"].is_object() {
        declaration["parameters"] = parameters;
    }
    declaration
}

fn calling(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({ "mode": "NONE" })),
        ToolChoice::Any => Some(json!({ "mode": "ANY" })),
        ToolChoice::Named(name) => Some(json!({ "mode": "ANY", "allowedFunctionNames": [name] })),
    }
}

/// Encodes the conversation. A turn without any content left is omitted, because the API
/// refuses it.
fn contents(target: &WireTarget<'_>, messages: &[ModelMessage]) -> Value {
    let written = turns(messages).into_iter().filter_map(|turn| {
        let (role, parts) = match turn.role {
            MessageRole::User => ("user", user(&turn)),
            MessageRole::Assistant => ("model", model(target, &turn)),
        };
        (!parts.is_empty()).then(|| json!({ "role": role, "parts": parts }))
    });
    written.collect()
}

/// Encodes a turn of the person. Tool results come first, since they must follow their
/// calls. Images from tools come after them, because not every model accepts images inside
/// a result.
fn user(turn: &MergedMessage<'_>) -> Vec<Value> {
    let shown = turn.results().flat_map(|result| &result.images);
    let others = turn.parts.iter().filter_map(|part| match part {
        MessagePart::Text { text, .. } if !text.trim().is_empty() => Some(json!({ "text": text })),
        MessagePart::Image(image) => Some(inline(image)),
        _ => None,
    });
    let results = turn.results().map(function_response);
    results.chain(shown.map(inline)).chain(others).collect()
}

fn model(target: &WireTarget<'_>, turn: &MergedMessage<'_>) -> Vec<Value> {
    let parts = turn.parts.iter();
    let mut written: Vec<Value> = parts.filter_map(|part| model_part(part)).collect();
    // Of several simultaneous calls only the first carries a signature.
    let first = written
        .iter_mut()
        .find(|part| part["functionCall"].is_object());
    if let Some(first) = first
        && target.thinking == ThinkingStyle::Effort
        && first["thoughtSignature"].is_null()
    {
        first["thoughtSignature"] = NOT_MINE.into();
    }
    written
}

fn model_part(part: &MessagePart) -> Option<Value> {
    let (mut written, seal) = match part {
        MessagePart::Text { text, seal } => {
            let seal = own(seal.as_ref());
            if text.trim().is_empty() && seal.is_none() {
                return None;
            }
            (json!({ "text": text }), seal)
        }
        MessagePart::Thinking { text, seal } => {
            let seal = own(seal.as_ref())?;
            (json!({ "text": text, "thought": true }), Some(seal))
        }
        MessagePart::ToolCall(call) => (function_call(call), own(call.seal.as_ref())),
        MessagePart::Image(_) | MessagePart::ToolResult(_) => return None,
    };
    if let Some(signature) = seal {
        written["thoughtSignature"] = signature.into();
    }
    Some(written)
}

fn own(seal: Option<&ProviderSignature>) -> Option<&str> {
    let seal = seal.filter(|seal| seal.wire == WIRE)?;
    Some(&seal.data)
}

fn function_call(call: &ToolCall) -> Value {
    let mut inner = json!({ "name": call.name, "args": arguments(call) });
    put_id(&mut inner, &call.id);
    json!({ "functionCall": inner })
}

fn function_response(result: &ToolResult) -> Value {
    let key = if result.is_error { "error" } else { "output" };
    let mut inner = json!({ "name": result.name, "response": { key: &*result.text } });
    put_id(&mut inner, &result.id);
    json!({ "functionResponse": inner })
}

/// Adds the id of a call, unless our reader made it up: then it means nothing to the
/// provider.
fn put_id(inner: &mut Value, id: &str) {
    let is_made = id
        .strip_prefix("call_")
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '_'));
    if !is_made && !id.is_empty() {
        inner["id"] = id.into();
    }
}

fn inline(image: &MessageImage) -> Value {
    let MessageImage { media_type, data } = image;
    json!({ "inlineData": { "mimeType": media_type, "data": data } })
}
