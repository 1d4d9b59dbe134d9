//! Text as a reader sees it: without terminal colours, and with the dashes, underscores
//! and full stops that a URL may spell as escapes.
//!
//! Both can stand in the middle of a token and hide it from every rule. So the rules look
//! at the normalized text, and a table maps each of its bytes back to its original place.
//! Most text needs no change, which one quick search finds out.

use std::ops::Range;

use artel_types::{SecretScanContext, SecretScanProgress, TextEnd};

const ESCAPE: u8 = 0x1b;

/// Longest colour sequence, in bytes; anything longer is text.
const LONGEST_COLOUR: usize = 32;

/// Limit on adjacent colour sequences, in bytes; the rest is treated as text. Without it,
/// endless colours would have to be held until a letter comes.
const MOST_TOGETHER: usize = 256;

/// Normalized text and where it came from.
pub(super) struct NormalizedText {
    pub(super) text: Vec<u8>,
    /// Places in the normalized text where a colour was removed.
    pub(super) seams: Vec<usize>,
    runs: Vec<NormalizedTextSegment>,
    /// End of the part of the original text that was normalized.
    end: usize,
}

/// A stretch of normalized text that was contiguous in the original.
struct NormalizedTextSegment {
    /// Start in the normalized text.
    at: usize,
    /// Start in the original text.
    from: usize,
    /// Number of original bytes per normalized byte.
    width: usize,
}

/// The text at a place that may need normalizing.
enum RawTextPiece {
    /// A colour sequence of this many bytes.
    Colour(usize),
    /// This byte, spelled as an escape.
    Escaped(u8),
    Plain,
    /// The incomplete start of a colour or an escape at the end of the text.
    Begun,
}

impl NormalizedText {
    /// Normalizes the text, or returns `None` if there is nothing to change. A possible start
    /// of a colour or an escape at an open end is left out.
    pub(super) fn of(text: &[u8], end: TextEnd) -> Option<Self> {
        let mut at = first(text, end)?;
        let mut mended = Self {
            text: Vec::with_capacity(text.len()),
            seams: Vec::new(),
            runs: Vec::new(),
            end: text.len(),
        };
        mended.take(text, 0..at);
        let mut together = 0;
        while at < text.len() {
            match piece(&text[at..], end) {
                RawTextPiece::Colour(length) if together + length > MOST_TOGETHER => {
                    mended.take(text, at..at + length);
                    at += length;
                }
                RawTextPiece::Colour(length) => {
                    mended.seams.push(mended.text.len());
                    (at, together) = (at + length, together + length);
                }
                RawTextPiece::Escaped(byte) => {
                    mended.begin(at, 3);
                    mended.text.push(byte);
                    (at, together) = (at + 3, 0);
                }
                RawTextPiece::Plain => {
                    let next = next_mark(text, at + 1);
                    mended.take(text, at..next);
                    (at, together) = (next, 0);
                }
                RawTextPiece::Begun => {
                    mended.end = at;
                    break;
                }
            }
        }
        Some(mended)
    }

    /// Returns the index of the first normalized byte that was at or after `from`.
    pub(super) fn index(&self, from: usize) -> usize {
        let next = self.runs.partition_point(|run| run.from < from);
        let after = self.runs.get(next).map_or(self.text.len(), |run| run.at);
        let Some(run) = next.checked_sub(1).and_then(|run| self.runs.get(run)) else {
            return after;
        };
        after.min(run.at + (from - run.from).div_ceil(run.width))
    }

    /// Returns the original range of a part of the normalized text.
    pub(super) fn place(&self, part: &Range<usize>) -> Range<usize> {
        let start = self.start_of(part.start);
        start..self.end_of(part.end).max(start)
    }

