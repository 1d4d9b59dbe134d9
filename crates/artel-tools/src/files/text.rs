//! Text in files: its encoding, its characters, and the conversion back to the same bytes.
//!
//! A guessed encoding is always named in the answer. A change keeps the file's encoding
//! and byte order mark. A file whose text does not convert back to the same bytes is not
//! changed at all.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::WINDOWS_1252;

/// Encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    /// UTF-8, the usual case.
    Utf8 { mark: ByteOrderMark },
    /// Two bytes per unit.
    Utf16 {
        order: TextByteOrder,
        mark: ByteOrderMark,
    },
    /// Four bytes per character.
    Utf32 {
        order: TextByteOrder,
        mark: ByteOrderMark,
    },
    /// Neither Unicode nor binary: read as Windows-1252, which includes the letters of
    /// Latin-1.
    Guessed,
    /// The encoding that the caller named.
    Named(&'static encoding_rs::Encoding),
}

/// Whether the text begins with a byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrderMark {
    Present,
    Absent,
}

/// Byte order of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextByteOrder {
    Little,
    Big,
}

/// Why bytes cannot be decoded, or text cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextEncodingError {
    /// The bytes are not text in any encoding known here.
    Binary,
    /// The bytes do not fit the encoding that the caller named or the mark announced.
    Malformed(String),
    /// The encoding cannot represent the character.
    NoPlace(char, String),
}

const BOM: char = '\u{feff}';

impl TextEncoding {
    /// Finds an encoding by the name that a caller uses: `utf-8`, `utf-16le`, `latin1`,
    /// `shift_jis`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mark = ByteOrderMark::Absent;
        let (little, big) = (TextByteOrder::Little, TextByteOrder::Big);
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "utf-16" | "utf-16le" | "utf16" | "utf16le" => Self::Utf16 {
                order: little,
                mark,
            },
            "utf-16be" | "utf16be" => Self::Utf16 { order: big, mark },
            "utf-32" | "utf-32le" | "utf32" | "utf32le" => Self::Utf32 {
                order: little,
                mark,
            },
            "utf-32be" | "utf32be" => Self::Utf32 { order: big, mark },
            "utf-8" | "utf8" => Self::Utf8 { mark },
            other => {
                let known =
                    |label: &str| encoding_rs::Encoding::for_label_no_replacement(label.as_bytes());
                // Names as Python and iconv spell them: `latin-1`, `shift_jis`, `iso_8859_1`.
                let bare = || known(&other.replace(['-', '_', ' '], ""));
                let dashed = || known(&other.replace(['_', ' '], "-"));
                Self::Named(known(other).or_else(dashed).or_else(bare)?)
            }
        })
    }

    /// Detects the encoding of some bytes, by their mark or by what fits.
    pub(crate) fn detect(bytes: &[u8]) -> Result<Self, TextEncodingError> {
        let (little, big, mark) = (
            TextByteOrder::Little,
            TextByteOrder::Big,
            ByteOrderMark::Present,
        );
        Ok(match bytes {
            [0xff, 0xfe, 0, 0, ..] => Self::Utf32 {
                order: little,
                mark,
            },
            [0, 0, 0xfe, 0xff, ..] => Self::Utf32 { order: big, mark },
            [0xff, 0xfe, ..] => Self::Utf16 {
                order: little,
                mark,
            },
            [0xfe, 0xff, ..] => Self::Utf16 { order: big, mark },
            [0xef, 0xbb, 0xbf, ..] => Self::Utf8 { mark },
            _ => return Self::detect_unmarked(bytes),
        })
    }

    fn detect_unmarked(bytes: &[u8]) -> Result<Self, TextEncodingError> {
        let mark = ByteOrderMark::Absent;
        if let Some(order) = wide_units(bytes) {
            return Ok(Self::Utf16 { order, mark });
        }
        let controls = bytes.iter().filter(|byte| is_odd_control(**byte)).count();
        if bytes.contains(&0) || controls * 50 > bytes.len() {
            return Err(TextEncodingError::Binary);
        }
        if std::str::from_utf8(bytes).is_ok() {
            return Ok(Self::Utf8 { mark });
        }
        Ok(Self::Guessed)
    }

    /// Decodes bytes to text, without the byte order mark.
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, TextEncodingError> {
        let malformed = || TextEncodingError::Malformed(self.to_string());
        match self {
            Self::Utf8 { mark } => {
                let skip = if mark == ByteOrderMark::Present { 3 } else { 0 };
                let text = std::str::from_utf8(bytes.get(skip..).unwrap_or_default());
                text.map(Cow::Borrowed).map_err(|_| malformed())
            }
            Self::Utf16 { order, mark } => {
                let (pairs, rest) = bytes.as_chunks::<2>();
                let units = pairs.iter().map(|pair| order.unit(*pair));
                let text: Result<String, _> =
                    char::decode_utf16(units.skip(mark.units())).collect();
                text.ok()
                    .filter(|_| rest.is_empty())
                    .map(Cow::Owned)
                    .ok_or_else(malformed)
            }
            Self::Utf32 { order, mark } => {
                let (fours, rest) = bytes.as_chunks::<4>();
                let chars = fours.iter().map(|four| char::from_u32(order.long(*four)));
                let text: Option<String> = chars.skip(mark.units()).collect();
                text.filter(|_| rest.is_empty())
                    .map(Cow::Owned)
                    .ok_or_else(malformed)
            }
            Self::Guessed => Ok(WINDOWS_1252.decode_without_bom_handling(bytes).0),
            Self::Named(encoding) => encoding
                .decode_without_bom_handling_and_without_replacement(bytes)
                .ok_or_else(malformed),
        }
    }

    /// Encodes text to bytes, with the mark if there was one.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, TextEncodingError> {
        match self {
            Self::Utf8 { mark } => Ok(mark.text().bytes().chain(text.bytes()).collect()),
            Self::Utf16 { order, mark } => {
                let units = mark.text().encode_utf16().chain(text.encode_utf16());
                Ok(units.flat_map(|unit| order.pair(unit)).collect())
            }
            Self::Utf32 { order, mark } => {
                let chars = mark.text().chars().chain(text.chars());
                Ok(chars.flat_map(|char| order.four(u32::from(char))).collect())
            }
            Self::Guessed => self.encode_by(WINDOWS_1252, text),
            Self::Named(encoding) => self.encode_by(encoding, text),
        }
    }

    fn encode_by(
        self,
        encoding: &'static encoding_rs::Encoding,
        text: &str,
    ) -> Result<Vec<u8>, TextEncodingError> {
        let (bytes, _, has_gaps) = encoding.encode(text);
        if !has_gaps {
            return Ok(bytes.into_owned());
        }
        let mut letters = [0; 4];
        let lost = text
            .chars()
            .find(|char| encoding.encode(char.encode_utf8(&mut letters)).2)
            .unwrap_or(char::REPLACEMENT_CHARACTER);
        Err(TextEncodingError::NoPlace(lost, self.to_string()))
    }

    /// Returns whether the encoding is plain UTF-8, which needs no mention.
    pub(crate) fn is_plain(self) -> bool {
        self == (Self::Utf8 {
            mark: ByteOrderMark::Absent,
        })
    }
}

