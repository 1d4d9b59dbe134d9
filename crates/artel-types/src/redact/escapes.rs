//! Decodes characters that JSON spells as `\uXXXX`, and remembers where each one was.
//!
//! Writers differ in which characters they spell like this, and JSON travels within JSON,
//! which doubles the backslashes at every level. There are too many such spellings to
//! search for each of them, but the text that they spell is always the same.

use std::ops::Range;

use super::known::find_byte;

/// Length of an escape after its backslashes: `u` and four digits.
const LENGTH: usize = 5;

/// Maximum number of backslashes held back at the end of a text: JSON six times within JSON
/// has 64.
const MOST_HELD: usize = 64;

/// A text with its escapes decoded.
#[derive(Debug, Default)]
pub(super) struct UnescapedText {
    pub(super) text: Vec<u8>,
    /// How much of `text` is certain. After that, an escape may have begun that has not
    /// fully arrived.
    pub(super) certain: usize,
    spans: Vec<UnescapedSpan>,
    /// Where in the original text the part after `certain` begins.
    open_from: usize,
}

/// Maps a range of the original text to the range in the decoded text.
#[derive(Debug)]
struct UnescapedSpan {
    /// The range in the original text.
    came: Range<usize>,
    /// The range in the decoded text.
    reads: Range<usize>,
}

impl UnescapedText {
    /// Decodes the escapes of a text, or returns `None` if there are none and none can
    /// begin at its end. Positions count from the beginning of `text`, of which only the
    /// part after `from` is read.
    pub(super) fn of(text: &[u8], from: usize) -> Option<Self> {
        let mut unescaped = Self::default();
        let mut copied = from;
        let mut at = from;
        let mut open_from = None;
        while let Some(next) = text.get(at..).and_then(|rest| find_byte(rest, b'\\')) {
            let begins = at + next;
            match BackslashSequence::at(text, begins) {
                BackslashSequence::None { until } => at = until,
                BackslashSequence::Letter { letter, until } => {
                    unescaped.copy(text, copied..begins);
                    unescaped.put(letter, begins..until);
                    (copied, at) = (until, until);
                }
                BackslashSequence::Open { begins } => {
                    open_from = Some(begins);
                    break;
                }
            }
        }
        if unescaped.spans.is_empty() && open_from.is_none() {
            return None;
        }
        let ends = open_from.unwrap_or(text.len());
        unescaped.copy(text, copied..ends);
        unescaped.certain = unescaped.text.len();
        unescaped.open_from = ends;
        Some(unescaped)
    }

    /// Returns the range in the original text for a range in the decoded text.
    pub(super) fn came(&self, reads: &Range<usize>) -> Range<usize> {
        self.start(reads.start)..self.end(reads.end)
    }

    /// Returns how far the original text is settled if the decoded text is settled up to
    /// `reads`.
    pub(super) fn settled(&self, reads: usize) -> usize {
        if reads >= self.certain {
            return self.open_from;
        }
        self.start(reads)
    }

    fn start(&self, reads: usize) -> usize {
        let index = self.spans.partition_point(|span| span.reads.start <= reads);
        let span = index.checked_sub(1).and_then(|at| self.spans.get(at));
        span.map_or(reads, |span| {
            if span.is_letter() {
                span.came.start
            } else {
                span.came.start + (reads - span.reads.start)
            }
        })
    }

    fn end(&self, reads: usize) -> usize {
        let index = self.spans.partition_point(|span| span.reads.start < reads);
        let span = index.checked_sub(1).and_then(|at| self.spans.get(at));
        span.map_or(reads, |span| {
            if span.is_letter() {
                span.came.end
            } else {
                span.came.start + (reads - span.reads.start)
            }
        })
    }

    fn copy(&mut self, text: &[u8], came: Range<usize>) {
        if came.is_empty() {
            return;
        }
        let begins = self.text.len();
        self.text.extend_from_slice(&text[came.clone()]);
        let reads = begins..self.text.len();
        self.spans.push(UnescapedSpan { came, reads });
    }

    fn put(&mut self, letter: char, came: Range<usize>) {
        let begins = self.text.len();
        let mut bytes = [0; 4];
        self.text
            .extend_from_slice(letter.encode_utf8(&mut bytes).as_bytes());
        let reads = begins..self.text.len();
        self.spans.push(UnescapedSpan { came, reads });
    }
}

impl UnescapedSpan {
    /// An escape is always longer than the character it spells.
    fn is_letter(&self) -> bool {
        self.came.len() != self.reads.len()
    }
}

/// The result of reading at a backslash.
enum BackslashSequence {
    /// Not an escape; reading continues at `until`.
    None { until: usize },
    /// An escaped character.
    Letter { letter: char, until: usize },
    /// The text ends before this can be decided.
    Open { begins: usize },
}

impl BackslashSequence {
    fn at(text: &[u8], begins: usize) -> Self {
        let UnicodeEscapeUnit { unit, until } = match UnicodeEscapeUnit::at(text, begins) {
            Ok(unit) => unit,
            Err(other) => return other,
        };
        if let Some(letter) = char::from_u32(u32::from(unit)) {
            return Self::Letter { letter, until };
        }
        // A character beyond the first 65,536 is spelt as two units.
        let low = match UnicodeEscapeUnit::at(text, until) {
            Ok(low) => low,
            Err(Self::Open { .. }) => return Self::Open { begins },
            Err(_) => return Self::None { until },
        };
        let mut letters = char::decode_utf16([unit, low.unit]);
        match letters.next() {
            Some(Ok(letter)) => Self::Letter {
                letter,
                until: low.until,
            },
            _ => Self::None { until },
        }
    }
}

/// One `\uXXXX`, after any number of backslashes.
struct UnicodeEscapeUnit {
    unit: u16,
    until: usize,
}

impl UnicodeEscapeUnit {
    fn at(text: &[u8], begins: usize) -> Result<Self, BackslashSequence> {
        let rest = text.get(begins..).unwrap_or_default();
        let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
        let until = begins + slashes;
        let letters = &rest[slashes..rest.len().min(slashes + LENGTH)];
        let is_part = |(index, byte): (usize, &u8)| match index {
            0 => *byte == b'u',
            _ => byte.is_ascii_hexdigit(),
        };
        let is_so_far = letters.iter().enumerate().all(is_part);
        if is_so_far && letters.len() < LENGTH {
            let held = slashes.min(MOST_HELD);
            return Err(BackslashSequence::Open {
                begins: until - held,
            });
        }
        let digits = (slashes > 0 && is_so_far)
            .then(|| letters.get(1..))
            .flatten();
        let digits = digits.and_then(|it| std::str::from_utf8(it).ok());
        let unit = digits.and_then(|it| u16::from_str_radix(it, 16).ok());
        match unit {
            Some(unit) => Ok(Self {
                unit,
                until: until + LENGTH,
            }),
            None => Err(BackslashSequence::None {
                until: until.max(begins + 1),
            }),
        }
    }
}
