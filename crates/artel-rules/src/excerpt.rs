//! The excerpt of a command's output that a model is shown.
//!
//! Short output is shown whole. Of long output the first and the last lines are kept, and
//! between them the lines that stand out: errors, warnings, panics, file positions, stack
//! frames. Errors and warnings are counted over all lines. Every gap is shown with its
//! size.
//!
//! The output is read as it arrives and never stored as a whole: gigabytes, with or
//! without line ends, take no more memory than the excerpt itself. A line that is neither
//! first, last nor notable costs only a search.

mod line;
mod marks;
mod show;
mod visible;

use std::collections::VecDeque;

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

use line::{ClippedOutputLine, UnfinishedOutputLine};
use marks::{MarkedLineRange, OutputLineMarks};
pub use show::render;
pub use visible::{is_hidden, marked, visible};

/// Limits on the part of the output that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputExcerptLimits {
    /// Number of lines from the beginning.
    pub first: usize,
    /// Number of lines from the end.
    pub last: usize,
    /// Number of notable lines in between.
    pub telling: usize,
    /// Most bytes of a line; of a longer one, its beginning and its end are shown. The
    /// smallest value is [`SHORTEST_LINE`](Self::SHORTEST_LINE).
    pub line: usize,
    /// Most bytes in all, not counting a few words about the rest.
    pub total: usize,
}

/// Builds the excerpt of one stream as it arrives.
#[derive(Debug)]
pub struct OutputExcerptBuilder {
    limits: OutputExcerptLimits,
    bytes: u64,
    /// Number of finished lines.
    lines: u64,
    errors: u64,
    warnings: u64,
    /// Number of notable lines after the first ones, kept or not.
    stood_out: u64,
    /// The whole output, as long as it is short.
    whole: Option<Vec<u8>>,
    first: Vec<ClippedOutputLine>,
    telling: Vec<NotableOutputLine>,
    last: VecDeque<ClippedOutputLine>,
    open: UnfinishedOutputLine,
}

/// The excerpt of a finished stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputExcerpt {
    /// Clean text in which every gap is shown with its size.
    pub text: String,
    /// Number of lines, including an unfinished one.
    pub lines: u64,
    /// Number of bytes in the stream.
    pub bytes: u64,
    /// Number of lines that mention errors.
    pub errors: u64,
    /// Number of lines that mention warnings.
    pub warnings: u64,
    /// Whether anything was left out.
    pub truncated: bool,
}

/// A notable line with its number.
#[derive(Debug)]
struct NotableOutputLine {
    number: u64,
    line: ClippedOutputLine,
}

impl OutputExcerptLimits {
    /// Smallest number of bytes that is kept of a line, whatever the caller asks for.
    pub const SHORTEST_LINE: usize = 3 * line::OVERLAP;
}

impl Default for OutputExcerptLimits {
    fn default() -> Self {
        Self {
            first: 50,
            last: 100,
            telling: 100,
            line: 2_000,
            total: 40 << 10,
        }
    }
}

impl OutputExcerptBuilder {
    pub fn new(limits: OutputExcerptLimits) -> Self {
        let limits = OutputExcerptLimits {
            line: limits.line.max(OutputExcerptLimits::SHORTEST_LINE),
            ..limits
        };
        Self {
            limits,
            bytes: 0,
            lines: 0,
            errors: 0,
            warnings: 0,
            stood_out: 0,
            whole: Some(Vec::new()),
            first: Vec::new(),
            telling: Vec::new(),
            last: VecDeque::new(),
            open: UnfinishedOutputLine::new(limits.line),
        }
    }

