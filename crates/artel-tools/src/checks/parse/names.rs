//! The names of passed and skipped tests, for runners that print them. If one test
//! replaces another, the count stays the same but the names change.

use std::collections::BTreeMap;

use crate::checks::report::{TestCounts, TestNamesByOutcome};
use crate::checks::runner::TestRunner;

/// One test's outcome, from a line of output.
enum NamedTestOutcome {
    Passed(String),
    Skipped(String),
}

/// Parses test names from a runner's output. Returns `None` if the number of passed names
/// differs from the runner's own count: the output was cut or is not understood.
pub(super) fn of(
    runner: TestRunner,
    text: &str,
    counts: Option<TestCounts>,
) -> Option<TestNamesByOutcome> {
    let ended: Vec<NamedTestOutcome> = match runner {
        TestRunner::Cargo => text.lines().filter_map(cargo).collect(),
        TestRunner::Pytest => text.lines().filter_map(pytest).collect(),
        TestRunner::Unittest => unittest(text),
        TestRunner::Jest => jest(text),
        TestRunner::Vitest => text.lines().filter_map(vitest).collect(),
        // Go's tests are named in its events, which are parsed with everything else.
        _ => return None,
    };
    let mut names = TestNamesByOutcome::default();
    for one in ended {
        match one {
            NamedTestOutcome::Passed(name) => names.passed.push(name),
            NamedTestOutcome::Skipped(name) => names.skipped.push(name),
        }
    }
    let is_whole = counts.is_some_and(|counts| names.passed.len() as u64 == counts.passed);
    (is_whole && !names.is_empty()).then(|| names.told_apart())
}

impl TestNamesByOutcome {
    fn is_empty(&self) -> bool {
        self.passed.is_empty() && self.skipped.is_empty()
    }

    /// Numbers tests with the same name, and sorts all names.
    pub(crate) fn told_apart(mut self) -> Self {
        for list in [&mut self.passed, &mut self.skipped] {
            let mut seen: BTreeMap<String, u32> = BTreeMap::new();
            for name in list.iter_mut() {
                let count = seen.entry(name.clone()).or_default();
                *count += 1;
                if *count > 1 {
                    *name = format!("{name} ({count})");
                }
            }
            list.sort();
        }
        self
    }
}

/// Parses `test tests::good ... ok`, and `PASS [   0.071s] (1/4) rs tests::good` of
/// nextest.
fn cargo(line: &str) -> Option<NamedTestOutcome> {
    if let Some(rest) = line.trim_start().strip_prefix("PASS [") {
        let (_, rest) = rest.split_once(']')?;
        let rest = rest.trim_start();
        let rest = match rest.strip_prefix('(') {
            Some(counted) => counted.split_once(')')?.1.trim_start(),
            None => rest,
        };
        return Some(NamedTestOutcome::Passed(rest.to_owned()));
    }
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    // An edit above a documentation test changes its line, so the line is dropped.
    let name = match name.rsplit_once(" (line ") {
        Some((name, _)) => name,
        None => name,
    };
    match end.split(',').next()?.trim() {
        "ok" => Some(NamedTestOutcome::Passed(name.to_owned())),
        "ignored" => Some(NamedTestOutcome::Skipped(name.to_owned())),
        _ => None,
    }
}

/// Parses `test_a.py::Sums::test_good PASSED   [ 40%]`, the format of `-v`.
fn pytest(line: &str) -> Option<NamedTestOutcome> {
    let (name, rest) = [" PASSED", " XPASS", " SKIPPED", " XFAIL"]
        .iter()
        .find_map(|word| Some((line.split_once(word)?.0, *word)))?;
    if !name.contains("::") {
        return None;
    }
    let name = name.trim().to_owned();
    match rest {
        " PASSED" | " XPASS" => Some(NamedTestOutcome::Passed(name)),
        _ => Some(NamedTestOutcome::Skipped(name)),
    }
}

