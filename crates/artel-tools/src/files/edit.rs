//! `edit` and `multi_edit`: exact replacements in one file, all or none.

use ::similar::TextDiff;
use artel_policy::PolicyAction;
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::{PendingFileChange, commit};
use super::replace::{ReplacementError, ReplacementLimit, TextReplacement, replace};
use super::spot::{ResolvedToolPath, target};
use super::text::{TextEncoding, TextEncodingError};
use super::write::changed;
use super::{MOST_BYTES, card};
use crate::{
    ModelFileFreshness, Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect,
    ToolError, ToolErrorKind, ToolObservation, ToolSchemaDelivery, parse,
};

/// Largest preview that is sent, in bytes.
const MOST_PREVIEW: usize = 32 * 1024;

pub(crate) struct EditFileTool {
    card: ToolDescriptor,
}

pub(crate) struct MultiEditTool {
    card: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MultiEditInput {
    path: String,
    edits: Vec<OneEdit>,
    #[serde(default)]
    dry_run: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneEdit {
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

/// The text of a file, with everything needed to convert it back to bytes.
pub(crate) struct EditableTextFile<'b> {
    pub(crate) spot: ResolvedToolPath<'b>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) text: String,
    pub(crate) encoding: TextEncoding,
}

/// The text after all edits, with a message for each.
struct EditedFileText {
    text: String,
    said: Vec<String>,
    places: usize,
}

impl EditFileTool {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file, or `@Portal/path`"},
                "old": {"type": "string"},
                "new": {"type": "string"},
                "all": {"type": "boolean"},
            },
            "required": ["path", "old", "new"],
            "additionalProperties": false,
        });
        let description = "Replaces `old` by `new` in a file, exactly: it must be there once (give \
            lines around it), or set `all`. If it does not fit, nothing changes and the answer \
            says what comes close.";
        Self {
            card: ToolDescriptor {
                effects: vec![ToolEffect::Read, ToolEffect::Write],
                unknown: ToolCrashRecovery::Restore,
                reach: ToolSchemaDelivery::Always,
                keywords: &["replace", "change", "modify", "substitute", "text"],
                ..card(
                    "edit",
                    "Replaces text in a file, exactly.",
                    description,
                    input,
                )
            },
        }
    }
}

impl Tool for EditFileTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let input: Input = parse(input)?;
        intends(&input.path, bench)
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let Input {
            path,
            old,
            new,
            all,
        } = parse(input)?;
        let opened = open(&path, bench)?;
        let edited = edit_all(&opened, &[OneEdit { old, new, all }])?;
        save(opened, &edited, bench)
    }
}

impl MultiEditTool {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file, or `@Portal/path`"},
                "edits": {
                    "type": "array",
                    "minItems": 1,
                    "description": "The replacements, in order; each sees the text that the one before left.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "old": {"type": "string", "description": "The text to replace, exactly; it must be there once."},
                            "new": {"type": "string", "description": "The text that takes its place."},
                            "all": {"type": "boolean", "description": "Replace every place. Default: false."},
                        },
                        "required": ["old", "new"],
                        "additionalProperties": false,
                    },
                },
                "dry_run": {"type": "boolean", "description": "Show the difference and change nothing. Default: false."},
            },
            "required": ["path", "edits"],
            "additionalProperties": false,
        });
        let description = "Makes several replacements in one file as `edit` does, in order, all \
            or none: if one does not fit, the file stays as it is.";
        Self {
            card: ToolDescriptor {
                effects: vec![ToolEffect::Read, ToolEffect::Write],
                unknown: ToolCrashRecovery::Restore,
                keywords: &[
                    "replace", "several", "change", "rename", "preview", "dry run",
                ],
                ..card(
                    "multi_edit",
                    "Makes several exact replacements in one file, all or none.",
                    description,
                    input,
                )
            },
        }
    }
}

impl Tool for MultiEditTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let input: MultiEditInput = parse(input)?;
        if input.dry_run {
            Ok(vec![PolicyAction::Read(target(bench, &input.path)?)])
        } else {
            intends(&input.path, bench)
        }
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let input: MultiEditInput = parse(input)?;
        if input.edits.is_empty() {
            return Err(ToolError::new(ToolErrorKind::BadInput, "`edits` is empty"));
        }
        let opened = open(&input.path, bench)?;
        let edited = edit_all(&opened, &input.edits)?;
        if input.dry_run {
            Ok(preview(&opened, &edited))
        } else {
            save(opened, &edited, bench)
        }
    }
}

fn intends(path: &str, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
    let target = target(bench, path)?;
    // An edit that does not fit shows similar lines of the file, so it reads the file as well.
    Ok(vec![
        PolicyAction::Read(target.clone()),
        PolicyAction::Write(target),
    ])
}

fn open<'b>(path: &str, bench: &'b ToolContext) -> Result<EditableTextFile<'b>, ToolError> {
    let spot = ResolvedToolPath::find(bench, path)?;
    let bytes = spot.read(MOST_BYTES)?;
    if bench.seen().standing(&spot.target, &bytes) == ModelFileFreshness::Changed {
        return Err(changed(&spot));
    }
    decode(spot, bytes, bench)
}

