//! Encodes requests.

use artel_types::model::{
    MessageImage, MessagePart, MessageRole, ModelMessage, ModelRequest, PromptCacheLifetime,
    ProviderSignature, ThinkingEffort, ThinkingStyle, ToolChoice, ToolResult,
};
use serde_json::{Value, json};

use super::WIRE;
use crate::answer::text;
use crate::openai::{data_url, effort, is_strict};
use crate::request::{
    arguments, format_name, max_output, outgoing, parameters, result_text, temperature,
};
use crate::wire::{WireRequest, WireTarget};

/// Smallest output limit that the API accepts.
const LEAST_OUTPUT: u64 = 16;

/// Encodes a request for `/responses`. This format has no stop texts, so the request's are
/// left out. The cache lifetime of a prompt cannot be set either: old and new models alike
/// refuse the parameter.
pub(crate) fn encode(target: &WireTarget<'_>, request: &ModelRequest) -> WireRequest {
    let mut body = json!({
        "model": target.model,
        "input": input(target, request),
        "stream": true,
        "store": false,
    });
    if !request.system.is_empty() {
        body["instructions"] = json!(request.system);
    }
    if let Some(most) = max_output(target, request) {
        body["max_output_tokens"] = json!(most.max(LEAST_OUTPUT));
    }
    if let Some(value) = temperature(request) {
        body["temperature"] = json!(value);
    }
    if !request.tools.is_empty() {
        body["tools"] = json!(tools(request));
        body["tool_choice"] = tool_choice(&request.tool_choice);
        body["parallel_tool_calls"] = json!(true);
    }
    if let Some(format) = &request.format {
        body["text"] = json!({
            "format": {
                "type": "json_schema",
                "name": format_name(format),
                "schema": format.schema,
                "strict": is_strict(&format.schema),
            },
        });
    }
    if thinks(target) {
        // A model that does not think refuses this.
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    if let (Some(wanted), ThinkingStyle::Effort) = (request.thinking, target.thinking) {
        body["reasoning"] = match wanted {
            ThinkingEffort::Off => json!({ "effort": effort(wanted) }),
            _ => json!({ "effort": effort(wanted), "summary": "auto" }),
        };
    }
    if request.cache != PromptCacheLifetime::Unset {
        body["prompt_cache_key"] = json!(cache_key(request));
    }
    outgoing("/responses", &body)
}

fn thinks(target: &WireTarget<'_>) -> bool {
    target.thinking != ThinkingStyle::None
}

fn tools(request: &ModelRequest) -> Vec<Value> {
    let tools = request.tools.iter().map(|tool| {
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters(&tool.schema),
            "strict": false,
        })
    });
    tools.collect()
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Any => json!("required"),
        ToolChoice::Named(name) => json!({ "type": "function", "name": name }),
    }
}

/// Returns the cache key: requests with the same beginning go to the same machine, which
/// has that beginning in its cache. The hash of the beginning is FNV-1a, since it must not
/// change between builds.
fn cache_key(request: &ModelRequest) -> String {
    let tools = json!(tools(request)).to_string();
    let bytes = request.system.bytes().chain([0]).chain(tools.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("artel-{hash:016x}")
}

fn input(target: &WireTarget<'_>, request: &ModelRequest) -> Vec<Value> {
    let mut items = Vec::new();
    for message in &request.messages {
        match message.role {
            MessageRole::User => user(message, &mut items),
            MessageRole::Assistant => assistant(target, message, &mut items),
        }
    }
    items
}

fn user(message: &ModelMessage, items: &mut Vec<Value>) {
    let mut content = Vec::new();
    for part in &message.parts {
        match part {
            MessagePart::ToolResult(result) => items.push(output(result)),
            MessagePart::Text { text, .. } if !text.is_empty() => content.push(words(text)),
            MessagePart::Image(image) => content.push(picture(image)),
            _ => {}
        }
    }
    if !content.is_empty() {
        items.push(json!({ "type": "message", "role": "user", "content": content }));
    }
}

fn output(result: &ToolResult) -> Value {
    let text = result_text(result);
    let output = if result.images.is_empty() {
        json!(text)
    } else {
        let words = (!text.is_empty()).then(|| words(&text));
        let content = words.into_iter().chain(result.images.iter().map(picture));
        Value::Array(content.collect())
    };
    json!({ "type": "function_call_output", "call_id": result.id, "output": output })
}

fn words(text: &str) -> Value {
    json!({ "type": "input_text", "text": text })
}

fn picture(image: &MessageImage) -> Value {
    json!({ "type": "input_image", "image_url": data_url(image), "detail": "auto" })
}

fn assistant(target: &WireTarget<'_>, message: &ModelMessage, items: &mut Vec<Value>) {
    // The API refuses a thought without anything after it, as a reply that broke off
    // leaves behind.
    let last = message.parts.iter().rposition(|part| {
        matches!(part, MessagePart::Text { text, .. } if !text.is_empty())
            || matches!(part, MessagePart::ToolCall(_))
    });
    for (at, part) in message.parts.iter().enumerate() {
        match part {
            MessagePart::Text { text, seal } if !text.is_empty() => {
                items.push(said(text, seal.as_ref()))
            }
            MessagePart::Thinking { text, seal }
                if thinks(target) && last.is_some_and(|last| at < last) =>
            {
                items.extend(seal.as_ref().and_then(|seal| thought(text, seal)));
            }
            MessagePart::ToolCall(call) => items.push(json!({
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": arguments(call).to_string(),
            })),
            _ => {}
        }
    }
}

fn said(text: &str, seal: Option<&ProviderSignature>) -> Value {
    let mut item = json!({
        "type": "message",
        "role": "assistant",
        "content": [{ "type": "output_text", "text": text }],
    });
    let phase = seal.and_then(opened).map(|mut seal| seal["phase"].take());
    if let Some(phase) = phase.filter(Value::is_string) {
        item["phase"] = phase;
    }
    item
}

fn thought(summary: &str, seal: &ProviderSignature) -> Option<Value> {
    let seal = opened(seal)?;
    let summary = match summary {
        "" => json!([]),
        summary => json!([{ "type": "summary_text", "text": summary }]),
    };
    Some(json!({
        "type": "reasoning",
        "id": text(&seal["id"])?,
        "summary": summary,
        "encrypted_content": text(&seal["encrypted_content"])?,
    }))
}

/// Reads a seal of this format, or returns `None` for any other.
fn opened(seal: &ProviderSignature) -> Option<Value> {
    let is_ours = seal.wire == WIRE;
    let seal = is_ours.then(|| serde_json::from_str(&seal.data).ok())?;
    seal.filter(Value::is_object)
}
