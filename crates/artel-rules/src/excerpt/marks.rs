//! Finds the lines that stand out.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match};
use memchr::{memchr, memchr_iter, memrchr};

/// The words to look for, in any case, in the order of the constants below.
const WORDS: [&str; 9] = [
    "error",
    "warning",
    "failed",
    "exception",
    "panic",
    " at ",
    "\tat ",
    " file \"",
    "\tfile \"",
];
const ERROR: usize = 0;
const WARNING: usize = 1;
/// Index from which a word counts only at the beginning of a line: a stack frame.
const FRAMES: usize = 5;

/// Finds all words in one pass. Building it cannot fail, because the words are few and
/// fixed; without it, only file positions would make lines stand out.
static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(WORDS)
        .ok()
});

/// The notable things that a line mentions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OutputLineMarks {
    pub(super) error: bool,
    pub(super) warning: bool,
    pub(super) stands_out: bool,
}

/// The byte range of a line that stands out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MarkedLineRange {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) marks: OutputLineMarks,
}

impl OutputLineMarks {
    /// Returns the marks of a line.
    pub(super) fn of(line: &[u8]) -> Self {
        let mut marks = Self::within(line);
        marks.stands_out = marks.stands_out || is_frame(line);
        marks
    }

    /// Returns the marks of a piece from the middle of a line.
    pub(super) fn within(piece: &[u8]) -> Self {
        let mut marks = Self::default();
        for found in FINDER.iter().flat_map(|finder| finder.find_iter(piece)) {
            marks.add(found.pattern().as_usize());
        }
        marks.stands_out =
            marks.stands_out || memchr_iter(b':', piece).any(|at| is_position(piece, at));
        marks
    }

    /// Adds a found word. The words of a stack frame do not stand out by themselves.
    fn add(&mut self, word: usize) {
        self.error |= word == ERROR;
        self.warning |= word == WARNING;
        self.stands_out |= word < FRAMES;
    }

    /// Combines the marks of two pieces of a line.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            error: self.error || other.error,
            warning: self.warning || other.warning,
            stands_out: self.stands_out || other.stands_out,
        }
    }
}

/// Finds the lines that stand out, in order, in one pass for words and one for positions.
pub(super) fn hits(lines: &[u8]) -> impl Iterator<Item = MarkedLineRange> {
    let mut words = FINDER
        .iter()
        .flat_map(move |finder| finder.find_iter(lines))
        .peekable();
    let mut colons = memchr_iter(b':', lines)
        .filter(move |at| is_position(lines, *at))
        .peekable();
    let mut behind = 0;
    std::iter::from_fn(move || {
        loop {
            let word = words.peek().map(Match::start);
            let at = word.into_iter().chain(colons.peek().copied()).min()?;
            let from = memrchr(b'\n', &lines[behind..at]).map_or(behind, |end| behind + end + 1);
            let to = memchr(b'\n', &lines[at..]).map_or(lines.len(), |end| at + end);
            let mut marks = OutputLineMarks::default();
            while let Some(found) = words.next_if(|found| found.start() < to) {
                marks.add(found.pattern().as_usize());
            }
            while colons.next_if(|colon| *colon < to).is_some() {
                marks.stands_out = true;
            }
            behind = to;
            marks.stands_out = marks.stands_out || is_frame(&lines[from..to]);
            if marks.stands_out {
                return Some(MarkedLineRange { from, to, marks });
            }
        }
    })
}

fn is_position(lines: &[u8], colon: usize) -> bool {
    let after = &lines[colon + 1..];
    if !after.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let digits = after
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let has_column =
        after.get(digits) == Some(&b':') && after.get(digits + 1).is_some_and(u8::is_ascii_digit);
    if !has_column {
        return false;
    }
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let before = &lines[..colon];
    // File extensions are short; a longer run of letters is not one.
    let extension = before
        .iter()
        .rev()
        .take(32)
        .take_while(|byte| is_word(byte))
        .count();
    let name = &before[..colon - extension];
    extension > 0 && matches!(name, [.., stem, b'.'] if is_word(stem))
}

/// Returns whether a line begins like a stack frame: indented, then `at ` or `File "`.
fn is_frame(line: &[u8]) -> bool {
    let indent = line
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let rest = &line[indent..];
    indent > 0 && (rest.starts_with(b"at ") || rest.starts_with(b"File \""))
}
