//! Extracts the text of PDF files, as far as that is possible without a renderer.
//!
//! Objects are found by scanning the file and not through its tables, so that damaged
//! files work too. Everything has a limit: the unpacked size, the nesting of objects, the
//! number of pages. Characters come from each font's own table; the text of a font without
//! a usable table is left out, never guessed.

mod content;
mod font;
mod object;

use std::collections::{BTreeMap, BTreeSet};

use object::{PdfDict, PdfObject, PdfObjectParser};

/// Largest number of bytes unpacked in all.
const MOST_UNPACKED: usize = 64 * 1024 * 1024;
/// Largest number of pages read.
const MOST_PAGES: usize = 3000;

/// The text of a document.
#[derive(Debug)]
pub(crate) struct PdfText {
    pub(crate) text: String,
    pub(crate) pages: usize,
    /// Number of pages without any text.
    pub(crate) unreadable: usize,
}

/// Returns the text of every page, each under a line with the page's number.
pub(crate) fn text(bytes: &[u8]) -> Result<PdfText, &'static str> {
    let mut file = PdfFile::read(bytes);
    if file.is_encrypted {
        return Err("it is encrypted");
    }
    let pages = file.pages();
    if pages.is_empty() {
        return Err("no pages were found in it");
    }
    let mut document = PdfText {
        text: String::new(),
        pages: pages.len(),
        unreadable: 0,
    };
    for (number, page) in pages.iter().enumerate() {
        let text = content::page_text(&mut file, page);
        document.unreadable += usize::from(text.trim().is_empty());
        document
            .text
            .push_str(&format!("--- page {} ---\n", number + 1));
        document.text.push_str(text.trim_end());
        document.text.push('\n');
    }
    if document.unreadable == pages.len() {
        Err("its pages hold no text, or fonts without a table of characters; they may be scanned")
    } else {
        Ok(document)
    }
}

/// A file and its objects, by number.
struct PdfFile<'f> {
    bytes: &'f [u8],
    objects: BTreeMap<u32, PdfObject>,
    is_encrypted: bool,
    /// Number of bytes that may still be unpacked.
    left: usize,
}

impl<'f> PdfFile<'f> {
    fn read(bytes: &'f [u8]) -> Self {
        let mut file = Self {
            bytes,
            objects: BTreeMap::new(),
            is_encrypted: false,
            left: MOST_UNPACKED,
        };
        let mut from = 0;
        while let Some(at) = find(bytes, b"obj", from) {
            from = at + 3;
            if let Some(number) = object_number(bytes, at) {
                let mut parser = PdfObjectParser::new(bytes, at + 3);
                if let Some(object) = parser.object() {
                    let object = file.with_stream(object, &mut parser);
                    from = parser.at.max(from);
                    file.objects.insert(number, object);
                }
            }
        }
        file.unpack_objects();
        file.is_encrypted = file.objects.values().any(is_encrypted_table)
            || find_trailers(bytes).any(|trailer| trailer.contains_key("Encrypt"));
        file
    }

    /// Turns a dictionary into a stream if stream data follows it.
    fn with_stream(&self, object: PdfObject, parser: &mut PdfObjectParser<'f>) -> PdfObject {
        let PdfObject::Dict(dict) = object else {
            return object;
        };
        let Some(start) = parser.stream_start() else {
            return PdfObject::Dict(dict);
        };
        let told = dict.get("Length").and_then(PdfObject::number);
        let told = told.map(|length| start.saturating_add(length as usize));
        let is_end = |end: &usize| {
            let after = self
                .bytes
                .get(*end..end.saturating_add(20).min(self.bytes.len()));
            after.is_some_and(|after| find(after, b"endstream", 0).is_some())
        };
        let end = told
            .filter(is_end)
            .or_else(|| find(self.bytes, b"endstream", start))
            .unwrap_or(self.bytes.len());
        parser.at = end;
        PdfObject::Stream(dict, start..end)
    }

    /// Extracts the objects that are packed into streams.
    fn unpack_objects(&mut self) {
        let packed: Vec<PdfObject> = self
            .objects
            .values()
            .filter(|object| object.dict().is_some_and(|dict| dict.is_type("ObjStm")))
            .cloned()
            .collect();
        for stream in packed {
            let Some(dict) = stream.dict().cloned() else {
                continue;
            };
            let data = self.data(&stream);
            let count = dict.get("N").and_then(PdfObject::number).unwrap_or(0.0) as usize;
            let first = dict.get("First").and_then(PdfObject::number).unwrap_or(0.0) as usize;
            let mut head = PdfObjectParser::new(&data, 0);
            for _ in 0..count.min(100_000) {
                let (Some(number), Some(offset)) = (head.number(), head.number()) else {
                    break;
                };
                let at = first.saturating_add(offset as usize);
                if let Some(object) = PdfObjectParser::new(&data, at.min(data.len())).object() {
                    self.objects.entry(number as u32).or_insert(object);
                }
            }
        }
    }

    /// Follows references to the objects that they stand for.
    fn resolve<'o>(&'o self, mut object: &'o PdfObject) -> &'o PdfObject {
        for _ in 0..32 {
            match object {
                PdfObject::Ref(number) => {
                    object = self.objects.get(number).unwrap_or(&PdfObject::Null)
                }
                other => return other,
            }
        }
        &PdfObject::Null
    }

