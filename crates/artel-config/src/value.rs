//! Values as a layer gives them, and the checked values that they become.

use std::time::Duration;

use artel_types::model::Provider;
use artel_types::parse_span;

use crate::decimal::{micro_dollars, to_dollars};
use crate::form::SettingTextForm;

/// The kind of value that a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingKind {
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
    Text(SettingTextForm),
    /// True or false.
    Flag,
    /// A list of texts of a certain form. On a command line and in a variable, a colon
    /// separates them.
    List(SettingTextForm),
}

/// A value as a layer gives it, before it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RawSettingValue {
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
pub(crate) enum SettingValueError {
    /// It has the wrong type.
    Type,
    /// It has the right type, but the value is not allowed.
    Value,
}

/// A checked value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingValue {
    Word(&'static str),
    Span { text: String, length: Duration },
    Whole(u64),
    Usd { text: String, micros: u64 },
    Text(String),
    Flag(bool),
    List(Vec<String>),
}

impl SettingKind {
    /// Checks a value that a layer gives.
    pub(crate) fn read(self, given: &RawSettingValue) -> Result<SettingValue, SettingValueError> {
        match (self, given) {
            (Self::Choice(words), RawSettingValue::Text(text) | RawSettingValue::Bare(text)) => {
                let word = words.iter().find(|word| *word == text);
                word.map(|word| SettingValue::Word(word))
                    .ok_or(SettingValueError::Value)
            }
            (Self::Provider, RawSettingValue::Text(text) | RawSettingValue::Bare(text)) => {
                let provider: Provider = text.parse().map_err(|_| SettingValueError::Value)?;
                Ok(SettingValue::Word(provider.as_str()))
            }
            (Self::Span { least }, RawSettingValue::Text(text) | RawSettingValue::Bare(text)) => {
                span(text, least)
            }
            (Self::Whole { least, most }, RawSettingValue::Whole(number)) => {
                whole(*number, least, most)
            }
            (Self::Whole { least, most }, RawSettingValue::Bare(text)) => {
                let number = text.parse().map_err(|_| SettingValueError::Type)?;
                whole(number, least, most)
            }
            (Self::UsdOrNever, RawSettingValue::Text(text) | RawSettingValue::Bare(text))
                if text == "never" =>
            {
                Ok(SettingValue::Word("never"))
            }
            (Self::Usd | Self::UsdOrNever, RawSettingValue::Whole(number)) => {
                usd(&number.to_string())
            }
            (Self::Usd | Self::UsdOrNever, RawSettingValue::Point(text)) => usd(text),
            (Self::Usd | Self::UsdOrNever, RawSettingValue::Bare(text)) => {
                let is_number = text.parse::<f64>().is_ok();
                usd(text).map_err(|wrong| {
                    if is_number {
                        wrong
                    } else {
                        SettingValueError::Type
                    }
                })
            }
            (Self::Text(form), RawSettingValue::Text(text) | RawSettingValue::Bare(text)) => form
                .read(text)
                .map(SettingValue::Text)
                .ok_or(SettingValueError::Value),
            (Self::Flag, RawSettingValue::Flag(flag)) => Ok(SettingValue::Flag(*flag)),
            (Self::Flag, RawSettingValue::Bare(text)) => text
                .parse()
                .map(SettingValue::Flag)
                .map_err(|_| SettingValueError::Value),
            (Self::List(form), RawSettingValue::List(texts)) => {
                list(form, texts.iter().map(String::as_str))
            }
            (Self::List(form), RawSettingValue::Bare(text)) => {
                list(form, text.split(':').filter(|text| !text.is_empty()))
            }
            (
                _,
                RawSettingValue::Text(_)
                | RawSettingValue::Whole(_)
                | RawSettingValue::Point(_)
                | RawSettingValue::Flag(_)
                | RawSettingValue::List(_)
                | RawSettingValue::Other(_),
            ) => Err(SettingValueError::Type),
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

fn span(text: &str, least: Duration) -> Result<SettingValue, SettingValueError> {
    let length = parse_span(text).map_err(|_| SettingValueError::Value)?;
    if length < least {
        return Err(SettingValueError::Value);
    }
    Ok(SettingValue::Span {
        text: text.to_owned(),
        length,
    })
}

fn whole(number: i128, least: u64, most: u64) -> Result<SettingValue, SettingValueError> {
    let number = u64::try_from(number).map_err(|_| SettingValueError::Value)?;
    let is_allowed = (least..=most).contains(&number);
    is_allowed
        .then_some(SettingValue::Whole(number))
        .ok_or(SettingValueError::Value)
}

fn usd(text: &str) -> Result<SettingValue, SettingValueError> {
    let micros = micro_dollars(text).ok_or(SettingValueError::Value)?;
    Ok(SettingValue::Usd {
        text: text.to_owned(),
        micros,
    })
}

fn list<'t>(
    form: SettingTextForm,
    texts: impl Iterator<Item = &'t str>,
) -> Result<SettingValue, SettingValueError> {
    let texts: Option<Vec<_>> = texts.map(|text| form.read(text)).collect();
    texts
        .map(SettingValue::List)
        .ok_or(SettingValueError::Value)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl RawSettingValue {
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

impl SettingValue {
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

    const SPAN: SettingKind = SettingKind::Span {
        least: Duration::ZERO,
    };

    fn text(text: &str) -> RawSettingValue {
        RawSettingValue::Text(text.to_owned())
    }

    fn bare(text: &str) -> RawSettingValue {
        RawSettingValue::Bare(text.to_owned())
    }

    fn point(text: &str) -> RawSettingValue {
        RawSettingValue::Point(text.to_owned())
    }

    fn check(kind: SettingKind, given: RawSettingValue, expected: Result<&str, SettingValueError>) {
        let found = kind.read(&given).map(|value| value.to_toml());
        assert_eq!(found, expected.map(str::to_owned), "{kind:?} {given:?}");
    }

    #[test]
    fn values_are_checked_by_kind() {
        let choice = SettingKind::Choice(&["full", "normal"]);
        let count = SettingKind::Whole {
            least: 1,
            most: 1000,
        };
        check(choice, text("full"), Ok("\"full\""));
        check(choice, bare("normal"), Ok("\"normal\""));
        check(choice, text("Full"), Err(SettingValueError::Value));
        check(
            choice,
            RawSettingValue::Whole(1),
            Err(SettingValueError::Type),
        );
        check(
            choice,
            RawSettingValue::Other("a table"),
            Err(SettingValueError::Type),
        );
        check(SPAN, text("24h"), Ok("\"24h\""));
        check(SPAN, bare("0ms"), Ok("\"0ms\""));
        check(SPAN, text("24 h"), Err(SettingValueError::Value));
        check(
            SPAN,
            RawSettingValue::Whole(24),
            Err(SettingValueError::Type),
        );
        check(count, RawSettingValue::Whole(1), Ok("1"));
        check(count, bare("1000"), Ok("1000"));
        check(count, text("10"), Err(SettingValueError::Type));
        check(count, point("1.0"), Err(SettingValueError::Type));
        check(count, bare("ten"), Err(SettingValueError::Type));
        for number in [0, 1001, -1, i128::MAX, i128::MIN] {
            check(
                count,
                RawSettingValue::Whole(number),
                Err(SettingValueError::Value),
            );
        }
    }

    #[test]
    fn a_wait_is_more_than_nothing() {
        let wait = SettingKind::Span {
            least: Duration::from_millis(1),
        };
        check(wait, text("1ms"), Ok("\"1ms\""));
        check(wait, text("0s"), Err(SettingValueError::Value));
    }

    #[test]
    fn dollars_are_numbers_and_not_text() {
        check(SettingKind::Usd, RawSettingValue::Whole(3), Ok("3"));
        check(SettingKind::Usd, point("0.50"), Ok("0.50"));
        check(SettingKind::Usd, bare("0.50"), Ok("0.50"));
        check(
            SettingKind::Usd,
            RawSettingValue::Whole(-1),
            Err(SettingValueError::Value),
        );
        check(
            SettingKind::Usd,
            RawSettingValue::Whole(i128::MAX),
            Err(SettingValueError::Value),
        );
        check(
            SettingKind::Usd,
            point("inf"),
            Err(SettingValueError::Value),
        );
        check(
            SettingKind::Usd,
            point("0.0000001"),
            Err(SettingValueError::Value),
        );
        check(SettingKind::Usd, bare("-2"), Err(SettingValueError::Value));
        check(
            SettingKind::Usd,
            bare("never"),
            Err(SettingValueError::Type),
        );
        check(SettingKind::Usd, text("0.50"), Err(SettingValueError::Type));
        check(SettingKind::UsdOrNever, text("never"), Ok("\"never\""));
        check(SettingKind::UsdOrNever, bare("never"), Ok("\"never\""));
        check(
            SettingKind::UsdOrNever,
            bare("soon"),
            Err(SettingValueError::Type),
        );
        check(SettingKind::UsdOrNever, RawSettingValue::Whole(0), Ok("0"));
    }

    #[test]
    fn providers_and_text_are_words_of_their_own() {
        check(
            SettingKind::Provider,
            text("openai-chat"),
            Ok("\"openai-chat\""),
        );
        check(
            SettingKind::Provider,
            text("OpenAI"),
            Err(SettingValueError::Value),
        );
        check(
            SettingKind::Text(SettingTextForm::Line),
            text("a \"b\" \\"),
            Ok(r#""a \"b\" \\""#),
        );
        check(
            SettingKind::Text(SettingTextForm::Line),
            RawSettingValue::Whole(1),
            Err(SettingValueError::Type),
        );
        check(
            SettingKind::Text(SettingTextForm::Line),
            text(""),
            Err(SettingValueError::Value),
        );
    }

    #[test]
    fn equal_values_have_one_canonical_spelling() {
        let canonical =
            |kind: SettingKind, text: &str| kind.read(&bare(text)).map(|it| it.canonical());
        assert_eq!(canonical(SPAN, "1d"), canonical(SPAN, "24h"));
        assert_ne!(canonical(SPAN, "1d"), canonical(SPAN, "25h"));
        assert_eq!(
            canonical(SettingKind::Usd, "0.5"),
            canonical(SettingKind::Usd, "0.500")
        );
        assert_ne!(
            canonical(SettingKind::Usd, "0.5"),
            canonical(SettingKind::Usd, "0.05")
        );
    }
}
