//! Counts calls that are repeated unchanged.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::turn_of;
use crate::turn::CanonicalToolCall;

/// Counts calls that are repeated right after failing, in the same turn or the next one.
/// If something else was done in between, such as an edit before the tests run again, it
/// is not a repetition.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolRetryCounter {
    /// Calls under way.
    open: BTreeMap<String, CanonicalToolCall>,
    turn: String,
    /// Calls that failed in this turn.
    failed: BTreeSet<CanonicalToolCall>,
    /// Calls that failed in the turn before.
    failed_before: BTreeSet<CanonicalToolCall>,
    again: u64,
}

impl ToolRetryCounter {
    pub(super) fn begin(&mut self, call: &str, tool: &str, input: &Value) {
        let turn = turn_of(call);
        if self.turn != turn {
            turn.clone_into(&mut self.turn);
            self.failed_before = std::mem::take(&mut self.failed);
        }
        let approach = CanonicalToolCall::of(tool, input);
        // After a crash the same call begins again, which is not a repetition.
        let is_known = self.open.contains_key(call);
        let has_failed = self.failed.contains(&approach) || self.failed_before.contains(&approach);
        self.again += u64::from(!is_known && has_failed);
        self.open.insert(call.to_owned(), approach);
    }

    pub(super) fn end(&mut self, call: &str, failure: Option<&str>) {
        if let (Some(approach), Some(_)) = (self.open.remove(call), failure) {
            self.failed.insert(approach);
        }
    }

    pub(super) fn again(&self) -> u64 {
        self.again
    }
}
