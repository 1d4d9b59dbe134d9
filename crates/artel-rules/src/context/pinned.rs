//! What tools answered that holds for the rest of a run: it outlives every summary.

use artel_types::model::{Message, Part, Role, ToolCall};

use super::elide::{OBSERVATION, calls_of, in_short};

/// The tools whose answers are never left out. Of the second sort, only the newest holds.
const LASTING: [&str; 1] = ["skill"];
const NEWEST: [&str; 1] = ["todo"];

/// How such an answer begins in the first message.
const KEPT: &str = "[Still holds: ";

/// No more of the arguments is shown.
const LONGEST_ARGUMENTS: usize = 120;

pub(super) fn is_pinned(tool: &str) -> bool {
    LASTING.contains(&tool) || NEWEST.contains(&tool)
}

/// Returns a first message with the answers in its texts as parts of their own: a run that took
/// over has them behind what it was told.
pub(super) fn unfolded(head: Message) -> Message {
    let (mut parts, behind) = (Vec::new(), format!("\n\n{KEPT}"));
    for part in head.parts {
        let Part::Text { text, seal: None } = &part else {
            parts.push(part);
            continue;
        };
        let mut pieces = text.split(&behind);
        parts.extend(pieces.next().map(Part::text));
        parts.extend(pieces.map(|piece| Part::text(format!("{KEPT}{piece}"))));
    }
    Message { parts, ..head }
}

/// Tells whether a text of the first message is such an answer.
pub(super) fn is_answer(text: &str) -> bool {
    text.starts_with(KEPT)
}

/// Returns what pinned tools answered in these messages, each as words of its own.
pub(super) fn of(messages: &[Message]) -> Vec<Part> {
    let (mut calls, mut found) = (Vec::new(), Vec::new());
    for message in messages {
        if message.role == Role::Assistant {
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

/// Puts such answers into the first message; a newer one takes the place of its elder.
pub(super) fn keep(mut head: Message, answers: Vec<Part>) -> Message {
    for answer in answers {
        put(&mut head.parts, answer);
    }
    head
}

fn answer_of(part: &Part, calls: &[ToolCall]) -> Option<Part> {
    let (tool, call, text) = match part {
        Part::ToolResult(result) => {
            let call = calls.iter().find(|call| call.id == result.id);
            (result.name.as_str(), call, &*result.text)
        }
        Part::Text { text, .. } => {
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
    let arguments = match NEWEST.contains(&tool) {
        true => String::new(),
        false => call.map_or(String::new(), |call| {
            in_short(&call.arguments, LONGEST_ARGUMENTS)
        }),
    };
    let name = format!("{tool} {arguments}");
    Some(Part::text(format!("{KEPT}{}]\n{text}", name.trim_end())))
}

fn put(parts: &mut Vec<Part>, answer: Part) {
    parts.retain(|known| heading(known).is_none() || heading(known) != heading(&answer));
    parts.push(answer);
}

fn heading(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text, .. } if text.starts_with(KEPT) => text.lines().next(),
        _ => None,
    }
}
