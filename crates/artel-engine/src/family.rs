//! The count of turns that a run shares with all runs it calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of turns taken by a run and all runs it calls.
#[derive(Debug, Clone, Default)]
pub struct TurnAllowance(Arc<AtomicU32>);

impl TurnAllowance {
    /// Most turns of a run together with all runs it calls.
    pub const MOST_TURNS: u32 = 100;

    /// Longest chain of skills.
    pub const MOST_SKILLS: usize = 5;

    /// Deepest nesting of forked runs.
    pub const MOST_DEPTH: u32 = 2;

    /// Starts counting from turns that were taken before.
    pub fn with(turns: u32) -> Self {
        Self(Arc::new(AtomicU32::new(turns)))
    }

    /// Takes a turn. Returns false if none is left.
    pub fn take(&self) -> bool {
        let more = |turns: u32| (turns < Self::MOST_TURNS).then(|| turns + 1);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.is_ok()
    }

    /// Returns the number of turns taken.
    pub fn turns(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns whether no turn is left.
    pub fn is_spent(&self) -> bool {
        self.turns() >= Self::MOST_TURNS
    }
}
