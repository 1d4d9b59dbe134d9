//! `read`: text with line numbers, pictures, documents and notebooks. Content that was
//! sent before is not sent again.

use artel_policy::{PolicyAction, TargetTree};
use serde::Deserialize;
use serde_json::{Value, json};

use super::kind::{FileContentKind, kind};
use super::page::{NumberedTextPage, page};
use super::spot::{ResolvedToolPath, target};
use super::text::{TextEncoding, TextEncodingError};
use super::{MOST_BYTES, card, notebook, pdf, size, text};
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolErrorKind,
    ToolImage, ToolObservation, ToolSchemaDelivery, nearest, parse,
};

/// Default number of lines in a result.
const USUAL_LINES: usize = 2000;
/// Largest picture, in bytes; providers refuse larger ones.
const MOST_IMAGE_BYTES: usize = 5_000_000;

/// Encodings that are suggested by name.
const KNOWN: [&str; 12] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "utf-32le",
    "latin1",
    "windows-1252",
    "shift_jis",
    "euc-jp",
    "gbk",
    "big5",
    "euc-kr",
    "koi8-r",
];

pub(crate) struct ReadFileTool {
    card: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
    encoding: Option<String>,
}

/// A file's content as text, with notes about it.
struct RenderedFileContent {
    text: String,
    encoding: String,
    notes: Vec<String>,
}

impl ReadFileTool {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file, or `@Portal/path`"},
                "offset": {"type": "integer", "minimum": 1, "description": "The first line, from 1"},
                "limit": {"type": "integer", "minimum": 1, "description": "How many lines; 2000 if not said"},
                "encoding": {"type": "string", "description": "If detected wrongly: latin1, shift_jis, …"},
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        let description = "Reads a file: text with line numbers (a number and a tab, not in the \
            file), pictures, PDFs as text, notebooks as cells. Long files come in parts. A part \
            that you have is sent again only if you ask twice.";
        Self {
            card: ToolDescriptor {
                effects: vec![ToolEffect::Read],
                unknown: ToolCrashRecovery::Pure,
                reach: ToolSchemaDelivery::Always,
                keywords: &["open", "show", "cat", "view", "image", "pdf", "notebook"],
                ..card(
                    "read",
                    "Reads a file: text, picture, PDF or notebook.",
                    description,
                    input,
                )
            },
        }
    }
}

impl Tool for ReadFileTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let input: Input = parse(input)?;
        Ok(vec![PolicyAction::Read(target(bench, &input.path)?)])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let input: Input = parse(input)?;
        if input.offset == Some(0) || input.limit == Some(0) {
            let what = "`offset` and `limit` count from 1";
            return Err(ToolError::new(ToolErrorKind::BadInput, what));
        }
        let named = input.encoding.as_deref().map(named_encoding).transpose()?;
        let spot = ResolvedToolPath::find(bench, &input.path)?;
        let bytes = spot.read(MOST_BYTES)?;
        let name = spot.name();
        let mut rendered = match (named, kind(&bytes, &name)) {
            (Some(encoding), _) => plain(&name, &bytes, encoding)?,
            (None, FileContentKind::Image(media)) => return image(&spot, bytes, media, bench),
            (None, FileContentKind::Pdf) => document(&name, &bytes)?,
            (None, FileContentKind::Notebook) => cells(&name, &bytes)?,
            (None, FileContentKind::Binary(what)) => return Err(binary(&name, what, bytes.len())),
            (None, FileContentKind::Plain) => {
                let encoding = TextEncoding::detect(&bytes);
                let encoding = encoding.map_err(|_| binary(&name, "not text", bytes.len()))?;
                plain(&name, &bytes, encoding)?
            }
        };
        if spot.target.place == TargetTree::Skill
            && let Some(fill_in) = &bench.fill_in
        {
            rendered.text = fill_in(&rendered.text);
        }
        let part = (
            input.offset.unwrap_or(1),
            input.limit.unwrap_or(USUAL_LINES),
        );
        let page = page(&rendered.text, part.0, part.1).map_err(|why| {
            let last = rendered.text.lines().count().max(1);
            ToolError::new(ToolErrorKind::BadInput, format!("`{name}`: {why}"))
                .hint(format!("write `offset` as `{last}` or less"))
        })?;
        let encoding = input.encoding.as_deref();
        if bench.seen().send(&spot.target, &bytes, part, encoding) {
            return Ok(unchanged(&name, &page));
        }
        Ok(observation(page, rendered))
    }
}

fn named_encoding(name: &str) -> Result<TextEncoding, ToolError> {
    TextEncoding::named(name).ok_or_else(|| {
        let what = format!("there is no encoding `{name}`");
        let mut known = nearest(name, KNOWN, 3);
        known.extend(
            KNOWN
                .iter()
                .filter(|other| !known.contains(other))
                .copied()
                .collect::<Vec<_>>(),
        );
        let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
        ToolError::new(ToolErrorKind::BadInput, what).hint(format!(
            "write `encoding` as {}, or another name of the web",
            known.join(" or ")
        ))
    })
}

