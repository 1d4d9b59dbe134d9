//! The text as the rules see it. It records whether a rule had to look past an open end,
//! in which case the rule has not decided anything.

use std::cell::Cell;

use artel_types::{LOOKBACK, TextEnd};

/// Number of bytes of a line that are examined before a place. Several such looks in a row
/// from one place must not reach further back than a stream remembers.
const LONGEST_LINE: usize = 256;

const _: () = assert!(3 * LONGEST_LINE <= LOOKBACK);

/// Longest run of token characters that a rule may reach back over, in bytes.
pub(super) const LONGEST_REACH: usize = 96;

/// Text that remembers whether its open end was examined.
pub(super) struct SecretScanText<'a> {
    text: &'a [u8],
    end: TextEnd,
    /// Places where a colour was removed.
    seams: &'a [usize],
    touched: Cell<OpenEndState>,
    #[cfg(test)]
    steps: Cell<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenEndState {
    No,
    Yes,
}

impl<'a> SecretScanText<'a> {
    pub(super) fn new(text: &'a [u8], end: TextEnd) -> Self {
        Self {
            text,
            end,
            seams: &[],
            touched: Cell::new(OpenEndState::No),
            #[cfg(test)]
            steps: Cell::new(0),
        }
    }

    /// Sets the places where a colour was removed: a word may begin there.
    pub(super) fn with_seams(mut self, seams: &'a [usize]) -> Self {
        self.seams = seams;
        self
    }

    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn is_open(&self) -> bool {
        self.end == TextEnd::Open
    }

    /// Returns whether the open end was examined since the last call.
    pub(super) fn was_touched(&self) -> bool {
        self.touched.replace(OpenEndState::No) == OpenEndState::Yes
    }

    /// Returns the byte at `at`, or `None` after the end.
    pub(super) fn get(&self, at: usize) -> Option<u8> {
        self.count(1);
        let byte = self.text.get(at).copied();
        if byte.is_none() && self.end == TextEnd::Open {
            self.touched.set(OpenEndState::Yes);
        }
        byte
    }

    /// Counts examined bytes, so that a test can measure how the work grows.
    #[cfg(test)]
    pub(super) fn count(&self, bytes: usize) {
        self.steps.set(self.steps.get() + bytes);
    }

    #[cfg(not(test))]
    #[inline]
    pub(super) fn count(&self, _: usize) {}

    /// Returns the number of examined bytes.
    #[cfg(test)]
    pub(super) fn steps(&self) -> usize {
        self.steps.get()
    }

    /// Returns the byte just before `at`.
    pub(super) fn before(&self, at: usize) -> Option<u8> {
        self.text.get(at.checked_sub(1)?).copied()
    }

    /// Returns the end of the run of matching bytes that starts at `from`, at most `most`
    /// long.
    pub(super) fn run(&self, from: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        (from..from + most)
            .find(|at| !self.get(*at).is_some_and(&of))
            .unwrap_or(from + most)
    }

    /// Returns the start of the run of matching bytes that ends before `at`, at most `most`
    /// long.
    pub(super) fn run_before(&self, at: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        let floor = at.saturating_sub(most.min(LONGEST_LINE));
        let run = self.text[floor..at].iter().rev();
        let length = run.take_while(|byte| of(**byte)).count();
        self.count(length);
        at - length
    }

    /// Returns whether `what` stands at `at`.
    pub(super) fn starts(&self, at: usize, what: &[u8]) -> bool {
        self.matches(at, what, |got, wanted| got == wanted)
    }

    /// Returns whether a lower-case word stands at `at`, in any case.
    pub(super) fn starts_any_case(&self, at: usize, what: &[u8]) -> bool {
        self.matches(at, what, |got, wanted| got.eq_ignore_ascii_case(wanted))
    }

    fn matches(&self, at: usize, what: &[u8], same: impl Fn(&[u8], &[u8]) -> bool) -> bool {
        self.count(what.len());
        if let Some(got) = self.text.get(at..at + what.len()) {
            return same(got, what);
        }
        let got = self.text.get(at..).unwrap_or_default();
        let so_far = same(got, &what[..got.len()]);
        if so_far && self.is_open() {
            self.touched.set(OpenEndState::Yes);
        }
        false
    }

    /// Returns the position after at most `most` blanks.
    pub(super) fn skip_blanks(&self, at: usize, most: usize) -> usize {
        self.run(at, most, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Returns the text before `at` in the same line, as far back as rules may look.
    pub(super) fn line_before(&self, at: usize) -> &'a [u8] {
        let from = self.run_before(at, LONGEST_LINE, |byte| byte != b'\n');
        &self.text[from..at]
    }

    /// Returns whether a word may begin at `at`: no character of a word precedes it, other
    /// than the end of an escape such as `\n` or `%3D`.
    pub(super) fn begins_word(&self, at: usize) -> bool {
        let Some(before) = self.before(at) else {
            return true;
        };
        if !before.is_ascii_alphanumeric() {
            return true;
        }
        let escaped = at >= 2 && self.text[at - 2] == b'\\' && b"nrt".contains(&before);
        let percent = at >= 3 && self.text[at - 3] == b'%' && before.is_ascii_hexdigit();
        let unicode = at >= 6 && self.text[at - 6..].starts_with(b"\\u00");
        escaped || percent || unicode || self.is_coloured(at)
    }

    /// Returns the true start of a run that was followed back to `start`: the letter of `\n`
    /// and the digits of `%3D` do not belong to it.
    pub(super) fn without_escape(&self, start: usize) -> usize {
        let run = &self.text[start..];
        let digits = run.iter().take(2).filter(|byte| byte.is_ascii_hexdigit());
        match self.before(start) {
            Some(b'\\') if run.first().is_some_and(|byte| b"nrt".contains(byte)) => start + 1,
            Some(b'%') if digits.count() == 2 => start + 2,
            _ => start,
        }
    }

    /// Returns whether a colour ends at `at`, either a removed one or one spelled like
    /// `\u001b[31m`.
    fn is_coloured(&self, at: usize) -> bool {
        if self.seams.binary_search(&at).is_ok() {
            return true;
        }
        let start = self.run_before(at, 16, |byte| byte != b'[');
        let inside = self.text[start..at].strip_suffix(b"m");
        let spelt = [&b"1b["[..], b"1B[", b"033["];
        inside.is_some_and(|inside| inside.iter().all(|byte| b"0123456789;".contains(byte)))
            && spelt.iter().any(|end| self.text[..start].ends_with(end))
    }
}

/// Returns whether a byte occurs in names of settings.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns whether a byte occurs in tokens, their parts and their neighbours.
pub(super) fn is_token(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~' | b'%' | b':')
}

/// Returns whether a byte is a base64 character, plain or for URLs.
pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Returns whether `what` occurs anywhere in `text`.
pub(super) fn contains(text: &[u8], what: &[u8]) -> bool {
    let first = what.first();
    (0..text.len()).any(|at| text.get(at) == first && text[at..].starts_with(what))
}
