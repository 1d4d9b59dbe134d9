//! Removes secrets before anything is stored.
//!
//! This file knows exact values, in the forms they usually travel in. Formats (what *looks* like
//! a key) come with the policy crate and are handed in the same way.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::Secret;

/// What stands where a secret stood.
pub const REDACTED: &str = "[REDACTED]";

/// Shorter known values are not removed: they would tear holes into ordinary text.
pub const SHORTEST_KNOWN_VALUE: usize = 8;

/// Takes secrets out of text and bytes. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Option<Arc<Known>>,
}

struct Known {
    finder: AhoCorasick,
    needles: Vec<Vec<u8>>,
}

/// Takes secrets out of text that comes in pieces, also where one is cut in two. What may be the
/// beginning of a secret is held back until the next piece shows what it is.
#[derive(Clone, Default)]
pub struct RedactedStream {
    redactor: Redactor,
    held: String,
}

impl Redactor {
    /// Makes a redactor that removes nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Makes a redactor that removes these values: as they are, and in their base64, hex,
    /// percent-encoded and JSON-escaped forms.
    pub fn of_known_values<'a>(values: impl IntoIterator<Item = &'a Secret>) -> Self {
        let needles: Vec<Vec<u8>> = values
            .into_iter()
            .map(Secret::expose)
            .filter(|value| value.len() >= SHORTEST_KNOWN_VALUE)
            .flat_map(forms)
            .collect();
        if needles.is_empty() {
            return Self::none();
        }
        let known = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&needles);
        // Building fails only past gigabytes of needles; then removing everything is the safe way.
        let finder = known.or_else(|_| AhoCorasick::new([""])).ok();
        Self {
            known: finder.map(|finder| Arc::new(Known { finder, needles })),
        }
    }

    /// Begins to take secrets out of text that comes in pieces.
    pub fn stream(&self) -> RedactedStream {
        RedactedStream {
            redactor: self.clone(),
            held: String::new(),
        }
    }

    /// Tells whether there is anything to remove.
    pub fn finds_in(&self, bytes: &[u8]) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.finder.is_match(bytes))
    }

    /// Returns the text without secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.known {
            Some(known) if known.finder.is_match(text) => Cow::Owned(replace(&known.finder, text)),
            _ => Cow::Borrowed(text),
        }
    }

    /// Returns the bytes without secrets.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let known = self.known.as_ref().map(|known| &known.finder);
        let Some(known) = known.filter(|known| known.is_match(bytes)) else {
            return Cow::Borrowed(bytes);
        };
        let mut clean = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for found in known.find_iter(bytes) {
            clean.extend_from_slice(&bytes[from..found.start()]);
            clean.extend_from_slice(REDACTED.as_bytes());
            from = found.end();
        }
        clean.extend_from_slice(&bytes[from..]);
        Cow::Owned(clean)
    }

    /// Returns JSON text without secrets, still valid JSON: also keys and numbers are looked at.
    pub fn redact_json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        // Escapes can spell a value in many ways; only the decoded text shows it.
        let may_hide = self.known.is_some() && json.contains('\\');
        if !may_hide && !self.finds_in(json.as_bytes()) {
            return Cow::Borrowed(json);
        }
        match serde_json::from_str::<serde_json::Value>(json) {
            Ok(mut value) => {
                let before = value.clone();
                self.redact_value(&mut value);
                if value == before {
                    return Cow::Borrowed(json);
                }
                Cow::Owned(value.to_string())
            }
            Err(_) => self.redact(json),
        }
    }

    fn redact_value(&self, value: &mut serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::String(text) => *text = self.redact(text).into_owned(),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => {
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(|(key, mut inner)| {
                        self.redact_value(&mut inner);
                        (self.redact(&key).into_owned(), inner)
                    })
                    .collect();
            }
            Value::Number(number) if self.finds_in(number.to_string().as_bytes()) => {
                *value = Value::String(REDACTED.to_owned());
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }
}

impl RedactedStream {
    /// Takes a piece and returns what can be shown by now.
    pub fn push<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        let Some(known) = &self.redactor.known else {
            return Cow::Borrowed(piece);
        };
        if self.held.is_empty() && !known.finder.is_match(piece) && known.open_tail(piece) == 0 {
            return Cow::Borrowed(piece);
        }
        self.held.push_str(piece);
        let mut clean = replace(&known.finder, &self.held);
        let tail = known.open_tail(&clean);
        self.held = clean.split_off(clean.len() - tail);
        Cow::Owned(clean)
    }

    /// Returns what was held back: nothing more comes, so it is no secret.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

impl Known {
    /// Returns how many bytes at the end may be the beginning of a secret.
    fn open_tail(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let open = |needle: &Vec<u8>| {
            let longest = (needle.len() - 1).min(bytes.len());
            (1..=longest)
                .rev()
                .find(|length| bytes.ends_with(&needle[..*length]))
        };
        let mut tail = self.needles.iter().filter_map(open).max().unwrap_or(0);
        while !text.is_char_boundary(bytes.len() - tail) {
            tail += 1;
        }
        tail
    }
}

fn replace(known: &AhoCorasick, text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    known.replace_all_with(text, &mut clean, |_, _, out| {
        out.push_str(REDACTED);
        true
    });
    clean
}