/// Parses `test_good (test_a.Sums.test_good) ... ok`, the format of `-v`. A line of
/// description may come between the name and the outcome.
fn unittest(text: &str) -> Vec<NamedTestOutcome> {
    let mut all = Vec::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if let Some(name) = test_of(line) {
            current = Some(name);
        }
        let Some((_, end)) = line.rsplit_once(" ... ") else {
            continue;
        };
        let Some(name) = current.take() else { continue };
        match end.trim() {
            "ok" | "unexpected success" => all.push(NamedTestOutcome::Passed(name)),
            end if end.starts_with("skipped") || end == "expected failure" => {
                all.push(NamedTestOutcome::Skipped(name));
            }
            _ => {}
        }
    }
    all
}

fn test_of(line: &str) -> Option<String> {
    let (name, rest) = line.split_once(" (")?;
    let (place, _) = rest.split_once(')')?;
    let is_name = |text: &str| {
        let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
        !text.is_empty() && text.chars().all(is_plain)
    };
    if !is_name(name) || !is_name(place) {
        return None;
    }
    Some(if place.ends_with(name) {
        place.to_owned()
    } else {
        format!("{place}.{name}")
    })
}

/// Parses the tree of `--verbose`: a file, groups by indentation, and a mark for each
/// test.
fn jest(text: &str) -> Vec<NamedTestOutcome> {
    let mut all = Vec::new();
    let (mut file, mut groups): (&str, Vec<(usize, &str)>) = ("", Vec::new());
    for line in text.lines() {
        let head = ["PASS ", "FAIL "]
            .iter()
            .find_map(|it| line.strip_prefix(it));
        if let Some(rest) = head {
            file = rest.split_whitespace().next().unwrap_or_default();
            groups.clear();
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let inner = line.trim();
        if inner.is_empty() || indent == 0 || inner.starts_with('●') {
            if !inner.is_empty() {
                (file, groups) = ("", Vec::new());
            }
            continue;
        }
        if file.is_empty() {
            continue;
        }
        groups.retain(|(depth, _)| *depth < indent);
        let mark = inner.chars().next().unwrap_or_default();
        if !['✓', '√', '✕', '×', '○', '✎'].contains(&mark) {
            groups.push((indent, inner));
            continue;
        }
        let name = without_time(inner[mark.len_utf8()..].trim());
        let name = name.strip_prefix("skipped ").unwrap_or(name);
        let path = groups.iter().map(|(_, name)| *name).chain([name]);
        let name = format!("{file} › {}", path.collect::<Vec<_>>().join(" › "));
        match mark {
            '✓' | '√' => all.push(NamedTestOutcome::Passed(name)),
            '○' | '✎' => all.push(NamedTestOutcome::Skipped(name)),
            _ => {}
        }
    }
    all
}

/// Parses ` ✓ a.test.js > sum > adds 2ms`, the format of the `verbose` reporter.
fn vitest(line: &str) -> Option<NamedTestOutcome> {
    let line = line.trim();
    let mark = line.chars().next()?;
    let name = without_time(line[mark.len_utf8()..].trim());
    if !name.contains(" > ") {
        return None;
    }
    match mark {
        '✓' | '√' => Some(NamedTestOutcome::Passed(name.to_owned())),
        '↓' | '○' => Some(NamedTestOutcome::Skipped(name.to_owned())),
        _ => None,
    }
}

/// Removes `(5 ms)` or `2ms` from the end of a name.
fn without_time(name: &str) -> &str {
    let is_time = |word: &str| {
        let word = word.trim_end_matches(')').trim_end_matches(['m', 's']);
        let number = word.trim_end().trim_start_matches('(');
        !number.is_empty() && number.chars().all(|it| it.is_ascii_digit() || it == '.')
    };
    if let Some((rest, time)) = name.rsplit_once(" (")
        && name.ends_with("s)")
        && is_time(time)
    {
        return rest;
    }
    match name.rsplit_once(' ') {
        Some((rest, time)) if time.ends_with('s') && is_time(time) => rest,
        _ => name,
    }
}
