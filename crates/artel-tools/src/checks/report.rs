//! The results of a test run: counts, and each failing test with its place and message.

use serde::Serialize;

/// Largest number of failures kept per run; nobody would read more.
pub(crate) const MOST_FAILURES: usize = 200;

/// Largest number of lines kept per message.
const MESSAGE_LINES: usize = 12;

/// Largest number of bytes kept per message.
const MESSAGE_BYTES: usize = 1000;

/// The results of one runner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct TestRunReport {
    /// Test counts, or `None` if the output does not give them.
    pub(crate) counts: Option<TestCounts>,
    /// Duration that the runner reports.
    pub(crate) millis: Option<u64>,
    pub(crate) failures: Vec<TestFailureDetail>,
    /// Names of the other tests, or `None` if the output does not name them all.
    pub(crate) names: Option<TestNamesByOutcome>,
    /// Test coverage, as the project's own tool prints it.
    pub(crate) coverage: Option<String>,
}

/// Test names by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct TestNamesByOutcome {
    pub(crate) passed: Vec<String>,
    pub(crate) skipped: Vec<String>,
}

/// Number of tests by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct TestCounts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

/// A test that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct TestFailureDetail {
    pub(crate) name: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) message: String,
}

impl TestRunReport {
    /// Adds a failure, unless it is already known or the limit is reached.
    pub(crate) fn add(&mut self, failure: TestFailureDetail) {
        if self.failures.len() < MOST_FAILURES && !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }
}

impl TestCounts {
    /// Adds the counts of another run. No output can make the sum overflow.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
    }
}

impl TestFailureDetail {
    /// Creates a failure with its message shortened.
    pub(crate) fn new(name: &str, place: Option<(String, u64)>, message: &str) -> Self {
        let (file, line) = place.unzip();
        Self {
            name: name.trim().to_owned(),
            file,
            line,
            message: shorten(message),
        }
    }

    /// Returns `file:line`, or only the file if the line is unknown.
    pub(crate) fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }
}

/// Cuts a message to its first lines.
fn shorten(message: &str) -> String {
    let mut lines: Vec<_> = message
        .trim_matches('\n')
        .lines()
        .map(str::trim_end)
        .collect();
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let filled = lines.iter().filter(|line| !line.is_empty());
    let common = filled.map(indent).min().unwrap_or(0);
    let more = lines.len() > MESSAGE_LINES;
    lines.truncate(MESSAGE_LINES);
    let lines = lines
        .iter()
        .map(|line| line.get(common..).unwrap_or(line.trim_start()));
    let mut text = lines.collect::<Vec<_>>().join("\n").trim_end().to_owned();
    if text.len() > MESSAGE_BYTES {
        let end = text.floor_char_boundary(MESSAGE_BYTES);
        text.truncate(end);
        text.push('…');
    } else if more {
        text.push_str("\n…");
    }
    text
}
