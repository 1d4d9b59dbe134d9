//! pytest: the short summary names the tests; the blocks above it contain places and
//! messages.

use super::text::{location, millis, number_before};
use crate::checks::report::{TestCounts, TestFailureDetail, TestRunReport};

/// pytest's detailed section about one failing test.
struct PytestFailureBlock<'t> {
    name: &'t str,
    places: Vec<(String, u64)>,
    message: String,
    is_used: bool,
}

pub(super) fn parse(text: &str) -> TestRunReport {
    let lines: Vec<&str> = text.lines().collect();
    let mut report = TestRunReport::default();
    if let Some((line, took)) = lines.iter().rev().find_map(|line| closing(line)) {
        report.counts = Some(counts(line));
        report.millis = millis(took);
    }
    let mut blocks = blocks(&lines);
    for line in &lines {
        let failed = line
            .strip_prefix("FAILED ")
            .or_else(|| line.strip_prefix("ERROR "));
        if let Some(rest) = failed {
            report.add(failure(rest, &mut blocks));
        }
    }
    if report.failures.is_empty() {
        for block in blocks {
            report.add(TestFailureDetail::new(
                block.name,
                block.places.last().cloned(),
                &block.message,
            ));
        }
    }
    report
}

/// Parses the last line: `== 4 failed, 2 passed in 0.11s ==`.
fn closing(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_matches(|letter| letter == '=' || letter == ' ');
    let (counts, took) = line.rsplit_once(" in ")?;
    let is_closing =
        counts.starts_with(|letter: char| letter.is_ascii_digit()) || counts == "no tests ran";
    let took = took.split_whitespace().next()?;
    (is_closing && took.ends_with('s')).then_some((counts, took))
}

fn counts(line: &str) -> TestCounts {
    let number = |word: &str| number_before(line, word).unwrap_or(0);
    TestCounts {
        passed: number("passed").saturating_add(number("xpassed")),
        failed: number("failed")
            .saturating_add(number("error"))
            .saturating_add(number("errors")),
        skipped: number("skipped").saturating_add(number("xfailed")),
    }
}

fn blocks<'t>(lines: &[&'t str]) -> Vec<PytestFailureBlock<'t>> {
    let heads: Vec<_> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at, head(line)?)))
        .collect();
    let ends = |line: &&str| line.starts_with("====") || head(line).is_some();
    let block = |(at, name): (usize, &'t str)| {
        let body = &lines[at + 1..];
        let length = body.iter().position(ends).unwrap_or(body.len());
        let body = &body[..length];
        let errors = body.iter().filter_map(|line| line.strip_prefix("E  "));
        PytestFailureBlock {
            name,
            places: body.iter().filter_map(|line| place(line)).collect(),
            message: errors.collect::<Vec<_>>().join("\n"),
            is_used: false,
        }
    };
    heads.into_iter().map(block).collect()
}

/// Parses `____ Sums.test_bad ____`, and `ERROR at setup of test_fix` in the same frame.
fn head(line: &str) -> Option<&str> {
    let inner = line.strip_prefix("__")?.strip_suffix("__")?;
    let name = inner.trim_matches('_').trim();
    let name = [
        "ERROR at setup of ",
        "ERROR at teardown of ",
        "ERROR collecting ",
    ]
    .iter()
    .find_map(|prefix| name.strip_prefix(prefix))
    .unwrap_or(name);
    (!name.is_empty() && !name.starts_with("_ ")).then_some(name)
}

/// Parses `test_b.py:24: RuntimeError`.
fn place(line: &str) -> Option<(String, u64)> {
    let (place, _) = line
        .split_once(": ")
        .or_else(|| line.strip_suffix(':').map(|it| (it, "")))?;
    let is_place = place.contains(".py:") && !place.starts_with([' ', '>', 'E']);
    is_place.then(|| location(place)).flatten()
}

/// Parses a line of the short summary into a failure:
/// `test_a.py::Sums::test_bad - message`.
fn failure(rest: &str, blocks: &mut [PytestFailureBlock<'_>]) -> TestFailureDetail {
    let (id, message) = rest.split_once(" - ").unwrap_or((rest, ""));
    let (file, test) = id.split_once("::").unwrap_or((id, ""));
    let name = if test.is_empty() {
        file.to_owned()
    } else {
        test.replace("::", ".")
    };
    let fits = |block: &&mut PytestFailureBlock<'_>| !block.is_used && block.name == name;
    let mut fitting: Vec<_> = blocks.iter_mut().filter(fits).collect();
    let own = fitting
        .iter()
        .position(|block| block.places.iter().any(|(place, _)| place == file));
    let block = if fitting.is_empty() {
        None
    } else {
        Some(fitting.swap_remove(own.unwrap_or(0)))
    };
    let Some(block) = block else {
        let mut failure = TestFailureDetail::new(id, None, message);
        failure.file = Some(file.to_owned());
        return failure;
    };
    block.is_used = true;
    let in_test = block.places.iter().rev().find(|(place, _)| place == file);
    let place = in_test.or(block.places.last()).cloned();
    let message = if block.message.is_empty() {
        message
    } else {
        &block.message
    };
    let mut failure = TestFailureDetail::new(id, place, message);
    failure.file.get_or_insert_with(|| file.to_owned());
    failure
}
