//! `cargo test` and `cargo nextest`: both name the thread of a panic after its test.

use super::text::{location, millis, number_before};
use crate::checks::report::{TestCounts, TestFailureDetail, TestRunReport};

/// The heading of one test's output.
const HEADING: &str = "---- ";

pub(super) fn parse(text: &str) -> TestRunReport {
    let lines: Vec<&str> = text.lines().collect();
    let mut report = TestRunReport::default();
    let summary = lines
        .iter()
        .find(|line| line.trim_start().starts_with("Summary ["));
    match summary {
        Some(line) => nextest(&lines, line, &mut report),
        None => libtest(&lines, &mut report),
    }
    if report.counts.is_none() {
        compiler(&lines, &mut report);
    }
    report
}

fn libtest(lines: &[&str], report: &mut TestRunReport) {
    for line in lines
        .iter()
        .filter(|line| line.starts_with("test result: "))
    {
        let counts = report.counts.get_or_insert_default();
        counts.add(TestCounts {
            passed: number_before(line, "passed").unwrap_or(0),
            failed: number_before(line, "failed").unwrap_or(0),
            skipped: number_before(line, "ignored").unwrap_or(0),
        });
        let took = line
            .rsplit_once("finished in ")
            .and_then(|(_, took)| millis(took));
        let sum = report.millis.unwrap_or(0).saturating_add(took.unwrap_or(0));
        report.millis = Some(sum);
    }
    for (at, line) in lines.iter().enumerate() {
        let name = line
            .strip_prefix(HEADING)
            .and_then(|rest| rest.strip_suffix(" ----"));
        let Some(name) = name else { continue };
        let name = name
            .strip_suffix(" stdout")
            .or(name.strip_suffix(" stderr"))
            .unwrap_or(name);
        let body = &lines[at + 1..];
        let ends = |line: &&str| line.starts_with(HEADING) || **line == *"failures:";
        let length = body.iter().position(ends).unwrap_or(body.len());
        report.add(failure(name, &body[..length]));
    }
}

fn nextest(lines: &[&str], summary: &str, report: &mut TestRunReport) {
    report.counts = Some(TestCounts {
        passed: number_before(summary, "passed").unwrap_or(0),
        failed: number_before(summary, "failed").unwrap_or(0)
            + number_before(summary, "timed").unwrap_or(0),
        skipped: number_before(summary, "skipped").unwrap_or(0),
    });
    let took = summary
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    report.millis = took.and_then(|(took, _)| millis(took));
    let mut seen = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = nextest_failed(line) else {
            continue;
        };
        if seen.contains(&name) {
            continue;
        }
        seen.push(name.clone());
        let body = &lines[at + 1..];
        let ends = |line: &&str| status_line(line) || line.starts_with('─');
        let length = body.iter().position(ends).unwrap_or(body.len());
        report.add(failure(&name, &body[..length]));
    }
}

fn status_line(line: &str) -> bool {
    let words = [
        "PASS [",
        "FAIL [",
        "SLOW [",
        "SIGABRT [",
        "SIGSEGV [",
        "TIMEOUT [",
        "Summary [",
    ];
    words.iter().any(|word| line.trim_start().starts_with(word))
}

/// Parses `FAIL [   0.124s] (2/4) shop::whole fails`.
fn nextest_failed(line: &str) -> Option<String> {
    let line = line.trim_start();
    let failed = ["FAIL [", "SIGABRT [", "SIGSEGV [", "TIMEOUT ["];
    let rest = failed.iter().find_map(|word| line.strip_prefix(word))?;
    let (_, rest) = rest.split_once(']')?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(counted) => counted.split_once(')')?.1.trim_start(),
        None => rest,
    };
    Some(rest.to_owned())
}

fn failure(name: &str, body: &[&str]) -> TestFailureDetail {
    let panic = body.iter().position(|line| line.contains("panicked at "));
    let Some(at) = panic else {
        let message = body
            .iter()
            .find(|line| line.trim_start().starts_with("Error: "));
        let message = message.map_or_else(|| body.join("\n"), |line| (*line).to_owned());
        return TestFailureDetail::new(name, doc_place(name), &message);
    };
    let (_, place) = body[at].split_once("panicked at ").unwrap_or_default();
    // Before 2023, the message was on the same line, in quotes.
    if let Some((message, place)) = place
        .strip_prefix('\'')
        .and_then(|rest| rest.rsplit_once("', "))
    {
        return TestFailureDetail::new(name, location(place), message);
    }
    let ends = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("note: ") || line.starts_with("stack backtrace")
    };
    let rest = &body[at + 1..];
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    TestFailureDetail::new(name, location(place), &rest[..length].join("\n"))
}

/// Reads the place of a documentation test from its name: `src/lib.rs - one (line 1)`.
fn doc_place(name: &str) -> Option<(String, u64)> {
    let (file, rest) = name.split_once(" - ")?;
    let (_, line) = rest.rsplit_once("(line ")?;
    Some((file.to_owned(), line.trim_end_matches(')').parse().ok()?))
}

/// Reads compiler errors: with those, no test has run.
fn compiler(lines: &[&str], report: &mut TestRunReport) {
    for (at, line) in lines.iter().enumerate() {
        let is_error = line.starts_with("error: ") || line.starts_with("error[");
        let arrow = lines
            .get(at + 1)
            .and_then(|next| next.trim_start().strip_prefix("--> "));
        if let (true, Some(place)) = (is_error, arrow) {
            report.add(TestFailureDetail::new(
                "(does not compile)",
                location(place),
                line,
            ));
        }
    }
}
