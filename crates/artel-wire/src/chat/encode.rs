//! Encodes requests.

use artel_types::model::{MessageImage, MessagePart, ModelRequest, ThinkingStyle, ToolChoice};
use serde_json::{Value, json};

use crate::openai::{data_url, effort, is_strict};
use crate::request::{
    MergedMessage, arguments, format_name, function_tools, max_output, messages, outgoing,
    result_text, temperature,
};
use crate::wire::{WireRequest, WireTarget};

pub(crate) fn encode(target: &WireTarget<'_>, request: &ModelRequest) -> WireRequest {
    let mut body = json!({
        "model": target.model,
        "messages": messages(request, user, assistant),
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    // OpenAI's own newest models want `max_completion_tokens`; the others do not know it.
    if let Some(most) = max_output(target, request) {
        body["max_tokens"] = json!(most);
    }
    if let Some(value) = temperature(request) {
        body["temperature"] = json!(value);
    }
    if !request.stop.is_empty() {
        body["stop"] = json!(request.stop);
    }
    if !request.tools.is_empty() {
        body["tools"] = json!(function_tools(request));
        body["tool_choice"] = tool_choice(&request.tool_choice);
    }
    if let Some(format) = &request.format {
        body["response_format"] = json!({
            "type": "json_schema",
            "json_schema": {
                "name": format_name(format),
                "schema": format.schema,
                "strict": is_strict(&format.schema),
            },
        });
    }
    if let (Some(wanted), ThinkingStyle::Effort) = (request.thinking, target.thinking) {
        body["reasoning_effort"] = json!(effort(wanted));
    }
    outgoing("/chat/completions", &body)
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Any => json!("required"),
        ToolChoice::Named(name) => json!({ "type": "function", "function": { "name": name } }),
    }
}

/// Encodes a turn of the person. Tool results come first, right after the calls they
/// answer. A result cannot hold images here, so they follow as if the person had sent
/// them.
fn user(turn: &MergedMessage<'_>, messages: &mut Vec<Value>) {
    for result in turn.results() {
        messages.push(json!({
            "role": "tool",
            "tool_call_id": result.id,
            "content": result_text(result),
        }));
    }
    let mut content = Vec::new();
    for result in turn.results().filter(|result| !result.images.is_empty()) {
        content.push(text(&format!("What `{}` showed:", result.name)));
        content.extend(result.images.iter().map(picture));
    }
    for part in &turn.parts {
        match part {
            MessagePart::Text { text: words, .. } if !words.is_empty() => content.push(text(words)),
            MessagePart::Image(image) => content.push(picture(image)),
            _ => {}
        }
    }
    let has_picture = content.iter().any(|part| part["type"] == "image_url");
    // Many servers accept a list only if it contains an image.
    match (has_picture, content.is_empty()) {
        (_, true) => {}
        (true, false) => messages.push(json!({ "role": "user", "content": content })),
        (false, false) => messages.push(json!({ "role": "user", "content": turn.text() })),
    }
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

fn picture(image: &MessageImage) -> Value {
    json!({ "type": "image_url", "image_url": { "url": data_url(image) } })
}

/// Encodes a turn of the model without its thoughts: the format has no common field for
/// them, and servers that produce thoughts drop them from later turns anyway.
fn assistant(turn: &MergedMessage<'_>) -> Option<Value> {
    let words = turn.text();
    let calls: Vec<Value> = turn
        .calls()
        .map(|call| {
            json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": arguments(call).to_string() },
            })
        })
        .collect();
    match (words.is_empty(), calls.is_empty()) {
        (true, true) => None,
        (false, true) => Some(json!({ "role": "assistant", "content": words })),
        (false, false) => {
            Some(json!({ "role": "assistant", "content": words, "tool_calls": calls }))
        }
        (true, false) => Some(json!({ "role": "assistant", "content": null, "tool_calls": calls })),
    }
}
