//! Values as a layer gives them, and the checked values that they become.

use std::time::Duration;

use artel_types::model::Provider;
use artel_types::parse_span;

use crate::decimal::{micro_dollars, to_dollars};
use crate::form::Form;

/// The kind of value that a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The name of a provider.
    Provider,
    /// A duration such as `24h`.
    Span { least: Duration },
    /// A whole number.
    Whole { least: u64, most: u64 },
    /// US dollars.
    Usd,
    /// US dollars, or the word `never`.
    UsdOrNever,
    /// Text of a certain form.
    Text(Form),
    /// True or false.
    Flag,
    /// A list of texts of a certain form. On a command line and in a variable, a colon
    /// separates them.
    List(Form),
}

/// A value as a layer gives it, before it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// Quoted text from a file.
    Text(String),
    /// A whole number from a file. One that is too long to hold becomes the largest or smallest
    /// one.
    Whole(i128),
    /// A number with a decimal point from a file, as it is written there.
    Point(String),
    /// True or false from a file.
    Flag(bool),
    /// A list of texts from a file.
    List(Vec<String>),
    /// Any other value from a file, with the name of its type.
    Other(&'static str),
    /// Text from a variable or a flag, which has no type yet.
    Bare(String),
}

/// The reason that a value is not valid for its setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It has the wrong type.
    Type,
    /// It has the right type, but the value is not allowed.
    Value,
}

/// A checked value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Word(&'static str),
    Span { text: String, length: Duration },
    Whole(u64),
    Usd { text: String, micros: u64 },
    Text(String),
    Flag(bool),
    List(Vec<String>),
}

impl Kind {
    /// Checks a value that a layer gives.
    pub(crate) fn read(self, given: &Given) -> Result<Value, Wrong> {
        match (self, given) {
            (Self::Choice(words), Given::Text(text) | Given::Bare(text)) => {
                let word = words.iter().find(|word| *word == text);
                word.map(|word| Value::Word(word)).ok_or(Wrong::Value)
            }
            (Self::Provider, Given::Text(text) | Given::Bare(text)) => {
                let provider: Provider = text.parse().map_err(|_| Wrong::Value)?;
                Ok(Value::Word(provider.as_str()))
            }
            (Self::Span { least }, Given::Text(text) | Given::Bare(text)) => span(text, least),
            (Self::Whole { least, most }, Given::Whole(number)) => whole(*number, least, most),
            (Self::Whole { least, most }, Given::Bare(text)) => {
                let number = text.parse().map_err(|_| Wrong::Type)?;
                whole(number, least, most)
            }
            (Self::UsdOrNever, Given::Text(text) | Given::Bare(text)) if text == "never" => {
                Ok(Value::Word("never"))
            }
            (Self::Usd | Self::UsdOrNever, Given::Whole(number)) => usd(&number.to_string()),
            (Self::Usd | Self::UsdOrNever, Given::Point(text)) => usd(text),
            (Self::Usd | Self::UsdOrNever, Given::Bare(text)) => {
                let is_number = text.parse::<f64>().is_ok();
                usd(text).map_err(|wrong| if is_number { wrong } else { Wrong::Type })
            }
            (Self::Text(form), Given::Text(text) | Given::Bare(text)) => {
                form.read(text).map(Value::Text).ok_or(Wrong::Value)
            }
            (Self::Flag, Given::Flag(flag)) => Ok(Value::Flag(*flag)),
            (Self::Flag, Given::Bare(text)) => {
                text.parse().map(Value::Flag).map_err(|_| Wrong::Value)
            }
            (Self::List(form), Given::List(texts)) => list(form, texts.iter().map(String::as_str)),
            (Self::List(form), Given::Bare(text)) => {
                list(form, text.split(':').filter(|text| !text.is_empty()))
            }
            (
                _,
                Given::Text(_)
                | Given::Whole(_)
                | Given::Point(_)
                | Given::Flag(_)
                | Given::List(_)
                | Given::Other(_),
            ) => Err(Wrong::Type),
        }
    }

