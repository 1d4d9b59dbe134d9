//! Redaction of text that comes in pieces.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::{Inside, LOOKBACK, Look, REDACTED, Redactor, TextEnd, into_text};

/// What was shown and is no longer needed is dropped when it is that long.
const COMPACT_AFTER: usize = 4096;

/// Takes secrets out of text that comes in pieces, also where one is cut in two. What may be the
/// beginning of a secret is held back until the next piece shows what it is; however long a secret
/// is, what is held stays small.
#[derive(Clone, Default)]
pub struct RedactedStream {
    redactor: Redactor,
    /// What is not shown yet, and a little of what was, to judge the rest by.
    text: Vec<u8>,
    /// How far the text was shown or hidden,
    done: usize,
    /// how far a place reaches whose mark was shown,
    hidden_to: usize,
    /// and how far known values and formats were looked for.
    known_to: usize,
    formats_to: usize,
    inside: Inside,
    /// Places that were found and not hidden yet.
    places: Vec<Range<usize>>,
}

impl RedactedStream {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            ..Self::default()
        }
    }

    /// Takes a piece and returns what can be shown by now.
    pub fn push<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        match self.push_bytes(piece.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(piece),
            Cow::Owned(shown) => Cow::Owned(into_text(shown)),
        }
    }

    /// Takes a piece of bytes, which may end anywhere, and returns what can be shown by now.
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

    /// Returns what was held back: nothing more comes. Text may begin anew afterwards.
    pub fn finish(&mut self) -> String {
        into_text(self.finish_bytes())
    }

    /// Returns what was held back as bytes: nothing more comes. Text may begin anew afterwards.
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
        // Only whole characters are shown; what is not text at all has no such place nearby.
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
        let Look { settled, inside } =
            formats.look(&self.text, from, before, end, &mut self.places);
        if let (Inside::Secret(_), Some(first)) = (before, self.places.get_mut(known_places))
            && first.start == from
        {
            // It goes on from the byte before, so it gets no mark of its own.
            first.start = from.saturating_sub(1);
        }
        (self.formats_to, self.inside) = (settled, inside);
    }

    /// Shows the text up to `ready` with a mark for each place that begins before.
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
        // Without formats nobody looks back.
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

impl fmt::Debug for RedactedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.text.len().saturating_sub(self.done);
        write!(f, "RedactedStream({held} bytes held)")
    }
}
