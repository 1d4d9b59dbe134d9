//! What a layer says, and the checked value it becomes.

use std::time::Duration;

use artel_types::parse_span;

/// What a setting may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A length of time such as `24h`.
    Span,
    /// A whole number.
    Whole { least: u64, most: u64 },
}

/// What a layer says, before it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// Text that a file has in quotes.
    Text(String),
    /// A whole number in a file; one that is too long to hold stands at the end of the range.
    Whole(i128),
    /// Anything else in a file, by the name of its type.
    Other(&'static str),
    /// Text from a variable or a flag, which has no type yet.
    Bare(String),
}

/// How a given value misses what its setting may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is of another type.
    Type,
    /// The type is right.
    Value,
}

/// A checked value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Word(&'static str),
    Span { text: String, length: Duration },
    Whole(u64),
}

impl Kind {
    /// Checks what a layer says.
    pub(crate) fn read(self, given: &Given) -> Result<Value, Wrong> {
        match (self, given) {
            (Self::Choice(words), Given::Text(text) | Given::Bare(text)) => {
                let word = words.iter().find(|word| *word == text);
                word.map(|word| Value::Word(word)).ok_or(Wrong::Value)
            }
            (Self::Span, Given::Text(text) | Given::Bare(text)) => {
                let length = parse_span(text).map_err(|_| Wrong::Value)?;
                Ok(Value::Span {
                    text: text.clone(),
                    length,
                })
            }
            (Self::Whole { least, most }, Given::Whole(number)) => {
                whole(*number, least, most).ok_or(Wrong::Value)
            }
            (Self::Whole { least, most }, Given::Bare(text)) => {
                let number = text.parse().map_err(|_| Wrong::Type)?;
                whole(number, least, most).ok_or(Wrong::Value)
            }
            (_, Given::Text(_) | Given::Whole(_) | Given::Other(_)) => Err(Wrong::Type),
        }
    }

    /// Returns what may be written, for messages and the template.
    pub(crate) fn allowed(self) -> String {
        match self {
            Self::Choice(words) => words
                .iter()
                .map(|word| format!("\"{word}\""))
                .collect::<Vec<_>>()
                .join(" or "),
            Self::Span => {
                "a span in quotes, such as \"200ms\", \"30s\", \"15m\", \"24h\", \"7d\", \"2w\""
                    .to_owned()
            }
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
        }
    }
}

fn whole(number: i128, least: u64, most: u64) -> Option<Value> {
    let number = u64::try_from(number).ok()?;
    (least..=most)
        .contains(&number)
        .then_some(Value::Whole(number))
}

impl Given {
    /// Returns what it is, for messages about the type.
    pub(crate) fn sort(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Whole(_) => "a whole number",
            Self::Other(sort) => sort,
            Self::Bare(_) => "text",
        }
    }

    /// Returns the text in it, where there is any.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Bare(text) => Some(text),
            Self::Whole(_) | Self::Other(_) => None,
        }
    }
}

impl Value {
    /// Returns the value as TOML, spelt as it was given. No text in it needs escaping: words come
    /// from the schema and spans are digits and a unit.
    pub(crate) fn to_toml(&self) -> String {
        match self {
            Self::Word(word) => format!("\"{word}\""),
            Self::Span { text, .. } => format!("\"{text}\""),
            Self::Whole(number) => number.to_string(),
        }
    }

    /// Returns one spelling per value, so that `1d` and `24h` are the same configuration.
    pub(crate) fn canonical(&self) -> String {
        match self {
            Self::Span { length, .. } => format!("{}ms", length.as_millis()),
            Self::Word(_) | Self::Whole(_) => self.to_toml(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, given: Given, expected: Result<&str, Wrong>) {
        let found = kind.read(&given).map(|value| value.to_toml());
        assert_eq!(found, expected.map(str::to_owned), "{kind:?} {given:?}");
    }

    #[test]
    fn values_are_checked_by_kind() {
        let text = |text: &str| Given::Text(text.to_owned());
        let bare = |text: &str| Given::Bare(text.to_owned());
        let choice = Kind::Choice(&["full", "normal"]);
        let count = Kind::Whole {
            least: 1,
            most: 1000,
        };
        check(choice, text("full"), Ok("\"full\""));
        check(choice, bare("normal"), Ok("\"normal\""));
        check(choice, text("Full"), Err(Wrong::Value));
        check(choice, Given::Whole(1), Err(Wrong::Type));
        check(choice, Given::Other("a table"), Err(Wrong::Type));
        check(Kind::Span, text("24h"), Ok("\"24h\""));
        check(Kind::Span, bare("200ms"), Ok("\"200ms\""));
        check(Kind::Span, text("24 h"), Err(Wrong::Value));
        check(Kind::Span, Given::Whole(24), Err(Wrong::Type));
        check(count, Given::Whole(1), Ok("1"));
        check(count, bare("1000"), Ok("1000"));
        check(count, text("10"), Err(Wrong::Type));
        check(count, bare("ten"), Err(Wrong::Type));
        for number in [0, 1001, -1, i128::MAX, i128::MIN] {
            check(count, Given::Whole(number), Err(Wrong::Value));
        }
    }

    #[test]
    fn equal_spans_have_one_canonical_spelling() {
        let canonical = |text: &str| {
            Kind::Span
                .read(&Given::Bare(text.to_owned()))
                .map(|value| value.canonical())
        };
        assert_eq!(canonical("1d"), canonical("24h"));
        assert_ne!(canonical("1d"), canonical("25h"));
    }
}
