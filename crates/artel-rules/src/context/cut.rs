//! Cuts texts that are too large in the middle.

use artel_types::model::{MessagePart, ModelMessage};
use serde_json::Value;

use super::pinned::is_pinned;
use crate::tokens::{self, BYTES_PER_TOKEN, PromptSize};

/// Shortest length to which a text is cut, in bytes.
const SHORTEST: usize = 300;

/// Placeholder for a removed image.
const NO_PICTURE: &str = "[a picture was left out]";

/// Which texts may be cut. Texts that can be fetched again go first; texts that only the
/// model knows go last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElisionDepth {
    /// Tool results.
    Results,
    /// All text except thoughts and sealed text, which providers want back unchanged.
    Words,
    /// Tool arguments, too.
    Arguments,
}

/// Returns a text of at most `most` bytes: its beginning and its end, with a notice in
/// between. A text that is small enough is returned unchanged; the result is never shorter
/// than the notice.
pub fn cut_middle(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let notice = |left_out: usize| format!("\n[… {left_out} bytes left out …]\n");
    let room = most.saturating_sub(notice(text.len()).len());
    let head = text.floor_char_boundary(room / 5 * 3);
    let tail = text.ceil_char_boundary(text.len() - room / 5 * 2);
    let notice = notice(tail - head);
    [&text[..head], &notice, &text[tail..]].concat()
}

/// Makes a conversation fit into `target` tokens as far as possible. The largest texts are
/// cut to one common length, tool results first.
pub(super) fn to_fit(messages: &mut [ModelMessage], target: u64) {
    for depth in [
        ElisionDepth::Results,
        ElisionDepth::Words,
        ElisionDepth::Arguments,
    ] {
        if tokens::of_messages(messages) <= target {
            return;
        }
        if depth == ElisionDepth::Words {
            leave_out_pictures(messages, target);
        }
        let mut lengths = Vec::new();
        visit(messages, depth, &mut |text| lengths.push(text.len()));
        let size = PromptSize::of_messages(messages);
        let pictures = PromptSize { bytes: 0, ..size }.tokens();
        let texts: usize = lengths.iter().sum();
        let room = target.saturating_sub(pictures) * BYTES_PER_TOKEN;
        let room = room.saturating_sub(size.bytes.saturating_sub(texts as u64));
        let most = common_length(lengths, usize::try_from(room).unwrap_or(usize::MAX));
        visit(messages, depth, &mut |text| {
            if text.len() > most {
                *text = cut_middle(text, most);
            }
        });
    }
}

/// Returns the common length to which texts must be cut to fit together; shorter ones stay
/// whole.
fn common_length(mut lengths: Vec<usize>, mut room: usize) -> usize {
    lengths.sort_unstable();
    let mut left = lengths.len();
    for length in lengths {
        let share = room / left.max(1);
        if length > share {
            return share.max(SHORTEST);
        }
        room -= length;
        left -= 1;
    }
    usize::MAX
}

/// Visits exactly the texts that may be cut.
fn visit(messages: &mut [ModelMessage], depth: ElisionDepth, each: &mut dyn FnMut(&mut String)) {
    let parts = messages.iter_mut().flat_map(|message| &mut message.parts);
    for part in parts {
        match part {
            MessagePart::ToolResult(result)
                if depth != ElisionDepth::Results || !is_pinned(&result.name) =>
            {
                let mut text = result.text.to_string();
                each(&mut text);
                result.text = text.into();
            }
            MessagePart::Text { text, seal: None } if depth != ElisionDepth::Results => each(text),
            MessagePart::ToolCall(call) if depth == ElisionDepth::Arguments => {
                visit_arguments(&mut call.arguments, each);
            }
            _ => {}
        }
    }
}

/// Visits the texts inside arguments, so that the arguments stay well-formed. Arguments
/// that were not well-formed count as one text.
fn visit_arguments(arguments: &mut String, each: &mut dyn FnMut(&mut String)) {
    let before = arguments.clone();
    let Ok(mut value) = serde_json::from_str::<Value>(&before) else {
        return each(arguments);
    };
    visit_value(&mut value, each);
    let after = value.to_string();
    if after.len() < before.len() {
        *arguments = after;
    }
}

fn visit_value(value: &mut Value, each: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| visit_value(item, each)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| visit_value(field, each)),
        _ => {}
    }
}

/// Removes images, the oldest first, until the conversation fits.
fn leave_out_pictures(messages: &mut [ModelMessage], target: u64) {
    let mut size = PromptSize::of_messages(messages);
    let parts = messages.iter_mut().flat_map(|message| &mut message.parts);
    for part in parts {
        if size.tokens() <= target {
            return;
        }
        let before = PromptSize::of_part(part);
        match part {
            MessagePart::Image(_) => *part = MessagePart::text(NO_PICTURE),
            MessagePart::ToolResult(result) if !result.images.is_empty() => {
                result.images.clear();
                result.text = format!("{}\n{NO_PICTURE}", result.text).into();
            }
            _ => continue,
        }
        let after = PromptSize::of_part(part);
        size.images -= before.images;
        size.bytes += after.bytes - before.bytes;
    }
}
