//! Removes secrets before anything is stored.
//!
//! Known values are removed exactly, in the forms they usually travel in ([`known`]). Text
//! that only *looks* like a secret is found by [`SecretDetector`], which are passed in. Both
//! report the ranges that hide a secret; the ranges are combined, so that neither can spoil
//! what the other has to see.

mod escapes;
mod formats;
mod known;
mod stream;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::Secret;
pub use formats::{LOOKBACK, SecretDetector, SecretScanContext, SecretScanProgress, TextEnd};
use known::KnownSecrets;
pub use known::SHORTEST_KNOWN_VALUE;
pub use stream::SecretStreamRedactor;

/// The text that replaces a secret.
pub const REDACTED: &str = "[REDACTED]";

/// Removes secrets from text and bytes. Cheap to clone.
#[derive(Clone, Default)]
pub struct SecretRedactor {
    known: Option<Arc<KnownSecrets>>,
    formats: Option<Arc<dyn SecretDetector>>,
}

impl SecretRedactor {
    /// Creates a redactor that removes nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates a redactor that removes these values, both as they are and in their base64,
    /// hex, percent-encoded and escaped forms.
    pub fn of_known_values<'a>(values: impl IntoIterator<Item = &'a Secret>) -> Self {
        Self {
            known: KnownSecrets::of(values).map(Arc::new),
            formats: None,
        }
    }

    /// Also removes everything that looks like a secret to `formats`.
    #[must_use]
    pub fn with_formats(mut self, formats: Arc<dyn SecretDetector>) -> Self {
        self.formats = Some(formats);
        self
    }

    /// Returns a redactor for text that arrives in pieces.
    pub fn stream(&self) -> SecretStreamRedactor {
        SecretStreamRedactor::new(self.clone())
    }

    /// Returns whether there is anything to remove.
    pub fn finds_in(&self, bytes: &[u8]) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| known.is_in(bytes)) || !self.format_places(bytes).is_empty()
    }

    /// Returns the text with secrets removed.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(clean) => Cow::Owned(into_text(clean)),
        }
    }

    /// Returns the bytes with secrets removed.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut places = self.format_places(bytes);
        if let Some(known) = &self.known {
            known.find(bytes, 0, &mut places);
        }
        if places.is_empty() {
            return Cow::Borrowed(bytes);
        }
        places.sort_unstable_by_key(|place| (place.start, place.end));
        let mut clean = Vec::with_capacity(bytes.len());
        let mut hidden_to = 0;
        for (index, place) in places.iter().enumerate() {
            if index == 0 || place.start >= hidden_to {
                clean.extend_from_slice(&bytes[hidden_to..place.start]);
                clean.extend_from_slice(REDACTED.as_bytes());
            }
            hidden_to = hidden_to.max(place.end);
        }
        clean.extend_from_slice(&bytes[hidden_to..]);
        Cow::Owned(clean)
    }

    /// Returns JSON text with secrets removed, still valid JSON. Keys and numbers are
    /// searched too.
    pub fn redact_json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        // Escapes can spell a value in many ways; only the decoded text shows it.
        let has_work = self.known.is_some() || self.formats.is_some();
        let may_hide = has_work && json.contains('\\');
        if !may_hide && !self.finds_in(json.as_bytes()) {
            return Cow::Borrowed(json);
        }
        let Ok(mut value) = serde_json::from_str::<Value>(json) else {
            return self.redact(json);
        };
        let before = value.clone();
        self.redact_value(&mut value);
        if value == before {
            return Cow::Borrowed(json);
        }
        Cow::Owned(value.to_string())
    }

    fn format_places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        if let Some(formats) = &self.formats {
            formats.look(
                bytes,
                0,
                SecretScanContext::Nothing,
                TextEnd::Here,
                &mut places,
            );
        }
        places
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact(text).into_owned(),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => self.redact_fields(fields),
            Value::Number(number) if self.finds_in(number.to_string().as_bytes()) => {
                *value = Value::String(REDACTED.to_owned());
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    /// The name of an object's field says what its value is. Lists of settings often spell
    /// the two as `{"name": …, "value": …}`.
    fn redact_fields(&self, fields: &mut serde_json::Map<String, Value>) {
        let named = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
        let name_of_value = named("name").or_else(|| named("key"));
        *fields = std::mem::take(fields)
            .into_iter()
            .map(|(key, mut inner)| {
                let by_sibling = name_of_value.as_deref().filter(|_| key == "value");
                if self.is_secret_field(&key, &inner)
                    || by_sibling.is_some_and(|name| self.is_secret_field(name, &inner))
                {
                    inner = Value::String(REDACTED.to_owned());
                } else {
                    self.redact_value(&mut inner);
                }
                (self.redact(&key).into_owned(), inner)
            })
            .collect();
    }

    fn is_secret_field(&self, name: &str, value: &Value) -> bool {
        let Some(formats) = &self.formats else {
            return false;
        };
        match value {
            Value::String(text) => formats.is_secret_field(name, text),
            Value::Number(number) => formats.is_secret_field(name, &number.to_string()),
            Value::Array(_) | Value::Object(_) | Value::Bool(_) | Value::Null => false,
        }
    }
}