    /// Describes the allowed values, for messages and the template.
    pub(crate) fn allowed(self) -> String {
        match self {
            Self::Choice(words) => any_of(words.iter().copied()),
            Self::Provider => any_of(Provider::ALL.map(Provider::as_str)),
            Self::Span { least } => {
                let more = if least.is_zero() {
                    ""
                } else {
                    "; more than zero"
                };
                format!(
                    "a span in quotes, such as \"200ms\", \"30s\", \"15m\", \"24h\", \"7d\", \
                     \"2w\"{more}"
                )
            }
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Usd => "US dollars with at most six decimals, such as 20 or 0.50".to_owned(),
            Self::UsdOrNever => format!("{}, or \"never\"", Self::Usd.allowed()),
            Self::Text(form) => form.allowed().to_owned(),
            Self::Flag => "true or false, without quotes".to_owned(),
            Self::List(form) => {
                format!("a list such as [\"one\", \"two\"], each {}", form.allowed())
            }
        }
    }

    /// Returns the allowed words, if there are only a few.
    pub(crate) fn words(self) -> Vec<&'static str> {
        match self {
            Self::Choice(words) => words.to_vec(),
            Self::Provider => Provider::ALL.map(Provider::as_str).to_vec(),
            _ => Vec::new(),
        }
    }

    /// Returns the part of a value that a message may repeat. A value that may be a key is
    /// replaced by `***`.
    pub(crate) fn echo(self, source: &str) -> String {
        match self {
            Self::Text(form) if form.may_hold_key(source) => "***".to_owned(),
            _ => source.to_owned(),
        }
    }
}

/// Joins words for a message.
pub(crate) fn any_of<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<_> = words.into_iter().map(|it| format!("\"{it}\"")).collect();
    words.join(" or ")
}

fn span(text: &str, least: Duration) -> Result<Value, Wrong> {
    let length = parse_span(text).map_err(|_| Wrong::Value)?;
    if length < least {
        return Err(Wrong::Value);
    }
    Ok(Value::Span {
        text: text.to_owned(),
        length,
    })
}

fn whole(number: i128, least: u64, most: u64) -> Result<Value, Wrong> {
    let number = u64::try_from(number).map_err(|_| Wrong::Value)?;
    let is_allowed = (least..=most).contains(&number);
    is_allowed
        .then_some(Value::Whole(number))
        .ok_or(Wrong::Value)
}

fn usd(text: &str) -> Result<Value, Wrong> {
    let micros = micro_dollars(text).ok_or(Wrong::Value)?;
    Ok(Value::Usd {
        text: text.to_owned(),
        micros,
    })
}

fn list<'t>(form: Form, texts: impl Iterator<Item = &'t str>) -> Result<Value, Wrong> {
    let texts: Option<Vec<_>> = texts.map(|text| form.read(text)).collect();
    texts.map(Value::List).ok_or(Wrong::Value)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Given {
    /// Returns the type of the value, for messages about a wrong type.
    pub(crate) fn sort(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Whole(_) => "a whole number",
            Self::Point(_) => "a number with a point",
            Self::Flag(_) => "true or false",
            Self::List(_) => "a list",
            Self::Other(sort) => sort,
            Self::Bare(_) => "text",
        }
    }

    /// Returns the text of the value, if it is text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Bare(text) => Some(text),
            Self::Whole(_) | Self::Point(_) | Self::Flag(_) | Self::List(_) | Self::Other(_) => {
                None
            }
        }
    }
}

impl Value {
    /// Returns the value as TOML, spelt as it was given. Only quotes and backslashes need
    /// escaping, because no form of text allows control characters.
    pub(crate) fn to_toml(&self) -> String {
        match self {
            Self::Word(word) => format!("\"{word}\""),
            Self::Span { text, .. } => format!("\"{text}\""),
            Self::Whole(number) => number.to_string(),
            Self::Usd { text, .. } => text.clone(),
            Self::Text(text) => quoted(text),
            Self::Flag(flag) => flag.to_string(),
            Self::List(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
                format!("[{}]", texts.join(", "))
            }
        }
    }

