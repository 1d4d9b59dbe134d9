//! Problems with settings, in words. Text from files and variables is made safe to print
//! here: limited in length, and without control characters that could fool a terminal.

use std::path::Path;

use artel_types::model::Provider;
use artel_types::{Failure, FailureCode};

use crate::SettingOrigin;
use crate::layers::SettingLayerEntry;
use crate::nearest::nearest;
use crate::schema::{self, dotted};
use crate::value::{SettingKind, any_of};

/// Largest part of a value that a message repeats, in characters.
const LONGEST_ECHO: usize = 200;

/// The file exists but cannot be used.
pub(crate) fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::new(
        FailureCode::S001,
        format!("cannot read the settings file `{}`", shown_path(path)),
    )
    .because(why)
    .advise("correct the file, or move it away to go on with the defaults")
}

/// The file is not valid TOML.
pub(crate) fn not_toml(path: &Path, (line, column): (usize, usize), message: &str) -> Failure {
    let message = shown(message);
    Failure::new(
        FailureCode::S002,
        format!("`{}` is not TOML", shown_path(path)),
    )
    .because(format!("line {line}, column {column}: {message}"))
    .advise(format!(
        "correct line {line}; text stands in double quotes, as in `color = \"auto\"`"
    ))
}

/// There is no setting of that name.
pub(crate) fn unknown(name: &str, origin: &SettingOrigin, meant: Option<&str>) -> Failure {
    let advice = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`artel config show` lists all settings".to_owned(),
    };
    Failure::new(
        FailureCode::S003,
        format!("unknown setting `{}`", shown(name)),
    )
    .because(origin.place())
    .advise(advice)
}

/// A variable names a setting in a section where the user chooses the names.
pub(crate) fn no_variable(name: &str, origin: &SettingOrigin) -> Failure {
    Failure::new(
        FailureCode::S003,
        format!("unknown setting `{}`", shown(name)),
    )
    .because(format!(
        "{}; where you choose the names, there are no variables",
        origin.place()
    ))
    .advise("write it into `artel.toml`, or use `--set`, as in `--set models.default.model=x`")
}

/// A whole section was given as a single value.
pub(crate) fn not_a_section(path: &[String], origin: &SettingOrigin) -> Failure {
    let name = shown(&dotted(path));
    Failure::new(
        FailureCode::S004,
        format!("`{name}` is a section, not a setting"),
    )
    .because(origin.place())
    .advise(format!(
        "write `[{}]` on a line of its own, and settings below it",
        schema::section_of(path)
    ))
}

/// A section that the user named is empty.
pub(crate) fn empty_section(name: &str, origin: &SettingOrigin) -> Failure {
    Failure::new(FailureCode::S005, format!("`{}` is empty", shown(name)))
        .because(origin.place())
        .advise("write settings below the line, or take it away")
}

/// Some of the settings that belong together are missing.
pub(crate) fn incomplete(name: &str, missing: &str, origin: &SettingOrigin) -> Failure {
    Failure::new(FailureCode::S005, format!("`{name}` has no {missing}"))
        .because(origin.place())
        .advise(format!("write {missing} below `[{name}]`"))
}

/// The value has another type than the setting.
pub(crate) fn wrong_type(entry: &SettingLayerEntry) -> Failure {
    let SettingLayerEntry {
        field,
        path,
        given,
        echo,
        origin,
    } = entry;
    let what = format!("`{}` has the wrong type", shown(&dotted(path)));
    Failure::new(FailureCode::S004, what)
        .because(format!(
            "{} has {}: `{}`",
            origin.place(),
            given.sort(),
            shown(echo)
        ))
        .advise(format!("write {}", field.kind.allowed()))
}

/// The value has the right type, but is not allowed.
pub(crate) fn not_allowed(entry: &SettingLayerEntry) -> Failure {
    let kind = entry.field.kind;
    let text = entry.given.text().unwrap_or_default();
    let meant = nearest(text, kind.words());
    if kind == SettingKind::Provider {
        let what = format!("there is no provider `{}`", shown(text));
        let failure = Failure::new(FailureCode::M001, what).because(entry.origin.place());
        return with_providers(failure, meant);
    }
    let name = dotted(&entry.path);
    let what = format!("`{}` cannot be `{}`", shown(&name), shown(&entry.echo));
    Failure::new(FailureCode::S005, what)
        .because(entry.origin.place())
        .advise(format!("write {}{}", kind.allowed(), did_you_mean(meant)))
}

/// A variable holds bytes that are not text.
pub(crate) fn not_text(name: &str, kind: SettingKind, origin: &SettingOrigin) -> Failure {
    Failure::new(
        FailureCode::S005,
        format!("`{name}` cannot be set to bytes that are not UTF-8"),
    )
    .because(origin.place())
    .advise(format!("write {}", kind.allowed()))
}

/// Adds the list of existing providers.
pub(crate) fn with_providers(failure: Failure, meant: Option<&str>) -> Failure {
    let known = any_of(Provider::ALL.map(Provider::as_str));
    failure.advise(format!("write {known}{}", did_you_mean(meant)))
}

fn did_you_mean(meant: Option<&str>) -> String {
    meant
        .map(|word| format!("; did you mean \"{word}\"?"))
        .unwrap_or_default()
}

/// Makes text safe to print, and shortens it.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST_ECHO) {
        Some((end, _)) => format!("{}…", harmless(&text[..end])),
        None => harmless(text),
    }
}

/// Makes a path safe to print. It is never shortened, because a part of a path leads
/// nowhere.
pub(crate) fn shown_path(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

/// Returns whether text is shown as it is.
pub(crate) fn is_harmless(text: &str) -> bool {
    !text.chars().any(is_harmful)
}

fn harmless(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_harmful(letter) {
            harmless.extend(letter.escape_default());
        } else {
            harmless.push(letter);
        }
    }
    harmless
}

/// Returns whether a character is a control character, or a mark that reorders or hides the
/// text around it on a screen.
fn is_harmful(letter: char) -> bool {
    let is_invisible = matches!(
        letter,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    );
    letter.is_control() || is_invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_are_short_and_harmless() {
        assert_eq!(shown("plain `text`"), "plain `text`");
        assert_eq!(
            shown("a\u{1b}[31mb\nc\u{202e}"),
            "a\\u{1b}[31mb\\nc\\u{202e}"
        );
        let long = shown(&"é".repeat(1_000_000));
        assert_eq!(long.chars().count(), LONGEST_ECHO + 1);
    }
}
