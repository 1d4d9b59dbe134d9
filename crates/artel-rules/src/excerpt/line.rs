//! Keeps lines of any length in bounded memory.

use memchr::memrchr;

use super::marks::OutputLineMarks;
use super::visible::{standing, visible};

/// Bytes across a cut in which a notable word is still found.
pub(super) const OVERLAP: usize = 48;

/// A kept line: whole, or its beginning and its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ClippedOutputLine {
    head: Vec<u8>,
    /// The end of the line; empty if `head` is the whole line.
    tail: Vec<u8>,
    /// Full length of the line.
    bytes: u64,
}

/// A line that has not ended yet.
#[derive(Debug)]
pub(super) struct UnfinishedOutputLine {
    limit: usize,
    kept: ClippedOutputLine,
    /// The marks found so far, once the line is longer than the part of it that is kept.
    marks: OutputLineMarks,
}

impl ClippedOutputLine {
    /// Keeps at most `limit` bytes of a line.
    pub(super) fn of(line: &[u8], limit: usize) -> Self {
        let bytes = line.len() as u64;
        if line.len() <= limit {
            return Self {
                head: line.to_vec(),
                tail: Vec::new(),
                bytes,
            };
        }
        let tail = limit / 3;
        Self {
            head: line[..limit - tail].to_vec(),
            tail: line[line.len() - tail..].to_vec(),
            bytes,
        }
    }

    /// Returns whether keeping `line` would give this.
    pub(super) fn is_of(&self, line: &[u8]) -> bool {
        self.bytes == line.len() as u64
            && line.starts_with(&self.head)
            && line.ends_with(&self.tail)
    }

    /// Returns the full length of the line without its line end.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the marks of the kept parts.
    pub(super) fn marks(&self) -> OutputLineMarks {
        OutputLineMarks::of(&self.head).and(OutputLineMarks::of(&self.tail))
    }

    /// Returns the line as clean text, and whether any of its visible text is missing.
    pub(super) fn shown(&self) -> (String, bool) {
        let missing = self.bytes - (self.head.len() + self.tail.len()) as u64;
        if missing == 0 {
            return (visible(&[&self.head[..], &self.tail].concat()), false);
        }
        let last_state = standing(&self.tail);
        if memrchr(b'\r', &self.tail[..self.tail.len() - last_state.len()]).is_some() {
            // The middle was overwritten, so none of the visible text is missing.
            return (visible(&self.tail), false);
        }
        let (head, tail) = (visible(&self.head), visible(&self.tail));
        (format!("{head}[… {missing} bytes cut …]{tail}"), true)
    }
}

impl UnfinishedOutputLine {
    /// Begins a line of which at most `limit` bytes are kept.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: ClippedOutputLine::default(),
            marks: OutputLineMarks::default(),
        }
    }

    /// Returns whether nothing of the line has arrived yet.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.bytes == 0
    }

    /// Adds a piece of the line.
    pub(super) fn extend(&mut self, piece: &[u8]) {
        self.kept.bytes += piece.len() as u64;
        if self.kept.bytes <= self.limit as u64 {
            self.kept.head.extend_from_slice(piece);
            return;
        }
        let mut seam = self.recent();
        seam.extend_from_slice(&piece[..piece.len().min(OVERLAP)]);
        let marks = self.marks.and(OutputLineMarks::within(&seam));
        self.marks = marks.and(OutputLineMarks::within(piece));
        self.keep_tail(piece);
    }

    /// Finishes the line and begins the next.
    pub(super) fn end(&mut self) -> (ClippedOutputLine, OutputLineMarks) {
        let mut kept = std::mem::take(&mut self.kept);
        let marks = std::mem::take(&mut self.marks).and(OutputLineMarks::of(&kept.head));
        if kept.bytes > self.limit as u64 {
            // Bytes of the head beyond its share belong to the end, if the end is short.
            let share = self.limit - self.limit / 3;
            let spare = kept.head.split_off(share.min(kept.head.len()));
            let mut tail = [&spare[..], &kept.tail].concat();
            tail.drain(..tail.len().saturating_sub(self.limit / 3));
            kept.tail = tail;
        }
        (kept, marks)
    }

    /// Keeps the end of the input; the head is filled first.
    fn keep_tail(&mut self, piece: &[u8]) {
        let room = self.limit - self.kept.head.len().min(self.limit);
        let (head, rest) = piece.split_at(room.min(piece.len()));
        self.kept.head.extend_from_slice(head);
        let most = self.limit / 3;
        if rest.len() >= most {
            self.kept.tail.clear();
        }
        let rest = &rest[rest.len().saturating_sub(most)..];
        self.kept.tail.extend_from_slice(rest);
        let extra = self.kept.tail.len().saturating_sub(most);
        self.kept.tail.drain(..extra);
    }

    /// Returns the last bytes that arrived.
    fn recent(&self) -> Vec<u8> {
        let ClippedOutputLine { head, tail, .. } = &self.kept;
        let of_tail = tail.len().min(OVERLAP);
        let of_head = head.len().min(OVERLAP - of_tail);
        [&head[head.len() - of_head..], &tail[tail.len() - of_tail..]].concat()
    }
}
