//! Interprets the text operators of a page, and finds where lines and words end.

use std::collections::HashMap;

use super::PdfFile;
use super::font::PdfFont;
use super::object::{PdfDict, PdfObject, PdfObjectParser};

/// Largest nesting of forms within forms.
const DEEPEST: usize = 6;
/// Largest amount of text per page, in bytes.
const MOST_TEXT: usize = 1024 * 1024;
/// Threshold from which a gap between pieces of text counts as a space, in thousandths of
/// the font size.
const SPACE: f64 = -180.0;

/// Returns the text that a page shows.
pub(super) fn page_text(file: &mut PdfFile<'_>, page: &PdfDict) -> String {
    let resources = file
        .get(page, "Resources")
        .dict()
        .cloned()
        .unwrap_or_default();
    let contents: Vec<PdfObject> = match file.get(page, "Contents") {
        PdfObject::Array(parts) => parts
            .iter()
            .map(|part| file.resolve(part).clone())
            .collect(),
        one => vec![one.clone()],
    };
    let mut data = Vec::new();
    for part in &contents {
        data.extend(file.data(part));
        data.push(b'\n');
    }
    let mut writer = PdfTextWriter::default();
    writer.run(file, &data, &resources, 0);
    writer.text
}

/// Collects the text that a content stream shows.
#[derive(Default)]
struct PdfTextWriter {
    text: String,
    font: PdfFont,
    size: f64,
    leading: f64,
    /// The scale and the position of the current line.
    scale: (f64, f64),
    place: (f64, f64),
    /// The approximate end of the last text shown.
    last: Option<(f64, f64)>,
}

impl PdfTextWriter {
    fn run(&mut self, file: &mut PdfFile<'_>, data: &[u8], resources: &PdfDict, depth: usize) {
        let fonts = file
            .get(resources, "Font")
            .dict()
            .cloned()
            .unwrap_or_default();
        let forms = file
            .get(resources, "XObject")
            .dict()
            .cloned()
            .unwrap_or_default();
        let mut known: HashMap<String, PdfFont> = HashMap::new();
        let mut parser = PdfObjectParser::new(data, 0);
        let mut operands: Vec<PdfObject> = Vec::new();
        while self.text.len() < MOST_TEXT {
            match parser.object() {
                Some(PdfObject::Word(word)) => {
                    match word.as_slice() {
                        b"Tf" => self.set_font(file, &fonts, &mut known, &operands),
                        b"Do" => self.form(file, &forms, resources, &operands, depth),
                        b"BI" => skip_image(&mut parser, data),
                        operator => self.operate(operator, &operands),
                    }
                    operands.clear();
                }
                Some(object) if operands.len() < 64 => operands.push(object),
                Some(_) => {}
                None if !parser.skip_byte() => return,
                None => {}
            }
        }
    }

    fn set_font(
        &mut self,
        file: &mut PdfFile<'_>,
        fonts: &PdfDict,
        known: &mut HashMap<String, PdfFont>,
        operands: &[PdfObject],
    ) {
        let [PdfObject::Name(name), PdfObject::Number(size)] = operands else {
            return;
        };
        self.size = size.abs();
        if !known.contains_key(name) {
            let dict = file.get(fonts, name).dict().cloned().unwrap_or_default();
            known.insert(name.clone(), PdfFont::read(file, &dict));
        }
        self.font = known.get(name).cloned().unwrap_or_default();
    }

    /// Writes a form that the page shows, which is a content stream of its own.
    fn form(
        &mut self,
        file: &mut PdfFile<'_>,
        forms: &PdfDict,
        resources: &PdfDict,
        operands: &[PdfObject],
        depth: usize,
    ) {
        let Some(PdfObject::Name(name)) = operands.first() else {
            return;
        };
        let form = file.get(forms, name).clone();
        let Some(dict) = form.dict() else { return };
        if depth == DEEPEST || file.get(dict, "Subtype").name() != Some("Form") {
            return;
        }
        let own = file.get(dict, "Resources").dict().cloned();
        let data = file.data(&form);
        self.run(file, &data, own.as_ref().unwrap_or(resources), depth + 1);
    }

    fn operate(&mut self, operator: &[u8], operands: &[PdfObject]) {
        let number = |at: usize| operands.get(at).and_then(PdfObject::number).unwrap_or(0.0);
        match operator {
            b"BT" => (self.scale, self.place) = ((1.0, 1.0), (0.0, 0.0)),
            b"TL" => self.leading = number(0),
            b"Td" => self.move_by(number(0), number(1)),
            b"TD" => {
                self.leading = -number(1);
                self.move_by(number(0), number(1));
            }
            b"T*" => self.move_by(0.0, -self.leading),
            b"Tm" => {
                self.scale = (number(0).hypot(number(1)), number(2).hypot(number(3)));
                self.place = (number(4), number(5));
            }
            b"Tj" => self.show(operands.first()),
            b"'" => {
                self.move_by(0.0, -self.leading);
                self.show(operands.first());
            }
            b"\"" => {
                self.move_by(0.0, -self.leading);
                self.show(operands.get(2));
            }
            b"TJ" => self.show(operands.first()),
            _ => {}
        }
    }

    fn move_by(&mut self, right: f64, up: f64) {
        self.place.0 += right * self.scale.0;
        self.place.1 += up * self.scale.1;
    }

    fn show(&mut self, operand: Option<&PdfObject>) {
        let mut piece = String::new();
        match operand {
            Some(PdfObject::Text(codes)) => piece = self.font.decode(codes),
            Some(PdfObject::Array(items)) => {
                for item in items {
                    match item {
                        PdfObject::Text(codes) => piece.push_str(&self.font.decode(codes)),
                        PdfObject::Number(gap) if *gap < SPACE && !piece.ends_with(' ') => {
                            piece.push(' ');
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        if piece.is_empty() {
            return;
        }
        self.separate();
        self.text.push_str(&piece);
        // Letters are about half as wide as they are high, which is accurate enough to separate
        // words.
        let width = piece.chars().count() as f64 * self.size * self.scale.0 * 0.5;
        self.last = Some((self.place.0 + width, self.place.1));
    }

    /// Begins a new line or word if the position requires it.
    fn separate(&mut self) {
        let Some((end, line)) = self.last else { return };
        let height = (self.size * self.scale.1).max(1.0);
        if (self.place.1 - line).abs() > height * 0.4 {
            if (line - self.place.1) > height * 2.2 {
                self.text.push('\n');
            }
            self.text.push('\n');
        } else if self.place.0 > end + height * 0.25 && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }
}

/// Skips an image embedded in the content.
fn skip_image(parser: &mut PdfObjectParser<'_>, data: &[u8]) {
    let end = super::find(data, b"EI", parser.at);
    parser.at = end.map_or(data.len(), |end| end + 2);
}
