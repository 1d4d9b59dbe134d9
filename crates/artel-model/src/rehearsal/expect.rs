//! Expectations of a script line about the request that it answers.

use std::borrow::Cow;

use artel_types::model::{MessagePart, MessageRole, ModelMessage, ModelRequest, ToolResult};
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer, de};

use super::difference::{RehearsalMismatch, RehearsalMismatchSide, listed};

/// Largest memory of a compiled pattern, in bytes.
const LARGEST_PATTERN: usize = 1024 * 1024;

/// Expectations about a request. All of them have to be met. Without any, every request
/// fits.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RehearsalExpectation {
    /// Part of the last message by a person or a tool.
    says: Option<String>,
    /// A regular expression for the same message.
    #[serde(default, deserialize_with = "pattern")]
    matches: Option<Regex>,
    /// Part of the system prompt.
    system: Option<String>,
    /// Tools that are offered, possibly among others.
    #[serde(default)]
    tools: Vec<String>,
    /// The tool that has just answered, possibly among others.
    result_of: Option<String>,
}

fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Regex>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let built = RegexBuilder::new(&text).size_limit(LARGEST_PATTERN).build();
    let why = |error: regex::Error| {
        // The parser's message has several lines to show the place; the last one says what is
        // wrong.
        let shown = error.to_string();
        let last = shown.lines().last().unwrap_or_default();
        let why = last.trim_start_matches("error: ").to_owned();
        de::Error::custom(format!("not a regular expression: {why}"))
    };
    built.map(Some).map_err(why)
}

impl RehearsalExpectation {
    /// Returns whether there are no expectations.
    pub(super) fn is_empty(&self) -> bool {
        self.says.is_none()
            && self.matches.is_none()
            && self.system.is_none()
            && self.tools.is_empty()
            && self.result_of.is_none()
    }

    /// Returns the expectations that a request does not meet. The list is empty if it fits.
    pub(super) fn differences<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> Vec<RehearsalMismatch<'a>> {
        let last = last_said(request);
        let said = last.map(text_of).unwrap_or_default();
        let results = last.map(|message| message.parts.as_slice()).unwrap_or(&[]);
        let checks = [
            self.says
                .as_deref()
                .and_then(|part| lacks("says", part, said.clone().into())),
            self.unmatched(said),
            self.system
                .as_deref()
                .and_then(|part| lacks("system", part, (&request.system).into())),
            self.missing_tools(request),
            self.missing_result(results),
        ];
        checks.into_iter().flatten().collect()
    }

    fn unmatched<'a>(&'a self, said: String) -> Option<RehearsalMismatch<'a>> {
        let pattern = self
            .matches
            .as_ref()
            .filter(|pattern| !pattern.is_match(&said))?;
        let expected = RehearsalMismatchSide::Words(format!("`{pattern}`"));
        Some(RehearsalMismatch::new(
            "matches",
            expected,
            RehearsalMismatchSide::Quote(said.into(), 0),
        ))
    }

    fn missing_tools<'a>(&'a self, request: &'a ModelRequest) -> Option<RehearsalMismatch<'a>> {
        let offered = || request.tools.iter().map(|tool| tool.name.as_str());
        let wanted = self.tools.iter().map(String::as_str);
        let missing = listed(wanted.filter(|name| !offered().any(|other| other == *name)));
        let got = RehearsalMismatchSide::Words(or_none(listed(offered())));
        (!missing.is_empty())
            .then(|| RehearsalMismatch::new("tools", RehearsalMismatchSide::Words(missing), got))
    }

    fn missing_result<'a>(&'a self, parts: &'a [MessagePart]) -> Option<RehearsalMismatch<'a>> {
        let wanted = self.result_of.as_deref()?;
        let names = || {
            parts
                .iter()
                .filter_map(result)
                .map(|result| result.name.as_str())
        };
        if names().any(|name| name == wanted) {
            return None;
        }
        let got = RehearsalMismatchSide::Words(or_none(listed(names())));
        Some(RehearsalMismatch::new(
            "result_of",
            RehearsalMismatchSide::Words(format!("`{wanted}`")),
            got,
        ))
    }
}

/// Returns the last message by the person or the tools.
fn last_said(request: &ModelRequest) -> Option<&ModelMessage> {
    let mut messages = request.messages.iter().rev();
    messages.find(|message| message.role == MessageRole::User)
}

fn text_of(message: &ModelMessage) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        MessagePart::Text { text, .. } => Some(text.as_str()),
        part => result(part).map(|result| &*result.text),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn result(part: &MessagePart) -> Option<&ToolResult> {
    match part {
        MessagePart::ToolResult(result) => Some(result),
        _ => None,
    }
}

fn or_none(list: String) -> String {
    if list.is_empty() { "none".into() } else { list }
}

/// Checks that a text contains a part. If it does not, the difference shows where the
/// longest beginning of the part that does occur breaks off.
fn lacks<'a>(place: &str, part: &'a str, text: Cow<'a, str>) -> Option<RehearsalMismatch<'a>> {
    if text.contains(part) {
        return None;
    }
    let ends: Vec<_> = part.char_indices().map(|(at, _)| at).collect();
    // If a beginning does not occur, no longer one does.
    let occurring = ends.partition_point(|end| text.contains(&part[..*end]));
    let length = ends[..occurring].last().copied().unwrap_or(0);
    let found = text.find(&part[..length]).unwrap_or(0);
    let got = RehearsalMismatchSide::Quote(text, found + length);
    Some(RehearsalMismatch::new(
        place,
        RehearsalMismatchSide::Quote(part.into(), length),
        got,
    ))
}