/// Returns the ways in which a value may be spelt in text that carries it.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let escaped = |text: &str| {
        let quoted = serde_json::Value::String(text.to_owned()).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    // JSON often travels as text within JSON.
    let (once, twice) = (escaped(value), escaped(&escaped(value)));
    let mut forms = vec![
        bytes.to_vec(),
        hex.to_ascii_uppercase().into_bytes(),
        hex.into_bytes(),
        percent_encoded(bytes).into_bytes(),
        once.into_bytes(),
        twice.into_bytes(),
    ];
    for offset in 0..3 {
        forms.push(base64_inside(bytes, offset, b'+', b'/'));
        forms.push(base64_inside(bytes, offset, b'-', b'_'));
    }
    forms.retain(|form| form.len() >= SHORTEST_KNOWN_VALUE);
    forms.sort();
    forms.dedup();
    forms
}

fn percent_encoded(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|&byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// Returns the base64 characters that depend on `bytes` alone when `offset` other bytes (0 to 2)
/// stand before them in the same encoded text.
fn base64_inside(bytes: &[u8], offset: usize, plus: u8, slash: u8) -> Vec<u8> {
    let digit = |six: u32| match six {
        0..26 => b'A' + six as u8,
        26..52 => b'a' + (six - 26) as u8,
        52..62 => b'0' + (six - 52) as u8,
        62 => plus,
        _ => slash,
    };
    let first_bit = offset * 8;
    let last_bit = first_bit + bytes.len() * 8;
    let bit = |at: usize| u32::from(bytes[(at - first_bit) / 8] >> (7 - (at % 8)) & 1);
    (first_bit.div_ceil(6)..last_bit / 6)
        .map(|group| digit((group * 6..group * 6 + 6).fold(0, |six, at| six << 1 | bit(at))))
        .collect()
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns = self.known.as_ref().map_or(0, |known| known.needles.len());
        write!(f, "Redactor({patterns} forms)")
    }
}

impl fmt::Debug for RedactedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedactedStream({} bytes held)", self.held.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-t\"st/0123+456789";

    fn redactor() -> Redactor {
        Redactor::of_known_values([
            &Secret::new(KEY),
            &Secret::new("short"),
            &Secret::new("1234567890"),
        ])
    }

    #[test]
    fn every_form_is_removed() {
        let url = "sk-t%22st%2F0123%2B456789";
        let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
        // "sk-t..." encoded alone, after one and after two other bytes.
        for carrier in [
            KEY.to_owned(),
            url.to_owned(),
            hex.to_uppercase(),
            hex,
            "c2stdCJzdC8wMTIzKzQ1Njc4OQ==".to_owned(),
            "eHNrLXQic3QvMDEyMys0NTY3ODk=".to_owned(),
            "eHhzay10InN0LzAxMjMrNDU2Nzg5".to_owned(),
        ] {
            let text = format!("before {carrier} after");
            let clean = redactor().redact(&text).into_owned();
            assert!(clean.contains(REDACTED), "{clean}");
            assert!(
                clean.starts_with("before ") && clean.ends_with(" after"),
                "{clean}"
            );
            assert_eq!(clean.as_bytes(), &*redactor().redact_bytes(text.as_bytes()));
        }
    }

    #[test]
    fn a_secret_cut_at_any_byte_is_removed() {
        let key = "sk-\u{e4}-0123456789";
        let redactor = Redactor::of_known_values([&Secret::new(key)]);
        let text = format!("a sk- b {key}{key} sk-\u{e4}-01234 end");
        let whole = redactor.redact(&text).into_owned();
        assert_eq!(whole, "a sk- b [REDACTED][REDACTED] sk-\u{e4}-01234 end");
        let cuts: Vec<usize> = (0..=text.len())
            .filter(|at| text.is_char_boundary(*at))
            .collect();
        for first in &cuts {
            for second in cuts.iter().filter(|second| *second >= first) {
                let mut stream = redactor.stream();
                let pieces = [&text[..*first], &text[*first..*second], &text[*second..]];
                let mut shown: String = pieces.iter().map(|piece| stream.push(piece)).collect();
                shown.push_str(&stream.finish());
                assert_eq!(shown, whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn harmless_text_and_short_values_stay() {
        for text in ["", "a short text", "123456789", "sk-test"] {
            assert!(matches!(redactor().redact(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn escapes_and_json_within_json_hide_nothing() {
        let secret = Secret::new("p\u{e4}ssw\u{f6}rd \"1\"");
        let redactor = Redactor::of_known_values([&secret]);
        let inner = serde_json::json!({ "k": secret.expose() }).to_string();
        for text in [
            r#"{"a":"p\u00e4ssw\u00f6rd \u00221\u0022"}"#.to_owned(),
            serde_json::json!({ "a": inner }).to_string(),
            serde_json::json!({ "a": serde_json::json!({ "b": inner }).to_string() }).to_string(),
        ] {
            let clean = redactor.redact_json(&text).into_owned();
            assert!(
                clean.contains(REDACTED) && !clean.contains("ssw"),
                "{clean}"
            );
        }
    }

    #[test]
    fn json_stays_json() {
        let payload = serde_json::json!({ KEY: [KEY, 1_234_567_890, {"deep": KEY}], "n": 5 });
        let clean = redactor().redact_json(&payload.to_string()).into_owned();
        let value: serde_json::Value = serde_json::from_str(&clean).unwrap();
        assert_eq!(
            value,
            serde_json::json!({ REDACTED: [REDACTED, REDACTED, {"deep": REDACTED}], "n": 5 })
        );
    }
}
