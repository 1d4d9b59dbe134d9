//! Runners of which only the counts are parsed; the failures appear in the output that is
//! shown.

use super::text::{millis, number_after, number_before};
use crate::checks::report::{TestCounts, TestRunReport};
use crate::checks::runner::TestRunner;

pub(super) fn parse(runner: TestRunner, text: &str) -> TestRunReport {
    let lines = || text.lines().rev();
    let counts = match runner {
        TestRunner::Rspec => {
            lines().find_map(|line| of_all(line, ["examples", "example"], "pending"))
        }
        TestRunner::Mix => lines().find_map(|line| of_all(line, ["tests", "test"], "skipped")),
        TestRunner::Minitest => lines().find_map(|line| of_all(line, ["runs", "tests"], "skips")),
        TestRunner::Maven => lines().find_map(|line| labelled(line, "Tests run:")),
        TestRunner::Phpunit => lines().find_map(phpunit),
        TestRunner::Ctest => lines().find_map(ctest),
        TestRunner::Bun => bun(text),
        _ => None,
    };
    let took = lines().find_map(|line| line.strip_prefix("Finished in "));
    TestRunReport {
        counts,
        millis: took.and_then(millis),
        ..TestRunReport::default()
    }
}

/// Parses `12 examples, 1 failure, 2 pending`.
fn of_all(line: &str, all: [&str; 2], skipped: &str) -> Option<TestCounts> {
    let number = |word: &str| number_before(line, word);
    let total = number(all[0]).or(number(all[1]))?;
    let failures = number("failures").or(number("failure"))?;
    let failed = failures.saturating_add(number("errors").or(number("error")).unwrap_or(0));
    let skipped = number(skipped).unwrap_or(0);
    Some(rest_passed(total, failed, skipped))
}

/// Parses `Tests run: 4, Failures: 1, Errors: 0, Skipped: 1`.
fn labelled(line: &str, all: &str) -> Option<TestCounts> {
    let number = |label: &str| number_after(line, label).unwrap_or(0);
    let total = number_after(line, all)?;
    let failed = number("Failures:").saturating_add(number("Errors:"));
    Some(rest_passed(total, failed, number("Skipped:")))
}

fn phpunit(line: &str) -> Option<TestCounts> {
    if let Some(rest) = line.strip_prefix("OK (") {
        let total = number_before(rest, "tests").or(number_before(rest, "test"))?;
        return Some(rest_passed(total, 0, 0));
    }
    line.starts_with("Tests:")
        .then(|| labelled(line, "Tests:"))
        .flatten()
}

/// Parses `75% tests passed, 1 tests failed out of 4`.
fn ctest(line: &str) -> Option<TestCounts> {
    let (_, rest) = line.split_once("tests passed, ")?;
    let failed = number_before(rest, "tests").or(number_before(rest, "test"))?;
    let total = number_after(rest, "out of ")?;
    Some(rest_passed(total, failed, 0))
}

/// Parses ` 2 pass`, ` 1 fail`, ` 1 skip`, each on its own line.
fn bun(text: &str) -> Option<TestCounts> {
    let number = |word: &str| {
        text.lines().rev().find_map(
            |line| match line.split_whitespace().collect::<Vec<_>>()[..] {
                [number, last] if last == word => number.parse::<u64>().ok(),
                _ => None,
            },
        )
    };
    Some(TestCounts {
        passed: number("pass")?,
        failed: number("fail")?,
        skipped: number("skip")
            .unwrap_or(0)
            .saturating_add(number("todo").unwrap_or(0)),
    })
}

fn rest_passed(total: u64, failed: u64, skipped: u64) -> TestCounts {
    TestCounts {
        passed: total.saturating_sub(failed).saturating_sub(skipped),
        failed,
        skipped,
    }
}
