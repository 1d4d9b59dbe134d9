//! Leaves out old tool results; each leaves a line that says how to get the result again.

use artel_types::model::{MessagePart, MessageRole, ModelMessage, ToolCall, ToolResult};

use super::pinned::is_pinned;
use crate::turn::{ParsedTextReply, read_text};

/// The end of such a line.
const AGAIN: &str = "left out; call it again if it is needed]";

/// The beginning of a result when calls are written as text.
pub(super) const OBSERVATION: &str = "Observation: ";

/// Most bytes of the arguments that are shown.
const LONGEST_ARGUMENTS: usize = 120;

/// Returns the messages without their tool results.
pub(super) fn old_results(messages: &[ModelMessage]) -> Vec<ModelMessage> {
    let mut calls = Vec::new();
    let elide = |message: &ModelMessage| {
        if message.role == MessageRole::Assistant {
            calls = calls_of(message);
        }
        let parts = message.parts.iter().map(|part| match part {
            MessagePart::ToolResult(result) => MessagePart::ToolResult(of_result(result, &calls)),
            MessagePart::Text { text, seal: None } if message.role == MessageRole::User => {
                MessagePart::text(of_text(text, &calls))
            }
            other => other.clone(),
        });
        ModelMessage {
            role: message.role,
            parts: parts.collect(),
        }
    };
    messages.iter().map(elide).collect()
}

/// Returns the calls of a message, native or written as text.
pub(super) fn calls_of(message: &ModelMessage) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for part in &message.parts {
        match part {
            MessagePart::ToolCall(call) => calls.push(call.clone()),
            MessagePart::Text { text, .. } if message.role == MessageRole::Assistant => {
                if let ParsedTextReply::Call(call) = read_text(text, "text", |_| true) {
                    calls.push(call);
                }
            }
            _ => {}
        }
    }
    calls
}

/// Returns the beginning of a text, on one line.
pub(super) fn in_short(text: &str, most: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn of_result(result: &ToolResult, calls: &[ToolCall]) -> ToolResult {
    if is_pinned(&result.name) {
        return result.clone();
    }
    let call = calls.iter().find(|call| call.id == result.id);
    let text = shorter(&result.text, &result.name, call, result.images.len());
    ToolResult {
        text: text.into(),
        images: Vec::new(),
        ..result.clone()
    }
}

fn of_text(text: &str, calls: &[ToolCall]) -> String {
    let (Some(observed), Some(call)) = (text.strip_prefix(OBSERVATION), calls.first()) else {
        return text.to_owned();
    };
    if is_pinned(&call.name) {
        return text.to_owned();
    }
    let line = shorter(observed, &call.name, Some(call), 0);
    format!("{OBSERVATION}{line}")
}

/// Returns the line for a result, or the result itself if it is not longer.
fn shorter(text: &str, tool: &str, call: Option<&ToolCall>, images: usize) -> String {
    if text.ends_with(AGAIN) {
        return text.to_owned();
    }
    let arguments = call.map_or("", |call| call.arguments.as_str());
    let arguments = in_short(arguments, LONGEST_ARGUMENTS);
    let pictures = match images {
        0 => String::new(),
        count => format!(" and {}", artel_types::counted(count as u64, "picture")),
    };
    let size = artel_types::counted(text.len() as u64, "byte");
    let line = format!("[{tool} {arguments}: {size}{pictures} {AGAIN}");
    if line.len() < text.len() || images > 0 {
        line
    } else {
        text.to_owned()
    }
}
