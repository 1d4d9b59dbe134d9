//! Encodes requests.

use artel_types::model::{
    MessageImage, MessagePart, ModelRequest, ThinkingEffort, ThinkingStyle, ToolChoice,
};
use serde_json::{Value, json};

use crate::request::{
    MergedMessage, arguments, function_tools, max_output, messages, outgoing, result_text,
    temperature,
};
use crate::wire::{WireRequest, WireTarget};

/// Context window in tokens if the model's is unknown. Ollama's own default can be as
/// small as 4,096 tokens, which an agent's instructions and tools alone may fill. This one
/// also holds some turns, and still fits beside a mid-sized model on one graphics card.
const USUAL_CONTEXT: u64 = 32_768;

/// Largest context window in tokens. The window takes memory on the person's machine when
/// the model is loaded, so a model that could use a million tokens does not get them. To
/// use less, set the model's context.
const LARGEST_CONTEXT: u64 = 131_072;

pub(crate) fn encode(target: &WireTarget<'_>, request: &ModelRequest) -> WireRequest {
    let mut body = json!({
        "model": target.model,
        "messages": messages(request, user, assistant),
        "stream": true,
        "options": options(target, request),
        // A prompt that does not fit is an error instead of being cut silently.
        "truncate": false,
    });
    let tools = tools(request);
    if !tools.is_empty() {
        body["tools"] = json!(tools);
    }
    if let Some(format) = &request.format {
        body["format"] = format.schema.clone();
    }
    if let Some(think) = request
        .thinking
        .and_then(|effort| think(effort, target.thinking))
    {
        body["think"] = think;
    }
    outgoing("/api/chat", &body)
}

/// Returns the options. The context window is the same in every request, because a change
/// makes Ollama load the model again.
fn options(target: &WireTarget<'_>, request: &ModelRequest) -> Value {
    let context = target.context.unwrap_or(USUAL_CONTEXT);
    let mut options = json!({ "num_ctx": context.min(LARGEST_CONTEXT) });
    if let Some(most) = max_output(target, request) {
        options["num_predict"] = json!(most);
    }
    if let Some(value) = temperature(request) {
        options["temperature"] = json!(value);
    }
    if !request.stop.is_empty() {
        options["stop"] = json!(request.stop);
    }
    options
}

/// Returns the thinking setting. A model that cannot think refuses to be told to think,
/// but accepts being told not to.
fn think(effort: ThinkingEffort, style: ThinkingStyle) -> Option<Value> {
    match (effort, style) {
        (ThinkingEffort::Off, _) => Some(json!(false)),
        (_, ThinkingStyle::None) => None,
        (_, ThinkingStyle::Budget) => Some(json!(true)),
        (ThinkingEffort::Low, ThinkingStyle::Effort) => Some(json!("low")),
        (ThinkingEffort::Medium, ThinkingStyle::Effort) => Some(json!("medium")),
        (ThinkingEffort::High, ThinkingStyle::Effort) => Some(json!("high")),
    }
}

/// Returns the tools to offer. Ollama cannot force a model to call a tool, but a tool that
/// is not offered is not called.
fn tools(request: &ModelRequest) -> Vec<Value> {
    let mut tools = function_tools(request);
    match &request.tool_choice {
        ToolChoice::Auto | ToolChoice::Any => {}
        ToolChoice::None => tools.clear(),
        ToolChoice::Named(name) => tools.retain(|tool| tool["function"]["name"] == name.as_str()),
    }
    tools
}

/// Encodes a turn of the person. Templates show images only in the person's messages, so
/// the images of a result follow it in such a message.
fn user(turn: &MergedMessage<'_>, messages: &mut Vec<Value>) {
    for result in turn.results() {
        messages.push(json!({
            "role": "tool",
            "tool_name": result.name,
            "tool_call_id": result.id,
            "content": result_text(result),
        }));
    }
    let mut images: Vec<&str> = Vec::new();
    let mut shown = Vec::new();
    for result in turn.results().filter(|result| !result.images.is_empty()) {
        shown.push(format!("What `{}` showed is attached.", result.name));
        images.extend(result.images.iter().map(base64));
    }
    images.extend(turn.parts.iter().filter_map(|part| match part {
        MessagePart::Image(image) => Some(base64(image)),
        _ => None,
    }));
    shown.push(turn.text());
    let content = shown.join("\n\n");
    let content = content.trim_end_matches('\n');
    if content.is_empty() && images.is_empty() {
        return;
    }
    let mut message = json!({ "role": "user", "content": content });
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    messages.push(message);
}

fn base64(image: &MessageImage) -> &str {
    &image.data
}

/// Encodes a turn of the model. Ollama wants the model's thoughts back with its calls. A
/// sealed thought comes from another provider and is left out.
fn assistant(turn: &MergedMessage<'_>) -> Option<Value> {
    let calls: Vec<Value> = turn
        .calls()
        .map(|call| {
            json!({
                "id": call.id,
                "function": { "name": call.name, "arguments": arguments(call) },
            })
        })
        .collect();
    let content = turn.text();
    if content.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let thoughts = turn.parts.iter().filter_map(|part| match part {
        MessagePart::Thinking { text, seal: None } if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    let thoughts = thoughts.collect::<Vec<_>>().join("\n\n");
    if !thoughts.is_empty() {
        message["thinking"] = json!(thoughts);
    }
    Some(message)
}