/// Returns the names of possible encodings, the likeliest first. An encoding that gives
/// letters of its own script comes before one that accepts any bytes.
pub(crate) fn fitting(bytes: &[u8]) -> Vec<&'static str> {
    let mut names = Vec::new();
    match TextEncoding::detect(bytes) {
        Ok(TextEncoding::Utf16 { order, .. }) => names.push(order.name("utf-16le", "utf-16be")),
        Ok(TextEncoding::Utf32 { order, .. }) => names.push(order.name("utf-32le", "utf-32be")),
        Ok(TextEncoding::Utf8 { .. }) => names.push("utf-8"),
        _ => {}
    }
    for name in ["shift_jis", "euc-jp", "euc-kr"] {
        let text = TextEncoding::named(name).and_then(|encoding| encoding.decode(bytes).ok());
        if text.is_some_and(|text| text.chars().any(is_of_the_east)) {
            names.push(name);
        }
    }
    names.push("windows-1252");
    names
}

/// Returns whether a character is kana or hangul: Japanese and Korean text has them, and
/// random bytes rarely give them.
fn is_of_the_east(char: char) -> bool {
    matches!(char, '\u{3041}'..='\u{30fa}' | '\u{ac00}'..='\u{d7a3}')
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, mark) = match self {
            Self::Utf8 { mark } => ("UTF-8", *mark),
            Self::Utf16 { order, mark } => (order.name("UTF-16LE", "UTF-16BE"), *mark),
            Self::Utf32 { order, mark } => (order.name("UTF-32LE", "UTF-32BE"), *mark),
            Self::Guessed => ("windows-1252", ByteOrderMark::Absent),
            Self::Named(encoding) => (encoding.name(), ByteOrderMark::Absent),
        };
        f.write_str(name)?;
        match mark {
            ByteOrderMark::Present => f.write_str(" with a byte order mark"),
            ByteOrderMark::Absent => Ok(()),
        }
    }
}

impl ByteOrderMark {
    fn units(self) -> usize {
        usize::from(self == Self::Present)
    }

    fn text(self) -> &'static str {
        match self {
            Self::Present => "\u{feff}",
            Self::Absent => "",
        }
    }
}

