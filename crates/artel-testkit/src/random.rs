//! Repeatable randomness: every run prints its seed.

use std::sync::atomic::{AtomicU64, Ordering};

/// A small random generator (SplitMix64). Good enough to choose moments, but not to keep
/// secrets.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn of_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// Creates a generator from `ARTEL_SEED`, or from a fresh seed, and prints the seed so
    /// that a failure can be repeated.
    pub fn for_test(name: &str) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test may be given its seed")]
        let given = std::env::var("ARTEL_SEED")
            .ok()
            .and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(fresh);
        #[expect(clippy::print_stdout, reason = "the seed is part of the test's report")]
        {
            println!("seed: {name} ARTEL_SEED={seed}");
        }
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end.max(1)
    }

    /// Returns sixteen random bytes, for an id.
    pub fn bytes(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.bits().to_le_bytes());
        bytes[8..].copy_from_slice(&self.bits().to_le_bytes());
        bytes
    }
}

fn fresh() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    #[expect(
        clippy::disallowed_methods,
        reason = "a fresh seed has to come from somewhere"
    )]
    let now = std::time::SystemTime::now();
    let nanos = now
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    (nanos as u64) ^ COUNT.fetch_add(1, Ordering::Relaxed).rotate_left(32)
}
