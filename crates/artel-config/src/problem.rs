//! What can be wrong with settings, in words. Text from files and variables is made safe to print
//! here: cut to a bound, and without control characters that could fool a terminal.

use std::path::Path;

use artel_types::{Code, Failure};

use crate::Origin;
use crate::nearest::nearest;
use crate::schema::Field;
use crate::value::{Given, Kind};

/// No message repeats more of a value than this many characters.
const LONGEST_ECHO: usize = 200;

/// The file exists and cannot be used.
pub(crate) fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::new(
        Code::S001,
        format!("cannot read the settings file `{}`", shown_path(path)),
    )
    .because(why)
    .advise("correct the file, or move it away to go on with the defaults")
}

/// The file breaks the rules of TOML.
pub(crate) fn not_toml(path: &Path, (line, column): (usize, usize), message: &str) -> Failure {
    let message = shown(message);
    Failure::new(Code::S002, format!("`{}` is not TOML", shown_path(path)))
        .because(format!("line {line}, column {column}: {message}"))
        .advise(format!(
            "correct line {line}; text stands in double quotes, as in `color = \"auto\"`"
        ))
}

/// There is no setting of that name.
pub(crate) fn unknown(name: &str, origin: &Origin, meant: Option<&str>) -> Failure {
    let advice = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`artel config show` lists all settings".to_owned(),
    };
    Failure::new(Code::S003, format!("unknown setting `{}`", shown(name)))
        .because(origin.place())
        .advise(advice)
}

/// A whole section was given as a single value.
pub(crate) fn not_a_section(name: &str, origin: &Origin) -> Failure {
    Failure::new(Code::S004, format!("`{name}` is a section, not a setting"))
        .because(origin.place())
        .advise(format!(
            "write `[{name}]` on a line of its own, and settings below it"
        ))
}

/// The value is of another type than the setting.
pub(crate) fn wrong_type(field: &Field, given: &Given, echo: &str, origin: &Origin) -> Failure {
    Failure::new(Code::S004, format!("`{}` has the wrong type", field.key))
        .because(format!(
            "{} has {}: `{}`",
            origin.place(),
            given.sort(),
            shown(echo)
        ))
        .advise(format!("write {}", field.kind.allowed()))
}

/// The value is of the right type and not allowed.
pub(crate) fn not_allowed(field: &Field, given: &Given, echo: &str, origin: &Origin) -> Failure {
    let meant = match (field.kind, given.text()) {
        (Kind::Choice(words), Some(text)) => nearest(text, words.iter().copied()),
        _ => None,
    };
    let meant = meant
        .map(|word| format!("; did you mean \"{word}\"?"))
        .unwrap_or_default();
    Failure::new(
        Code::S005,
        format!("`{}` cannot be `{}`", field.key, shown(echo)),
    )
    .because(origin.place())
    .advise(format!("write {}{meant}", field.kind.allowed()))
}

/// A variable holds bytes that are not text.
pub(crate) fn not_text(field: &Field, origin: &Origin) -> Failure {
    Failure::new(
        Code::S005,
        format!("`{}` cannot be set to bytes that are not UTF-8", field.key),
    )
    .because(origin.place())
    .advise(format!("write {}", field.kind.allowed()))
}

/// Makes text safe to print, and short.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST_ECHO) {
        Some((end, _)) => format!("{}…", harmless(&text[..end])),
        None => harmless(text),
    }
}

/// Makes a path safe to print; it is never cut, since a part of a path leads nowhere.
pub(crate) fn shown_path(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

fn harmless(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() || is_invisible(letter) {
            harmless.extend(letter.escape_default());
        } else {
            harmless.push(letter);
        }
    }
    harmless
}

/// Marks that reorder or hide what stands around them on a screen.
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    )
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
