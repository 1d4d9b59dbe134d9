//! `write` and `batch_write`: whole files, byte for byte.

use artel_policy::PolicyAction;
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::{PendingFileChange, commit};
use super::spot::{ResolvedToolPath, target};
use super::{MOST_BYTES, card};
use crate::{
    ModelFileFreshness, Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect,
    ToolError, ToolErrorKind, ToolObservation, ToolSchemaDelivery, parse,
};

pub(crate) struct WriteFileTool {
    card: ToolDescriptor,
}

pub(crate) struct BatchWriteTool {
    card: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchWriteInput {
    files: Vec<Input>,
}

/// A file write that is ready, or the message that nothing would change.
enum PreparedFileWrite<'b> {
    Same(String),
    Different(PendingFileChange<'b>),
}

impl WriteFileTool {
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
            card: ToolDescriptor {
                effects: vec![ToolEffect::Write],
                unknown: ToolCrashRecovery::Idempotent,
                reach: ToolSchemaDelivery::Always,
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

impl Tool for WriteFileTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let input: Input = parse(input)?;
        Ok(vec![PolicyAction::Write(target(bench, &input.path)?)])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        write_all(&[parse(input)?], bench)
    }
}

impl BatchWriteTool {
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
            card: ToolDescriptor {
                effects: vec![ToolEffect::Write],
                unknown: ToolCrashRecovery::Restore,
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

impl Tool for BatchWriteTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let input: BatchWriteInput = parse(input)?;
        let files = input.files.iter();
        files
            .map(|file| Ok(PolicyAction::Write(target(bench, &file.path)?)))
            .collect()
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let input: BatchWriteInput = parse(input)?;
        if input.files.is_empty() {
            return Err(ToolError::new(ToolErrorKind::BadInput, "`files` is empty"));
        }
        write_all(&input.files, bench)
    }
}

fn write_all(files: &[Input], bench: &ToolContext) -> Result<ToolObservation, ToolError> {
    let mut said = Vec::new();
    let mut changes: Vec<PendingFileChange<'_>> = Vec::new();
    for file in files {
        match prepare(file, bench)? {
            PreparedFileWrite::Same(words) => said.push(words),
            PreparedFileWrite::Different(change) => {
                if changes
                    .iter()
                    .any(|other| other.spot.target == change.spot.target)
                {
                    let what = format!("`{}` is named twice", change.spot.name());
                    return Err(ToolError::new(ToolErrorKind::BadInput, what));
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
    Ok(ToolObservation {
        text: said.join("\n"),
        data: json!({"created": created, "changed": changes.len() - created}),
        changed: changes.iter().map(|change| change.spot.name()).collect(),
        ..ToolObservation::default()
    })
}

/// Compares the file with its current content: the model may replace only content that it
/// knows.
fn prepare<'b>(file: &Input, bench: &'b ToolContext) -> Result<PreparedFileWrite<'b>, ToolError> {
    let spot = ResolvedToolPath::find(bench, &file.path)?;
    let after = file.content.clone().into_bytes();
    let before = spot.read_if_there(MOST_BYTES)?;
    if before.as_ref() == Some(&after) {
        bench.seen().wrote(&spot.target, &after);
        let words = format!(
            "`{}` is unchanged: it had this content already",
            spot.name()
        );
        return Ok(PreparedFileWrite::Same(words));
    }
    if let Some(bytes) = &before {
        let standing = bench.seen().standing(&spot.target, bytes);
        match standing {
            ModelFileFreshness::Same => {}
            // An empty file has nothing to lose.
            ModelFileFreshness::Unread if bytes.is_empty() => {}
            ModelFileFreshness::Unread => return Err(unread(&spot)),
            ModelFileFreshness::Changed => return Err(changed(&spot)),
        }
    }
    Ok(PreparedFileWrite::Different(PendingFileChange {
        spot,
        before,
        after: Some(after),
        mode: None,
    }))
}

fn unread(spot: &ResolvedToolPath<'_>) -> ToolError {
    let what = format!(
        "`{}` exists and was not read in this run, so writing it would lose what is in it",
        spot.name()
    );
    ToolError::new(ToolErrorKind::Mismatch, what)
        .hint("`read` it first, then write it, or change a part with `edit`")
}

/// Returns the error for a file that has changed since the model saw it.
pub(crate) fn changed(spot: &ResolvedToolPath<'_>) -> ToolError {
    let what = format!(
        "`{}` was changed by something else since you read it",
        spot.name()
    );
    ToolError::new(ToolErrorKind::Mismatch, what).hint("`read` it again, then decide anew")
}

fn words(change: &PendingFileChange<'_>, content: &str) -> String {
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
