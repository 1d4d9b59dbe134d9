//! Failures after which the goal was reached all the same.
//!
//! A failed call counts as recovered, once, if after it
//! - the same tool succeeds on the same target (the file, address or program that it is
//!   about), or
//! - any call that does something succeeds, and the run ends complete.
//!
//! A success counts only if it began after the failure was known: parallel calls do not
//! recover one another. A call that a person or the run cancelled is not recovered.

use std::collections::BTreeMap;

use artel_types::{RecordedText, RunOutcome, ToolFinished};
use serde_json::Value;

/// Tools that only take notes and achieve nothing by themselves.
const NOTES: [&str; 4] = ["todo", "finish", "find_tools", "ask"];

/// The fields that say what a call is about, the most telling first.
const TARGETS: [&str; 8] = [
    "path", "file", "from", "url", "command", "program", "name", "pattern",
];

/// Phrases by which programs and tools report text in an unexpected encoding.
const ENCODING: [&str; 6] = [
    "unicodedecodeerror",
    "unicodeencodeerror",
    "codec can't",
    "not valid utf-8",
    "invalid utf-8",
    "invalid byte sequence",
];

/// Bytes of an observation that are searched for these phrases.
const SEARCHED: usize = 4_000;

#[derive(Debug, Clone, Default)]
pub(super) struct RecoveryTracker {
    /// Number of calls that have ended.
    ended: u64,
    /// For each call under way, how many calls had ended when it began.
    begun: BTreeMap<String, u64>,
    failures: Vec<TrackedFailure>,
}

#[derive(Debug, Clone)]
struct TrackedFailure {
    kind: &'static str,
    tool: String,
    target: String,
    /// Index of the call in the order of endings.
    at: u64,
    /// Whether the same tool later succeeded on the same target.
    is_repaired: bool,
    /// Whether any call succeeded later.
    is_followed: bool,
}

/// Returns the kind of a failure: the word of the error, `encoding` for text in an
/// unexpected encoding, `tests` for failing tests, `exit` for another program that ended
/// badly (`not-found` if it does not exist). Returns `None` for a success.
pub fn kind_of_failure(fact: &ToolFinished) -> Option<&'static str> {
    let exit = fact.exit.filter(|code| *code != 0);
    let trouble = fact.trouble.as_deref();
    if trouble.is_none() && exit.is_none() {
        return None;
    }
    let may_be_encoding = matches!(trouble, None | Some("unfit" | "failed" | "mismatch"));
    if may_be_encoding && speaks_of_encoding(&fact.observation) {
        return Some("encoding");
    }
    Some(match (trouble, exit) {
        (None | Some("failed"), _) if fact.tool == "run_tests" => "tests",
        (None, Some(127)) => "not-found",
        (None, _) => "exit",
        (Some("bad-input"), _) => "bad-input",
        (Some("not-found"), _) => "not-found",
        (Some("unfit"), _) => "unfit",
        (Some("refused"), _) => "refused",
        (Some("mismatch"), _) => "mismatch",
        (Some("timed-out"), _) => "timed-out",
        (Some("cancelled"), _) => "cancelled",
        (Some("machine"), _) => "machine",
        (Some(_), _) => "failed",
    })
}

impl RecoveryTracker {
    pub(super) fn begin(&mut self, call: &str) {
        self.begun.insert(call.to_owned(), self.ended);
    }

    pub(super) fn end(
        &mut self,
        fact: &ToolFinished,
        input: &Value,
        failure: Option<&'static str>,
    ) {
        self.ended += 1;
        let begun = self.begun.remove(&fact.call);
        let target = target(input);
        match (failure, begun) {
            (Some("cancelled"), _) => {}
            (Some(kind), _) => self.failures.push(TrackedFailure {
                kind,
                tool: fact.tool.clone(),
                target,
                at: self.ended,
                is_repaired: false,
                is_followed: false,
            }),
            (None, Some(begun)) if !NOTES.contains(&&*fact.tool) => {
                let earlier = self.failures.iter_mut().filter(|it| it.at <= begun);
                for failed in earlier {
                    failed.is_followed = true;
                    failed.is_repaired |= failed.tool == fact.tool && failed.target == target;
                }
            }
            (None, _) => {}
        }
    }

    pub(super) fn by_kind(&self, state: Option<RunOutcome>) -> BTreeMap<String, u64> {
        let is_complete = state == Some(RunOutcome::Complete);
        let is_recovered = |it: &&TrackedFailure| it.is_repaired || (it.is_followed && is_complete);
        let mut kinds = BTreeMap::new();
        for failed in self.failures.iter().filter(is_recovered) {
            *kinds.entry(failed.kind.to_owned()).or_default() += 1;
        }
        kinds
    }
}

/// Returns what a call is about; for a command, the program.
fn target(input: &Value) -> String {
    let named = |field: &&str| input[*field].as_str();
    let Some(field) = TARGETS.iter().find(|field| named(field).is_some()) else {
        return String::new();
    };
    let text = named(field).unwrap_or_default().trim();
    let text = match *field {
        "command" => text.split_whitespace().next().unwrap_or_default(),
        _ => text,
    };
    text.trim_start_matches("./").to_owned()
}

/// Returns whether a text reports an encoding problem; stored texts are not searched.
fn speaks_of_encoding(text: &RecordedText) -> bool {
    let RecordedText::Inline(text) = text else {
        return false;
    };
    let text = &text[..text.floor_char_boundary(SEARCHED)];
    let text = text.to_ascii_lowercase();
    ENCODING.iter().any(|words| text.contains(words))
}
