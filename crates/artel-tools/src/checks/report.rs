//! What a run of tests came to: counts, and each failing test with its place and its message.

use serde::Serialize;

/// Failures that are kept of one run; more would not be read.
pub(crate) const MOST_FAILURES: usize = 200;

/// Lines that are kept of one message.
const MESSAGE_LINES: usize = 12;

/// Bytes that are kept of one message.
const MESSAGE_BYTES: usize = 1000;

/// The results of one runner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Report {
    /// How many of each; nothing if the output did not say.
    pub(crate) counts: Option<Counts>,
    /// How long the runner says it took.
    pub(crate) millis: Option<u64>,
    /// Tests that failed.
    pub(crate) failures: Vec<Failure>,
    /// The names of the others; nothing if the output did not say them all.
    pub(crate) names: Option<Names>,
    /// How much of the code they run, in the words of the project's own tool.
    pub(crate) coverage: Option<String>,
}

/// Tests by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Names {
    pub(crate) passed: Vec<String>,
    pub(crate) skipped: Vec<String>,
}

/// How many tests ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

/// A test that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Failure {
    pub(crate) name: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) message: String,
}

impl Report {
    /// Adds a failure, unless it is known or there are too many.
    pub(crate) fn add(&mut self, failure: Failure) {
        if self.failures.len() < MOST_FAILURES && !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }
}

impl Counts {
    /// Adds those of another run; no output can make the sum overflow.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
    }
}

impl Failure {
    /// Makes one; the message is cut to what is worth reading.
    pub(crate) fn new(name: &str, place: Option<(String, u64)>, message: &str) -> Self {
        let (file, line) = place.unzip();
        Self {
            name: name.trim().to_owned(),
            file,
            line,
            message: shorten(message),
        }
    }

    /// Returns `file:line`, as far as it is known.
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
