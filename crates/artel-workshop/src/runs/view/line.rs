//! One line of a story, and how numbers are written in it.

use artel_types::{Money, RunId, Tokens};
use serde::Serialize;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// What runs and where.
    Head,
    /// A turn begins.
    Turn,
    /// Something that is so.
    Plain,
    /// Something is done.
    Done,
    /// Something is not done, or failed.
    Bad,
    /// Something waits, or was not allowed.
    Waits,
    /// What the model thinks or says.
    Words,
    /// A call.
    Call,
    /// What came of it.
    Result,
    /// What went wrong with it.
    Failed,
    /// A part of the line before.
    Detail,
}

/// One line of a story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What it is about.
    pub mark: Mark,
    /// The words. They may hold what agents and files wrote.
    pub text: String,
    /// How many runs lie above its own.
    pub depth: usize,
    /// The turn it belongs to, from 1; 0 before the first.
    pub turn: u32,
    /// The run it is about.
    pub run: RunId,
    /// How far the run has come, where it is about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// The event that asked for the call that it is about, where more can be told of that.
    #[serde(skip)]
    pub call: Option<u64>,
}

/// How far a run has come, by the steps that it set itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Steps that are done.
    pub done: usize,
    /// All steps.
    pub all: usize,
    /// The same in percent.
    pub percent: usize,
}

impl Progress {
    pub(super) fn of(done: usize, all: usize) -> Self {
        let percent = done * 100 / all.max(1);
        Self { done, all, percent }
    }
}

/// Writes a number of tokens as people read it.
pub(crate) fn tokens(count: u64) -> String {
    Tokens(count).to_string()
}

/// Says what something cost, on every surface. What is not known is never shown as nothing, and
/// only what is rehearsed costs nothing.
pub fn price(cost: Option<Money>) -> String {
    match cost {
        None => "price not known".to_owned(),
        Some(Money(0)) => "free".to_owned(),
        Some(cost) => cost.to_string(),
    }
}

/// Writes a span of time as people read it.
pub(crate) fn span(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1_000),
    }
}

/// Writes a large number with its thousands apart.
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
