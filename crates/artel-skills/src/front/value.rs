//! Single values: what a field may hold, and the message if it holds something else.

use std::time::Duration;

use artel_types::{Money, parse_span};

use crate::complaint::shown;
use crate::yaml::{YamlKey, YamlNode, YamlScalarKind, YamlScalarStyle, YamlValue, kind};

/// Longest time for one turn; a turn that takes longer hangs.
const LONGEST_TURN: Duration = Duration::from_secs(24 * 60 * 60);
/// Largest budget in US dollars: no run can cost more, so a larger number is a mistake.
const MOST_DOLLARS: f64 = 1_000_000.0;

/// Why a value does not fit its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontmatterValueError {
    pub(crate) message: String,
    pub(crate) remedy: Option<String>,
}

impl FrontmatterValueError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            remedy: None,
        }
    }

    #[must_use]
    pub(crate) fn advise(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// Strictness about the YAML type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YamlTypeStrictness {
    /// Numbers must be unquoted, and text must be text to YAML.
    Exact,
    /// A quoted number counts as a number, and a number counts as text.
    Loose,
}

impl YamlTypeStrictness {
    /// Returns the style that a scalar is treated as having.
    fn style(self, written: YamlScalarStyle) -> YamlScalarStyle {
        match self {
            Self::Exact => written,
            Self::Loose => YamlScalarStyle::Plain,
        }
    }
}

/// Returns a text.
pub(crate) fn text(
    node: &YamlNode,
    exactness: YamlTypeStrictness,
) -> Result<String, FrontmatterValueError> {
    let YamlValue::Scalar { text, style } = &node.value else {
        return Err(FrontmatterValueError::new(format!(
            "{} is not text",
            described(node)
        )));
    };
    match (kind(text, *style), exactness) {
        (YamlScalarKind::Text, _) => Ok(text.clone()),
        (YamlScalarKind::Null, _) => Err(FrontmatterValueError::new("it has no value")),
        (_, YamlTypeStrictness::Loose) => Ok(text.clone()),
        (_, YamlTypeStrictness::Exact) => Err(FrontmatterValueError::new(format!(
            "{} is not text to YAML",
            described(node)
        ))
        .advise(format!("put it in quotes: `\"{}\"`", shown(text)))),
    }
}

/// Returns a text that is not blank and has at most `most` characters.
pub(crate) fn bounded_text(
    node: &YamlNode,
    exactness: YamlTypeStrictness,
    most: usize,
) -> Result<String, FrontmatterValueError> {
    let text = text(node, exactness)?;
    if text.trim().is_empty() {
        return Err(FrontmatterValueError::new("it is blank"));
    }
    let letters = text.chars().count();
    if letters > most {
        let message = format!("it has {letters} letters; at most {most} fit");
        return Err(FrontmatterValueError::new(message));
    }
    Ok(text)
}

/// Returns a single word of characters that names consist of.
pub(crate) fn word(
    node: &YamlNode,
    exactness: YamlTypeStrictness,
) -> Result<String, FrontmatterValueError> {
    let text = bounded_text(node, exactness, 200)?;
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.:/@+[]".contains(letter);
    if !text.chars().all(is_plain) {
        return Err(FrontmatterValueError::new(format!(
            "`{}` is not one word",
            shown(&text)
        )));
    }
    Ok(text)
}

/// Returns a whole number within a range.
pub(crate) fn whole(
    node: &YamlNode,
    exactness: YamlTypeStrictness,
    range: std::ops::RangeInclusive<u32>,
) -> Result<u32, FrontmatterValueError> {
    let (least, most) = (range.start(), range.end());
    let wrong = || {
        FrontmatterValueError::new(format!(
            "{} is not a whole number from {least} to {most}",
            described(node)
        ))
    };
    let YamlValue::Scalar { text, style } = &node.value else {
        return Err(wrong());
    };
    match kind(text.trim(), exactness.style(*style)) {
        YamlScalarKind::Int(number) => u32::try_from(number)
            .ok()
            .filter(|number| range.contains(number))
            .ok_or_else(wrong),
        YamlScalarKind::Text if text.trim().parse::<i64>().is_ok() => {
            Err(wrong().advise(format!("write {} without quotes", shown(text.trim()))))
        }
        _ => Err(wrong()),
    }
}

