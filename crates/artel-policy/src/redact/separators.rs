//! The separators between a name and its value.

use super::fields::FieldNameSpan;
use super::view::{SecretScanText, contains, is_base64, is_name};

/// The ways in which a value is tied to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldSeparator {
    /// `name=value`
    Equals,
    /// `?name=value`, `&name=value`
    Query,
    /// `name%3Dvalue`, a query inside a query
    Escaped,
    /// `name = value`, `name := value`, `name => value`
    Assign,
    /// `name: value`
    Colon,
    /// `"name": value`
    Bound,
    /// `("name", "value"`
    Comma,
    /// `name("value")`
    Call,
    /// `--name value`
    Option,
    /// `<name>value</name>`
    Element,
    /// `<… name="name" value="value"`, and other spellings of it
    Pair,
    /// `machine … password value` and other places where only a literal can follow
    Sure,
    /// `name is value`
    Is,
}

/// Limit on blanks around a separator, which allows for alignment.
const MOST_BLANKS: usize = 32;

impl FieldSeparator {
    /// Returns whether a quote after it may close a string that contains the name.
    pub(super) fn is_loose(self) -> bool {
        matches!(self, Self::Colon | Self::Assign | Self::Equals | Self::Is)
    }

    pub(super) fn is_query(self) -> bool {
        matches!(self, Self::Query | Self::Escaped)
    }
}

/// Finds the separator after a name, and where the value begins.
pub(super) fn separator(
    view: &SecretScanText<'_>,
    span: FieldNameSpan,
) -> Option<(FieldSeparator, usize)> {
    let quoted = closing_quote(view, span);
    let mut at = quoted.unwrap_or(span.end);
    if quoted.is_some() && view.get(at) == Some(b']') {
        at += 1;
    }
    if let Some(value) = paired_value(view, at)
        && is_named(view, span)
    {
        return Some((FieldSeparator::Pair, value));
    }
    let next = view.skip_blanks(at, MOST_BLANKS);
    let (separator, value) = match view.get(next)? {
        b'=' => equals(view, span, at, next)?,
        b':' => colon(view, next, quoted)?,
        b'%' if next == at && view.starts_any_case(at, b"%3d") => (FieldSeparator::Escaped, at + 3),
        b'+' | b'?' if view.get(next + 1) == Some(b'=') => (FieldSeparator::Assign, next + 2),
        b',' if quoted.is_some() && is_first(view, span) => (FieldSeparator::Comma, next + 1),
        b'(' if next == at && quoted.is_none() => (FieldSeparator::Call, next + 1),
        b'>' if next == at && (quoted.is_some() || view.before(span.start) == Some(b'<')) => {
            (FieldSeparator::Element, next + 1)
        }
        _ if next > at => spaced(view, span, next)?,
        _ => return None,
    };
    let value = view.skip_blanks(value, MOST_BLANKS);
    let value = match (separator, view.get(value)) {
        // JSON and XML may break the line here.
        (FieldSeparator::Bound | FieldSeparator::Element, Some(b'\n' | b'\r')) => {
            view.run(value, 64, |byte| byte.is_ascii_whitespace())
        }
        (FieldSeparator::Colon, Some(b'|' | b'>')) => block(view, value).unwrap_or(value),
        _ => value,
    };
    let literal = matches!(view.get(value)?, b'"' | b'\'' | b'`' | b'\\');
    let needed = matches!(separator, FieldSeparator::Comma | FieldSeparator::Call);
    (literal || !needed).then_some((separator, value))
}

/// Returns whether the name is the first argument: only that one names the second.
fn is_first(view: &SecretScanText<'_>, span: FieldNameSpan) -> bool {
    let line = view.line_before(span.start);
    let line = line.trim_ascii_end();
    let opened = line.strip_suffix(b"\"").or(line.strip_suffix(b"'"));
    opened.is_some_and(|line| line.trim_ascii_end().ends_with(b"("))
}

/// Returns whether the name is itself the value of `name` or `key`.
fn is_named(view: &SecretScanText<'_>, span: FieldNameSpan) -> bool {
    let is_mark = |byte: u8| b" \t\"'\\".contains(&byte);
    let tie = view.run_before(span.start, 16, is_mark);
    let before = view.run_before(tie, 1, |byte| matches!(byte, b':' | b'='));
    let name = view.run_before(before, 8, is_mark);
    let word = view.run_before(name, 12, |byte| byte.is_ascii_alphabetic());
    let word = view.text()[word..name].to_ascii_lowercase();
    before < tie && (word.ends_with(b"name") || word.ends_with(b"key") || word == b"variable")
}

