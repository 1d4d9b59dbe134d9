//! Makes raw output readable: no escape sequences, no hidden characters.

use std::borrow::Cow;
use std::fmt::Write as _;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// Returns one line as plain text, as it would remain visible on a screen.
///
/// A carriage return starts the line again, so only the text after the last one is shown.
/// Escape sequences are left out. Other control characters, and those that hide or reorder
/// text, are shown by name, so that no text can be hidden from the reader.
pub fn visible(line: &[u8]) -> String {
    plain(&without_escapes(standing(line)))
}

/// Returns a text of several lines in which characters that hide or reorder text are shown
/// by name: text in an instruction file that a person cannot see must not reach a model as
/// an instruction.
pub fn marked(text: &str) -> Cow<'_, str> {
    let is_marked = |c: char| !matches!(c, '\n' | '\r') && is_hidden(c);
    // A byte order mark describes the encoding of the file and is not part of its text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.chars().any(is_marked) {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive(['\n', '\r']);
    let line = |line: &str| {
        let words = line.trim_end_matches(['\n', '\r']);
        plain(words.as_bytes()) + &line[words.len()..]
    };
    Cow::Owned(lines.map(line).collect())
}

/// Returns the part after the last carriage return that is followed by anything.
pub(super) fn standing(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| *byte != b'\r');
    let line = &line[..end.map_or(0, |end| end + 1)];
    let from = memchr::memrchr(b'\r', line).map_or(0, |at| at + 1);
    &line[from..]
}

/// Removes escape sequences. A string sequence without its end stays as text: a terminal
/// would wait for the end, but a reader must not.
fn without_escapes(line: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(ESCAPE, line) else {
        return Cow::Borrowed(line);
    };
    let mut clean = line[..first].to_vec();
    let mut rest = &line[first..];
    while let Some(byte) = rest.first() {
        if *byte == ESCAPE {
            rest = &rest[sequence(rest)..];
            continue;
        }
        let to = memchr::memchr(ESCAPE, rest).unwrap_or(rest.len());
        clean.extend_from_slice(&rest[..to]);
        rest = &rest[to..];
    }
    Cow::Owned(clean)
}

/// Returns the length of the escape sequence at the beginning of `bytes`.
fn sequence(bytes: &[u8]) -> usize {
    let end = |body: &[u8], is_final: fn(&u8) -> bool| {
        body.iter()
            .position(is_final)
            .map_or(bytes.len(), |at| bytes.len() - body.len() + at + 1)
    };
    match bytes.get(1) {
        None => 1,
        // Parameters, then one final byte; anything else ends the sequence early.
        Some(b'[') => end(&bytes[2..], |byte| !(0x20..=0x3f).contains(byte)),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => string_end(&bytes[2..]).map_or(2, |to| to + 2),
        Some(0x20..=0x2f) => end(&bytes[1..], |byte| !(0x20..=0x2f).contains(byte)),
        Some(_) => 2,
    }
}

/// Returns the end of a string sequence: after a bell or an `ESC \`.
fn string_end(body: &[u8]) -> Option<usize> {
    let at = memchr::memchr2(BELL, ESCAPE, body)?;
    match (body[at], body.get(at + 1)) {
        (BELL, _) => Some(at + 1),
        (_, Some(b'\\')) => Some(at + 2),
        _ => None,
    }
}

/// Shows invisible characters by name.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if !text.chars().any(is_hidden) {
        return text.into_owned();
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match u32::from(c) {
            _ if !is_hidden(c) => plain.push(c),
            code @ 0..=0x1f => plain.extend(char::from_u32(0x2400 + code)),
            0x7f => plain.push('␡'),
            code => {
                // Writing to a string cannot fail.
                let _ = write!(plain, "<U+{code:04X}>");
            }
        }
    }
    plain
}

/// Returns whether a character is invisible, or changes the look of others. A tab counts as
/// visible, a line end as hidden.
pub fn is_hidden(c: char) -> bool {
    if c == '\t' {
        return false;
    }
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}
