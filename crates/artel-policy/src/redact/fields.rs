//! Names with their values: settings, JSON, YAML, XML, headers, options, assignments in
//! code.
//!
//! Only the value is removed; its name stays, so that a reader knows what was there.

use std::collections::BTreeSet;

use super::literals::{LONGEST_VALUE, Value, value};
use super::names::{self, Name, Noun, Style, Weight};
use super::separators::{Separator, separator};
use super::values::{self, Written};
use super::verdict::{Ending, Verdict};
use super::view::{View, is_name};

/// Longest name, and how far it may extend after the word that was found in it, in bytes.
const LONGEST_NAME: usize = 100;
const LONGEST_TAIL: usize = 64;

/// Names whose values are always removed, whatever they look like.
#[derive(Debug, Clone, Default)]
pub(super) struct Extra(BTreeSet<Vec<u8>>);

/// The byte range of the name around a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) dashes: usize,
}

impl Extra {
    pub(super) fn new(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self(
            names
                .into_iter()
                .map(|name| plain(name.as_ref().as_bytes()))
                .collect(),
        )
    }

    fn has(&self, name: &[u8]) -> bool {
        !self.0.is_empty() && self.0.contains(&plain(name))
    }
}

/// Judges the field whose name contains the word found at `at`.
pub(super) fn field(view: &View<'_>, at: usize, extra: &Extra) -> Verdict {
    let span = span(view, at);
    if span.end - at >= LONGEST_TAIL {
        return Verdict::Nothing;
    }
    let Some((separator, value_at)) = separator(view, span) else {
        return Verdict::Nothing;
    };
    let name = &view.text()[span.start..span.end];
    let known = if extra.has(name) {
        None
    } else {
        match judge_name(view, span) {
            Some(name) => Some(name),
            None => return Verdict::Nothing,
        }
    };
    let Some(mut value) = value(view, value_at, separator) else {
        return Verdict::Nothing;
    };
    let Some(name) = known else {
        return configured(view, value);
    };
    if name.noun == Noun::Auth {
        skip_scheme(view, &mut value);
    }
    if view.text()[span.start..span.end]
        .to_ascii_lowercase()
        .ends_with(b"phrase")
    {
        take_line(view, &mut value);
    }
    if name.noun == Noun::Password
        && view.starts(value.start, b"pass:")
        && value.end > value.start + 5
    {
        value.start += 5;
    }
    let written = written(view, span, name, separator, &value);
    let text = &view.text()[value.start..value.end];
    let secret =
        fits(view, span, name, separator, &value) && values::is_secret(name, text, written);
    if secret {
        value.verdict(label(name.noun))
    } else {
        Verdict::Nothing
    }
}

/// Judges the value after a word for password in another script; the word ends at `at`.
pub(super) fn foreign(view: &View<'_>, at: usize) -> Verdict {
    let tie = view.run(at, 8, |byte| b" \t:=\"'\xef\xbc\x9a".contains(&byte));
    let stop = |byte: u8| byte.is_ascii_whitespace() || b"\"',;<>".contains(&byte);
    let end = view.run(tie, LONGEST_TAIL, |byte| !stop(byte));
    let text = &view.text()[tie..end];
    let tied = view.text()[at..tie]
        .iter()
        .any(|byte| !byte.is_ascii_whitespace());
    let ascii = text.iter().all(u8::is_ascii_graphic);
    let name = Name {
        noun: Noun::Password,
        weight: Weight::Sure,
        style: Style::Other,
    };
    if tied && ascii && values::is_secret(name, text, Written::Loose) {
        Verdict::Secret(tie..end, label(Noun::Password))
    } else {
        Verdict::Nothing
    }
}

/// Returns whether name, separator and value can belong together.
fn fits(view: &View<'_>, span: Span, name: Name, separator: Separator, value: &Value) -> bool {
    let text = &view.text()[value.start..value.end];
    let mixed = text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic);
    if view.before(span.start) == Some(b'*') {
        return false;
    }
    match separator {
        Separator::Is => {
            let least = if name.noun == Noun::Password { 6 } else { 20 };
            let plain = text.iter().all(|byte| !b"_()[]{}|&\\,".contains(byte));
            let sure = name.weight != Weight::IfMixed && !values::is_uuid(text);
            let path = name.noun == Noun::Password && text.contains(&b'/');
            let spoken = name.noun == Noun::Password && values::is_spoken_password(text);
            (mixed && plain && sure && !path || spoken) && text.len() >= least
        }
        Separator::Call => name.weight == Weight::Sure && !text.starts_with(b"\\"),
        Separator::Comma => !text.starts_with(b"\\"),
        Separator::Colon | Separator::Assign if value.quote.is_none() => {
            view.get(value.end) != Some(b'<')
        }
        _ => name.noun != Noun::Signature || separator.is_query(),
    }
}

/// Returns whether a value is secret judging by its name and text, without any context.
pub(super) fn is_secret(name: &str, value: &str, extra: &Extra) -> bool {
    if extra.has(name.as_bytes()) {
        return !value.is_empty() && !values::is_template(value.as_bytes());
    }
    names::judge(name.as_bytes())
        .is_some_and(|name| values::is_secret(name, value.as_bytes(), Written::Quoted))
}

fn configured(view: &View<'_>, value: Value) -> Verdict {
    let text = &view.text()[value.start..value.end];
    if text.is_empty() || values::is_template(text) {
        Verdict::Nothing
    } else {
        value.verdict("configured field")
    }
}

