//! Pinned tool answers: they apply to the rest of a run and outlive every summary.

use artel_types::model::{MessagePart, MessageRole, ModelMessage, ToolCall};

use super::elide::{OBSERVATION, calls_of, in_short};

/// Tools whose answers are never left out. Of those in `NEWEST`, only the newest answer
/// counts.
const LASTING: [&str; 1] = ["skill"];
const NEWEST: [&str; 1] = ["todo"];

/// The beginning of a pinned answer in the first message.
const KEPT: &str = "[Still holds: ";

/// Most bytes of the arguments that are shown.
const LONGEST_ARGUMENTS: usize = 120;

pub(super) fn is_pinned(tool: &str) -> bool {
    LASTING.contains(&tool) || NEWEST.contains(&tool)
}

/// Splits pinned answers off the texts of a first message, into parts of their own. In a
/// run that took over, they stand behind the handover text.
pub(super) fn unfolded(head: ModelMessage) -> ModelMessage {
    let (mut parts, behind) = (Vec::new(), format!("\n\n{KEPT}"));
    for part in head.parts {
        let MessagePart::Text { text, seal: None } = &part else {
            parts.push(part);
            continue;
        };
        let mut pieces = text.split(&behind);
        parts.extend(pieces.next().map(MessagePart::text));
        parts.extend(pieces.map(|piece| MessagePart::text(format!("{KEPT}{piece}"))));
    }
    ModelMessage { parts, ..head }
}

/// Returns whether a text of the first message is a pinned answer.
pub(super) fn is_answer(text: &str) -> bool {
    text.starts_with(KEPT)
}

/// Returns the answers of pinned tools in these messages, each as a text of its own.
pub(super) fn of(messages: &[ModelMessage]) -> Vec<MessagePart> {
    let (mut calls, mut found) = (Vec::new(), Vec::new());
    for message in messages {
        if message.role == MessageRole::Assistant {
            calls = calls_of(message);
            continue;
        }
        for part in &message.parts {
            if let Some(answer) = answer_of(part, &calls) {
                put(&mut found, answer);
            }
        }
    }
    found
}

/// Adds pinned answers to the first message; a newer answer replaces an older one.
pub(super) fn keep(mut head: ModelMessage, answers: Vec<MessagePart>) -> ModelMessage {
    for answer in answers {
        put(&mut head.parts, answer);
    }
    head
}

fn answer_of(part: &MessagePart, calls: &[ToolCall]) -> Option<MessagePart> {
    let (tool, call, text) = match part {
        MessagePart::ToolResult(result) => {
            let call = calls.iter().find(|call| call.id == result.id);
            (result.name.as_str(), call, &*result.text)
        }
        MessagePart::Text { text, .. } => {
            let call = calls.first()?;
            (
                call.name.as_str(),
                Some(call),
                text.strip_prefix(OBSERVATION)?,
            )
        }
        _ => return None,
    };
    if !is_pinned(tool) {
        return None;
    }
    let arguments = if NEWEST.contains(&tool) {
        String::new()
    } else {
        call.map_or(String::new(), |call| {
            in_short(&call.arguments, LONGEST_ARGUMENTS)
        })
    };
    let name = format!("{tool} {arguments}");
    Some(MessagePart::text(format!(
        "{KEPT}{}]\n{text}",
        name.trim_end()
    )))
}

fn put(parts: &mut Vec<MessagePart>, answer: MessagePart) {
    parts.retain(|known| heading(known).is_none() || heading(known) != heading(&answer));
    parts.push(answer);
}

fn heading(part: &MessagePart) -> Option<&str> {
    match part {
        MessagePart::Text { text, .. } if text.starts_with(KEPT) => text.lines().next(),
        _ => None,
    }
}
