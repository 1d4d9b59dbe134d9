//! Encodes requests.

use artel_types::model::{
    ModelRequest, PromptCacheLifetime, ThinkingEffort, ThinkingStyle, ToolChoice, ToolSpec,
};
use serde_json::{Map, Value, json};

use super::messages::{messages, text_block};
use super::schema;
use crate::request::{outgoing, temperature};
use crate::wire::{WireRequest, WireTarget};

/// Output limit if neither the request nor the model sets one; the API requires a number.
const USUAL_OUTPUT: u64 = 8_192;

/// Smallest thinking budget that the API accepts, in tokens.
const SMALLEST_BUDGET: u64 = 1_024;

/// Number of the person's newest messages that are marked for the cache. With the tools
/// and the system prompt that makes four marks, the most that the API accepts.
const MARKED_MESSAGES: usize = 2;

/// Encodes a request for `/v1/messages`.
pub(crate) fn encode(target: &WireTarget<'_>, request: &ModelRequest) -> WireRequest {
    let max_tokens = max_tokens(target, request);
    let mut body = Map::new();
    body.insert("model".into(), target.model.into());
    body.insert("max_tokens".into(), max_tokens.into());
    body.insert("stream".into(), true.into());
    let mark = mark(request.cache);
    if !request.system.trim().is_empty() {
        let mut block = text_block(&request.system);
        put_mark(&mut block, mark.as_ref());
        body.insert("system".into(), Value::Array(vec![block]));
    }
    let mut messages = messages(&request.messages);
    mark_newest(&mut messages, mark.as_ref());
    body.insert("messages".into(), Value::Array(messages));
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request.tools.iter().map(|spec| tool(spec)).collect();
        if let Some(last) = tools.last_mut() {
            put_mark(last, mark.as_ref());
        }
        body.insert("tools".into(), Value::Array(tools));
        if let Some(choice) = tool_choice(&request.tool_choice) {
            body.insert("tool_choice".into(), choice);
        }
    }
    if !request.stop.is_empty() {
        body.insert("stop_sequences".into(), json!(request.stop));
    }
    add_thinking(&mut body, target, request, max_tokens);
    add_format(&mut body, request);
    outgoing("/v1/messages", &Value::Object(body))
}

fn max_tokens(target: &WireTarget<'_>, request: &ModelRequest) -> u64 {
    let wanted = request.max_output.or(target.max_output);
    let most = target.max_output.unwrap_or(u64::MAX);
    wanted.unwrap_or(USUAL_OUTPUT).min(most).max(1)
}

/// Sets how hard the model thinks. Sets the temperature only while thinking is off: a
/// thinking model chooses its own.
fn add_thinking(
    body: &mut Map<String, Value>,
    target: &WireTarget<'_>,
    request: &ModelRequest,
    max_tokens: u64,
) {
    let effort = request.thinking;
    if let (ThinkingStyle::Effort, Some(word)) = (target.thinking, effort.and_then(effort_word)) {
        body.insert("output_config".into(), json!({ "effort": word }));
    }
    let thinking = match (target.thinking, effort) {
        (ThinkingStyle::None, _) | (_, None) => None,
        // The API does not allow thinking before a forced tool call.
        (_, Some(_)) if is_forced(request) => None,
        (_, Some(ThinkingEffort::Off)) => Some(json!({ "type": "disabled" })),
        (ThinkingStyle::Effort, Some(_)) => Some(json!({ "type": "adaptive" })),
        (ThinkingStyle::Budget, Some(effort)) => budget(effort, max_tokens)
            .map(|tokens| json!({ "type": "enabled", "budget_tokens": tokens })),
    };
    let is_on = thinking
        .as_ref()
        .is_some_and(|thinking| thinking["type"] != "disabled");
    if let Some(thinking) = thinking {
        body.insert("thinking".into(), thinking);
    }
    if let Some(temperature) = temperature(request).filter(|_| !is_on) {
        body.insert("temperature".into(), temperature.clamp(0.0, 1.0).into());
    }
}

fn is_forced(request: &ModelRequest) -> bool {
    let is_forcing = matches!(request.tool_choice, ToolChoice::Any | ToolChoice::Named(_));
    is_forcing && !request.tools.is_empty()
}

fn effort_word(effort: ThinkingEffort) -> Option<&'static str> {
    match effort {
        ThinkingEffort::Off => None,
        ThinkingEffort::Low => Some("low"),
        ThinkingEffort::Medium => Some("medium"),
        ThinkingEffort::High => Some("high"),
    }
}

/// Returns how many tokens of the reply may be thoughts; a quarter is left for the visible
/// text. Returns `None` if the reply is too short for any thinking.
fn budget(effort: ThinkingEffort, max_tokens: u64) -> Option<u64> {
    let wanted = match effort {
        ThinkingEffort::Off => return None,
        ThinkingEffort::Low => 4_096,
        ThinkingEffort::Medium => 12_288,
        ThinkingEffort::High => 32_768,
    };
    let tokens = (max_tokens / 4 * 3).min(wanted).max(SMALLEST_BUDGET);
    (tokens < max_tokens).then_some(tokens)
}

fn add_format(body: &mut Map<String, Value>, request: &ModelRequest) {
    let Some(format) = &request.format else {
        return;
    };
    let config = body.entry("output_config").or_insert_with(|| json!({}));
    config["format"] = json!({
        "type": "json_schema",
        "schema": schema::strict(&format.schema),
    });
}

fn tool(spec: &ToolSpec) -> Value {
    let mut schema = spec.schema.as_object().cloned().unwrap_or_default();
    schema.insert("type".into(), "object".into());
    let mut tool = json!({ "name": spec.name, "input_schema": schema });
    if !spec.description.trim().is_empty() {
        tool["description"] = spec.description.as_str().into();
    }
    tool
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({ "type": "none" })),
        ToolChoice::Any => Some(json!({ "type": "any" })),
        ToolChoice::Named(name) => Some(json!({ "type": "tool", "name": name })),
    }
}

fn mark(cache: PromptCacheLifetime) -> Option<Value> {
    match cache {
        PromptCacheLifetime::Unset => None,
        PromptCacheLifetime::Short => Some(json!({ "type": "ephemeral", "ttl": "5m" })),
        PromptCacheLifetime::Long => Some(json!({ "type": "ephemeral", "ttl": "1h" })),
    }
}

fn put_mark(block: &mut Value, mark: Option<&Value>) {
    if let Some(mark) = mark {
        block["cache_control"] = mark.clone();
    }
}

fn mark_newest(messages: &mut [Value], mark: Option<&Value>) {
    let from_person = messages
        .iter_mut()
        .rev()
        .filter(|message| message["role"] == "user");
    for message in from_person.take(MARKED_MESSAGES) {
        if let Some(block) = message["content"]
            .as_array_mut()
            .and_then(|all| all.last_mut())
        {
            put_mark(block, mark);
        }
    }
}
