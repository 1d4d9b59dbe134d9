//! Python's `unittest`: tracebacks between ruled lines, counts at the end.

use super::text::{millis, number_after, number_before};
use crate::checks::report::{TestCounts, TestFailureDetail, TestRunReport};

pub(super) fn parse(text: &str) -> TestRunReport {
    let lines: Vec<&str> = text.lines().collect();
    let mut report = TestRunReport::default();
    for (at, line) in lines.iter().enumerate() {
        let head = line
            .strip_prefix("FAIL: ")
            .or_else(|| line.strip_prefix("ERROR: "));
        if let Some(head) = head {
            let body = lines.get(at + 2..).unwrap_or_default();
            let ends = |line: &&str| line.starts_with("=====") || line.starts_with("-----");
            let length = body.iter().position(ends).unwrap_or(body.len());
            report.add(failure(head, &body[..length]));
        }
    }
    let ran = lines
        .iter()
        .rev()
        .find(|line| line.starts_with("Ran ") && line.contains(" in "));
    if let Some(ran) = ran {
        let all = number_before(ran, "tests")
            .or(number_before(ran, "test"))
            .unwrap_or(0);
        report.millis = ran.rsplit_once(" in ").and_then(|(_, took)| millis(took));
        let is_end = |line: &&&str| line.starts_with("OK") || line.starts_with("FAILED (");
        let end = lines.iter().rev().find(is_end).copied().unwrap_or_default();
        report.counts = Some(counts(all, end));
    }
    report
}

fn counts(all: u64, end: &str) -> TestCounts {
    let number = |label: &str| number_after(end, label).unwrap_or(0);
    // `expected failures=` also ends in `failures=`.
    let expected = number("expected failures=");
    let end_without = end.replace("expected failures=", "");
    let failures = number_after(&end_without, "failures=").unwrap_or(0);
    let failed = failures
        .saturating_add(number("errors="))
        .saturating_add(number("unexpected successes="));
    let skipped = number("skipped=").saturating_add(expected);
    TestCounts {
        passed: all.saturating_sub(failed).saturating_sub(skipped),
        failed,
        skipped,
    }
}

fn failure(head: &str, body: &[&str]) -> TestFailureDetail {
    let name = head.split_once(" (").map_or(head, |(name, _)| name);
    let full = head
        .split_once(" (")
        .map_or(head, |(_, rest)| rest.trim_end_matches(')'));
    let shown = if full.ends_with(name) {
        full.to_owned()
    } else {
        format!("{full}.{name}")
    };
    let frames: Vec<_> = body
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at, frame(line)?)))
        .collect();
    let own = frames
        .iter()
        .rev()
        .find(|(_, (_, _, function))| function == name);
    let chosen = own.or(frames.last());
    let place = chosen.map(|(_, (file, line, _))| (file.clone(), *line));
    let last = frames.last().map_or(0, |(at, _)| at + 1);
    let rest = body[last..]
        .iter()
        .skip_while(|line| line.starts_with("    "));
    let message = rest.copied().collect::<Vec<_>>().join("\n");
    TestFailureDetail::new(&shown, place, &message)
}

/// Parses `  File "/home/me/test_a.py", line 12, in test_error`.
fn frame(line: &str) -> Option<(String, u64, String)> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let (number, function) = rest.split_once(", in ").unwrap_or((rest, ""));
    Some((
        file.to_owned(),
        number.trim().parse().ok()?,
        function.trim().to_owned(),
    ))
}
