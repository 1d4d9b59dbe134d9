//! Reads the body of a refusal, whatever it is: JSON in five dialects, a web page, plain
//! text.

use artel_types::model::ModelFault;
use serde_json::Value;

/// Most bytes that are read of a body that is not JSON.
const LARGEST_TEXT: usize = 16 * 1024;

/// The parts of a refusal that matter.
#[derive(Debug, Default)]
pub(super) struct ProviderRefusal {
    /// The message for a person, in one line.
    pub(super) message: String,
    /// Message, type, code, status and reasons in lower case, for searching.
    pub(super) folded: String,
    /// The provider's request id.
    pub(super) request_id: Option<String>,
    /// The provider's details; only Google sends any.
    pub(super) details: Vec<Value>,
}

impl ProviderRefusal {
    pub(super) fn in_body(body: &[u8]) -> Self {
        if let Ok(json) = serde_json::from_slice::<Value>(body) {
            return Self::in_json(&json);
        }
        let text = String::from_utf8_lossy(&body[..body.len().min(LARGEST_TEXT)]);
        let message = one_line(&visible(&text));
        Self {
            folded: message.to_lowercase(),
            message,
            ..Self::default()
        }
    }

    pub(super) fn in_json(json: &Value) -> Self {
        // A streaming call is refused with a list of one where its reply would have been a
        // list of pieces.
        let json = json.get(0).unwrap_or(json);
        let error = json.get("error").unwrap_or(json);
        let message = [
            error.get("message"),
            Some(error),
            json.get("message"),
            json.get("detail"),
        ]
        .into_iter()
        .flatten()
        .find_map(Value::as_str)
        .map_or_else(|| without_words(json), one_line);
        let details = error.get("details").and_then(Value::as_array);
        let details = details.cloned().unwrap_or_default();
        let reasons = details.iter().filter_map(|detail| detail.get("reason"));
        let words = ["type", "code", "status"]
            .iter()
            .filter_map(|name| error.get(*name))
            .chain(reasons)
            .filter_map(Value::as_str);
        let folded = words.fold(message.to_lowercase(), |folded, word| {
            format!("{folded}\n{}", word.to_lowercase())
        });
        let request_id = json.get("request_id").and_then(Value::as_str);
        Self {
            message,
            folded,
            request_id: request_id.map(str::to_owned),
            details,
        }
    }

    /// Returns whether a quota is used up that minutes do not refill: a daily one, or one
    /// never bought.
    pub(super) fn names_long_quota(&self) -> bool {
        let violations = self.details.iter().filter_map(|detail| {
            let violations = detail.get("violations")?;
            violations.as_array()
        });
        violations.flatten().any(|violation| {
            let quota = ["quotaId", "quotaMetric", "description"]
                .iter()
                .filter_map(|name| violation.get(*name)?.as_str());
            quota.map(str::to_lowercase).any(|quota| {
                ["perday", "per_day", "per day", "billing"]
                    .iter()
                    .any(|word| quota.contains(word))
            })
        })
    }
}

/// Shows JSON without any of the usual words as it is.
fn without_words(json: &Value) -> String {
    match json {
        Value::Null => String::new(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        other => one_line(&other.to_string()),
    }
}

/// Returns what a person would see of a page: its title, or else its first words.
fn visible(text: &str) -> String {
    let start = text.trim_start();
    if !start.starts_with('<') {
        return text.to_owned();
    }
    let folded = start.to_ascii_lowercase();
    let title = folded.find("<title").and_then(|at| {
        let begin = at + folded[at..].find('>')? + 1;
        let end = begin + folded[begin..].find('<')?;
        Some(start[begin..end].trim().to_owned())
    });
    title
        .filter(|title| !title.is_empty())
        .unwrap_or_else(|| without_tags(start, &folded))
}

/// Removes the tags. `folded` is `page` in lower case, so positions in one hold for the
/// other.
fn without_tags(page: &str, folded: &str) -> String {
    let mut words = String::new();
    let mut at = 0;
    while let Some(tag) = folded[at..].find('<').map(|found| at + found) {
        words.push_str(&page[at..tag]);
        words.push(' ');
        let unseen = ["script", "style"]
            .iter()
            .find(|name| folded[tag + 1..].starts_with(**name));
        let close = match unseen {
            Some(name) => folded[tag..].find(&format!("</{name}")),
            None => Some(0),
        };
        let end = close.and_then(|close| {
            let close = tag + close;
            folded[close..].find('>').map(|end| close + end + 1)
        });
        let Some(end) = end else { return words };
        at = end;
    }
    words.push_str(&page[at..]);
    words
}

/// Returns the text as one line that is safe for a terminal and cut to what a fault can
/// hold.
fn one_line(text: &str) -> String {
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if line.len() > ModelFault::LONGEST * 4 {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(ModelFault::LONGEST));
    }
    line
}
