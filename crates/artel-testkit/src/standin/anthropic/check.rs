//! The checks that Anthropic makes before it answers.

use serde_json::Value;

use crate::standin::Seen;
use crate::standin::dialect::{ensure, items};

const KNOWN: [&str; 20] = [
    "cache_control",
    "container",
    "context_management",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

/// Maximum number of places in a prompt that may be marked for the cache.
const MOST_MARKS: usize = 4;

type Checked = Result<(), String>;

pub(super) fn check(seen: &Seen) -> Checked {
    ensure!(
        seen.header("anthropic-version").is_some(),
        "anthropic-version: header is required"
    );
    ensure!(
        seen.header("x-api-key").is_none() || seen.bearer().is_none(),
        "x-api-key and Authorization may not both be given"
    );
    let body = &seen.body;
    for name in body.as_object().into_iter().flat_map(|body| body.keys()) {
        ensure!(
            KNOWN.contains(&name.as_str()),
            "{name}: Extra inputs are not permitted"
        );
    }
    ensure!(body["model"].is_string(), "model: Field required");
    let Some(max_tokens) = body.get("max_tokens") else {
        return Err("max_tokens: Field required".to_owned());
    };
    ensure!(
        max_tokens.as_u64().is_some_and(|most| most > 0),
        "max_tokens: Input should be greater than or equal to 1"
    );
    check_thinking(body)?;
    check_tools(body)?;
    check_messages(body)?;
    let marks = marks_in(body);
    ensure!(
        marks <= MOST_MARKS,
        "A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}."
    );
    Ok(())
}

fn check_thinking(body: &Value) -> Checked {
    let thinking = &body["thinking"];
    if thinking["type"] != "enabled" {
        return Ok(());
    }
    let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
    ensure!(
        budget >= 1024,
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    );
    ensure!(
        budget < body["max_tokens"].as_u64().unwrap_or_default(),
        "`max_tokens` must be greater than `thinking.budget_tokens`"
    );
    let temperature = body["temperature"].as_f64();
    ensure!(
        temperature.is_none_or(|value| (value - 1.0).abs() < f64::EPSILON),
        "`temperature` may only be set to 1 when thinking is enabled"
    );
    Ok(())
}

fn check_tools(body: &Value) -> Checked {
    for (place, tool) in items(&body["tools"]).enumerate() {
        if tool.get("type").is_some_and(|kind| kind != "custom") {
            continue;
        }
        let name = tool["name"].as_str().unwrap_or_default();
        let is_fit = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        ensure!(
            (1..=128).contains(&name.len()) && name.chars().all(is_fit),
            "tools.{place}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        );
        ensure!(
            tool["input_schema"]["type"] == "object",
            "tools.{place}.custom.input_schema.type: Field required"
        );
    }
    let chooses = body.get("tool_choice").is_some();
    ensure!(
        !chooses || items(&body["tools"]).next().is_some(),
        "tool_choice may only be specified while providing tools"
    );
    Ok(())
}

fn check_messages(body: &Value) -> Checked {
    let messages: Vec<&Value> = items(&body["messages"]).collect();
    ensure!(
        !messages.is_empty(),
        "messages: at least one message is required"
    );
    let mut before: Option<&Value> = None;
    for (place, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        ensure!(
            ["user", "assistant"].contains(&role),
            "messages: Unexpected role \"{role}\". The Messages API accepts a top-level `system` \
             parameter, not \"system\" as an input message role"
        );
        ensure!(
            place > 0 || role == "user",
            "messages: first message must use the \"user\" role"
        );
        ensure!(
            before.is_none_or(|before| before["role"] != role),
            "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \
             \"{role}\" roles in a row"
        );
        check_content(place, message)?;
        check_results(place, before, message)?;
        before = Some(message);
    }
    let left = calls_of(before);
    ensure!(
        left.is_empty(),
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}",
        messages.len() - 1,
        left.join(", ")
    );
    Ok(())
}

fn check_content(place: usize, message: &Value) -> Checked {
    let content = &message["content"];
    let is_empty = match content {
        Value::String(text) => text.is_empty(),
        Value::Array(blocks) => blocks.is_empty(),
        _ => return Err(format!("messages.{place}.content: Field required")),
    };
    ensure!(
        !is_empty,
        "messages.{place}: all messages must have non-empty content"
    );
    for (index, block) in items(content).enumerate() {
        let missing =
            |name: &str| format!("messages.{place}.content.{index}.{name}: Field required");
        let fields: &[&str] = match block["type"].as_str() {
            Some("text") => &["text"],
            Some("image") => &["source"],
            Some("thinking") => &["thinking", "signature"],
            Some("redacted_thinking") => &["data"],
            Some("tool_use") => &["id", "name", "input"],
            Some("tool_result") => &["tool_use_id"],
            Some(_) => &[],
            None => return Err(missing("type")),
        };
        if let Some(name) = fields.iter().find(|name| block.get(name).is_none()) {
            return Err(missing(name));
        }
        ensure!(
            block["type"] != "text" || block["text"] != "",
            "messages: text content blocks must be non-empty"
        );
        ensure!(
            block["type"] != "tool_use" || block["input"].is_object(),
            "messages.{place}.content.{index}.tool_use.input: Input should be a valid dictionary"
        );
    }
    Ok(())
}

/// Every call must be answered in the next message, before any other content, and nothing
/// else may be answered.
fn check_results(place: usize, before: Option<&Value>, message: &Value) -> Checked {
    let calls = calls_of(before);
    let blocks: Vec<&Value> = items(&message["content"]).collect();
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let results: Vec<&str> = blocks
        .iter()
        .filter(|block| is_result(block))
        .filter_map(|block| block["tool_use_id"].as_str())
        .collect();
    let leading = blocks.iter().take_while(|block| is_result(block)).count();
    if let Some(stray) = results.iter().find(|id| !calls.contains(id)) {
        return Err(format!(
            "messages.{place}.content: unexpected `tool_use_id` found in `tool_result` blocks: \
             {stray}. Each `tool_result` block must have a corresponding `tool_use` block in the \
             previous message."
        ));
    }
    let left: Vec<&str> = calls
        .into_iter()
        .filter(|id| !results[..leading.min(results.len())].contains(id))
        .collect();
    ensure!(
        left.is_empty(),
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: \
         {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        place.saturating_sub(1),
        left.join(", ")
    );
    Ok(())
}

fn calls_of(message: Option<&Value>) -> Vec<&str> {
    let blocks = message
        .into_iter()
        .flat_map(|message| items(&message["content"]));
    blocks
        .filter(|block| block["type"] == "tool_use")
        .filter_map(|block| block["id"].as_str())
        .collect()
}

fn marks_in(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| usize::from(name == "cache_control") + marks_in(field))
            .sum(),
        Value::Array(items) => items.iter().map(marks_in).sum(),
        _ => 0,
    }
}
