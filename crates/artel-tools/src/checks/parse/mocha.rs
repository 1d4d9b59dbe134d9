//! mocha: numbered failures after the counts.

use super::javascript::stack_place;
use super::text::{millis, number_before};
use crate::checks::report::{TestCounts, TestFailureDetail, TestRunReport};

pub(super) fn parse(text: &str) -> TestRunReport {
    let lines: Vec<&str> = text.lines().collect();
    let mut report = TestRunReport::default();
    let mut start = None;
    for (at, line) in lines.iter().enumerate() {
        let words: Vec<_> = line.split_whitespace().collect();
        match words.as_slice() {
            [_, "passing", rest @ ..] => {
                let counts = report.counts.get_or_insert_default();
                counts.passed = number_before(line, "passing").unwrap_or(0);
                let took = rest.first().map(|took| took.trim_matches(['(', ')']));
                report.millis = took.and_then(millis);
            }
            [_, "pending"] => {
                let counts = report.counts.get_or_insert_default();
                counts.skipped = number_before(line, "pending").unwrap_or(0);
            }
            [number, "failing"] if number.parse::<u64>().is_ok() => {
                let counts: &mut TestCounts = report.counts.get_or_insert_default();
                counts.failed = number_before(line, "failing").unwrap_or(0);
                start = Some(at + 1);
            }
            _ => {}
        }
    }
    if let Some(start) = start {
        failures(&lines[start..], &mut report);
    }
    report
}

fn failures(lines: &[&str], report: &mut TestRunReport) {
    let heads: Vec<_> = (0..lines.len()).filter(|at| is_head(lines[*at])).collect();
    for (nth, at) in heads.iter().enumerate() {
        let end = heads.get(nth + 1).copied().unwrap_or(lines.len());
        report.add(failure(&lines[*at..end]));
    }
}

/// Returns whether a line begins a failure: `  1) sum`.
fn is_head(line: &str) -> bool {
    let number = line.trim_start().split_once(") ").map(|(number, _)| number);
    let indent = line.len() - line.trim_start().len();
    indent == 2 && number.is_some_and(|number| number.parse::<u64>().is_ok())
}

fn failure(body: &[&str]) -> TestFailureDetail {
    // The name spans several lines; the last of them ends with a colon.
    let length = body.iter().position(|line| line.trim_end().ends_with(':'));
    let length = length.map_or(1, |at| at + 1).min(body.len());
    let parts = body[..length]
        .iter()
        .map(|line| line.trim().trim_end_matches(':'));
    let name = parts.collect::<Vec<_>>().join(" > ");
    let name = name
        .split_once(") ")
        .map_or(name.as_str(), |(_, name)| name);
    let rest = &body[length..];
    let place = rest.iter().find_map(|line| stack_place(line));
    let is_frame = |line: &&str| line.trim_start().starts_with("at ");
    let end = rest.iter().position(is_frame).unwrap_or(rest.len());
    let message = rest[..end].join("\n");
    TestFailureDetail::new(name, place, message.trim())
}
