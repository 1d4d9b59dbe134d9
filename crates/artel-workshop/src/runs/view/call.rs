//! Shows one tool call with its complete input and output, which the timeline of a run
//! shortens.

use std::ops::ControlFlow;

use artel_journal::{EventFilter, EventQuery, JournalRecord};
use artel_types::{
    Fact, Failure, FailureCode, RecordedText, RunId, Timestamp, ToolFinished, ToolRequested,
};
use serde_json::Value;

use super::{RunVisibility, TimelineDetailLevel, seen, tools};
use crate::workshop::Workshop;

/// Maximum length of each shown text, in bytes.
const MOST: usize = 64 * 1024;

/// A tool call, as far as a viewer may see it.
#[derive(Debug, Clone)]
pub struct VisibleCall {
    pub run: RunId,
    /// The piece of work, as the journal names it.
    pub trace: String,
    /// The id of the call within its run.
    pub call: String,
    pub tool: String,
    /// When it was requested.
    pub at: Timestamp,
    /// The policy's answer and its reason.
    pub decision: String,
    /// The input, or `None` if the tool is hidden.
    pub input: Option<VisibleCallText>,
    /// The result, or `None` while the call is running.
    pub result: Option<VisibleCallResult>,
}

/// The result of a tool call.
#[derive(Debug, Clone)]
pub struct VisibleCallResult {
    /// The text that the model saw, or `None` if the tool is hidden.
    pub text: Option<VisibleCallText>,
    /// The kind of error, if there was one.
    pub trouble: Option<String>,
    /// The exit code, if a program ran.
    pub exit: Option<i64>,
    /// The duration in milliseconds.
    pub millis: u64,
    /// Files that were created, changed or deleted; empty if the tool is hidden.
    pub changed: Vec<String>,
    /// Its sequence number in the journal.
    pub seq: u64,
}

/// A text, possibly cut at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleCallText {
    pub text: String,
    /// The number of bytes that were cut.
    pub left_out: usize,
}

impl VisibleCallText {
    fn of(mut text: String) -> Self {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(MOST));
        Self {
            left_out: whole - text.len(),
            text,
        }
    }
}

impl Workshop {
    /// Returns a tool call, identified by the event that requested it, as far as the viewer
    /// may see it.
    pub fn call_told(
        &self,
        run: RunId,
        seq: u64,
        eyes: &RunVisibility,
    ) -> Result<VisibleCall, Failure> {
        if eyes.view != TimelineDetailLevel::Full {
            let what = "what a call was given and gave is part of the full view";
            return Err(Failure::new(FailureCode::H004, what)
                .because("your role sees summaries")
                .advise("an admin says who sees what"));
        }
        let asked = EventQuery::of(of_calls(run)).after(seq.saturating_sub(1));
        let mut told: Option<VisibleCall> = None;
        self.reader()?.visit(&asked, |record| {
            let Some(known) = &mut told else {
                told = self.requested(run, seq, &record, eyes);
                return match told {
                    Some(_) => ControlFlow::Continue(()),
                    None => ControlFlow::Break(()),
                };
            };
            match self.finished(&known.call, &record, eyes) {
                Some(result) => {
                    known.result = Some(result);
                    ControlFlow::Break(())
                }
                None => ControlFlow::Continue(()),
            }
        })?;
        told.ok_or_else(|| {
            let what = format!("event {seq} is no call of run {}", run.short());
            Failure::new(FailureCode::R004, what).advise("the page of the run leads to its calls")
        })
    }

    fn requested(
        &self,
        run: RunId,
        seq: u64,
        record: &JournalRecord,
        eyes: &RunVisibility,
    ) -> Option<VisibleCall> {
        let Fact::ToolRequested(it) = shown(eyes, record).filter(|_| record.seq == seq)? else {
            return None;
        };
        let ToolRequested {
            call,
            tool,
            input,
            decision,
            reason,
            ..
        } = it;
        let is_hidden = eyes.hides(&tool);
        Some(VisibleCall {
            input: (!is_hidden).then(|| VisibleCallText::of(tools::whole(&self.call_text(&input)))),
            decision: if is_hidden || reason.is_empty() {
                decision
            } else {
                format!("{decision}: {reason}")
            },
            trace: record.trace.clone(),
            at: record.at,
            result: None,
            run,
            call,
            tool,
        })
    }

    fn finished(
        &self,
        call: &str,
        record: &JournalRecord,
        eyes: &RunVisibility,
    ) -> Option<VisibleCallResult> {
        let Fact::ToolFinished(it) = shown(eyes, record)? else {
            return None;
        };
        let ToolFinished {
            observation,
            trouble,
            exit,
            millis,
            changed,
            ..
        } = it;
        if it.call != call {
            return None;
        }
        let is_hidden = eyes.hides(&it.tool);
        Some(VisibleCallResult {
            text: (!is_hidden).then(|| VisibleCallText::of(self.call_text(&observation))),
            changed: if is_hidden { Vec::new() } else { changed },
            seq: record.seq,
            trouble,
            exit,
            millis,
        })
    }

