//! vitest: a block for each failing test, and counts between bars at the end.

use super::text::{location, millis, number_before};
use crate::checks::report::{TestCounts, TestFailureDetail, TestRunReport};

pub(super) fn parse(text: &str) -> TestRunReport {
    let lines: Vec<&str> = text.lines().collect();
    let mut report = TestRunReport::default();
    for line in &lines {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("Tests  ") {
            let number = |word: &str| number_before(rest, word).unwrap_or(0);
            report.counts = Some(TestCounts {
                passed: number("passed"),
                failed: number("failed"),
                skipped: number("skipped").saturating_add(number("todo")),
            });
        }
        if let Some(rest) = line.strip_prefix("Duration  ") {
            report.millis = rest.split_whitespace().next().and_then(millis);
        }
    }
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = line.trim_start().strip_prefix("FAIL ") else {
            continue;
        };
        let body = &lines[at + 1..];
        let ends = |line: &&str| line.starts_with('⎯') || line.trim_start().starts_with("FAIL ");
        let length = body.iter().position(ends).unwrap_or(body.len());
        report.add(failure(name.trim(), &body[..length]));
    }
    report
}

fn failure(name: &str, body: &[&str]) -> TestFailureDetail {
    let own = name.split(" > ").next().unwrap_or(name).trim();
    // A suite that failed to load is named twice: `a.test.js [ a.test.js ]`.
    let own = own.split(" [").next().unwrap_or(own);
    let places = body.iter().filter_map(|line| {
        let frame = line.trim_start().strip_prefix("❯ ")?;
        location(frame.rsplit(' ').next()?)
    });
    let places: Vec<_> = places.collect();
    let place = places
        .iter()
        .find(|(file, _)| file.ends_with(own))
        .or(places.first())
        .cloned();
    let frame = |line: &&str| line.trim_start().starts_with("❯ ");
    let length = body.iter().position(frame).unwrap_or(body.len());
    let mut failure = TestFailureDetail::new(name, place, &body[..length].join("\n"));
    failure.file.get_or_insert_with(|| own.to_owned());
    failure
}