/// Returns the position after the quote that closes a quoted name.
fn closing_quote(view: &SecretScanText<'_>, span: FieldNameSpan) -> Option<usize> {
    let opening = view.before(span.start - span.dashes);
    let closing = match view.get(span.end)? {
        b'\\' => view.run(span.end, 3, |byte| byte == b'\\'),
        _ => span.end,
    };
    let quote = view.get(closing).filter(|byte| b"\"'`".contains(byte))?;
    let whole = opening == Some(quote) || is_cut(view, span, closing, quote);
    whole.then_some(closing + 1)
}

/// Returns whether the text begins in the middle of a quoted name: no quote precedes it in
/// its line, and a quoted value follows.
fn is_cut(view: &SecretScanText<'_>, span: FieldNameSpan, closing: usize, quote: u8) -> bool {
    let colon = view.skip_blanks(closing + 1, 4);
    if view.get(colon) != Some(b':') {
        return false;
    }
    let value = view.run(view.skip_blanks(colon + 1, 4), 3, |byte| byte == b'\\');
    let line = view.line_before(span.start);
    view.get(value) == Some(quote) && line.iter().all(|byte| is_name(*byte))
}

fn equals(
    view: &SecretScanText<'_>,
    span: FieldNameSpan,
    at: usize,
    next: usize,
) -> Option<(FieldSeparator, usize)> {
    let before = view.before(span.start - span.dashes);
    match view.get(next + 1) {
        // `Name => …` is an arm of a match, and its name a type.
        Some(b'>') if is_type(&view.text()[span.start..span.end]) => None,
        Some(b'>') => Some((FieldSeparator::Assign, next + 2)),
        Some(b'=') => Some((
            FieldSeparator::Assign,
            view.run(next, 3, |byte| byte == b'='),
        )),
        Some(b'~') => None,
        Some(b' ' | b'\t') => Some((FieldSeparator::Assign, next + 1)),
        _ if next > at => Some((FieldSeparator::Assign, next + 1)),
        _ if matches!(before, Some(b'?' | b'&')) => Some((FieldSeparator::Query, next + 1)),
        _ if before == Some(b';') => Some((FieldSeparator::Query, next + 1)),
        _ => Some((FieldSeparator::Equals, next + 1)),
    }
}

/// Returns whether the name before `at` stands in `${…`.
fn defaulted(view: &SecretScanText<'_>, at: usize) -> bool {
    let name = view.run_before(at, 100, is_name);
    view.text()[..name].ends_with(b"${")
}

fn is_type(name: &[u8]) -> bool {
    name[0].is_ascii_uppercase() && name.iter().any(u8::is_ascii_lowercase)
}

fn colon(
    view: &SecretScanText<'_>,
    at: usize,
    quoted: Option<usize>,
) -> Option<(FieldSeparator, usize)> {
    match view.get(at + 1) {
        Some(b':') => return None,
        Some(b'=') => return Some((FieldSeparator::Assign, at + 2)),
        // `${NAME:-default}`
        Some(b'-') if defaulted(view, at) => return Some((FieldSeparator::Bound, at + 2)),
        _ => {}
    }
    if quoted.is_some() {
        return Some((FieldSeparator::Bound, at + 1));
    }
    match after_type(view, at + 1) {
        Some(value) => Some((FieldSeparator::Assign, value)),
        None => Some((FieldSeparator::Colon, at + 1)),
    }
}

/// Skips the type in `name: Type = value`.
fn after_type(view: &SecretScanText<'_>, at: usize) -> Option<usize> {
    let start = view.skip_blanks(at, 4);
    if !view.get(start)?.is_ascii_alphabetic() && view.get(start) != Some(b'&') {
        return None;
    }
    let is_type = |byte: u8| byte.is_ascii_alphanumeric() || b"_<>[], &'.|?:".contains(&byte);
    let end = view.run(start, 48, is_type);
    let assigned = view.get(end) == Some(b'=') && view.before(end) == Some(b' ');
    (assigned && view.get(end + 1) == Some(b' ')).then_some(end + 2)
}

/// Finds the value in the next field, as in `{"name": "PASSWORD", "value": "…"}` and its
/// many variants.
fn paired_value(view: &SecretScanText<'_>, at: usize) -> Option<usize> {
    let is_gap = |byte: u8| byte.is_ascii_whitespace() || byte == b',';
    let start = view.run(at, 64, is_gap);
    if start == at {
        return None;
    }
    let quote = usize::from(matches!(view.get(start), Some(b'"' | b'\'')));
    let word = start + quote;
    if !view.starts_any_case(word, b"value") {
        return None;
    }
    let end = view.skip_blanks(word + 5 + quote, 4);
    match view.get(end) {
        Some(b':' | b'=') => Some(view.skip_blanks(end + 1, 4)),
        _ => None,
    }
}

