//! The excerpt: what a model is shown of a command's output.
//!
//! Short output is shown whole. Of long output the first and the last lines are kept, and between
//! them the lines that stand out: errors, warnings, panics, positions in files, stack frames.
//! Errors and warnings are counted over all lines. What is left out is said with its size.
//!
//! The output is looked at while it comes and never held: gigabytes, with or without a line end,
//! take no more memory than the excerpt itself. Lines that are neither first, last nor telling
//! cost no more than a search.

mod line;
mod marks;
mod show;
mod visible;

use std::collections::VecDeque;

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

use line::{Kept, Open};
use marks::{Hit, Marks};
pub use show::render;
pub use visible::{marked, visible};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many lines from the beginning.
    pub first: usize,
    /// How many lines from the end.
    pub last: usize,
    /// How many telling lines between them.
    pub telling: usize,
    /// How many bytes of a line; of a longer one its beginning and its end. There is a
    /// [least](Self::SHORTEST_LINE) number.
    pub line: usize,
    /// How many bytes in all, a few words about the rest not counted.
    pub total: usize,
}

/// The excerpt of one stream while it comes.
#[derive(Debug)]
pub struct Excerpt {
    limits: Limits,
    bytes: u64,
    /// Lines that have ended.
    lines: u64,
    errors: u64,
    warnings: u64,
    /// Lines that stood out after the first ones, kept or not.
    stood_out: u64,
    /// Everything, as long as it is little.
    whole: Option<Vec<u8>>,
    first: Vec<Kept>,
    telling: Vec<Telling>,
    last: VecDeque<Kept>,
    open: Open,
}

/// What was kept of a stream that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpted {
    /// What is shown: clean text in which every gap is named with its size.
    pub text: String,
    /// How many lines there were; an unfinished one counts.
    pub lines: u64,
    /// How many bytes there were.
    pub bytes: u64,
    /// How many lines spoke of errors.
    pub errors: u64,
    /// How many lines spoke of warnings.
    pub warnings: u64,
    /// Whether anything was left out.
    pub truncated: bool,
}

/// A line that stood out, with its number.
#[derive(Debug)]
struct Telling {
    number: u64,
    line: Kept,
}

impl Limits {
    /// At least so many bytes of a line are kept, whatever is asked for.
    pub const SHORTEST_LINE: usize = 3 * line::OVERLAP;
}

impl Default for Limits {
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

impl Excerpt {
    /// Begins an excerpt.
    pub fn new(limits: Limits) -> Self {
        let limits = Limits {
            line: limits.line.max(Limits::SHORTEST_LINE),
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
            open: Open::new(limits.line),
        }
    }

    /// Takes what was printed, cut anywhere.
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

    /// Ends the excerpt.
    pub fn finish(mut self) -> Excerpted {
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
        Excerpted {
            text,
            lines: self.lines,
            bytes: self.bytes,
            errors: self.errors,
            warnings: self.warnings,
            truncated,
        }
    }

    /// Takes what ends an open line and the whole lines after it; the very last line end is left
    /// out of `bytes`.
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
            self.count(Marks::of(line));
            self.first.push(Kept::of(line, self.limits.line));
            self.lines += 1;
            rest = after;
        }
        if let Some(bytes) = rest {
            self.take_middle(bytes);
        }
    }

    /// Takes lines after the first ones, all at once: this is where gigabytes pass.
    fn take_middle(&mut self, bytes: &[u8]) {
        let (mut number, mut counted_to) = (self.lines + 1, 0);
        for Hit { from, to, marks } in marks::hits(bytes) {
            self.count(marks);
            self.stood_out += 1;
            // The same words again tell nothing more.
            let line = &bytes[from..to];
            let is_told = || self.telling.iter().rev().any(|told| told.line.is_of(line));
            if self.telling.len() < self.limits.telling && !is_told() {
                number += memchr_iter(b'\n', &bytes[counted_to..from]).count() as u64;
                counted_to = from;
                let line = Kept::of(line, self.limits.line);
                self.telling.push(Telling { number, line });
            }
        }
        self.lines += 1 + memchr_iter(b'\n', bytes).count() as u64;
        self.keep_last(bytes);
    }

    /// Keeps the last lines of these.
    fn keep_last(&mut self, bytes: &[u8]) {
        let Some(others) = self.limits.last.checked_sub(1) else {
            return;
        };
        let before = memrchr_iter(b'\n', bytes).nth(others);
        let mut rest = Some(&bytes[before.map_or(0, |end| end + 1)..]);
        while let Some(bytes) = rest {
            let (line, after) = split_line(bytes);
            self.push_last(Kept::of(line, self.limits.line));
            rest = after;
        }
    }

    fn push_last(&mut self, line: Kept) {
        if self.limits.last == 0 {
            return;
        }
        if self.last.len() == self.limits.last {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// Ends the line that was open.
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
                self.telling.push(Telling { number, line });
            }
        }
        self.push_last(line);
    }

    fn count(&mut self, marks: Marks) {
        self.errors += u64::from(marks.error);
        self.warnings += u64::from(marks.warning);
    }
}

impl Excerpted {
    /// Returns `3 errors, 1 warning in 200000 lines`, or only the lines where there is neither.
    pub fn summary(&self) -> String {
        show::summary(self.errors, self.warnings, self.lines)
    }
}

/// Splits at the first line end; without one, there is nothing after it.
fn split_line(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr(b'\n', bytes) {
        Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
        None => (bytes, None),
    }
}

#[cfg(test)]
mod tests;
