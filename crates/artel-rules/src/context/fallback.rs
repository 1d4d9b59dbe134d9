//! A summary without a model, made from the calls and results themselves.

use artel_types::model::{MessagePart, MessageRole, ModelMessage, ToolCall};
use serde_json::Value;

use super::cut_middle;
use super::elide::{calls_of, in_short};
use super::handover::section;
use super::summary::{LONGEST, words_of};
use crate::turn::CanonicalToolCall;

/// Most files and most failures that are listed.
const MOST_LISTED: usize = 30;

/// Tools that are known to read or to write the files that they name.
const READERS: [&str; 5] = ["read", "list", "grep", "glob", "outline"];
const WRITERS: [&str; 5] = ["write", "edit", "patch", "notebook_edit", "replace"];

/// The beginning of an earlier summary.
const BEFORE: &str = "Before: ";

/// The contents of a summary of old messages.
#[derive(Debug, Default)]
struct FallbackSummary {
    earlier: String,
    read: Vec<String>,
    written: Vec<String>,
    todo: Vec<String>,
    failed: Vec<String>,
    last_words: String,
}

/// Returns a summary of the old part of a conversation if no model provides one: the files
/// that calls named, the last to-do list, the failures, and the last words.
pub fn fallback_summary(old: &[ModelMessage]) -> String {
    let mut shown = FallbackSummary::default();
    let mut calls = Vec::new();
    for (at, message) in old.iter().enumerate() {
        match message.role {
            MessageRole::Assistant => {
                calls = calls_of(message);
                shown.said(message, &calls);
            }
            MessageRole::User => shown.answered(message, &calls, at),
        }
    }
    shown.text()
}

impl FallbackSummary {
    fn said(&mut self, message: &ModelMessage, calls: &[ToolCall]) {
        for call in calls {
            self.called(call);
        }
        let words = message.parts.iter().filter_map(|part| match part {
            MessagePart::Text { text, .. } => Some(text.trim()),
            _ => None,
        });
        let words = words.collect::<Vec<_>>().join("\n");
        if !words.is_empty() {
            self.last_words = words;
        }
    }

    fn called(&mut self, call: &ToolCall) {
        let input = call.input().map(Value::Object).unwrap_or_default();
        if call.name == "todo" {
            let tasks = input["tasks"].as_array().map(Vec::as_slice);
            let line = |task: &Value| {
                let state = task["state"].as_str().unwrap_or("open");
                let text = in_short(task["text"].as_str().unwrap_or_default(), 200);
                format!("{text} ({state})")
            };
            self.todo = tasks.unwrap_or_default().iter().map(line).collect();
        }
        let Some(path) = input["path"].as_str() else {
            return;
        };
        let path = in_short(path, 200);
        if WRITERS.contains(&&*call.name) {
            note(&mut self.written, path);
        } else if READERS.contains(&&*call.name) {
            note(&mut self.read, path);
        }
    }

    fn answered(&mut self, message: &ModelMessage, calls: &[ToolCall], at: usize) {
        for part in &message.parts {
            match part {
                MessagePart::ToolResult(result) if result.is_error => {
                    let call = calls.iter().find(|call| call.id == result.id);
                    let input = call.and_then(|call| call.input().ok());
                    let input = input.map(Value::Object).unwrap_or_default();
                    let approach = CanonicalToolCall::of(&result.name, &input);
                    let error = result.text.lines().next().unwrap_or_default();
                    note(
                        &mut self.failed,
                        format!("{approach}: {}", in_short(error, 200)),
                    );
                }
                // An earlier summary comes first and is continued.
                MessagePart::Text { text, .. } if at == 0 => {
                    let words = words_of(text);
                    let words = words.strip_prefix(BEFORE).unwrap_or(words);
                    self.earlier = words.to_owned();
                }
                _ => {}
            }
        }
    }

    fn text(self) -> String {
        let earlier = cut_middle(&self.earlier, LONGEST / 4);
        let last_words = cut_middle(&self.last_words, LONGEST / 4);
        let mut text = section("Before", &[earlier]);
        text += &section("Files changed", &self.written);
        text += &section("Files read", &self.read);
        text += &section("To do", &self.todo);
        text += &section("Failed, not to be tried again", &self.failed);
        text += &section("Last words", &[last_words]);
        cut_middle(text.trim_end(), LONGEST / 8 * 7)
    }
}

/// Adds a line as the newest, without repeating it. Drops the oldest line if there are too
/// many.
fn note(lines: &mut Vec<String>, line: String) {
    lines.retain(|known| *known != line);
    lines.push(line);
    if lines.len() > MOST_LISTED {
        lines.remove(0);
    }
}
