//! Names with their values: settings, JSON, YAML, XML, headers, options, assignments in
//! code.
//!
//! Only the value is removed; its name stays, so that a reader knows what was there.

use std::collections::BTreeSet;

use super::literals::{FieldValueSpan, LONGEST_VALUE, value};
use super::names::{
    self, SecretFieldCertainty, SecretFieldKind, SecretFieldName, SecretFieldNameStyle,
};
use super::separators::{FieldSeparator, separator};
use super::values::{self, FieldValueForm};
use super::verdict::{LongSecretEnding, RedactionRuleOutcome};
use super::view::{SecretScanText, is_name};

/// Longest name, and how far it may extend after the word that was found in it, in bytes.
const LONGEST_NAME: usize = 100;
const LONGEST_TAIL: usize = 64;

/// Names whose values are always removed, whatever they look like.
#[derive(Debug, Clone, Default)]
pub(super) struct ConfiguredSecretFields(BTreeSet<Vec<u8>>);

/// The byte range of the name around a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldNameSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) dashes: usize,
}

impl ConfiguredSecretFields {
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
pub(super) fn field(
    view: &SecretScanText<'_>,
    at: usize,
    extra: &ConfiguredSecretFields,
) -> RedactionRuleOutcome {
    let span = span(view, at);
    if span.end - at >= LONGEST_TAIL {
        return RedactionRuleOutcome::Nothing;
    }
    let Some((separator, value_at)) = separator(view, span) else {
        return RedactionRuleOutcome::Nothing;
    };
    let name = &view.text()[span.start..span.end];
    let known = if extra.has(name) {
        None
    } else {
        match judge_name(view, span) {
            Some(name) => Some(name),
            None => return RedactionRuleOutcome::Nothing,
        }
    };
    let Some(mut value) = value(view, value_at, separator) else {
        return RedactionRuleOutcome::Nothing;
    };
    let Some(name) = known else {
        return configured(view, value);
    };
    if name.noun == SecretFieldKind::Auth {
        skip_scheme(view, &mut value);
    }
    if view.text()[span.start..span.end]
        .to_ascii_lowercase()
        .ends_with(b"phrase")
    {
        take_line(view, &mut value);
    }
    if name.noun == SecretFieldKind::Password
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
        RedactionRuleOutcome::Nothing
    }
}

/// Judges the value after a word for password in another script; the word ends at `at`.
pub(super) fn foreign(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let tie = view.run(at, 8, |byte| b" \t:=\"'\xef\xbc\x9a".contains(&byte));
    let stop = |byte: u8| byte.is_ascii_whitespace() || b"\"',;<>".contains(&byte);
    let end = view.run(tie, LONGEST_TAIL, |byte| !stop(byte));
    let text = &view.text()[tie..end];
    let tied = view.text()[at..tie]
        .iter()
        .any(|byte| !byte.is_ascii_whitespace());
    let ascii = text.iter().all(u8::is_ascii_graphic);
    let name = SecretFieldName {
        noun: SecretFieldKind::Password,
        weight: SecretFieldCertainty::Sure,
        style: SecretFieldNameStyle::Other,
    };
    if tied && ascii && values::is_secret(name, text, FieldValueForm::Loose) {
        RedactionRuleOutcome::Secret(tie..end, label(SecretFieldKind::Password))
    } else {
        RedactionRuleOutcome::Nothing
    }
}

/// Returns whether name, separator and value can belong together.
fn fits(
    view: &SecretScanText<'_>,
    span: FieldNameSpan,
    name: SecretFieldName,
    separator: FieldSeparator,
    value: &FieldValueSpan,
) -> bool {
    let text = &view.text()[value.start..value.end];
    let mixed = text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic);
    if view.before(span.start) == Some(b'*') {
        return false;
    }
    match separator {
        FieldSeparator::Is => {
            let least = if name.noun == SecretFieldKind::Password {
                6
            } else {
                20
            };
            let plain = text.iter().all(|byte| !b"_()[]{}|&\\,".contains(byte));
            let sure = name.weight != SecretFieldCertainty::IfMixed && !values::is_uuid(text);
            let path = name.noun == SecretFieldKind::Password && text.contains(&b'/');
            let spoken = name.noun == SecretFieldKind::Password && values::is_spoken_password(text);
            (mixed && plain && sure && !path || spoken) && text.len() >= least
        }
        FieldSeparator::Call => {
            name.weight == SecretFieldCertainty::Sure && !text.starts_with(b"\\")
        }
        FieldSeparator::Comma => !text.starts_with(b"\\"),
        FieldSeparator::Colon | FieldSeparator::Assign if value.quote.is_none() => {
            view.get(value.end) != Some(b'<')
        }
        _ => name.noun != SecretFieldKind::Signature || separator.is_query(),
    }
}

