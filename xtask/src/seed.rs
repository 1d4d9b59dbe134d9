//! The seed for all randomness.

use std::hash::{BuildHasher, RandomState};

/// Returns the seed in `ARTEL_SEED`, or picks one.
///
/// It is never zero and fits 32 bits: libFuzzer accepts no other.
pub(crate) fn choose() -> u32 {
    let asked = std::env::var("ARTEL_SEED")
        .ok()
        .and_then(|text| text.parse::<u64>().ok());
    let seed = asked.unwrap_or_else(|| RandomState::new().hash_one("seed"));
    u32::try_from(seed % u64::from(u32::MAX)).map_or(1, |small| small.max(1))
}
