//! `edit` and `multi_edit`: exact replacements in one file, all or none.

use ::similar::TextDiff;
use artel_policy::PolicyAction;
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::{Change, commit};
use super::replace::{Edit, Misfit, Places, replace};
use super::spot::{Spot, target};
use super::text::{Encoding, NotText};
use super::write::changed;
use super::{MOST_BYTES, card};
use crate::{
    Bench, Card, Effect, Observation, Reach, Standing, Tool, Trouble, TroubleKind, Unknown, parse,
};

/// Largest preview that is sent, in bytes.
const MOST_PREVIEW: usize = 32 * 1024;

pub(crate) struct EditFile {
    card: Card,
}

pub(crate) struct MultiEdit {
    card: Card,
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
struct MultiInput {
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
pub(crate) struct Opened<'b> {
    pub(crate) spot: Spot<'b>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) text: String,
    pub(crate) encoding: Encoding,
}

/// The text after all edits, with a message for each.
struct Edited {
    text: String,
    said: Vec<String>,
    places: usize,
}

impl EditFile {
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
            card: Card {
                effects: vec![Effect::Read, Effect::Write],
                unknown: Unknown::Restore,
                reach: Reach::Always,
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

impl Tool for EditFile {
    fn card(&self) -> &Card {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &Bench) -> Result<Vec<PolicyAction>, Trouble> {
        let input: Input = parse(input)?;
        intends(&input.path, bench)
    }

    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble> {
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

impl MultiEdit {
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
            card: Card {
                effects: vec![Effect::Read, Effect::Write],
                unknown: Unknown::Restore,
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

impl Tool for MultiEdit {
    fn card(&self) -> &Card {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &Bench) -> Result<Vec<PolicyAction>, Trouble> {
        let input: MultiInput = parse(input)?;
        if input.dry_run {
            Ok(vec![PolicyAction::Read(target(bench, &input.path)?)])
        } else {
            intends(&input.path, bench)
        }
    }

    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble> {
        let input: MultiInput = parse(input)?;
        if input.edits.is_empty() {
            return Err(Trouble::new(TroubleKind::BadInput, "`edits` is empty"));
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

fn intends(path: &str, bench: &Bench) -> Result<Vec<PolicyAction>, Trouble> {
    let target = target(bench, path)?;
    // An edit that does not fit shows similar lines of the file, so it reads the file as well.
    Ok(vec![
        PolicyAction::Read(target.clone()),
        PolicyAction::Write(target),
    ])
}

fn open<'b>(path: &str, bench: &'b Bench) -> Result<Opened<'b>, Trouble> {
    let spot = Spot::find(bench, path)?;
    let bytes = spot.read(MOST_BYTES)?;
    if bench.seen().standing(&spot.target, &bytes) == Standing::Changed {
        return Err(changed(&spot));
    }
    decode(spot, bytes, bench)
}

/// Decodes a file to text that converts back to the same bytes.
pub(crate) fn decode<'b>(
    spot: Spot<'b>,
    bytes: Vec<u8>,
    bench: &Bench,
) -> Result<Opened<'b>, Trouble> {
    let unfit = |why: &str| {
        let what = format!("`{}` cannot be edited: {why}", spot.name());
        Trouble::new(TroubleKind::Unfit, what)
    };
    let named = bench
        .seen()
        .encoding(&spot.target)
        .and_then(Encoding::named);
    let encoding = match named {
        Some(encoding) => encoding,
        None => Encoding::detect(&bytes).map_err(|_| unfit("it is binary"))?,
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
    Ok(Opened {
        spot,
        bytes,
        text,
        encoding,
    })
}

/// Encodes changed text in the file's own encoding.
pub(crate) fn encode(opened: &Opened<'_>, text: &str) -> Result<Vec<u8>, Trouble> {
    opened.encoding.encode(text).map_err(|why| {
        let what = match why {
            NotText::NoPlace(char, encoding) => format!(
                "`{char}` has no place in {encoding}, the encoding of `{}`",
                opened.spot.name()
            ),
            _ => format!("`{}` could not be encoded", opened.spot.name()),
        };
        Trouble::new(TroubleKind::Unfit, what)
            .hint("use a character of that encoding, or `write` the file whole as UTF-8")
    })
}

fn edit_all(opened: &Opened<'_>, edits: &[OneEdit]) -> Result<Edited, Trouble> {
    let mut edited = Edited {
        text: opened.text.clone(),
        said: Vec::new(),
        places: 0,
    };
    for (number, one) in edits.iter().enumerate() {
        let edit = Edit {
            old: &one.old,
            new: &one.new,
            places: if one.all { Places::All } else { Places::One },
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

fn misfit_trouble(which: &str, name: &str, misfit: Misfit) -> Trouble {
    match misfit {
        Misfit::Empty => Trouble::new(TroubleKind::BadInput, format!("{which}`old` is empty"))
            .hint("to make a file or replace it whole, use `write`"),
        Misfit::Same => {
            let what = format!("{which}`old` and `new` are the same");
            Trouble::new(TroubleKind::BadInput, what)
        }
        Misfit::Absent(hints) => {
            let what = format!("{which}`old` is not in `{name}`; nothing was changed");
            let mut trouble = Trouble::new(TroubleKind::Mismatch, what);
            trouble.hints = hints;
            if trouble.hints.is_empty() {
                return trouble.hint("nothing in the file comes close; `read` it again");
            }
            trouble
        }
        Misfit::Many(lines) => {
            let count = lines.len();
            let what = format!(
                "{which}`old` is in `{name}` {count} times, at lines {}; nothing was changed",
                numbers(&lines)
            );
            Trouble::new(TroubleKind::Mismatch, what)
                .hint("give more of the lines around the one you mean")
                .hint(format!("write `all` as `true` to change all {count}"))
        }
    }
}

fn save(opened: Opened<'_>, edited: &Edited, bench: &Bench) -> Result<Observation, Trouble> {
    let after = encode(&opened, &edited.text)?;
    let name = opened.spot.name();
    let change = Change {
        spot: opened.spot,
        before: Some(opened.bytes),
        after: Some(after),
        mode: None,
    };
    commit(&[change], bench)?;
    Ok(Observation {
        text: format!("edited `{name}`: {}", edited.said.join("\n")),
        data: json!({"replacements": edited.places}),
        changed: vec![name],
        ..Observation::default()
    })
}

fn preview(opened: &Opened<'_>, edited: &Edited) -> Observation {
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
    Observation {
        text: format!("nothing was changed; this is what would be:\n{diff}"),
        data: json!({"replacements": edited.places, "dry_run": true}),
        is_partial,
        ..Observation::default()
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