fn plain(
    name: &str,
    bytes: &[u8],
    encoding: TextEncoding,
) -> Result<RenderedFileContent, ToolError> {
    let text = encoding.decode(bytes).map_err(|why| {
        let what = match why {
            TextEncodingError::Malformed(encoding) => format!("`{name}` is not valid {encoding}"),
            _ => format!("`{name}` is not text"),
        };
        let fitting: Vec<_> = text::fitting(bytes)
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        ToolError::new(ToolErrorKind::Unfit, what).hint(format!(
            "write `encoding` as {}: those fit its bytes",
            fitting.join(" or ")
        ))
    })?;
    let mut notes = Vec::new();
    match encoding {
        TextEncoding::Guessed => notes.push(format!(
            "encoding: {encoding}, a guess since it is not valid UTF-8; `encoding` names another"
        )),
        encoding if !encoding.is_plain() => notes.push(format!("encoding: {encoding}")),
        _ => {}
    }
    if text.contains("\r\n") {
        notes.push("lines end with CRLF; `edit` keeps that".to_owned());
    }
    Ok(RenderedFileContent {
        encoding: encoding.to_string(),
        text: text.into_owned(),
        notes,
    })
}

fn document(name: &str, bytes: &[u8]) -> Result<RenderedFileContent, ToolError> {
    let document = pdf::text(bytes).map_err(|why| {
        let what = format!("`{name}` is a PDF without text that can be read: {why}");
        ToolError::new(ToolErrorKind::Unfit, what)
            .hint("a program such as `pdftotext`, or one that reads scanned pages, may do better")
    })?;
    Ok(RenderedFileContent {
        text: document.text,
        encoding: "PDF".to_owned(),
        notes: vec![format!(
            "the text of a PDF of {} pages; its layout is lost{}",
            document.pages,
            match document.unreadable {
                0 => String::new(),
                count => format!(", and {count} pages have no text that can be read"),
            }
        )],
    })
}

fn cells(name: &str, bytes: &[u8]) -> Result<RenderedFileContent, ToolError> {
    let raw = plain(
        name,
        bytes,
        TextEncoding::detect(bytes).unwrap_or(TextEncoding::Guessed),
    )?;
    let note = match notebook::render(&raw.text) {
        Some(text) => {
            return Ok(RenderedFileContent {
                text,
                notes: vec!["a notebook's cells; `edit` works on the JSON below them".to_owned()],
                ..raw
            });
        }
        None => "not a notebook that can be read: this is its text",
    };
    Ok(RenderedFileContent {
        notes: vec![note.to_owned()],
        ..raw
    })
}

fn image(
    spot: &ResolvedToolPath<'_>,
    bytes: Vec<u8>,
    media: &str,
    bench: &ToolContext,
) -> Result<ToolObservation, ToolError> {
    let (name, length) = (spot.name(), bytes.len());
    if length > MOST_IMAGE_BYTES {
        let what = format!(
            "`{name}` is a picture ({media}) of {}; at most {} can be sent",
            size(length as u64),
            size(MOST_IMAGE_BYTES as u64)
        );
        return Err(
            ToolError::new(ToolErrorKind::Unfit, what).hint("make a smaller copy of it first")
        );
    }
    if bench.seen().send(&spot.target, &bytes, (0, 0), None) {
        return Ok(ToolObservation::text(format!(
            "`{name}` is unchanged since you read it; ask once more to have it sent again"
        )));
    }
    Ok(ToolObservation {
        text: format!("`{name}`: {media}, {}", size(length as u64)),
        data: json!({"media_type": media, "bytes": length}),
        images: vec![ToolImage {
            media_type: media.to_owned(),
            bytes,
        }],
        ..ToolObservation::default()
    })
}

fn binary(name: &str, kind: &str, length: usize) -> ToolError {
    let what = format!(
        "`{name}` is binary ({kind}, {}), not text",
        size(length as u64)
    );
    let look = json!({ "command": looks_into(name, kind) });
    ToolError::new(ToolErrorKind::Unfit, what)
        .hint(format!("`bash {look}` looks into it"))
        .hint("if it is text after all, name its `encoding`")
}

/// Returns a command that shows something of a file that is not text.
fn looks_into(name: &str, kind: &str) -> String {
    let name = format!("'{}'", name.replace('\'', "'\\''"));
    match kind {
        "gzip data" => format!("gzip -dc {name} | head -c 20000"),
        "bzip2 data" => format!("bzip2 -dc {name} | head -c 20000"),
        "xz data" => format!("xz -dc {name} | head -c 20000"),
        _ if kind.starts_with("a ZIP") => format!("unzip -l {name}"),
        _ => format!("strings -n 6 {name} | head -n 200"),
    }
}

fn unchanged(name: &str, page: &NumberedTextPage) -> ToolObservation {
    let text = format!(
        "lines {}-{} of `{name}` are unchanged since you read them; ask once more to have them \
         sent again",
        page.first, page.last
    );
    ToolObservation {
        data: json!({"unchanged": true, "lines": page.total}),
        ..ToolObservation::text(text)
    }
}

fn observation(page: NumberedTextPage, rendered: RenderedFileContent) -> ToolObservation {
    let mut text = page.text;
    let mut notes = rendered.notes;
    if page.cut > 0 {
        notes.push(format!("{} lines were too long and are cut", page.cut));
    }
    let mut hints = Vec::new();
    match page.next {
        Some(next) => {
            notes.push(format!(
                "lines {}-{} of {}",
                page.first, page.last, page.total
            ));
            hints.push(format!("write `offset` as `{next}` to read on"));
        }
        None if page.first > 1 => notes.push(format!(
            "lines {}-{}, the end of the file",
            page.first, page.last
        )),
        None => {}
    }
    if page.total == 0 {
        notes.push("the file is empty".to_owned());
    }
    for note in notes {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("[{note}]"));
    }
    ToolObservation {
        text,
        data: json!({
            "lines": page.total,
            "first": page.first,
            "last": page.last,
            "next": page.next,
            "encoding": rendered.encoding,
        }),
        is_partial: page.next.is_some() || page.cut > 0,
        hints,
        ..ToolObservation::default()
    }
}