    /// Adds output, which may be cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if let Some(whole) = &mut self.whole {
            whole.extend_from_slice(bytes);
        }
        match memrchr(b'\n', bytes) {
            None => self.open.extend(bytes),
            Some(end) => {
                self.take_lines(&bytes[..end]);
                self.open.extend(&bytes[end + 1..]);
            }
        }
        let most = (self.limits.first + self.limits.last) as u64;
        if self.bytes > self.limits.total as u64 || self.lines > most {
            self.whole = None;
        }
    }

    /// Finishes the excerpt.
    pub fn finish(mut self) -> OutputExcerpt {
        if !self.open.is_empty() {
            self.end_open();
        }
        let mut text = String::new();
        let truncated = match self.whole.take() {
            Some(whole) => {
                show::all(&whole, &mut text);
                false
            }
            None => self.show_parts(&mut text),
        };
        OutputExcerpt {
            text,
            lines: self.lines,
            bytes: self.bytes,
            errors: self.errors,
            warnings: self.warnings,
            truncated,
        }
    }

    /// Adds the end of an open line and the whole lines after it; `bytes` lacks the very
    /// last line end.
    fn take_lines(&mut self, bytes: &[u8]) {
        let mut rest = Some(bytes);
        if !self.open.is_empty() {
            rest = rest.and_then(|bytes| {
                let (line, rest) = split_line(bytes);
                self.open.extend(line);
                self.end_open();
                rest
            });
        }
        while self.first.len() < self.limits.first {
            let Some(bytes) = rest else { return };
            let (line, after) = split_line(bytes);
            self.count(OutputLineMarks::of(line));
            self.first
                .push(ClippedOutputLine::of(line, self.limits.line));
            self.lines += 1;
            rest = after;
        }
        if let Some(bytes) = rest {
            self.take_middle(bytes);
        }
    }

    /// Adds lines after the first ones, all at once: this is where gigabytes pass.
    fn take_middle(&mut self, bytes: &[u8]) {
        let (mut number, mut counted_to) = (self.lines + 1, 0);
        for MarkedLineRange { from, to, marks } in marks::hits(bytes) {
            self.count(marks);
            self.stood_out += 1;
            // A repeated line says nothing new.
            let line = &bytes[from..to];
            let is_told = || self.telling.iter().rev().any(|told| told.line.is_of(line));
            if self.telling.len() < self.limits.telling && !is_told() {
                number += memchr_iter(b'\n', &bytes[counted_to..from]).count() as u64;
                counted_to = from;
                let line = ClippedOutputLine::of(line, self.limits.line);
                self.telling.push(NotableOutputLine { number, line });
            }
        }
        self.lines += 1 + memchr_iter(b'\n', bytes).count() as u64;
        self.keep_last(bytes);
    }

    /// Keeps the last of these lines.
    fn keep_last(&mut self, bytes: &[u8]) {
        let Some(others) = self.limits.last.checked_sub(1) else {
            return;
        };
        let before = memrchr_iter(b'\n', bytes).nth(others);
        let mut rest = Some(&bytes[before.map_or(0, |end| end + 1)..]);
        while let Some(bytes) = rest {
            let (line, after) = split_line(bytes);
            self.push_last(ClippedOutputLine::of(line, self.limits.line));
            rest = after;
        }
    }

    fn push_last(&mut self, line: ClippedOutputLine) {
        if self.limits.last == 0 {
            return;
        }
        if self.last.len() == self.limits.last {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// Finishes the open line.
    fn end_open(&mut self) {
        let (line, marks) = self.open.end();
        self.lines += 1;
        self.count(marks);
        if self.first.len() < self.limits.first {
            self.first.push(line);
            return;
        }
        if marks.stands_out {
            self.stood_out += 1;
            let is_told = self.telling.iter().rev().any(|told| told.line == line);
            if self.telling.len() < self.limits.telling && !is_told {
                let (number, line) = (self.lines, line.clone());
                self.telling.push(NotableOutputLine { number, line });
            }
        }
        self.push_last(line);
    }

    fn count(&mut self, marks: OutputLineMarks) {
        self.errors += u64::from(marks.error);
        self.warnings += u64::from(marks.warning);
    }
}

impl OutputExcerpt {
    /// Returns `3 errors, 1 warning in 200000 lines`, or only the number of lines if there
    /// are neither.
    pub fn summary(&self) -> String {
        show::summary(self.errors, self.warnings, self.lines)
    }
}

/// Splits at the first line end. Without one, there is no second part.
fn split_line(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr(b'\n', bytes) {
        Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
        None => (bytes, None),
    }
}

#[cfg(test)]
mod tests;