/// Decodes a file to text that converts back to the same bytes.
pub(crate) fn decode<'b>(
    spot: ResolvedToolPath<'b>,
    bytes: Vec<u8>,
    bench: &ToolContext,
) -> Result<EditableTextFile<'b>, ToolError> {
    let unfit = |why: &str| {
        let what = format!("`{}` cannot be edited: {why}", spot.name());
        ToolError::new(ToolErrorKind::Unfit, what)
    };
    let named = bench
        .seen()
        .encoding(&spot.target)
        .and_then(TextEncoding::named);
    let encoding = match named {
        Some(encoding) => encoding,
        None => TextEncoding::detect(&bytes).map_err(|_| unfit("it is binary"))?,
    };
    let text = encoding
        .decode(&bytes)
        .map_err(|_| unfit(&format!("its bytes are not valid {encoding}")))?
        .into_owned();
    if encoding.encode(&text).as_ref() != Ok(&bytes) {
        return Err(unfit(&format!(
            "as {encoding} its text does not lead back to the same bytes"
        ))
        .hint("`read` it with another `encoding`, or `write` it whole as UTF-8"));
    }
    Ok(EditableTextFile {
        spot,
        bytes,
        text,
        encoding,
    })
}

/// Encodes changed text in the file's own encoding.
pub(crate) fn encode(opened: &EditableTextFile<'_>, text: &str) -> Result<Vec<u8>, ToolError> {
    opened.encoding.encode(text).map_err(|why| {
        let what = match why {
            TextEncodingError::NoPlace(char, encoding) => format!(
                "`{char}` has no place in {encoding}, the encoding of `{}`",
                opened.spot.name()
            ),
            _ => format!("`{}` could not be encoded", opened.spot.name()),
        };
        ToolError::new(ToolErrorKind::Unfit, what)
            .hint("use a character of that encoding, or `write` the file whole as UTF-8")
    })
}

fn edit_all(opened: &EditableTextFile<'_>, edits: &[OneEdit]) -> Result<EditedFileText, ToolError> {
    let mut edited = EditedFileText {
        text: opened.text.clone(),
        said: Vec::new(),
        places: 0,
    };
    for (number, one) in edits.iter().enumerate() {
        let edit = TextReplacement {
            old: &one.old,
            new: &one.new,
            places: if one.all {
                ReplacementLimit::All
            } else {
                ReplacementLimit::One
            },
        };
        let which = match edits.len() {
            1 => String::new(),
            count => format!("edit {} of {count}: ", number + 1),
        };
        let done = replace(&edited.text, edit);
        let done = done.map_err(|misfit| misfit_trouble(&which, &opened.spot.name(), misfit))?;
        edited.said.push(format!("{which}{}", places(&done.lines)));
        edited.places += done.lines.len();
        edited.text = done.text;
    }
    Ok(edited)
}

fn misfit_trouble(which: &str, name: &str, misfit: ReplacementError) -> ToolError {
    match misfit {
        ReplacementError::Empty => {
            ToolError::new(ToolErrorKind::BadInput, format!("{which}`old` is empty"))
                .hint("to make a file or replace it whole, use `write`")
        }
        ReplacementError::Same => {
            let what = format!("{which}`old` and `new` are the same");
            ToolError::new(ToolErrorKind::BadInput, what)
        }
        ReplacementError::Absent(hints) => {
            let what = format!("{which}`old` is not in `{name}`; nothing was changed");
            let mut trouble = ToolError::new(ToolErrorKind::Mismatch, what);
            trouble.hints = hints;
            if trouble.hints.is_empty() {
                return trouble.hint("nothing in the file comes close; `read` it again");
            }
            trouble
        }
        ReplacementError::Many(lines) => {
            let count = lines.len();
            let what = format!(
                "{which}`old` is in `{name}` {count} times, at lines {}; nothing was changed",
                numbers(&lines)
            );
            ToolError::new(ToolErrorKind::Mismatch, what)
                .hint("give more of the lines around the one you mean")
                .hint(format!("write `all` as `true` to change all {count}"))
        }
    }
}

fn save(
    opened: EditableTextFile<'_>,
    edited: &EditedFileText,
    bench: &ToolContext,
) -> Result<ToolObservation, ToolError> {
    let after = encode(&opened, &edited.text)?;
    let name = opened.spot.name();
    let change = PendingFileChange {
        spot: opened.spot,
        before: Some(opened.bytes),
        after: Some(after),
        mode: None,
    };
    commit(&[change], bench)?;
    Ok(ToolObservation {
        text: format!("edited `{name}`: {}", edited.said.join("\n")),
        data: json!({"replacements": edited.places}),
        changed: vec![name],
        ..ToolObservation::default()
    })
}

fn preview(opened: &EditableTextFile<'_>, edited: &EditedFileText) -> ToolObservation {
    let name = opened.spot.name();
    let diff = TextDiff::from_lines(opened.text.as_str(), edited.text.as_str());
    let mut diff = diff
        .unified_diff()
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string();
    let is_partial = diff.len() > MOST_PREVIEW;
    if is_partial {
        let whole = diff.len();
        diff.truncate(diff.floor_char_boundary(MOST_PREVIEW));
        diff.push_str(&format!("\n[the first {MOST_PREVIEW} of {whole} bytes]"));
    }
    ToolObservation {
        text: format!("nothing was changed; this is what would be:\n{diff}"),
        data: json!({"replacements": edited.places, "dry_run": true}),
        is_partial,
        ..ToolObservation::default()
    }
}

fn places(lines: &[usize]) -> String {
    match lines {
        [line] => format!("replaced at line {line}"),
        lines => format!(
            "replaced {} times, at lines {}",
            lines.len(),
            numbers(lines)
        ),
    }
}

fn numbers(lines: &[usize]) -> String {
    let shown: Vec<_> = lines.iter().take(10).map(usize::to_string).collect();
    match lines.len() {
        ..=10 => shown.join(", "),
        _ => format!("{}, …", shown.join(", ")),
    }
}