    fn call_text(&self, text: &RecordedText) -> String {
        let read = self.whole_text(text);
        read.unwrap_or_else(|failure| format!("[{}]", failure.what))
    }
}

fn of_calls(run: RunId) -> EventFilter {
    EventFilter {
        run: Some(run.to_string()),
        kind: Some("tool.".to_owned()),
        ..EventFilter::default()
    }
}

/// Returns the fact of an event, if the viewer may see the event.
fn shown(eyes: &RunVisibility, record: &JournalRecord) -> Option<Fact> {
    // Hidden parts of a call are removed by the caller, not by `seen`, which would replace a
    // list with a text.
    let open = RunVisibility {
        hidden: Vec::new(),
        ..eyes.clone()
    };
    Some(seen(&open, record)?.event().ok()?.fact)
}

/// Describes an event in a few words, as far as [`seen`] lets the viewer see it.
pub fn brief(eyes: &RunVisibility, record: &JournalRecord) -> String {
    let Ok(fact) = serde_json::from_str::<Value>(&record.payload) else {
        return String::new();
    };
    let text = |field: &str| fact[field].as_str().unwrap_or_default();
    let tool = text("tool");
    let words = match record.kind.as_str() {
        "tool.requested" | "tool.asked" | "tool.finished" if eyes.hides(tool) => {
            tools::hidden(tool)
        }
        "tool.requested" => {
            let input = serde_json::from_str(text("input")).unwrap_or(Value::Null);
            tools::doing(tool, &input)
        }
        "tool.finished" => match fact["trouble"].as_str() {
            Some(trouble) => format!("{tool}: {trouble}"),
            None => format!("{tool}: {}", text("observation")),
        },
        "model.requested" => format!("{}:{}", text("provider"), text("model")),
        "model.replied" => replied(text("reply")),
        "model.failed" => text("message").to_owned(),
        _ => {
            let said = TELLING.iter().map(|field| text(field));
            let said: Vec<&str> = said.filter(|it| !it.is_empty()).take(2).collect();
            if said.is_empty() {
                record.target.clone().unwrap_or_default()
            } else {
                said.join(": ")
            }
        }
    };
    super::line::first_line(&words, BRIEF)
}

/// Maximum length of the description.
const BRIEF: usize = 90;

/// The fields that describe an event best, in order.
const TELLING: &[&str] = &[
    "step", "phase", "tool", "title", "act", "question", "text", "answer", "why", "summary",
    "path", "name", "state",
];

/// Describes a reply by its text, or by the calls it makes.
fn replied(reply: &str) -> String {
    let reply: Value = serde_json::from_str(reply).unwrap_or(Value::Null);
    let parts = reply["parts"].as_array().map(Vec::as_slice);
    let parts = parts.unwrap_or_default();
    let said = parts.iter().find_map(|part| {
        let text = part["text"].as_str()?.trim();
        (!text.is_empty() && part["part"] != "thinking").then_some(text)
    });
    let called = parts.iter().filter_map(|part| part["name"].as_str());
    let called: Vec<&str> = called.collect();
    match (said, called.is_empty()) {
        (Some(said), true) => said.to_owned(),
        (Some(said), false) => format!("{} · {said}", called.join(", ")),
        (None, _) => called.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, VisibleCallText, replied};

    #[test]
    fn a_long_text_is_cut_between_letters_and_says_how_much_is_missing() {
        let text = "é".repeat(MOST);
        let cut = VisibleCallText::of(text.clone());
        assert_eq!(cut.text.len() + cut.left_out, text.len());
        assert!(cut.text.len() <= MOST && text.starts_with(&cut.text));
        assert_eq!(VisibleCallText::of("short".to_owned()).left_out, 0);
    }

    #[test]
    fn a_reply_is_told_by_its_words_and_what_it_calls() {
        let told = |parts: &str| replied(&format!("{{\"parts\":[{parts}]}}"));
        let say = r#"{"part":"text","text":"I look first.\nThen I mend."}"#;
        let call = r#"{"part":"tool_call","name":"read","arguments":{}}"#;
        assert_eq!(told(say), "I look first.\nThen I mend.");
        assert_eq!(told(&format!("{call},{call}")), "read, read");
        assert!(told(&format!("{say},{call}")).starts_with("read · I look"));
        assert_eq!(replied("[hidden]"), "");
    }
}
