//! Values as they are written: in quotes, bare, in an element, inside a call.

use super::separators::FieldSeparator;
use super::verdict::{LongSecretEnding, RedactionRuleOutcome};
use super::view::{SecretScanText, is_name};

/// Longest value that is held, in bytes. A longer one is judged by its beginning and
/// hidden while it is read.
pub(super) const LONGEST_VALUE: usize = 512;

/// The range of a value, its quote, and its ending if it is long.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldValueSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) quote: Option<u8>,
    pub(super) long: Option<LongSecretEnding>,
}

impl FieldValueSpan {
    pub(super) fn verdict(self, name: &'static str) -> RedactionRuleOutcome {
        match self.long {
            Some(ending) => RedactionRuleOutcome::Long(self.start..self.end, ending, name),
            None => RedactionRuleOutcome::Secret(self.start..self.end, name),
        }
    }
}

/// Reads the value that starts at `at`.
pub(super) fn value(
    view: &SecretScanText<'_>,
    at: usize,
    separator: FieldSeparator,
) -> Option<FieldValueSpan> {
    // Strings may have a prefix letter that says how they are read.
    let letters = view.run(at, 2, |byte| b"bfruBFRU@$L".contains(&byte));
    let at = match view.get(letters) {
        Some(b'"' | b'\'') => letters,
        _ => at,
    };
    if separator == FieldSeparator::Element {
        return element(view, at);
    }
    let at = listed(view, at);
    match view.get(at)? {
        quote @ (b'"' | b'\'' | b'`') => quoted(view, at + 1, quote, separator),
        b'\\' if matches!(view.get(at + 1), Some(b'"' | b'\'')) => {
            let end = view.run(at + 2, LONGEST_VALUE, |byte| !b"\\\n\"".contains(&byte));
            finished(at + 2, end, Some(b'"'), LongSecretEnding::Word)
        }
        b'\\' if view.starts(at, b"\\\\\\\"") => {
            let end = view.run(at + 4, LONGEST_VALUE, |byte| !b"\\\n\"".contains(&byte));
            finished(at + 4, end, Some(b'"'), LongSecretEnding::Word)
        }
        _ => wrapped(view, at, separator).or_else(|| bare(view, at, separator)),
    }
}

/// Skips the bracket of a list of literals, so that its first literal is read.
fn listed(view: &SecretScanText<'_>, at: usize) -> usize {
    if view.get(at) != Some(b'[') {
        return at;
    }
    let first = view.skip_blanks(at + 1, 4);
    match view.get(first) {
        Some(b'"' | b'\'') => first,
        _ => at,
    }
}

fn quoted(
    view: &SecretScanText<'_>,
    start: usize,
    quote: u8,
    separator: FieldSeparator,
) -> Option<FieldValueSpan> {
    // After an unquoted name, this may be the end of a string that began earlier.
    let closes = |byte: u8| b"),; ]}\n\r:|".contains(&byte);
    if separator.is_loose() && view.get(start).is_none_or(closes) {
        return None;
    }
    let mut end = start;
    while end - start < LONGEST_VALUE {
        match view.get(end) {
            Some(b'\\') => end += 2,
            Some(byte) if byte == quote || byte == b'\n' => break,
            Some(_) => end += 1,
            None => break,
        }
    }
    let end = end.min(view.len());
    finished(start, end, Some(quote), LongSecretEnding::Quote(quote))
}

/// Reads the text of an element, up to its closing tag.
fn element(view: &SecretScanText<'_>, start: usize) -> Option<FieldValueSpan> {
    let end = view.run(start, LONGEST_VALUE, |byte| byte != b'<');
    if end - start >= LONGEST_VALUE || !view.starts(end, b"</") {
        return None;
    }
    let text = view.text()[start..end].trim_ascii_end();
    finished(start, start + text.len(), None, LongSecretEnding::Word)
}

fn finished(
    start: usize,
    end: usize,
    quote: Option<u8>,
    ending: LongSecretEnding,
) -> Option<FieldValueSpan> {
    let long = (end - start >= LONGEST_VALUE).then_some(ending);
    Some(FieldValueSpan {
        start,
        end,
        quote,
        long,
    })
}

/// Reads the literal in a call such as `String::from("…")` or `new Secret("…")`.
fn wrapped(
    view: &SecretScanText<'_>,
    at: usize,
    separator: FieldSeparator,
) -> Option<FieldValueSpan> {
    let callee = view.run(at, 40, |byte| is_name(byte) || b": &".contains(&byte));
    if view.get(callee) != Some(b'(') {
        return None;
    }
    let name = &view.text()[at..callee];
    const MAKERS: [&[u8]; 9] = [
        b"from",
        b"new",
        b"String",
        b"Secret",
        b"SecretString",
        b"Some",
        b"str",
        b"SecretStr",
        b"Bytes",
    ];
    let maker = MAKERS.iter().any(|maker| name.ends_with(maker));
    match view.get(callee + 1)? {
        quote @ (b'"' | b'\'') if maker => quoted(view, callee + 2, quote, separator),
        _ => None,
    }
}

fn bare(
    view: &SecretScanText<'_>,
    start: usize,
    separator: FieldSeparator,
) -> Option<FieldValueSpan> {
    let mut end = start;
    while end - start < LONGEST_VALUE {
        match view.get(end) {
            Some(byte) if ends_bare(view, end, byte, separator) => break,
            Some(_) => end += 1,
            None => break,
        }
    }
    let long = (end - start >= LONGEST_VALUE).then_some(LongSecretEnding::Word);
    if long.is_none() {
        while end > start && matches!(view.before(end), Some(b',' | b';' | b'.' | b':')) {
            end -= 1;
        }
        let text = &view.text()[start..end];
        let opened = |open: u8, close: u8| text.contains(&open) || !text.ends_with(&[close]);
        if !opened(b'(', b')') || !opened(b'[', b']') || !opened(b'{', b'}') {
            end -= 1;
        }
    }
    (end > start).then_some(FieldValueSpan {
        start,
        end,
        quote: None,
        long,
    })
}

fn ends_bare(view: &SecretScanText<'_>, at: usize, byte: u8, separator: FieldSeparator) -> bool {
    match byte {
        b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' => true,
        b'\\' => matches!(
            view.get(at + 1),
            Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\')
        ),
        b'%' if separator == FieldSeparator::Escaped => {
            view.starts(at, b"%26") || view.starts(at, b"%23")
        }
        b'&' => separator.is_query() || names_next(view, at + 1),
        b'#' => separator.is_query(),
        b';' | b',' => {
            let next = view.get(at + 1);
            next.is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'}])".contains(&byte))
                || names_next(view, at + 1)
                || byte == b',' && minified_next(view, at + 1)
        }
        b')' | b'}' => view
            .get(at + 1)
            .is_none_or(|byte| byte.is_ascii_whitespace() || b";,)\"'".contains(&byte)),
        _ => byte < b' ',
    }
}

/// Returns whether another name with its value begins here.
fn names_next(view: &SecretScanText<'_>, at: usize) -> bool {
    let end = view.run(at, 40, |byte| is_name(byte) || byte == b' ');
    end > at && view.get(end) == Some(b'=')
}

/// Returns whether the next field follows directly, as in code without blanks.
fn minified_next(view: &SecretScanText<'_>, at: usize) -> bool {
    let end = view.run(at, 40, |byte| byte.is_ascii_alphabetic());
    end > at && view.get(end) == Some(b':')
}
