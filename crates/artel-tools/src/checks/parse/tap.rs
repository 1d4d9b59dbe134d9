//! TAP, as `node --test` prints it: a line for each test, with its details indented below.

use super::text::{location, millis};
use crate::checks::report::{TestCounts, TestFailureDetail, TestRunReport};

pub(super) fn parse(text: &str) -> TestRunReport {
    let lines: Vec<&str> = text.lines().collect();
    let mut report = TestRunReport::default();
    let mut parents = 0;
    let mut counted = TestCounts::default();
    let mut is_tap = false;
    for (at, line) in lines.iter().enumerate() {
        is_tap |= line.starts_with("TAP version") || is_plan(line);
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if let Some(rest) = trimmed.strip_prefix("not ok ") {
            let facts = facts(&lines[at + 1..], indent);
            if facts.contains("failureType: 'subtestsFailed'") {
                parents += 1
            } else {
                counted.failed += 1;
                report.add(failure(rest, &facts));
            }
        } else if let Some(rest) = trimmed.strip_prefix("ok ") {
            if rest.contains("# SKIP") || rest.contains("# TODO") {
                counted.skipped += 1
            } else {
                counted.passed += 1
            }
        }
    }
    report.counts = summary(&lines, parents).or(is_tap.then_some(counted));
    let took = lines
        .iter()
        .rev()
        .find_map(|line| line.strip_prefix("# duration_ms "));
    report.millis = took.and_then(|took| millis(&format!("{took}ms")));
    report
}

/// Returns whether a line is a plan: `1..4`.
fn is_plan(line: &str) -> bool {
    line.strip_prefix("1..")
        .is_some_and(|rest| rest.parse::<u64>().is_ok())
}

/// Parses the counts at the end. A parent test fails along with its subtests and is not
/// counted again.
fn summary(lines: &[&str], parents: u64) -> Option<TestCounts> {
    let number = |label: &str| {
        let rest = lines
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix(label))?;
        rest.trim().parse::<u64>().ok()
    };
    let failed = number("# fail ")?.saturating_add(number("# cancelled ").unwrap_or(0));
    let skipped = number("# skipped ").unwrap_or(0);
    Some(TestCounts {
        passed: number("# pass ")?,
        failed: failed.saturating_sub(parents),
        skipped: skipped.saturating_add(number("# todo ").unwrap_or(0)),
    })
}

/// Returns the indented block between `---` and `...`.
fn facts(lines: &[&str], indent: usize) -> String {
    let inside =
        |line: &&&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
    let block = lines
        .iter()
        .take_while(inside)
        .take_while(|line| line.trim() != "...");
    block.copied().collect::<Vec<_>>().join("\n")
}

fn failure(rest: &str, facts: &str) -> TestFailureDetail {
    let name = rest.split_once(" - ").map_or(rest, |(_, name)| name);
    let place = value(facts, "location").and_then(|place| location(&place));
    let message = value(facts, "error").unwrap_or_default();
    // The stack contains the line that failed, the location only the start of the test.
    let file = place
        .as_ref()
        .map(|(file, _)| file.clone())
        .unwrap_or_default();
    let frames = facts.lines().filter_map(|line| {
        let (_, place) = line.rsplit_once('(')?;
        location(place.trim_end_matches(')'))
    });
    let mut frames = frames.filter(|(other, _)| !file.is_empty() && *other == file);
    TestFailureDetail::new(name, frames.next().or(place), &message)
}

/// Reads a field of the block: a quoted text, or lines indented below `|-`.
fn value(facts: &str, field: &str) -> Option<String> {
    let lines: Vec<&str> = facts.lines().collect();
    let label = format!("{field}: ");
    let at = lines
        .iter()
        .position(|line| line.trim_start().starts_with(&label))?;
    let own = lines[at].trim_start().strip_prefix(&label)?;
    if !own.starts_with('|') {
        return Some(own.trim_matches(['\'', '"']).to_owned());
    }
    let indent = lines[at].len() - lines[at].trim_start().len();
    let inside =
        |line: &&&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
    let block = lines[at + 1..].iter().take_while(inside);
    Some(block.copied().collect::<Vec<_>>().join("\n"))
}