impl fmt::Debug for SecretRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let forms = self.known.as_ref().map_or(0, |known| known.forms());
        let formats = match self.formats {
            Some(_) => " and formats",
            None => "",
        };
        write!(f, "SecretRedactor({forms} forms{formats})")
    }
}

/// Ranges never split a character, so nothing is lost here. If one ever did, a replacement
/// character would be better than a crash.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-t\"st/0123+456789";

    fn redactor() -> SecretRedactor {
        SecretRedactor::of_known_values([
            &Secret::new(KEY),
            &Secret::new("short"),
            &Secret::new("1234567890"),
        ])
    }

    #[test]
    fn every_form_is_removed() {
        let url = "sk-t%22st%2F0123%2B456789";
        let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
        // "sk-t..." encoded alone, after one other byte and after two.
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
    fn a_line_that_ends_anywhere_within_base64_hides_nothing() {
        let long = "x0123456789-abcdefghijklmnopqrstuvwxyz".repeat(4);
        for secret in [KEY, &long] {
            let redactor = SecretRedactor::of_known_values([&Secret::new(secret)]);
            for before in 0..120 {
                let plain = format!("{}{secret} and more", "n".repeat(before));
                let text = base64(plain.as_bytes());
                for (columns, ending) in [(64, "\n"), (76, "\n"), (76, "\r\n")] {
                    let lines: Vec<_> = text.as_bytes().chunks(columns).collect();
                    let lines = lines.join(ending.as_bytes());
                    let wrapped = String::from_utf8(lines).unwrap();
                    let clean = redactor.redact(&wrapped).into_owned();
                    assert!(clean.contains(REDACTED), "{before} {columns}: {wrapped}");
                }
            }
        }
    }

    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digits = bytes.chunks(3).flat_map(|three| {
            let bits = (0..3).fold(0u32, |bits, at| {
                bits << 8 | u32::from(three.get(at).copied().unwrap_or(0))
            });
            (0..=three.len()).map(move |at| DIGITS[(bits >> (18 - 6 * at) & 63) as usize])
        });
        digits.map(char::from).collect()
    }

    #[test]
    fn a_secret_cut_at_any_byte_is_removed() {
        let key = "sk-\u{e4}-0123456789";
        let redactor = SecretRedactor::of_known_values([&Secret::new(key)]);
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
        let redactor = SecretRedactor::of_known_values([&secret]);
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

    /// Spells the letters that `which` selects as numbers, each after that many
    /// backslashes.
    fn in_numbers(
        text: &str,
        slashes: &str,
        which: fn(char) -> bool,
        digits: fn(u16) -> String,
    ) -> String {
        let mut units = [0; 2];
        let spelt = |letter: char| {
            if which(letter) {
                let units = letter.encode_utf16(&mut units).iter();
                units
                    .map(|unit| format!("{slashes}u{}", digits(*unit)))
                    .collect()
            } else {
                letter.to_string()
            }
        };
        text.chars().map(spelt).collect()
    }

    fn lower(unit: u16) -> String {
        format!("{unit:04x}")
    }

    fn upper(unit: u16) -> String {
        format!("{unit:04X}")
    }

    #[test]
    fn letters_spelt_as_numbers_are_removed_at_every_level_of_json() {
        let secret = "gr\u{fc}n-\u{1f511}-0123456789";
        let redactor = SecretRedactor::of_known_values([&Secret::new(secret)]);
        let every: fn(char) -> bool = |_| true;
        let odd: fn(char) -> bool = |letter| !letter.is_ascii();
        let some: fn(char) -> bool = |letter| u32::from(letter) % 2 == 1;
        for slashes in [r"\", r"\\", r"\\\\"] {
            for which in [every, odd, some] {
                for digits in [lower as fn(u16) -> String, upper] {
                    let spelt = in_numbers(secret, slashes, which, digits);
                    let text = format!("before {spelt} after {spelt}");
                    assert!(redactor.finds_in(text.as_bytes()), "{text}");
                    let clean = redactor.redact(&text).into_owned();
                    assert_eq!(clean, "before [REDACTED] after [REDACTED]", "{text}");
                }
            }
        }
    }

    #[test]
    fn letters_spelt_as_numbers_are_removed_wherever_the_text_is_cut() {
        let secret = "gr\u{fc}n-\u{1f511}-0123456789";
        let redactor = SecretRedactor::of_known_values([&Secret::new(secret)]);
        let spelt = in_numbers(secret, r"\\", |_| true, lower);
        let mixed = in_numbers(secret, r"\", |letter| !letter.is_ascii(), upper);
        let text = format!(r"a\\ {spelt}{mixed}\u00fc gr\u00fcn-\ud83d\u0041 {secret} \\\u00");
        let whole = redactor.redact(&text).into_owned();
        let expected = r"a\\ [REDACTED][REDACTED]\u00fc gr\u00fcn-\ud83d\u0041 [REDACTED] \\\u00";
        assert_eq!(whole, expected);
        for first in 0..=text.len() {
            for second in [first, (first + 3).min(text.len()), text.len()] {
                let bytes = text.as_bytes();
                let mut stream = redactor.stream();
                let mut shown = Vec::new();
                for piece in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                    shown.extend_from_slice(&stream.push_bytes(piece));
                }
                shown.extend(stream.finish_bytes());
                let shown = String::from_utf8(shown).unwrap();
                assert_eq!(shown, whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn json_within_json_of_letters_beyond_ascii_hides_nothing() {
        let secret = "p\u{e4}ss/w\u{f6}rd \"1\"\\2";
        let redactor = SecretRedactor::of_known_values([&Secret::new(secret)]);
        let odd: fn(char) -> bool = |letter| !letter.is_ascii();
        let mut text = secret.to_owned();
        for level in 1..=3 {
            let quoted = serde_json::Value::String(text).to_string();
            text = in_numbers(&quoted, r"\", odd, lower);
            let clean = redactor.redact(&text).into_owned();
            assert!(
                clean.contains(REDACTED) && !clean.contains("ss"),
                "level {level}: {text} became {clean}"
            );
        }
    }

    #[test]
    fn a_stream_of_backslashes_is_shown_as_it_comes() {
        let mut stream = redactor().stream();
        let piece = "\\".repeat(10_000);
        let shown: usize = (0..10).map(|_| stream.push(&piece).len()).sum();
        assert!(shown > 99_000, "{shown} of 100,000 were shown");
        assert_eq!(shown + stream.finish().len(), 100_000);
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
