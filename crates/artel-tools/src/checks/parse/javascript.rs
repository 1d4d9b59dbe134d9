//! Parsing shared by the JavaScript runners, and the output of `npm test`, which may come
//! from any of them.

use super::text::location;
use super::{jest, mocha, tap, vitest};
use crate::checks::report::TestRunReport;

/// Tries the formats in order; the first that finds counts is the right one.
pub(super) fn parse(text: &str) -> TestRunReport {
    let formats: [fn(&str) -> TestRunReport; 4] =
        [vitest::parse, jest::parse, tap::parse, mocha::parse];
    let reports = formats.iter().map(|format| format(text));
    reports
        .into_iter()
        .find(|report| report.counts.is_some())
        .unwrap_or_default()
}

/// Parses a stack frame outside the runtime and outside packages:
/// `at Object.toBe (src/sum.test.js:3:40)`.
pub(super) fn stack_place(line: &str) -> Option<(String, u64)> {
    let frame = line.trim().strip_prefix("at ")?;
    let place = match frame.rsplit_once('(') {
        Some((_, place)) => place.trim_end_matches(')'),
        None => frame.rsplit(' ').next()?,
    };
    let is_foreign = place.starts_with("node:") || place.contains("node_modules/");
    if is_foreign {
        return None;
    }
    location(place)
}
