//! What a run shares with all that it calls: one count of turns, whoever takes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The turns of a run with all that it calls.
#[derive(Debug, Clone, Default)]
pub struct Family(Arc<AtomicU32>);

impl Family {
    /// No run with all that it calls takes more turns.
    pub const MOST_TURNS: u32 = 100;

    /// No chain of skills is longer.
    pub const MOST_SKILLS: usize = 5;

    /// No fork lies deeper.
    pub const MOST_DEPTH: u32 = 2;

    /// Begins to count, where turns were taken before.
    pub fn with(turns: u32) -> Self {
        Self(Arc::new(AtomicU32::new(turns)))
    }

    /// Takes a turn, if there is one left.
    pub fn take(&self) -> bool {
        let more = |turns: u32| (turns < Self::MOST_TURNS).then(|| turns + 1);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.is_ok()
    }

    /// Returns how many were taken.
    pub fn turns(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Tells whether none is left.
    pub fn is_spent(&self) -> bool {
        self.turns() >= Self::MOST_TURNS
    }
}