    /// Maps a look at the normalized text back to the original, which was examined from `from`
    /// on.
    pub(super) fn look(&self, look: SecretScanProgress, from: usize) -> SecretScanProgress {
        let (before, after) = (self.end_of(look.settled), self.start_of(look.settled));
        // A colour inside a secret belongs to it, so it waits for the bytes after it.
        let settled = match look.inside {
            SecretScanContext::Secret(_) => before,
            SecretScanContext::Nothing => after,
        };
        SecretScanProgress {
            settled: settled.max(from),
            inside: look.inside,
        }
    }

    fn start_of(&self, index: usize) -> usize {
        match self.run(index) {
            Some(run) if index < self.text.len() => run.from + (index - run.at) * run.width,
            _ => self.end,
        }
    }

    fn end_of(&self, index: usize) -> usize {
        let last = index.saturating_sub(1);
        let run = self.run(last).filter(|_| index > 0);
        run.map_or(0, |run| run.from + (last - run.at + 1) * run.width)
    }

    fn run(&self, index: usize) -> Option<&NormalizedTextSegment> {
        let after = self.runs.partition_point(|run| run.at <= index);
        self.runs.get(after.checked_sub(1)?)
    }

    fn take(&mut self, text: &[u8], part: Range<usize>) {
        if !part.is_empty() {
            self.begin(part.start, 1);
            self.text.extend_from_slice(&text[part]);
        }
    }

    fn begin(&mut self, from: usize, width: usize) {
        let at = self.text.len();
        self.runs.push(NormalizedTextSegment { at, from, width });
    }
}

/// Returns the first place that needs normalizing.
fn first(text: &[u8], end: TextEnd) -> Option<usize> {
    let mut at = 0;
    loop {
        at = next_mark(text, at);
        match piece(text.get(at..).filter(|rest| !rest.is_empty())?, end) {
            RawTextPiece::Plain => at += 1,
            RawTextPiece::Colour(_) | RawTextPiece::Escaped(_) | RawTextPiece::Begun => {
                return Some(at);
            }
        }
    }
}

/// Returns the position of the next byte that may begin a colour or an escape, or the end.
fn next_mark(text: &[u8], from: usize) -> usize {
    const BLOCK: usize = 64;
    let is_mark = |byte: &u8| matches!(*byte, ESCAPE | b'%');
    let mut at = from.min(text.len());
    for block in text[at..].chunks(BLOCK) {
        // Without an early exit, the block is compared in one go.
        let marks = block
            .iter()
            .fold(0, |marks, byte| marks | u8::from(is_mark(byte)));
        if marks != 0 {
            return at + block.iter().position(is_mark).unwrap_or(0);
        }
        at += block.len();
    }
    text.len()
}

fn piece(text: &[u8], end: TextEnd) -> RawTextPiece {
    let open = end == TextEnd::Open;
    match text {
        [ESCAPE, ..] => colour(text, end),
        [b'%', b'2', b'd' | b'D', ..] => RawTextPiece::Escaped(b'-'),
        [b'%', b'2', b'e' | b'E', ..] => RawTextPiece::Escaped(b'.'),
        [b'%', b'5', b'f' | b'F', ..] => RawTextPiece::Escaped(b'_'),
        [b'%'] | [b'%', b'2' | b'5'] if open => RawTextPiece::Begun,
        _ => RawTextPiece::Plain,
    }
}

/// Reads a colour sequence: `ESC [ … letter` or `ESC ( letter`.
fn colour(text: &[u8], end: TextEnd) -> RawTextPiece {
    let ends = match text.get(1) {
        Some(b'[') => text[2..]
            .iter()
            .position(|byte| !(b' '..=b'?').contains(byte)),
        Some(b'(' | b')') => text.get(2).map(|_| 0),
        Some(_) => return RawTextPiece::Plain,
        None => None,
    };
    match ends {
        Some(letter) if text[letter + 2].is_ascii_alphabetic() && letter < LONGEST_COLOUR => {
            RawTextPiece::Colour(letter + 3)
        }
        None if end == TextEnd::Open && text.len() < LONGEST_COLOUR => RawTextPiece::Begun,
        _ => RawTextPiece::Plain,
    }
}
