//! Reads calls that are written as text, for models without another form: Thought, Action,
//! Action Input, Final Answer; or the same as one JSON object.

use artel_types::model::ToolCall;
use serde_json::Value;

/// The meaning of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedTextReply {
    /// It calls a tool.
    Call(ToolCall),
    /// It is the answer.
    Answer(String),
    /// It is neither, in any known form.
    Plain,
}

/// The mark by which some prompts let a model say that it is done.
const DONE: &str = "[ATTEMPTS_COMPLETE]";

/// Reads a reply. `is_tool` returns whether a tool of that name exists; `id` becomes the
/// id of a call.
pub fn read_text(text: &str, id: &str, is_tool: impl Fn(&str) -> bool) -> ParsedTextReply {
    if let Some(reply) = read_json(text, id, &is_tool) {
        return reply;
    }
    let action = field(text, "Action:");
    let answer = text.find("Final Answer:");
    if let Some((at, name)) = action
        && answer.is_none_or(|answer| at < answer)
    {
        let name = name.trim().trim_matches(['`', '"', '*']).trim();
        if is_tool(name) {
            let input = text[at..]
                .find("Action Input:")
                .map_or("", |from| &text[at + from + "Action Input:".len()..]);
            return ParsedTextReply::Call(call(id, name, json_prefix(input)));
        }
    }
    if let Some(at) = answer {
        return ParsedTextReply::Answer(clean(&text[at + "Final Answer:".len()..]));
    }
    if text.contains(DONE) {
        return ParsedTextReply::Answer(clean(text));
    }
    ParsedTextReply::Plain
}

/// Returns an answer without marks.
pub(super) fn clean(text: &str) -> String {
    text.replace(DONE, "").trim().to_owned()
}

fn read_json(text: &str, id: &str, is_tool: &impl Fn(&str) -> bool) -> Option<ParsedTextReply> {
    let trimmed = text.trim();
    let trimmed = trimmed
        .strip_prefix("```json")
        .or_else(|| trimmed.strip_prefix("```"))
        .map_or(trimmed, |rest| rest.trim_end_matches("```"))
        .trim();
    if !trimmed.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(trimmed).ok()?;
    if value["is_final"].as_bool() != Some(false)
        && let Some(answer) = value["final_answer"].as_str()
        && !answer.trim().is_empty()
    {
        return Some(ParsedTextReply::Answer(clean(answer)));
    }
    let name = value["action"].as_str()?;
    if !is_tool(name) {
        return None;
    }
    let input = value.get("action_input").cloned().unwrap_or(Value::Null);
    let input = match input {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text,
        other => other.to_string(),
    };
    Some(ParsedTextReply::Call(call(id, name, &input)))
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        seal: None,
    }
}

/// Returns the rest of the first line that begins with a name, and where that line begins.
fn field<'t>(text: &'t str, name: &str) -> Option<(usize, &'t str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start_matches([' ', '\t', '*', '#']);
        if let Some(rest) = bare.strip_prefix(name) {
            return Some((at, rest));
        }
        at += line.len();
    }
    None
}

/// Returns the JSON value at the beginning of a text, or the whole text if there is none,
/// so that the model learns what is wrong with it.
fn json_prefix(text: &str) -> &str {
    let text = text.trim();
    let text = text
        .strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .unwrap_or(text)
        .trim_start();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(_)) => text.get(..values.byte_offset()).unwrap_or(text),
        _ => {
            let end = text.find("\nObservation:").unwrap_or(text.len());
            text[..end].trim_end()
        }
    }
}
