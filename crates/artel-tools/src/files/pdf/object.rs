//! PDF objects and their syntax.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut, Range};

/// Largest nesting of arrays and dictionaries.
const DEEPEST: usize = 50;

/// A PDF value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PdfObject {
    Null,
    Number(f64),
    Name(String),
    Text(Vec<u8>),
    Array(Vec<PdfObject>),
    Dict(PdfDict),
    Ref(u32),
    /// A dictionary, with the range of its data in the file.
    Stream(PdfDict, Range<usize>),
    /// A bare word: `true`, or an operator of a content stream.
    Word(Vec<u8>),
}

/// Values by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PdfDict(BTreeMap<String, PdfObject>);

/// Parses values one after the other.
pub(super) struct PdfObjectParser<'p> {
    bytes: &'p [u8],
    pub(super) at: usize,
    depth: usize,
}

impl PdfObject {
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn dict(&self) -> Option<&PdfDict> {
        match self {
            Self::Dict(dict) | Self::Stream(dict, _) => Some(dict),
            _ => None,
        }
    }
}

impl PdfDict {
    pub(super) fn is_type(&self, name: &str) -> bool {
        self.get("Type").and_then(PdfObject::name) == Some(name)
    }
}

impl Deref for PdfDict {
    type Target = BTreeMap<String, PdfObject>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for PdfDict {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'p> PdfObjectParser<'p> {
    pub(super) fn new(bytes: &'p [u8], at: usize) -> Self {
        let depth = 0;
        Self { bytes, at, depth }
    }

    /// Parses the next value. Returns `None` at the end, or at the end of an array or
    /// dictionary.
    pub(super) fn object(&mut self) -> Option<PdfObject> {
        self.skip_space();
        match (self.peek(0)?, self.peek(1)) {
            (b'/', _) => {
                self.at += 1;
                Some(PdfObject::Name(self.name()))
            }
            (b'(', _) => Some(PdfObject::Text(self.literal())),
            (b'<', Some(b'<')) => self.nested(Self::dict),
            (b'<', _) => {
                let start = self.at + 1;
                let rest = &self.bytes[start..];
                let end = rest
                    .iter()
                    .position(|byte| *byte == b'>')
                    .unwrap_or(rest.len());
                self.at = (start + end + 1).min(self.bytes.len());
                Some(PdfObject::Text(hex(&rest[..end])))
            }
            (b'[', _) => self.nested(Self::array),
            (b']' | b'>' | b')' | b'{' | b'}', _) => None,
            (b'0'..=b'9' | b'+' | b'-' | b'.', _) => Some(self.number_or_reference()),
            _ => self.word(),
        }
    }

    /// Parses the next value. Returns `None` if it is not a number.
    pub(super) fn number(&mut self) -> Option<f64> {
        self.object()?.number()
    }

    /// Skips a stray closing bracket, so that parsing can continue.
    pub(super) fn skip_byte(&mut self) -> bool {
        self.at += 1;
        self.at < self.bytes.len()
    }

    /// Skips the word `stream` and its line ending if they come next, and returns the offset
    /// of the data.
    pub(super) fn stream_start(&mut self) -> Option<usize> {
        self.skip_space();
        let rest = self.bytes.get(self.at..)?.strip_prefix(b"stream")?;
        let skip = match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            _ => 0,
        };
        Some(self.at + 6 + skip)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'%' => {
                    let rest = &self.bytes[self.at..];
                    let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                    self.at += end.unwrap_or(rest.len());
                }
                0 | b' ' | b'\t' | b'\n' | b'\r' | 0x0c => self.at += 1,
                _ => return,
            }
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> PdfObject) -> Option<PdfObject> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let object = read(self);
        self.depth -= 1;
        Some(object)
    }

    fn dict(&mut self) -> PdfObject {
        self.at += 2;
        let mut dict = PdfDict::default();
        while let Some(PdfObject::Name(key)) = self.object() {
            let Some(value) = self.object() else { break };
            dict.insert(key, value);
        }
        self.skip_space();
        if self.peek(0) == Some(b'>') {
            self.at = (self.at + 2).min(self.bytes.len());
        }
        PdfObject::Dict(dict)
    }

    fn array(&mut self) -> PdfObject {
        self.at += 1;
        let mut items = Vec::new();
        while let Some(item) = self.object() {
            items.push(item);
        }
        if self.peek(0) == Some(b']') {
            self.at += 1;
        }
        PdfObject::Array(items)
    }

    fn name(&mut self) -> String {
        let mut name = Vec::new();
        while let Some(byte) = self.peek(0).filter(|byte| is_regular(*byte)) {
            let escaped = (byte == b'#')
                .then(|| self.bytes.get(self.at + 1..self.at + 3))
                .flatten();
            let escaped = escaped.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            match escaped {
                Some(digits) => {
                    name.extend(hex(digits));
                    self.at += 3;
                }
                None => {
                    name.push(byte);
                    self.at += 1;
                }
            }
        }
        String::from_utf8_lossy(&name).into_owned()
    }

    fn number_or_reference(&mut self) -> PdfObject {
        let number = self.plain_number();
        let after = self.at;
        if number >= 0.0 && number.fract() == 0.0 {
            self.skip_space();
            if self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
                self.plain_number();
                self.skip_space();
                let follows = self.peek(1).is_none_or(|byte| !is_regular(byte));
                if self.peek(0) == Some(b'R') && follows {
                    self.at += 1;
                    return PdfObject::Ref(number as u32);
                }
            }
        }
        self.at = after;
        PdfObject::Number(number)
    }

    fn plain_number(&mut self) -> f64 {
        let start = self.at;
        self.at += 1;
        while self
            .peek(0)
            .is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
        {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        text.parse().unwrap_or(0.0)
    }

    fn word(&mut self) -> Option<PdfObject> {
        let start = self.at;
        while self.peek(0).is_some_and(is_regular) {
            self.at += 1;
        }
        if self.at == start {
            return None;
        }
        Some(match &self.bytes[start..self.at] {
            b"null" => PdfObject::Null,
            word => PdfObject::Word(word.to_vec()),
        })
    }

    /// Parses `(text)`, with escapes and nested brackets.
    fn literal(&mut self) -> Vec<u8> {
        self.at += 1;
        let (mut text, mut depth) = (Vec::new(), 1);
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escape(&mut text);
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek(0) else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' | b'f' => {}
            b'\n' => {}
            b'\r' if self.peek(0) == Some(b'\n') => self.at += 1,
            b'\r' => {}
            b'0'..=b'7' => {
                let mut value = u32::from(byte - b'0');
                for _ in 0..2 {
                    match self.peek(0) {
                        Some(digit @ b'0'..=b'7') => {
                            value = value * 8 + u32::from(digit - b'0');
                            self.at += 1;
                        }
                        _ => break,
                    }
                }
                text.push((value & 0xff) as u8);
            }
            other => text.push(other),
        }
    }
}

/// Decodes hexadecimal digits. A last digit without its pair counts as the high digit.
pub(super) fn hex(digits: &[u8]) -> Vec<u8> {
    let digits = digits.iter().take_while(|byte| **byte != b'>');
    let digits: Vec<u8> = digits
        .filter_map(|byte| char::from(*byte).to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    let pair = |pair: &[u8]| pair[0] << 4 | pair.get(1).copied().unwrap_or(0);
    digits.chunks(2).map(pair).collect()
}

fn is_regular(byte: u8) -> bool {
    !matches!(
        byte,
        0 | b' '
            | b'\t'
            | b'\n'
            | b'\r'
            | 0x0c
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'/'
            | b'%'
    )
}