impl TextByteOrder {
    fn unit(self, pair: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(pair),
            Self::Big => u16::from_be_bytes(pair),
        }
    }

    fn long(self, four: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(four),
            Self::Big => u32::from_be_bytes(four),
        }
    }

    fn pair(self, unit: u16) -> [u8; 2] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }

    fn four(self, long: u32) -> [u8; 4] {
        match self {
            Self::Little => long.to_le_bytes(),
            Self::Big => long.to_be_bytes(),
        }
    }

    fn name(self, little: &'static str, big: &'static str) -> &'static str {
        match self {
            Self::Little => little,
            Self::Big => big,
        }
    }
}

/// Recognises two-byte text without a mark. In text of mostly Western letters every other
/// byte is zero, and no other kind of text contains zero bytes.
fn wide_units(bytes: &[u8]) -> Option<TextByteOrder> {
    let (pairs, rest) = bytes[..bytes.len().min(4096) & !1].as_chunks::<2>();
    if pairs.len() < 2 || !rest.is_empty() || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let high = pairs.iter().filter(|pair| pair[0] == 0).count();
    let low = pairs.iter().filter(|pair| pair[1] == 0).count();
    let most = pairs.len() * 7 / 10;
    let order = match (high, low) {
        (0, low) if low > most => TextByteOrder::Little,
        (high, 0) if high > most => TextByteOrder::Big,
        _ => return None,
    };
    let units = pairs.iter().map(|pair| order.unit(*pair));
    let is_text = char::decode_utf16(units)
        .all(|char| char.is_ok_and(|char| char != BOM && (!char.is_control() || is_space(char))));
    is_text.then_some(order)
}

fn is_space(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\t' | '\u{c}')
}

/// Returns whether a byte is a control byte that text does not contain. Escape does not
/// count, as logs are full of it.
fn is_odd_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x0c | 0x08 | 0x1b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(bytes: &[u8]) -> String {
        match TextEncoding::detect(bytes) {
            Ok(encoding) => {
                let text = encoding.decode(bytes).unwrap();
                format!("{encoding}: {text}")
            }
            Err(why) => format!("{why:?}"),
        }
    }

    #[test]
    fn encodings_are_found() {
        let table: [(&[u8], &str); 12] = [
            (b"", "UTF-8: "),
            ("Grüße".as_bytes(), "UTF-8: Grüße"),
            (b"\xef\xbb\xbfa", "UTF-8 with a byte order mark: a"),
            (b"\xff\xfea\0", "UTF-16LE with a byte order mark: a"),
            (b"\xfe\xff\0a", "UTF-16BE with a byte order mark: a"),
            (b"\xff\xfe\0\0a\0\0\0", "UTF-32LE with a byte order mark: a"),
            (b"\0\0\xfe\xff\0\0\0a", "UTF-32BE with a byte order mark: a"),
            (b"h\0e\0l\0l\0o\0", "UTF-16LE: hello"),
            (b"\0h\0e\0l\0l\0o", "UTF-16BE: hello"),
            (b"Gr\xfc\xdfe \x80", "windows-1252: Grüße €"),
            (b"\x7fELF\x02\x01\0\0\0", "Binary"),
            (b"\x01\x02\x03\x04", "Binary"),
        ];
        for (bytes, expected) in table {
            assert_eq!(name(bytes), expected);
        }
    }

    #[test]
    fn callers_name_encodings_and_gaps_are_named() {
        let japanese = TextEncoding::named("Shift_JIS").unwrap();
        assert_eq!(japanese.decode(b"\x93\xfa").unwrap(), "日");
        assert_eq!(japanese.encode("日").unwrap(), b"\x93\xfa");
        assert!(japanese.decode(b"\x93").is_err());
        assert!(TextEncoding::named("klingon").is_none());
        let latin = TextEncoding::named("latin1").unwrap();
        assert_eq!(
            latin.encode("a→b"),
            Err(TextEncodingError::NoPlace('→', "windows-1252".to_owned()))
        );
    }

    proptest! {
        #[test]
        fn what_is_detected_goes_back_to_the_same_bytes(bytes: Vec<u8>) {
            if let Ok(encoding) = TextEncoding::detect(&bytes)
                && let Ok(text) = encoding.decode(&bytes)
            {
                prop_assert_eq!(encoding.encode(&text).unwrap(), bytes);
            }
        }

        #[test]
        fn text_survives_every_unicode_encoding(text: String) {
            for name in ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"] {
                let encoding = TextEncoding::named(name).unwrap();
                let bytes = encoding.encode(&text).unwrap();
                prop_assert_eq!(encoding.decode(&bytes).unwrap(), text.as_str());
            }
        }
    }
}
