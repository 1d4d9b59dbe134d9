//! Redaction of text that arrives in pieces.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::{
    LOOKBACK, REDACTED, SecretRedactor, SecretScanContext, SecretScanProgress, TextEnd, into_text,
};

/// Shown bytes that are no longer needed are dropped once there are this many.
const COMPACT_AFTER: usize = 4096;

/// Removes secrets from text that arrives in pieces, even a secret that is cut in two. Text
/// that may be the beginning of a secret is held back until the next piece shows what it
/// is. The held text stays small, however long a secret is.
#[derive(Clone, Default)]
pub struct SecretStreamRedactor {
    redactor: SecretRedactor,
    /// The text that is not shown yet, and a little of the shown text, to judge the rest
    /// by.
    text: Vec<u8>,
    /// How far the text was shown or hidden.
    done: usize,
    /// End of the last range whose mark was shown.
    hidden_to: usize,
    /// How far the text was searched for known values; `formats_to` is the same for
    /// formats.
    known_to: usize,
    formats_to: usize,
    inside: SecretScanContext,
    /// Ranges that were found and are not hidden yet.
    places: Vec<Range<usize>>,
}

impl SecretStreamRedactor {
    pub(super) fn new(redactor: SecretRedactor) -> Self {
        Self {
            redactor,
            ..Self::default()
        }
    }

    /// Adds a piece and returns the text that can be shown by now.
    pub fn push<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        match self.push_bytes(piece.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(piece),
            Cow::Owned(shown) => Cow::Owned(into_text(shown)),
        }
    }

    /// Adds a piece of bytes, which may end anywhere, and returns the bytes that can be
    /// shown by now.
    pub fn push_bytes<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        if self.redactor.formats.is_none() && self.text.is_empty() {
            let Some(known) = &self.redactor.known else {
                return Cow::Borrowed(piece);
            };
            if known.find(piece, 0, &mut self.places) == piece.len() && self.places.is_empty() {
                return Cow::Borrowed(piece);
            }
            self.places.clear();
        }
        self.text.extend_from_slice(piece);
        let shown = self.advance(TextEnd::Open);
        self.compact();
        Cow::Owned(shown)
    }

    /// Ends the text and returns what was held back. The stream can then be used for a new
    /// text.
    pub fn finish(&mut self) -> String {
        into_text(self.finish_bytes())
    }

    /// Ends the text and returns the held-back bytes. The stream can then be used for a new
    /// text.
    pub fn finish_bytes(&mut self) -> Vec<u8> {
        let shown = self.advance(TextEnd::Here);
        let redactor = std::mem::take(&mut self.redactor);
        *self = Self::new(redactor);
        shown
    }

    fn advance(&mut self, end: TextEnd) -> Vec<u8> {
        let length = self.text.len();
        self.known_to = match &self.redactor.known {
            Some(known) => known.find(&self.text, self.known_to, &mut self.places),
            None => length,
        };
        if end == TextEnd::Here {
            self.known_to = length;
        }
        self.look_for_formats(end);
        self.places
            .sort_unstable_by_key(|place| (place.start, place.end));
        let mut ready = self.known_to.min(self.formats_to);
        // Only whole characters are shown. Bytes that are not text have no boundary nearby.
        for _ in 0..3 {
            let inside_character = self.text.get(ready).is_some_and(|byte| byte & 0xc0 == 0x80);
            ready -= usize::from(inside_character && ready > self.done);
        }
        self.show(ready)
    }

    fn look_for_formats(&mut self, end: TextEnd) {
        let Some(formats) = &self.redactor.formats else {
            self.formats_to = self.text.len();
            return;
        };
        let (from, before, known_places) = (self.formats_to, self.inside, self.places.len());
        let SecretScanProgress { settled, inside } =
            formats.look(&self.text, from, before, end, &mut self.places);
        if let (SecretScanContext::Secret(_), Some(first)) =
            (before, self.places.get_mut(known_places))
            && first.start == from
        {
            // The secret continues from the byte before, so it gets no mark of its own.
            first.start = from.saturating_sub(1);
        }
        (self.formats_to, self.inside) = (settled, inside);
    }

    /// Shows the text up to `ready`, with a mark for each range that begins before that.
    fn show(&mut self, ready: usize) -> Vec<u8> {
        let mut shown = Vec::with_capacity(ready.saturating_sub(self.done));
        let begun = self.places.partition_point(|place| place.start < ready);
        for place in self.places.drain(..begun) {
            if place.start >= self.hidden_to {
                let from = self.done.max(self.hidden_to);
                shown.extend_from_slice(&self.text[from..place.start]);
                shown.extend_from_slice(REDACTED.as_bytes());
                self.done = place.start;
            }
            self.hidden_to = self.hidden_to.max(place.end);
        }
        let from = self.done.max(self.hidden_to);
        shown.extend_from_slice(self.text.get(from..ready).unwrap_or_default());
        self.done = ready;
        shown
    }

    fn compact(&mut self) {
        let needed = self.done.min(self.known_to).min(self.formats_to);
        // Without formats, nothing looks back.
        let context = match self.redactor.formats {
            Some(_) => LOOKBACK,
            None => 0,
        };
        let gone = needed.saturating_sub(context);
        if gone == 0 || (gone < COMPACT_AFTER && gone < self.text.len()) {
            return;
        }
        self.text.drain(..gone);
        self.done -= gone;
        self.known_to -= gone;
        self.formats_to -= gone;
        self.hidden_to = self.hidden_to.saturating_sub(gone);
        for place in &mut self.places {
            *place = place.start.saturating_sub(gone)..place.end - gone;
        }
    }
}

impl fmt::Debug for SecretStreamRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.text.len().saturating_sub(self.done);
        write!(f, "SecretStreamRedactor({held} bytes held)")
    }
}