fn label(noun: Noun) -> &'static str {
    match noun {
        Noun::Password => "password",
        Noun::Secret => "secret",
        Noun::Token => "token",
        Noun::Key => "key",
        Noun::Auth => "authorization",
        Noun::Signature => "signed url",
        Noun::Phrase => "recovery phrase",
    }
}

/// Normalizes a name: dashes and capitals differ from file to file.
fn plain(name: &[u8]) -> Vec<u8> {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.map(u8::to_ascii_lowercase).collect()
}

fn span(view: &View<'_>, at: usize) -> Span {
    let mut start = view.run_before(at, LONGEST_NAME, is_name);
    let mut end = view.run(at, LONGEST_TAIL, is_name);
    // The digits of an escape do not belong to the name.
    let digits = view.run(start, 2.min(at - start), |byte| byte.is_ascii_hexdigit());
    if view.before(start) == Some(b'%') && digits == start + 2 {
        start = digits;
    }
    let dashes = view.run(start, at - start, |byte| byte == b'-') - start;
    start += dashes;
    while end > at + 1 && matches!(view.before(end), Some(b'.' | b'-')) {
        end -= 1;
    }
    Span { start, end, dashes }
}

/// Judges a name, together with the word before it if needed: `API key` is found by its
/// second word.
fn judge_name(view: &View<'_>, span: Span) -> Option<Name> {
    let name = &view.text()[span.start..span.end];
    let judged = names::judge(name);
    let alone = name.iter().all(u8::is_ascii_alphabetic) && view.before(span.start) == Some(b' ');
    if judged.is_some_and(|name| name.weight == Weight::Sure) || !alone {
        return judged;
    }
    let first = view.run_before(span.start - 1, 16, |byte| byte.is_ascii_alphabetic());
    names::judge(&view.text()[first..span.end])
}

/// Skips the scheme in `Authorization: Bearer …`, which is not secret.
fn skip_scheme(view: &View<'_>, value: &mut Value) {
    const SCHEMES: [&[u8]; 12] = [
        b"bearer",
        b"basic",
        b"token",
        b"digest",
        b"apikey",
        b"api-key",
        b"bot",
        b"ssws",
        b"oauth",
        b"dpop",
        b"negotiate",
        b"geniekey",
    ];
    let end = view.run(value.start, 12, |byte| {
        byte.is_ascii_alphabetic() || byte == b'-'
    });
    let word = view.text()[value.start..end].to_ascii_lowercase();
    let start = view.skip_blanks(end, 4);
    if start == end || !SCHEMES.contains(&word.as_slice()) {
        return;
    }
    let stop = |byte: u8| byte.is_ascii_whitespace() || b"\"'`<>\\".contains(&byte);
    value.start = start;
    value.end = view.run(start, LONGEST_VALUE, |byte| !stop(byte));
    value.long = (value.end - start >= LONGEST_VALUE).then_some(Ending::Word);
    value.quote = Some(b' ');
}

/// Extends an unquoted phrase to the end of its line.
fn take_line(view: &View<'_>, value: &mut Value) {
    if value.quote.is_some() || value.long.is_some() {
        return;
    }
    let is_phrase = |byte: u8| byte.is_ascii_lowercase() || byte == b' ';
    let end = view.run(value.start, LONGEST_VALUE, is_phrase);
    if end > value.end && view.get(end).is_none_or(|byte| b"\r\n".contains(&byte)) {
        (value.end, value.quote) = (end, Some(b' '));
    }
}

fn written(
    view: &View<'_>,
    span: Span,
    name: Name,
    separator: Separator,
    value: &Value,
) -> Written {
    let upper = name.style == Style::Upper;
    let ends_line = || {
        view.get(value.end)
            .is_none_or(|byte| b"\r\n".contains(&byte))
    };
    let begins_line = || {
        let line = view.line_before(span.start);
        line.iter().all(|byte| b" \t-".contains(byte))
    };
    let text = &view.text()[value.start..value.end];
    let spoken = name.noun == Noun::Password && values::is_spoken_password(text);
    match separator {
        Separator::Element
        | Separator::Pair
        | Separator::Sure
        | Separator::Query
        | Separator::Escaped => Written::Literal,
        Separator::Equals if upper => Written::Literal,
        Separator::Comma if upper => Written::Quoted,
        Separator::Is | Separator::Comma | Separator::Call => Written::Loose,
        _ if value.quote == Some(b'`') => Written::Loose,
        _ if value.quote.is_some() => Written::Quoted,
        Separator::Equals
            if view.get(value.end) == Some(b';') || view.get(value.end) == Some(b'&') =>
        {
            Written::Literal
        }
        Separator::Equals if begins_line() && ends_line() => Written::Literal,
        Separator::Equals if span.dashes > 0 => Written::Option,
        Separator::Equals | Separator::Option if spoken => Written::Option,
        Separator::Option if follows_option(view, value.end) => Written::Option,
        Separator::Colon | Separator::Assign if begins_line() && ends_line() => Written::Line,
        _ => Written::Loose,
    }
}

/// Returns whether an option's value is followed by something found in commands but not in
/// sentences.
fn follows_option(view: &View<'_>, at: usize) -> bool {
    let next = view.skip_blanks(at, 4);
    view.get(next)
        .is_none_or(|byte| b"\r\n-|&;\\>/".contains(&byte))
}
