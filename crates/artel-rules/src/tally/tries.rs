//! Calls that are made again just as they were.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::turn_of;
use crate::turn::Approach;

/// Counts the same approach called again right after it failed: in the same turn or in the next.
/// Where something else was done in between, such as an edit before the tests are run again, it
/// is no repetition.
#[derive(Debug, Clone, Default)]
pub(super) struct Tries {
    /// Calls under way.
    open: BTreeMap<String, Approach>,
    turn: String,
    /// What failed in this turn.
    failed: BTreeSet<Approach>,
    /// What failed in the turn before.
    failed_before: BTreeSet<Approach>,
    again: u64,
}

impl Tries {
    pub(super) fn begin(&mut self, call: &str, tool: &str, input: &Value) {
        let turn = turn_of(call);
        if self.turn != turn {
            turn.clone_into(&mut self.turn);
            self.failed_before = std::mem::take(&mut self.failed);
        }
        let approach = Approach::of(tool, input);
        // After a crash the same call is begun anew, which is no second one.
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
