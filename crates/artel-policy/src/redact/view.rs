//! The text as the rules see it: a rule that had to look past the end of a text which may go on
//! has not decided anything, and the view knows.

use std::cell::Cell;

use artel_types::{LOOKBACK, TextEnd};

/// How much of a line is looked at before a place. Several such looks from a place, one behind the
/// other, must not reach further back than a stream remembers.
const LONGEST_LINE: usize = 256;

const _: () = assert!(3 * LONGEST_LINE <= LOOKBACK);

/// The longest run of token characters that a rule may reach back over.
pub(super) const LONGEST_REACH: usize = 96;

/// Text with a memory of whether its open end was looked at.
pub(super) struct View<'a> {
    text: &'a [u8],
    end: TextEnd,
    /// Places before which a colour was taken out.
    seams: &'a [usize],
    touched: Cell<Touched>,
    #[cfg(test)]
    steps: Cell<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Touched {
    No,
    Yes,
}

impl<'a> View<'a> {
    pub(super) fn new(text: &'a [u8], end: TextEnd) -> Self {
        Self {
            text,
            end,
            seams: &[],
            touched: Cell::new(Touched::No),
            #[cfg(test)]
            steps: Cell::new(0),
        }
    }

    /// Names the places where a colour was taken out: a word may begin there.
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

    /// Tells whether the open end was looked at since this was asked last.
    pub(super) fn was_touched(&self) -> bool {
        self.touched.replace(Touched::No) == Touched::Yes
    }

    /// Returns the byte at `at`, or none behind the end.
    pub(super) fn get(&self, at: usize) -> Option<u8> {
        self.count(1);
        let byte = self.text.get(at).copied();
        if byte.is_none() && self.end == TextEnd::Open {
            self.touched.set(Touched::Yes);
        }
        byte
    }

    /// Counts bytes that were looked at, so that a test can tell how the work grows.
    #[cfg(test)]
    pub(super) fn count(&self, bytes: usize) {
        self.steps.set(self.steps.get() + bytes);
    }

    #[cfg(not(test))]
    #[inline]
    pub(super) fn count(&self, _: usize) {}

    /// Returns how many bytes were looked at.
    #[cfg(test)]
    pub(super) fn steps(&self) -> usize {
        self.steps.get()
    }

    /// Returns the byte before `at`.
    pub(super) fn before(&self, at: usize) -> Option<u8> {
        self.text.get(at.checked_sub(1)?).copied()
    }

    /// Returns the end of the run of such bytes that begins at `from`, at most `most` long.
    pub(super) fn run(&self, from: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        (from..from + most)
            .find(|at| !self.get(*at).is_some_and(&of))
            .unwrap_or(from + most)
    }

    /// Returns the beginning of the run of such bytes that ends before `at`.
    pub(super) fn run_before(&self, at: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
        let floor = at.saturating_sub(most.min(LONGEST_LINE));
        let run = self.text[floor..at].iter().rev();
        let length = run.take_while(|byte| of(**byte)).count();
        self.count(length);
        at - length
    }

    /// Tells whether this stands at `at`.
    pub(super) fn starts(&self, at: usize, what: &[u8]) -> bool {
        self.matches(at, what, |got, wanted| got == wanted)
    }

    /// Tells whether this lower-case word stands at `at`, in any case.
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
            self.touched.set(Touched::Yes);
        }
        false
    }

    /// Returns the position after blanks, at most `most` of them.
    pub(super) fn skip_blanks(&self, at: usize, most: usize) -> usize {
        self.run(at, most, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Returns what stands in the same line before `at`, as far back as may be looked.
    pub(super) fn line_before(&self, at: usize) -> &'a [u8] {
        let from = self.run_before(at, LONGEST_LINE, |byte| byte != b'\n');
        &self.text[from..at]
    }

    /// Tells whether a word may begin at `at`: nothing that belongs to a word stands before, but
    /// an escape such as `\n` or `%3D` may.
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

    /// Returns where a run that was followed back to `start` begins in truth: the letter of `\n` and
    /// the digits of `%3D` are no part of it.
    pub(super) fn without_escape(&self, start: usize) -> usize {
        let run = &self.text[start..];
        let digits = run.iter().take(2).filter(|byte| byte.is_ascii_hexdigit());
        match self.before(start) {
            Some(b'\\') if run.first().is_some_and(|byte| b"nrt".contains(byte)) => start + 1,
            Some(b'%') if digits.count() == 2 => start + 2,
            _ => start,
        }
    }

    /// Tells whether a colour ends at `at`: one that was taken out, or one that is spelt as in
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

/// Letters, digits and what else stands in names of settings.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whatever stands in tokens, their parts and their neighbours.
pub(super) fn is_token(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~' | b'%' | b':')
}

/// The characters of base64, plain and for URLs.
pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Tells whether `what` stands anywhere in `text`.
pub(super) fn contains(text: &[u8], what: &[u8]) -> bool {
    let first = what.first();
    (0..text.len()).any(|at| text.get(at) == first && text[at..].starts_with(what))
}
