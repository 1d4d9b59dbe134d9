//! jest: a bullet for each failing test, and a table of counts at the end.

use super::javascript::stack_place;
use super::text::{millis, number_before};
use crate::checks::report::{TestCounts, TestFailureDetail, TestRunReport};

pub(super) fn parse(text: &str) -> TestRunReport {
    let lines: Vec<&str> = text.lines().collect();
    let mut report = TestRunReport::default();
    for line in &lines {
        if let Some(rest) = line.strip_prefix("Tests:") {
            let number = |word: &str| number_before(rest, word).unwrap_or(0);
            report.counts = Some(TestCounts {
                passed: number("passed"),
                failed: number("failed"),
                skipped: number("skipped").saturating_add(number("todo")),
            });
        }
        if let Some(rest) = line.strip_prefix("Time:") {
            report.millis = millis(rest.split(',').next().unwrap_or_default());
        }
    }
    let mut file = "";
    for (at, line) in lines.iter().enumerate() {
        if let Some(rest) = line.strip_prefix("FAIL ") {
            file = rest.split_whitespace().next().unwrap_or_default();
        }
        let Some(name) = line.strip_prefix("  ● ") else {
            continue;
        };
        if name.starts_with("Console") {
            continue;
        }
        let body = &lines[at + 1..];
        let ends = |line: &&str| {
            let is_text = line.starts_with("    ") || line.trim().is_empty();
            !is_text || line.starts_with("  ● ")
        };
        let length = body.iter().position(ends).unwrap_or(body.len());
        let mut failure = failure(name, file, &body[..length]);
        if failure.file.is_none() && !file.is_empty() {
            failure.file = Some(file.to_owned());
        }
        report.add(failure);
    }
    report
}

fn failure(name: &str, file: &str, body: &[&str]) -> TestFailureDetail {
    let places: Vec<_> = body.iter().filter_map(|line| stack_place(line)).collect();
    let own = places
        .iter()
        .find(|(place, _)| place.ends_with(file) && !file.is_empty());
    let place = own.or(places.first()).cloned();
    let is_frame = |line: &&&str| {
        let line = line.trim_start();
        line.starts_with("at ") || is_code(line)
    };
    let length = body
        .iter()
        .position(|line| is_frame(&line))
        .unwrap_or(body.len());
    TestFailureDetail::new(name, place, body[..length].join("\n").trim_end())
}

/// Returns whether a line belongs to a source excerpt: `> 3 |   it(…`.
fn is_code(line: &str) -> bool {
    let line = line.trim_start_matches(['>', ' ']);
    let digits = line
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(0);
    digits > 0 && line[digits..].trim_start().starts_with('|')
}