/// Returns whether a value is secret judging by its name and text, without any context.
pub(super) fn is_secret(name: &str, value: &str, extra: &ConfiguredSecretFields) -> bool {
    if extra.has(name.as_bytes()) {
        return !value.is_empty() && !values::is_template(value.as_bytes());
    }
    names::judge(name.as_bytes())
        .is_some_and(|name| values::is_secret(name, value.as_bytes(), FieldValueForm::Quoted))
}

fn configured(view: &SecretScanText<'_>, value: FieldValueSpan) -> RedactionRuleOutcome {
    let text = &view.text()[value.start..value.end];
    if text.is_empty() || values::is_template(text) {
        RedactionRuleOutcome::Nothing
    } else {
        value.verdict("configured field")
    }
}

fn label(noun: SecretFieldKind) -> &'static str {
    match noun {
        SecretFieldKind::Password => "password",
        SecretFieldKind::Secret => "secret",
        SecretFieldKind::Token => "token",
        SecretFieldKind::Key => "key",
        SecretFieldKind::Auth => "authorization",
        SecretFieldKind::Signature => "signed url",
        SecretFieldKind::Phrase => "recovery phrase",
    }
}

/// Normalizes a name: dashes and capitals differ from file to file.
fn plain(name: &[u8]) -> Vec<u8> {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.map(u8::to_ascii_lowercase).collect()
}

fn span(view: &SecretScanText<'_>, at: usize) -> FieldNameSpan {
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
    FieldNameSpan { start, end, dashes }
}

/// Judges a name, together with the word before it if needed: `API key` is found by its
/// second word.
fn judge_name(view: &SecretScanText<'_>, span: FieldNameSpan) -> Option<SecretFieldName> {
    let name = &view.text()[span.start..span.end];
    let judged = names::judge(name);
    let alone = name.iter().all(u8::is_ascii_alphabetic) && view.before(span.start) == Some(b' ');
    if judged.is_some_and(|name| name.weight == SecretFieldCertainty::Sure) || !alone {
        return judged;
    }
    let first = view.run_before(span.start - 1, 16, |byte| byte.is_ascii_alphabetic());
    names::judge(&view.text()[first..span.end])
}

/// Skips the scheme in `Authorization: Bearer …`, which is not secret.
fn skip_scheme(view: &SecretScanText<'_>, value: &mut FieldValueSpan) {
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
    value.long = (value.end - start >= LONGEST_VALUE).then_some(LongSecretEnding::Word);
    value.quote = Some(b' ');
}

/// Extends an unquoted phrase to the end of its line.
fn take_line(view: &SecretScanText<'_>, value: &mut FieldValueSpan) {
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
    view: &SecretScanText<'_>,
    span: FieldNameSpan,
    name: SecretFieldName,
    separator: FieldSeparator,
    value: &FieldValueSpan,
) -> FieldValueForm {
    let upper = name.style == SecretFieldNameStyle::Upper;
    let ends_line = || {
        view.get(value.end)
            .is_none_or(|byte| b"\r\n".contains(&byte))
    };
    let begins_line = || {
        let line = view.line_before(span.start);
        line.iter().all(|byte| b" \t-".contains(byte))
    };
    let text = &view.text()[value.start..value.end];
    let spoken = name.noun == SecretFieldKind::Password && values::is_spoken_password(text);
    match separator {
        FieldSeparator::Element
        | FieldSeparator::Pair
        | FieldSeparator::Sure
        | FieldSeparator::Query
        | FieldSeparator::Escaped => FieldValueForm::Literal,
        FieldSeparator::Equals if upper => FieldValueForm::Literal,
        FieldSeparator::Comma if upper => FieldValueForm::Quoted,
        FieldSeparator::Is | FieldSeparator::Comma | FieldSeparator::Call => FieldValueForm::Loose,
        _ if value.quote == Some(b'`') => FieldValueForm::Loose,
        _ if value.quote.is_some() => FieldValueForm::Quoted,
        FieldSeparator::Equals
            if view.get(value.end) == Some(b';') || view.get(value.end) == Some(b'&') =>
        {
            FieldValueForm::Literal
        }
        FieldSeparator::Equals if begins_line() && ends_line() => FieldValueForm::Literal,
        FieldSeparator::Equals if span.dashes > 0 => FieldValueForm::Option,
        FieldSeparator::Equals | FieldSeparator::Option if spoken => FieldValueForm::Option,
        FieldSeparator::Option if follows_option(view, value.end) => FieldValueForm::Option,
        FieldSeparator::Colon | FieldSeparator::Assign if begins_line() && ends_line() => {
            FieldValueForm::Line
        }
        _ => FieldValueForm::Loose,
    }
}

/// Returns whether an option's value is followed by something found in commands but not in
/// sentences.
fn follows_option(view: &SecretScanText<'_>, at: usize) -> bool {
    let next = view.skip_blanks(at, 4);
    view.get(next)
        .is_none_or(|byte| b"\r\n-|&;\\>/".contains(&byte))
}
