//! Converts the bytes of a text operator to characters.

use std::collections::HashMap;

use encoding_rs::{MACINTOSH, WINDOWS_1252};

use super::PdfFile;
use super::object::{PdfDict, PdfObject, PdfObjectParser};

/// Largest number of codes that one range of a table may fill.
const MOST_RANGE: u32 = 65_536;

/// The character table of a font.
#[derive(Debug, Clone, Default)]
pub(super) struct PdfFont {
    /// Number of bytes per code.
    width: usize,
    /// The font's own table.
    table: HashMap<u32, String>,
    /// The meaning of codes without an entry.
    base: PdfFontEncoding,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum PdfFontEncoding {
    #[default]
    Windows,
    Mac,
    /// Codes are glyph numbers, so their characters are unknown.
    Unknown,
}

impl PdfFont {
    /// Reads the font's characters as far as they are known.
    pub(super) fn read(file: &mut PdfFile<'_>, dict: &PdfDict) -> Self {
        let is_composite = file.get(dict, "Subtype").name() == Some("Type0");
        let mut font = Self {
            width: if is_composite { 2 } else { 1 },
            table: HashMap::new(),
            base: if is_composite {
                PdfFontEncoding::Unknown
            } else {
                PdfFontEncoding::Windows
            },
        };
        if !is_composite {
            font.read_encoding(file, dict);
        }
        let table = file.get(dict, "ToUnicode").clone();
        if matches!(table, PdfObject::Stream(..)) {
            let data = file.data(&table);
            font.read_table(&data);
        }
        font
    }

    /// Converts codes to characters. Unknown codes are left out.
    pub(super) fn decode(&self, codes: &[u8]) -> String {
        let mut text = String::new();
        for code in codes.chunks(self.width.max(1)) {
            let number = code
                .iter()
                .fold(0, |number, byte| number << 8 | u32::from(*byte));
            if let Some(known) = self.table.get(&number) {
                text.push_str(known);
                continue;
            }
            let encoding = match self.base {
                PdfFontEncoding::Windows => WINDOWS_1252,
                PdfFontEncoding::Mac => MACINTOSH,
                PdfFontEncoding::Unknown => continue,
            };
            text.push_str(&encoding.decode_without_bom_handling(code).0);
        }
        text.retain(|char| !char.is_control() || char == '\t');
        text
    }

    fn read_encoding(&mut self, file: &PdfFile<'_>, dict: &PdfDict) {
        let encoding = file.get(dict, "Encoding");
        let name = encoding.name().or_else(|| {
            let dict = encoding.dict()?;
            file.get(dict, "BaseEncoding").name()
        });
        if name == Some("MacRomanEncoding") {
            self.base = PdfFontEncoding::Mac;
        }
        let Some(PdfObject::Array(differences)) =
            encoding.dict().map(|dict| file.get(dict, "Differences"))
        else {
            return;
        };
        let mut code = 0;
        for item in differences {
            match file.resolve(item) {
                PdfObject::Number(number) => code = *number as u32,
                PdfObject::Name(name) => {
                    if let Some(text) = glyph(name) {
                        self.table.insert(code, text);
                    }
                    code += 1;
                }
                _ => {}
            }
        }
    }

    /// Reads a table from codes to characters: `<01> <0041>`, `<01> <05> <0041>` and
    /// `<01> <03> [<0041> <0042> <0043>]` between their `begin` and `end` words.
    fn read_table(&mut self, data: &[u8]) {
        let mut parser = PdfObjectParser::new(data, 0);
        let mut items: Vec<PdfObject> = Vec::new();
        loop {
            match parser.object() {
                Some(PdfObject::Word(word)) => {
                    match word.as_slice() {
                        b"endcodespacerange" => {
                            if let Some(PdfObject::Text(code)) = items.first() {
                                self.width = code.len().clamp(1, 4);
                            }
                        }
                        b"endbfchar" => self.add_chars(&items),
                        b"endbfrange" => self.add_ranges(&items),
                        _ => {}
                    }
                    items.clear();
                }
                Some(object) => items.push(object),
                None if !parser.skip_byte() => return,
                None => {}
            }
        }
    }

