//! Limits on the text that is parsed, and characters that a reader cannot see.

use super::MAX_TEXT;
use super::scan::{MAX_NESTING, MAX_PARTS, ShellScanLimit};
use crate::programs::CommandDoubt;

/// Limit on commands that start one another.
pub(super) const MAX_WRAPPERS: usize = 12;

/// Returns the first character that is invisible or changes how the rest is displayed.
pub(super) fn hidden(text: &str) -> Option<char> {
    if text.is_ascii() {
        let mut bytes = text.bytes();
        return bytes.find(|byte| is_control(*byte)).map(char::from);
    }
    text.chars().find(|c| is_hidden(*c))
}

fn is_control(byte: u8) -> bool {
    (byte < b' ' && byte != b'\n' && byte != b'\t') || byte == 0x7f
}

/// Returns whether a character is invisible, an unusual space, or changes the text
/// direction.
pub(super) fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return u8::try_from(c).is_ok_and(is_control);
    }
    c.is_control()
        || c.is_whitespace()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffd}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' | '\u{e000}'..='\u{f8ff}')
}

pub(super) fn hidden_doubt(c: char) -> CommandDoubt {
    CommandDoubt {
        rule: "text.hidden",
        reason: format!("it holds U+{:04X}, which does not show", u32::from(c)),
    }
}

pub(super) fn too_long(length: usize) -> CommandDoubt {
    CommandDoubt {
        rule: "limit.length",
        reason: format!(
            "{length} bytes are more than the {MAX_TEXT} that are judged; put it into a script"
        ),
    }
}

pub(super) fn beyond(limit: ShellScanLimit) -> CommandDoubt {
    match limit {
        ShellScanLimit::Nesting => CommandDoubt {
            rule: "limit.nesting",
            reason: format!("it is nested deeper than {MAX_NESTING} levels"),
        },
        ShellScanLimit::Parts => CommandDoubt {
            rule: "limit.commands",
            reason: format!("it holds more than {MAX_PARTS} commands"),
        },
    }
}

pub(super) fn too_many_wrappers() -> CommandDoubt {
    CommandDoubt {
        rule: "limit.wrappers",
        reason: format!("more than {MAX_WRAPPERS} commands start one another"),
    }
}