/// Finds the value of a YAML block, which is on the next line.
fn block(view: &SecretScanText<'_>, at: usize) -> Option<usize> {
    let marks = view.run(at, 3, |byte| b"|>-+".contains(&byte));
    let line_end = view.skip_blanks(marks, 4);
    matches!(view.get(line_end), Some(b'\n' | b'\r'))
        .then(|| view.run(line_end, 64, |byte| byte.is_ascii_whitespace()))
}

/// Finds the value after a mere blank, as after an option, in a netrc file, in SQL and in
/// a Dockerfile.
fn spaced(
    view: &SecretScanText<'_>,
    span: FieldNameSpan,
    next: usize,
) -> Option<(FieldSeparator, usize)> {
    if span.dashes > 0 {
        return (view.get(next) != Some(b'-')).then_some((FieldSeparator::Option, next));
    }
    for word in [&b"is "[..], b"was ", b"is: ", b"is:"] {
        if view.starts_any_case(next, word) {
            return Some((FieldSeparator::Is, next + word.len()));
        }
    }
    let line = view.line_before(span.start);
    if view.starts_any_case(next, b"for ") && line.to_ascii_lowercase().ends_with(b"set ") {
        let user = view.run(next, 64, |byte| byte != b'=' && byte != b'\n');
        let sets = view.get(user) == Some(b'=');
        return sets.then_some((FieldSeparator::Sure, user + 1));
    }
    let quoted = matches!(view.get(next), Some(b'\'' | b'"'));
    if is_stored(line, view, span) || quoted && is_sql(line) {
        return Some((FieldSeparator::Sure, next));
    }
    // Another option, another name with its value, or code is not the value of this name.
    let word = view.run(next, 40, is_name);
    let other = matches!(
        view.get(word),
        Some(b'=' | b':' | b'(' | b'[' | b'{' | b'|')
    );
    let starts = quoted
        || view
            .get(next)
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
    let told = is_talk(line) || is_long_mix(view, next);
    (starts && !other && told).then_some((FieldSeparator::Is, next))
}

/// Returns whether a long run of digits and letters of both cases stands here, which
/// cannot be a word.
fn is_long_mix(view: &SecretScanText<'_>, at: usize) -> bool {
    const LEAST: usize = 32;
    let end = view.run(at, LEAST, is_base64);
    let text = &view.text()[at..end.min(view.len())];
    let count = |is: fn(&u8) -> bool| text.iter().filter(|byte| is(byte)).count();
    text.len() == LEAST
        && count(u8::is_ascii_digit) >= 3
        && count(u8::is_ascii_uppercase) >= 3
        && count(u8::is_ascii_lowercase) >= 3
}

/// Returns whether the words before a name belong to a sentence, or there are none.
fn is_talk(line: &[u8]) -> bool {
    const WORDS: [&[u8]; 26] = [
        b"a",
        b"access",
        b"admin",
        b"an",
        b"api",
        b"bad",
        b"by",
        b"database",
        b"db",
        b"default",
        b"for",
        b"initial",
        b"invalid",
        b"its",
        b"my",
        b"new",
        b"of",
        b"old",
        b"root",
        b"secret",
        b"temporary",
        b"the",
        b"user",
        b"using",
        b"with",
        b"your",
    ];
    let mut words = line.split(|byte| !byte.is_ascii_alphanumeric());
    match words.rfind(|word| !word.is_empty()) {
        Some(word) => WORDS.contains(&word.to_ascii_lowercase().as_slice()),
        None => !line.contains(&b'#'),
    }
}

/// Returns whether the line is SQL such as `ALTER USER … WITH PASSWORD '…'`.
fn is_sql(line: &[u8]) -> bool {
    let lower = line.to_ascii_lowercase();
    [&b"user "[..], b"role ", b"login ", b"identified "]
        .into_iter()
        .any(|word| contains(&lower, word))
}

/// Returns whether this is a command or file in which a blank separates a name from its
/// value.
fn is_stored(line: &[u8], view: &SecretScanText<'_>, span: FieldNameSpan) -> bool {
    const COMMANDS: [&[u8]; 7] = [
        b"ENV ",
        b"env ",
        b"set -x",
        b"set -gx",
        b"setx ",
        b"setenv ",
        b"aws configure set ",
    ];
    let line = line.trim_ascii_start();
    line.starts_with(b"machine ")
        || line.starts_with(b"default ")
        || (line.is_empty() || line.starts_with(b"login ")) && is_netrc(view, span)
        || COMMANDS.iter().any(|command| line.starts_with(command))
}

/// Returns whether this is a netrc file, where the login may be on the line above.
fn is_netrc(view: &SecretScanText<'_>, span: FieldNameSpan) -> bool {
    let line = view.line_before(span.start).len();
    let Some(above) = (span.start - line).checked_sub(1) else {
        return false;
    };
    let above = view.line_before(above).trim_ascii_start();
    above.starts_with(b"login ") || above.starts_with(b"machine ")
}
