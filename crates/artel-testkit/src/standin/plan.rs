//! Reads a plan from JSON, for stand-ins that are started as a program.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::answer::{Answer, Ending, Usage};

/// One answer of a plan. Omitted fields are as in [`Answer::default`]. With a `status`, the
/// provider responds; otherwise the model replies.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Line {
    text: String,
    thinking: String,
    calls: Vec<LineCall>,
    ending: Ending,
    interleaved: bool,
    obliging: bool,
    one_char_deltas: bool,
    repeating: bool,
    usage: Option<Usage>,
    status: Option<u16>,
    retry_after: Option<String>,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    in_pieces_of: Option<usize>,
    pause_before_ms: u64,
    pause_between_ms: u64,
    cut_after: Option<usize>,
    silent_after: Option<usize>,
    error_mid_stream: Option<u16>,
    garbage: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineCall {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Reads a plan: a JSON array of answers.
///
/// An answer has the fields `text`, `thinking`, `calls` (`[{name, arguments}]`, where
/// arguments that are a string are sent unchanged), `ending` (`done`, `max_tokens`,
/// `refused`, `filtered`), `usage`, and fields named like the methods of [`Answer`].
pub fn plan_from_json(text: &str) -> Result<Vec<Answer>, String> {
    let lines: Vec<Line> =
        serde_json::from_str(text).map_err(|error| format!("the plan cannot be read: {error}"))?;
    Ok(lines.into_iter().map(Answer::from).collect())
}

/// Returns the plan of a stand-in that was given none: it calls an offered tool, and
/// otherwise greets.
pub fn usual_plan() -> Vec<Answer> {
    vec![Answer::obliging("Hello, world.").repeating()]
}

impl From<Line> for Answer {
    fn from(line: Line) -> Self {
        let mut answer = match line.status {
            Some(status) => Self::status(status),
            None if line.obliging => Self::obliging(line.text),
            None => Self::says(line.text),
        };
        answer = answer.thinking(line.thinking).garbage(line.garbage);
        for call in line.calls {
            answer = match call.arguments {
                Value::String(raw) => answer.calls_raw(&call.name, &raw),
                arguments => answer.calls(&call.name, arguments),
            };
        }
        for (name, value) in line.headers {
            answer = answer.header(&name, &value);
        }
        answer = answer
            .pause_before(Duration::from_millis(line.pause_before_ms))
            .pause_between(Duration::from_millis(line.pause_between_ms));
        answer = when(answer, line.interleaved.then_some(()), |it, ()| {
            it.interleaved()
        });
        answer = when(answer, line.one_char_deltas.then_some(()), |it, ()| {
            it.one_char_deltas()
        });
        answer = when(answer, line.repeating.then_some(()), |it, ()| {
            it.repeating()
        });
        answer = when(answer, line.usage, Self::usage);
        answer = when(answer, line.retry_after, Self::retry_after);
        answer = when(answer, line.body, Self::body);
        answer = when(answer, line.in_pieces_of, Self::in_pieces_of);
        answer = when(answer, line.cut_after, Self::cut_after);
        answer = when(answer, line.silent_after, Self::silent_after);
        answer = when(answer, line.error_mid_stream, Self::error_mid_stream);
        answer.said.ending = line.ending;
        answer
    }
}

fn when<T>(answer: Answer, value: Option<T>, change: impl FnOnce(Answer, T) -> Answer) -> Answer {
    match value {
        Some(value) => change(answer, value),
        None => answer,
    }
}
