//! The difference between an expected and a received request, in few words.
//!
//! The message of a fault is short, and requests are long. So a difference shows the place
//! where the two diverge, not the requests themselves. The fewer differences there are, the
//! more of each is shown.

use std::borrow::Cow;

use artel_types::model::{ModelFault, ModelFaultKind};
use serde_json::Value;

/// Largest number of differences shown.
const MOST: usize = 5;
/// Total length of the quotes from one side of all differences, in characters.
const QUOTED: usize = 140;
/// Longest place shown, in characters. Tools may have deep schemas.
const LONGEST_PLACE: usize = 60;

/// One place where a request differs from what was expected.
pub(super) struct RehearsalMismatch<'a> {
    place: String,
    expected: RehearsalMismatchSide<'a>,
    got: RehearsalMismatchSide<'a>,
}

/// The expected or the received side of a difference.
pub(super) enum RehearsalMismatchSide<'a> {
    /// Text to quote, and the byte offset around which to quote it.
    Quote(Cow<'a, str>, usize),
    /// Our own words.
    Words(String),
}

impl<'a> RehearsalMismatch<'a> {
    pub(super) fn new(
        place: impl Into<String>,
        expected: RehearsalMismatchSide<'a>,
        got: RehearsalMismatchSide<'a>,
    ) -> Self {
        let place = place.into();
        Self {
            place,
            expected,
            got,
        }
    }
}

/// Describes the mismatch, within the longest message that a fault may have.
pub(super) fn off_script(head: &str, differences: &[RehearsalMismatch<'_>]) -> ModelFault {
    let shown = differences.len().min(MOST);
    let width = QUOTED / shown.max(1);
    let more = |count: usize| format!("\n  … and {count} more");
    let mut message = head.to_owned();
    for (at, difference) in differences.iter().enumerate() {
        let line = format!(
            "\n  {}: expected {}, got {}",
            window(&difference.place, 0, LONGEST_PLACE),
            difference.expected.shown(width),
            difference.got.shown(width),
        );
        let left = differences.len() - at;
        let length = message.chars().count() + line.chars().count() + more(left).chars().count();
        if at == MOST || (at > 0 && length > ModelFault::LONGEST) {
            message.push_str(&more(left));
            break;
        }
        message.push_str(&line);
    }
    ModelFault::new(ModelFaultKind::OffScript, message)
}

impl RehearsalMismatchSide<'_> {
    fn shown(&self, width: usize) -> String {
        match self {
            Self::Quote(text, at) => format!("{:?}", window(text, *at, width)),
            Self::Words(words) => window(words, 0, width.max(40)),
        }
    }
}

/// Returns `width` characters of a text around a byte offset, with dots for the rest.
pub(super) fn window(text: &str, at: usize, width: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let start = before
        .char_indices()
        .rev()
        .take(width / 3)
        .last()
        .map_or(before.len(), |(start, _)| start);
    let rest = &text[start..];
    let end = rest
        .char_indices()
        .nth(width)
        .map_or(rest.len(), |(end, _)| end);
    let mut shown = String::new();
    if start > 0 {
        shown.push('…');
    }
    shown.push_str(&rest[..end]);
    if end < rest.len() {
        shown.push('…');
    }
    shown
}

/// Finds all places where two values differ.
pub(super) fn between<'a>(expected: &'a Value, got: &'a Value) -> Vec<RehearsalMismatch<'a>> {
    let mut found = Vec::new();
    compare(&mut String::new(), expected, got, &mut found);
    found
}

fn compare<'a>(
    place: &mut String,
    expected: &'a Value,
    got: &'a Value,
    found: &mut Vec<RehearsalMismatch<'a>>,
) {
    match (expected, got) {
        (Value::Object(left), Value::Object(right)) => {
            let added = right.keys().filter(|name| !left.contains_key(*name));
            for name in left.keys().chain(added) {
                let dot = if place.is_empty() { "" } else { "." };
                let step = format!("{dot}{name}");
                compare_at(place, &step, left.get(name), right.get(name), found);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for at in 0..left.len().max(right.len()) {
                compare_at(
                    place,
                    &format!("[{at}]"),
                    left.get(at),
                    right.get(at),
                    found,
                );
            }
        }
        (Value::String(left), Value::String(right)) if left != right => {
            let at = common_prefix(left, right);
            let (left, right) = (Cow::from(left), Cow::from(right));
            let sides = (
                RehearsalMismatchSide::Quote(left, at),
                RehearsalMismatchSide::Quote(right, at),
            );
            found.push(RehearsalMismatch::new(place.as_str(), sides.0, sides.1));
        }
        (left, right) if left != right => {
            let (left, right) = (side_of(Some(left)), side_of(Some(right)));
            found.push(RehearsalMismatch::new(place.as_str(), left, right));
        }
        _ => {}
    }
}

fn compare_at<'a>(
    place: &mut String,
    step: &str,
    expected: Option<&'a Value>,
    got: Option<&'a Value>,
    found: &mut Vec<RehearsalMismatch<'a>>,
) {
    let length = place.len();
    place.push_str(step);
    match (expected, got) {
        (Some(left), Some(right)) => compare(place, left, right, found),
        _ => found.push(RehearsalMismatch::new(
            place.as_str(),
            side_of(expected),
            side_of(got),
        )),
    }
    place.truncate(length);
}

fn side_of(value: Option<&Value>) -> RehearsalMismatchSide<'_> {
    match value {
        None => RehearsalMismatchSide::Words("nothing".into()),
        Some(Value::String(text)) => RehearsalMismatchSide::Quote(Cow::from(text), 0),
        Some(other) => RehearsalMismatchSide::Words(other.to_string()),
    }
}

/// Returns the length in bytes of the common beginning of two texts, in whole characters.
fn common_prefix(left: &str, right: &str) -> usize {
    left.char_indices()
        .zip(right.chars())
        .find(|((_, one), other)| one != other)
        .map_or(left.len().min(right.len()), |((at, _), _)| at)
}

/// Lists names in backticks.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
