//! Detects a run that goes round in circles.

use std::collections::VecDeque;
use std::sync::Arc;

use super::CanonicalToolCall;

/// Number of equal calls in a row that makes a circle.
const SAME: usize = 4;

/// Number of rounds of two alternating calls that makes a circle.
const ROUNDS: usize = 3;

/// Number of idle replies in a row that makes a circle.
const SILENT: u32 = 3;

/// A conversation that is shortened `SHORTENED` times within `WITHIN` turns grows without
/// progress.
const SHORTENED: usize = 3;
const WITHIN: u32 = 6;

/// The way in which a run is stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StuckPattern {
    /// The same call with the same result, again and again.
    Same,
    /// Two alternating calls.
    Pair,
    /// Different calls, always with the same error.
    Error,
    /// Words without actions.
    Monologue,
    /// The conversation grows faster than it can be shortened.
    Growing,
}

#[derive(Debug, Clone, Default)]
pub(super) struct StuckDetector {
    calls: VecDeque<CompletedToolCall>,
    /// The turns at which the conversation was shortened.
    shortened: VecDeque<u32>,
    silent: u32,
    has_nudged: bool,
}

/// Bytes of two results that are compared.
const COMPARED: usize = 2_000;

/// A call with its result.
#[derive(Debug, Clone)]
pub(super) struct CompletedToolCall {
    pub(super) approach: CanonicalToolCall,
    /// The text that the conversation holds, too.
    pub(super) result: Arc<str>,
    pub(super) is_error: bool,
}

impl CompletedToolCall {
    fn beginning(&self) -> &[u8] {
        let bytes = self.result.as_bytes();
        bytes.get(..COMPARED).unwrap_or(bytes)
    }
}

impl PartialEq for CompletedToolCall {
    fn eq(&self, other: &Self) -> bool {
        self.approach == other.approach
            && self.is_error == other.is_error
            && self.beginning() == other.beginning()
    }
}

impl StuckDetector {
    pub(super) fn called(&mut self, call: CompletedToolCall) {
        self.silent = 0;
        self.calls.push_back(call);
        while self.calls.len() > 2 * ROUNDS {
            self.calls.pop_front();
        }
    }

    pub(super) fn said_nothing(&mut self) {
        self.silent += 1;
    }

    pub(super) fn shortened(&mut self, turn: u32) {
        self.shortened.push_back(turn);
        while self.shortened.len() > SHORTENED {
            self.shortened.pop_front();
        }
    }

    /// Starts afresh after a nudge; there is no second nudge.
    pub(super) fn nudged(&mut self) {
        self.has_nudged = true;
        self.calls.clear();
        self.shortened.clear();
        self.silent = 0;
    }

    pub(super) fn has_nudged(&self) -> bool {
        self.has_nudged
    }

    pub(super) fn rut(&self) -> Option<StuckPattern> {
        if self.silent >= SILENT {
            return Some(StuckPattern::Monologue);
        }
        let newest = |count: usize| {
            let from = self.calls.len().checked_sub(count)?;
            Some(self.calls.range(from..))
        };
        if let Some(mut calls) = newest(SAME)
            && let Some(first) = calls.next()
        {
            if calls.clone().all(|call| call == first) {
                return Some(StuckPattern::Same);
            }
            let same_error =
                |call: &CompletedToolCall| call.is_error && call.beginning() == first.beginning();
            if first.is_error && calls.all(same_error) {
                return Some(StuckPattern::Error);
            }
        }
        if self.calls.len() == 2 * ROUNDS {
            let is_paired = |at: usize| self.calls.get(at) == self.calls.get(at % 2);
            if (2..2 * ROUNDS).all(is_paired) && self.calls.front() != self.calls.get(1) {
                return Some(StuckPattern::Pair);
            }
        }
        let (first, last) = (self.shortened.front()?, self.shortened.back()?);
        let is_often = self.shortened.len() == SHORTENED && last - first <= WITHIN;
        is_often.then_some(StuckPattern::Growing)
    }
}

impl StuckPattern {
    /// Returns what is wrong, for people and models.
    pub fn text(self) -> &'static str {
        match self {
            Self::Same => "the same call gave the same result four times in a row",
            Self::Pair => "the same two calls are made in turn, with the same results",
            Self::Error => "four calls in a row ended with the same error",
            Self::Monologue => "three replies in a row neither called a tool nor gave an answer",
            Self::Growing => "the conversation keeps growing without getting anywhere",
        }
    }
}
