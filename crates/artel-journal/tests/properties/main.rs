//! What holds for every journal, shown on many that nobody thought of.
//!
//! A few cases in an ordinary run, ten times as many with `ARTEL_PROOF=long`. proptest prints the
//! smallest case that fails, and keeps its seed beside these files.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

mod chain;
mod events;
mod positions;
mod projections;
mod queries;

use proptest::test_runner::Config;

/// Returns how often a property is tried.
fn cases(long: u64) -> Config {
    Config {
        cases: u32::try_from(artel_testkit::scaled(long)).unwrap(),
        ..Config::default()
    }
}