    fn add_chars(&mut self, items: &[PdfObject]) {
        for pair in items.chunks_exact(2) {
            if let [PdfObject::Text(code), PdfObject::Text(text)] = pair {
                self.table.insert(number(code), wide(text));
            }
        }
    }

    fn add_ranges(&mut self, items: &[PdfObject]) {
        for triple in items.chunks_exact(3) {
            let [PdfObject::Text(from), PdfObject::Text(to), target] = triple else {
                continue;
            };
            let (from, to) = (number(from), number(to));
            let count = to.saturating_sub(from).min(MOST_RANGE);
            match target {
                PdfObject::Text(text) => {
                    for step in 0..=count {
                        self.table.insert(from + step, advanced(text, step));
                    }
                }
                PdfObject::Array(texts) => {
                    for (step, text) in (0..=count).zip(texts) {
                        if let PdfObject::Text(text) = text {
                            self.table.insert(from + step, wide(text));
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn number(code: &[u8]) -> u32 {
    let code = code.iter().take(4);
    code.fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Decodes UTF-16, the encoding in the tables.
fn wide(bytes: &[u8]) -> String {
    let units = bytes.chunks(2).map(|pair| match pair {
        [high, low] => u16::from_be_bytes([*high, *low]),
        [low] => u16::from(*low),
        _ => 0,
    });
    char::decode_utf16(units)
        .map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Returns the text `step` places after the first of a range, by counting its last
/// character up.
fn advanced(bytes: &[u8], step: u32) -> String {
    let mut text = wide(bytes);
    if let Some(last) = text.pop() {
        text.push(char::from_u32(u32::from(last) + step).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    text
}

/// Returns the character that a glyph name stands for.
fn glyph(name: &str) -> Option<String> {
    const NAMES: &str = "space  |exclam !|quotedbl \"|numbersign #|dollar $|percent %|ampersand &|\
        quotesingle '|parenleft (|parenright )|asterisk *|plus +|comma ,|hyphen -|period .|slash /|\
        zero 0|one 1|two 2|three 3|four 4|five 5|six 6|seven 7|eight 8|nine 9|colon :|semicolon ;|\
        less <|equal =|greater >|question ?|at @|bracketleft [|backslash \\|bracketright ]|\
        asciicircum ^|underscore _|grave `|braceleft {|bar ¦|braceright }|asciitilde ~|\
        quoteleft ‘|quoteright ’|quotedblleft “|quotedblright ”|quotedblbase „|quotesinglbase ‚|\
        endash –|emdash —|bullet •|ellipsis …|fi fi|fl fl|ff ff|ffi ffi|ffl ffl|dagger †|\
        daggerdbl ‡|section §|paragraph ¶|copyright ©|registered ®|trademark ™|degree °|\
        adieresis ä|odieresis ö|udieresis ü|Adieresis Ä|Odieresis Ö|Udieresis Ü|germandbls ß|\
        eacute é|egrave è|ecircumflex ê|edieresis ë|aacute á|agrave à|acircumflex â|aring å|\
        atilde ã|ccedilla ç|iacute í|igrave ì|icircumflex î|idieresis ï|ntilde ñ|oacute ó|\
        ograve ò|ocircumflex ô|otilde õ|oslash ø|uacute ú|ugrave ù|ucircumflex û|ae æ|oe œ|\
        Eacute É|Aring Å|AE Æ|Oslash Ø|Ccedilla Ç|minus −|multiply ×|divide ÷|Euro €|sterling £|\
        yen ¥|guillemotleft «|guillemotright »|mu µ|plusminus ±";
    if name.chars().count() == 1 {
        return Some(name.to_owned());
    }
    if let Some(code) = name.strip_prefix("uni").or_else(|| name.strip_prefix('u'))
        && let Ok(code) = u32::from_str_radix(code, 16)
    {
        return char::from_u32(code).map(String::from);
    }
    if name == "bar" {
        return Some("|".to_owned());
    }
    let mut known = NAMES.split('|').filter_map(|entry| entry.split_once(' '));
    known
        .find(|(known, _)| *known == name)
        .map(|(_, text)| text.to_owned())
}