/// Returns a boolean.
pub(crate) fn flag(
    node: &YamlNode,
    exactness: YamlTypeStrictness,
) -> Result<bool, FrontmatterValueError> {
    let wrong =
        || FrontmatterValueError::new(format!("{} is neither `true` nor `false`", described(node)));
    let YamlValue::Scalar { text, style } = &node.value else {
        return Err(wrong());
    };
    match (kind(text, *style), exactness) {
        (YamlScalarKind::Bool(yes), _) => Ok(yes),
        (_, YamlTypeStrictness::Exact) => Err(wrong()),
        (_, YamlTypeStrictness::Loose) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Ok(true),
            "false" | "no" | "off" => Ok(false),
            _ => Err(wrong()),
        },
    }
}

/// Returns one of several words.
pub(crate) fn one_of<T: Copy>(
    node: &YamlNode,
    choices: &[(&str, T)],
) -> Result<T, FrontmatterValueError> {
    let wrong = || {
        let words: Vec<String> = choices
            .iter()
            .map(|(word, _)| format!("`{word}`"))
            .collect();
        FrontmatterValueError::new(format!("{} is not {}", described(node), words.join(" or ")))
    };
    let YamlValue::Scalar { text, .. } = &node.value else {
        return Err(wrong());
    };
    let found = choices.iter().find(|(word, _)| word == text);
    found.map(|(_, choice)| *choice).ok_or_else(wrong)
}

/// Returns a duration such as `30s`.
pub(crate) fn span(node: &YamlNode) -> Result<Duration, FrontmatterValueError> {
    let wrong = || {
        FrontmatterValueError::new(format!(
            "{} is not a span of time from `1ms` to `24h`",
            described(node)
        ))
        .advise("write a number with its unit: `30s`, `2m`, `500ms`")
    };
    let YamlValue::Scalar { text, .. } = &node.value else {
        return Err(wrong());
    };
    let span = parse_span(text.trim()).map_err(|_| wrong())?;
    if span.is_zero() || span > LONGEST_TURN {
        return Err(wrong());
    }
    Ok(span)
}

/// Returns an amount of US dollars.
pub(crate) fn money(
    node: &YamlNode,
    exactness: YamlTypeStrictness,
) -> Result<Money, FrontmatterValueError> {
    let wrong = || {
        FrontmatterValueError::new(format!(
            "{} is not an amount of US dollars from 0 to 1,000,000",
            described(node)
        ))
        .advise("write a number such as `0.50`")
    };
    let YamlValue::Scalar { text, style } = &node.value else {
        return Err(wrong());
    };
    let dollars = match kind(text.trim(), exactness.style(*style)) {
        YamlScalarKind::Int(number) => f64::from(i32::try_from(number).map_err(|_| wrong())?),
        YamlScalarKind::Number(number) => number,
        _ => return Err(wrong()),
    };
    if !(0.0..=MOST_DOLLARS).contains(&dollars) {
        return Err(wrong());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between nought and a million million"
    )]
    Ok(Money((dollars * 1_000_000.0).round() as u64))
}

/// Returns a list of texts. A single text is split by `split`.
pub(crate) fn texts(
    node: &YamlNode,
    exactness: YamlTypeStrictness,
    split: impl Fn(&str) -> Vec<String>,
) -> Result<Vec<String>, FrontmatterValueError> {
    match &node.value {
        YamlValue::List(items) => items.iter().map(|item| text(item, exactness)).collect(),
        YamlValue::Scalar { .. } => Ok(split(&text(node, exactness)?)),
        YamlValue::Map(_) => Err(FrontmatterValueError::new(
            "a map is neither text nor a list of texts",
        )),
    }
}

/// Returns the entries of a map.
pub(crate) fn entries(node: &YamlNode) -> Result<&[(YamlKey, YamlNode)], FrontmatterValueError> {
    match &node.value {
        YamlValue::Map(entries) => Ok(entries),
        _ => Err(FrontmatterValueError::new(format!(
            "{} is not a map of texts",
            described(node)
        ))),
    }
}

/// Returns a description of a value for a message.
pub(crate) fn described(node: &YamlNode) -> String {
    match &node.value {
        YamlValue::Scalar { text, style } if kind(text, *style) == YamlScalarKind::Null => {
            "an empty value".into()
        }
        YamlValue::Scalar { text, .. } => format!("`{}`", shown(text)),
        YamlValue::List(_) => "a list".into(),
        YamlValue::Map(_) => "a map".into(),
    }
}