    fn get<'o>(&'o self, dict: &'o PdfDict, key: &str) -> &'o PdfObject {
        dict.get(key)
            .map_or(&PdfObject::Null, |object| self.resolve(object))
    }

    /// Returns the data of a stream, unpacked as far as its filters are known.
    fn data(&mut self, stream: &PdfObject) -> Vec<u8> {
        let PdfObject::Stream(dict, range) = stream else {
            return Vec::new();
        };
        let filters: Vec<String> = match self.get(dict, "Filter") {
            PdfObject::Name(name) => vec![name.clone()],
            PdfObject::Array(names) => names
                .iter()
                .filter_map(|name| self.resolve(name).name().map(str::to_owned))
                .collect(),
            _ => Vec::new(),
        };
        let mut data = self.bytes.get(range.clone()).unwrap_or_default().to_vec();
        for filter in filters {
            data = match filter.as_str() {
                "FlateDecode" | "Fl" => inflate(&data, self.left),
                "ASCIIHexDecode" | "AHx" => object::hex(&data),
                "ASCII85Decode" | "A85" => ascii85(&data),
                _ => return Vec::new(),
            };
            self.left = self.left.saturating_sub(data.len());
        }
        data
    }

    /// Returns the dictionaries of all pages, in order, with inherited entries.
    fn pages(&self) -> Vec<PdfDict> {
        let mut pages = Vec::new();
        let dicts = || self.objects.values().filter_map(PdfObject::dict);
        if let Some(catalog) = dicts().rfind(|dict| dict.is_type("Catalog")) {
            let root = catalog.get("Pages").unwrap_or(&PdfObject::Null);
            self.collect(root, &PdfDict::default(), &mut BTreeSet::new(), &mut pages);
        }
        if pages.is_empty() {
            pages.extend(
                dicts()
                    .filter(|dict| dict.is_type("Page"))
                    .take(MOST_PAGES)
                    .cloned(),
            );
        }
        pages
    }

    fn collect(
        &self,
        node: &PdfObject,
        above: &PdfDict,
        visited: &mut BTreeSet<u32>,
        pages: &mut Vec<PdfDict>,
    ) {
        if let PdfObject::Ref(number) = node
            && !visited.insert(*number)
        {
            return;
        }
        let Some(dict) = self.resolve(node).dict() else {
            return;
        };
        let mut dict = dict.clone();
        if !dict.contains_key("Resources")
            && let Some(resources) = above.get("Resources")
        {
            dict.insert("Resources".to_owned(), resources.clone());
        }
        match self.get(&dict, "Kids") {
            PdfObject::Array(kids) if visited.len() < 100_000 => {
                for kid in kids {
                    self.collect(kid, &dict, visited, pages);
                }
            }
            _ if pages.len() < MOST_PAGES => pages.push(dict),
            _ => {}
        }
    }
}

fn is_encrypted_table(object: &PdfObject) -> bool {
    object
        .dict()
        .is_some_and(|dict| dict.is_type("XRef") && dict.contains_key("Encrypt"))
}

fn find_trailers(bytes: &[u8]) -> impl Iterator<Item = PdfDict> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = find(bytes, b"trailer", from)?;
        from = at + 7;
        Some(match PdfObjectParser::new(bytes, from).object() {
            Some(PdfObject::Dict(dict)) => dict,
            _ => PdfDict::default(),
        })
    })
}

/// Reads the object number before `obj`: `12 0 obj`.
fn object_number(bytes: &[u8], at: usize) -> Option<u32> {
    let line = &bytes[at.saturating_sub(24)..at];
    let mut words = line
        .rsplit(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty());
    let digits = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<u32>().ok();
    if !line.last()?.is_ascii_whitespace() {
        return None;
    }
    digits(words.next()?)?;
    let number = words.next()?;
    // The text before may end without a space: `endobj12 0 obj`.
    let start = number
        .iter()
        .rposition(|byte| !byte.is_ascii_digit())
        .map_or(0, |at| at + 1);
    digits(&number[start..])
}

fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let (first, others) = wanted.split_first()?;
    let mut at = 0;
    while let Some(step) = rest[at..].iter().position(|byte| byte == first) {
        at += step;
        if rest[at + 1..].starts_with(others) {
            return Some(from + at);
        }
        at += 1;
    }
    None
}

/// Unpacks at most `most` bytes. Damaged data gives everything before the damage.
fn inflate(data: &[u8], most: usize) -> Vec<u8> {
    match miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(data, most) {
        Ok(data) => data,
        Err(error) => error.output,
    }
}

fn ascii85(data: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    let mut group = Vec::new();
    for byte in data {
        match byte {
            b'~' => break,
            b'z' if group.is_empty() => result.extend([0; 4]),
            b'!'..=b'u' => group.push(byte - b'!'),
            _ => {}
        }
        if group.len() == 5 {
            result.extend(group85(&group));
            group.clear();
        }
    }
    if group.len() > 1 {
        let count = group.len() - 1;
        group.resize(5, 84);
        result.extend(&group85(&group)[..count]);
    }
    result
}

fn group85(group: &[u8]) -> [u8; 4] {
    let value = group.iter().fold(0_u32, |value, digit| {
        value.wrapping_mul(85).wrapping_add(u32::from(*digit))
    });
    value.to_be_bytes()
}

#[cfg(test)]
#[path = "pdf/pdf_tests.rs"]
mod tests;
