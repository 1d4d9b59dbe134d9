//! `write` and `batch_write`: whole files, byte for byte.

use artel_policy::PolicyAction;
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::{Change, commit};
use super::spot::{Spot, target};
use super::{MOST_BYTES, card};
use crate::{
    Bench, Card, Effect, Observation, Reach, Standing, Tool, Trouble, TroubleKind, Unknown, parse,
};

pub(crate) struct Write {
    card: Card,
}

pub(crate) struct BatchWrite {
    card: Card,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchInput {
    files: Vec<Input>,
}

/// A file write that is ready, or the message that nothing would change.
enum Prepared<'b> {
    Same(String),
    Different(Change<'b>),
}

impl Write {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file; folders above it are made"},
                "content": {"type": "string"},
            },
            "required": ["path", "content"],
            "additionalProperties": false,
        });
        let description = "Makes a file or replaces it whole, by `content`. One that exists must \
            have been read before; for a part of it use `edit`.";
        Self {
            card: Card {
                effects: vec![Effect::Write],
                unknown: Unknown::Idempotent,
                reach: Reach::Always,
                keywords: &["create", "save", "new", "file", "overwrite"],
                ..card(
                    "write",
                    "Makes a file or replaces it whole.",
                    description,
                    input,
                )
            },
        }
    }
}

impl Tool for Write {
    fn card(&self) -> &Card {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &Bench) -> Result<Vec<PolicyAction>, Trouble> {
        let input: Input = parse(input)?;
        Ok(vec![PolicyAction::Write(target(bench, &input.path)?)])
    }

    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble> {
        write_all(&[parse(input)?], bench)
    }
}

impl BatchWrite {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "files": {
                    "type": "array",
                    "minItems": 1,
                    "description": "The files to write.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "path": {"type": "string", "description": "The file; folders above it are made."},
                            "content": {"type": "string", "description": "The whole content."},
                        },
                        "required": ["path", "content"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["files"],
            "additionalProperties": false,
        });
        let description = "Writes several files as `write` does, all or none: if one of them \
            cannot be written, the others are put back as they were. Good for new modules with \
            their tests.";
        Self {
            card: Card {
                effects: vec![Effect::Write],
                unknown: Unknown::Restore,
                keywords: &["scaffold", "create", "many", "several", "files"],
                ..card(
                    "batch_write",
                    "Writes several files, all or none.",
                    description,
                    input,
                )
            },
        }
    }
}

impl Tool for BatchWrite {
    fn card(&self) -> &Card {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &Bench) -> Result<Vec<PolicyAction>, Trouble> {
        let input: BatchInput = parse(input)?;
        let files = input.files.iter();
        files
            .map(|file| Ok(PolicyAction::Write(target(bench, &file.path)?)))
            .collect()
    }

    fn run(&self, input: &Value, bench: &Bench) -> Result<Observation, Trouble> {
        let input: BatchInput = parse(input)?;
        if input.files.is_empty() {
            return Err(Trouble::new(TroubleKind::BadInput, "`files` is empty"));
        }
        write_all(&input.files, bench)
    }
}

fn write_all(files: &[Input], bench: &Bench) -> Result<Observation, Trouble> {
    let mut said = Vec::new();
    let mut changes: Vec<Change<'_>> = Vec::new();
    for file in files {
        match prepare(file, bench)? {
            Prepared::Same(words) => said.push(words),
            Prepared::Different(change) => {
                if changes
                    .iter()
                    .any(|other| other.spot.target == change.spot.target)
                {
                    let what = format!("`{}` is named twice", change.spot.name());
                    return Err(Trouble::new(TroubleKind::BadInput, what));
                }
                said.push(words(&change, &file.content));
                changes.push(change);
            }
        }
    }
    commit(&changes, bench)?;
    let mut seen = bench.seen();
    for change in &changes {
        seen.wrote(
            &change.spot.target,
            change.after.as_deref().unwrap_or_default(),
        );
    }
    let created = changes
        .iter()
        .filter(|change| change.before.is_none())
        .count();
    Ok(Observation {
        text: said.join("\n"),
        data: json!({"created": created, "changed": changes.len() - created}),
        changed: changes.iter().map(|change| change.spot.name()).collect(),
        ..Observation::default()
    })
}

/// Compares the file with its current content: the model may replace only content that it
/// knows.
fn prepare<'b>(file: &Input, bench: &'b Bench) -> Result<Prepared<'b>, Trouble> {
    let spot = Spot::find(bench, &file.path)?;
    let after = file.content.clone().into_bytes();
    let before = spot.read_if_there(MOST_BYTES)?;
    if before.as_ref() == Some(&after) {
        bench.seen().wrote(&spot.target, &after);
        let words = format!(
            "`{}` is unchanged: it had this content already",
            spot.name()
        );
        return Ok(Prepared::Same(words));
    }
    if let Some(bytes) = &before {
        let standing = bench.seen().standing(&spot.target, bytes);
        match standing {
            Standing::Same => {}
            // An empty file has nothing to lose.
            Standing::Unread if bytes.is_empty() => {}
            Standing::Unread => return Err(unread(&spot)),
            Standing::Changed => return Err(changed(&spot)),
        }
    }
    Ok(Prepared::Different(Change {
        spot,
        before,
        after: Some(after),
        mode: None,
    }))
}

fn unread(spot: &Spot<'_>) -> Trouble {
    let what = format!(
        "`{}` exists and was not read in this run, so writing it would lose what is in it",
        spot.name()
    );
    Trouble::new(TroubleKind::Mismatch, what)
        .hint("`read` it first, then write it, or change a part with `edit`")
}

/// Returns the error for a file that has changed since the model saw it.
pub(crate) fn changed(spot: &Spot<'_>) -> Trouble {
    let what = format!(
        "`{}` was changed by something else since you read it",
        spot.name()
    );
    Trouble::new(TroubleKind::Mismatch, what).hint("`read` it again, then decide anew")
}

fn words(change: &Change<'_>, content: &str) -> String {
    let lines = content.lines().count();
    let name = change.spot.name();
    let plural = if lines == 1 { "" } else { "s" };
    match &change.before {
        None => format!("created `{name}` ({lines} line{plural})"),
        Some(before) => {
            let before = String::from_utf8_lossy(before).lines().count();
            format!("changed `{name}` ({before} → {lines} line{plural})")
        }
    }
}