    /// Returns the one canonical spelling of the value, so that `1d` and `24h` are the same
    /// configuration.
    pub(crate) fn canonical(&self) -> String {
        match self {
            Self::Span { length, .. } => format!("{}ms", length.as_millis()),
            Self::Usd { micros, .. } => to_dollars(*micros),
            Self::Word(_) | Self::Whole(_) | Self::Text(_) | Self::Flag(_) | Self::List(_) => {
                self.to_toml()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Kind = Kind::Span {
        least: Duration::ZERO,
    };

    fn text(text: &str) -> Given {
        Given::Text(text.to_owned())
    }

    fn bare(text: &str) -> Given {
        Given::Bare(text.to_owned())
    }

    fn point(text: &str) -> Given {
        Given::Point(text.to_owned())
    }

    fn check(kind: Kind, given: Given, expected: Result<&str, Wrong>) {
        let found = kind.read(&given).map(|value| value.to_toml());
        assert_eq!(found, expected.map(str::to_owned), "{kind:?} {given:?}");
    }

    #[test]
    fn values_are_checked_by_kind() {
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
        check(SPAN, text("24h"), Ok("\"24h\""));
        check(SPAN, bare("0ms"), Ok("\"0ms\""));
        check(SPAN, text("24 h"), Err(Wrong::Value));
        check(SPAN, Given::Whole(24), Err(Wrong::Type));
        check(count, Given::Whole(1), Ok("1"));
        check(count, bare("1000"), Ok("1000"));
        check(count, text("10"), Err(Wrong::Type));
        check(count, point("1.0"), Err(Wrong::Type));
        check(count, bare("ten"), Err(Wrong::Type));
        for number in [0, 1001, -1, i128::MAX, i128::MIN] {
            check(count, Given::Whole(number), Err(Wrong::Value));
        }
    }

    #[test]
    fn a_wait_is_more_than_nothing() {
        let wait = Kind::Span {
            least: Duration::from_millis(1),
        };
        check(wait, text("1ms"), Ok("\"1ms\""));
        check(wait, text("0s"), Err(Wrong::Value));
    }

    #[test]
    fn dollars_are_numbers_and_not_text() {
        check(Kind::Usd, Given::Whole(3), Ok("3"));
        check(Kind::Usd, point("0.50"), Ok("0.50"));
        check(Kind::Usd, bare("0.50"), Ok("0.50"));
        check(Kind::Usd, Given::Whole(-1), Err(Wrong::Value));
        check(Kind::Usd, Given::Whole(i128::MAX), Err(Wrong::Value));
        check(Kind::Usd, point("inf"), Err(Wrong::Value));
        check(Kind::Usd, point("0.0000001"), Err(Wrong::Value));
        check(Kind::Usd, bare("-2"), Err(Wrong::Value));
        check(Kind::Usd, bare("never"), Err(Wrong::Type));
        check(Kind::Usd, text("0.50"), Err(Wrong::Type));
        check(Kind::UsdOrNever, text("never"), Ok("\"never\""));
        check(Kind::UsdOrNever, bare("never"), Ok("\"never\""));
        check(Kind::UsdOrNever, bare("soon"), Err(Wrong::Type));
        check(Kind::UsdOrNever, Given::Whole(0), Ok("0"));
    }

    #[test]
    fn providers_and_text_are_words_of_their_own() {
        check(Kind::Provider, text("openai-chat"), Ok("\"openai-chat\""));
        check(Kind::Provider, text("OpenAI"), Err(Wrong::Value));
        check(
            Kind::Text(Form::Line),
            text("a \"b\" \\"),
            Ok(r#""a \"b\" \\""#),
        );
        check(Kind::Text(Form::Line), Given::Whole(1), Err(Wrong::Type));
        check(Kind::Text(Form::Line), text(""), Err(Wrong::Value));
    }

    #[test]
    fn equal_values_have_one_canonical_spelling() {
        let canonical = |kind: Kind, text: &str| kind.read(&bare(text)).map(|it| it.canonical());
        assert_eq!(canonical(SPAN, "1d"), canonical(SPAN, "24h"));
        assert_ne!(canonical(SPAN, "1d"), canonical(SPAN, "25h"));
        assert_eq!(canonical(Kind::Usd, "0.5"), canonical(Kind::Usd, "0.500"));
        assert_ne!(canonical(Kind::Usd, "0.5"), canonical(Kind::Usd, "0.05"));
    }
}
