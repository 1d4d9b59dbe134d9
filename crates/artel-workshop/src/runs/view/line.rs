//! One line of a timeline, and how numbers are written in it.

use artel_types::{Money, RunId, Tokens};
use serde::Serialize;

/// The subject of a timeline line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TimelineLineKind {
    /// The heading of a run.
    Head,
    /// The start of a turn.
    Turn,
    /// A plain statement of fact.
    Plain,
    /// Something was done.
    Done,
    /// Something failed or was not done.
    Bad,
    /// Something waits, or was not allowed.
    Waits,
    /// Text or thinking of the model.
    Words,
    /// A tool call.
    Call,
    /// The result of the tool call.
    Result,
    /// The error of the tool call.
    Failed,
    /// Details of the line before.
    Detail,
}

/// One line of a timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimelineLine {
    pub mark: TimelineLineKind,
    /// The text. It may contain what agents and files wrote.
    pub text: String,
    /// Number of runs above the line's own run.
    pub depth: usize,
    /// The turn that the line belongs to, from 1; 0 before the first turn.
    pub turn: u32,
    /// The run that the line is about.
    pub run: RunId,
    /// Progress of the run, on lines that report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<RunProgress>,
    /// The event that requested the call on this line, if details of the call can be shown.
    #[serde(skip)]
    pub call: Option<u64>,
}

/// Progress of a run, counted in the steps that it set itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RunProgress {
    /// Number of steps that are done.
    pub done: usize,
    /// Number of all steps.
    pub all: usize,
    /// The share of steps that are done, in percent.
    pub percent: usize,
}

impl RunProgress {
    pub(super) fn of(done: usize, all: usize) -> Self {
        let percent = done * 100 / all.max(1);
        Self { done, all, percent }
    }
}

/// Formats a number of tokens for people.
pub(crate) fn tokens(count: u64) -> String {
    Tokens(count).to_string()
}

/// Formats a cost, for every surface. An unknown cost is never shown as zero: only a
/// rehearsal costs nothing.
pub fn price(cost: Option<Money>) -> String {
    match cost {
        None => "price not known".to_owned(),
        Some(Money(0)) => "free".to_owned(),
        Some(cost) => cost.to_string(),
    }
}

/// Formats a duration for people.
pub(crate) fn span(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1_000),
    }
}

/// Formats a large number with separators between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the first line of a text, cut to a length.
pub(crate) fn first_line(text: &str, most: usize) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let line = lines.next().unwrap_or_default().trim();
    let is_cut = line.chars().count() > most || lines.next().is_some();
    let mut short: String = line.chars().take(most).collect();
    if is_cut {
        short.push('…');
    }
    short
}
