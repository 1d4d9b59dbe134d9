//! `apply_patch`: changes to several files in one patch, all or none.

use std::fmt::Write as _;

use artel_policy::{FileTarget, PolicyAction};
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::{PendingFileChange, commit};
use super::diff::{self, FilePatch, HunkFitError, PatchSourceHandling};
use super::edit::{EditableTextFile, decode, encode};
use super::spot::{ResolvedToolPath, target};
use super::{MOST_BYTES, card};
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolErrorKind,
    ToolObservation, parse,
};

/// Largest patch, in bytes.
const MOST_PATCH: usize = 8 * 1024 * 1024;
/// Longest edit that is offered as an alternative, in bytes.
const MOST_OFFERED: usize = 2_000;

pub(crate) struct ApplyPatchTool {
    card: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    patch: String,
    #[serde(default)]
    reverse: bool,
}

/// The files of a patch as they will be. A later part of the patch sees the result of
/// earlier ones.
struct StagedPatch<'b> {
    bench: &'b ToolContext,
    changes: Vec<PendingFileChange<'b>>,
}

impl ApplyPatchTool {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "patch": {"type": "string", "description": "A unified difference (`--- a/file`, `+++ b/file`, `@@`), with git's headings for new, deleted and renamed files if need be; or `*** Begin Patch` … `*** End Patch`."},
                "reverse": {"type": "boolean", "description": "Take the patch back instead. Default: false."},
            },
            "required": ["patch"],
            "additionalProperties": false,
        });
        let description = "Applies a patch to one or more files, all or none: files can be \
            changed, made, deleted and renamed. Line numbers may be off; the lines around a \
            change must be exactly those of the file. What does not fit is said with its line.";
        Self {
            card: ToolDescriptor {
                effects: vec![ToolEffect::Read, ToolEffect::Write],
                unknown: ToolCrashRecovery::Restore,
                keywords: &[
                    "diff", "patch", "hunk", "delete", "rename", "move", "several",
                ],
                ..card(
                    "apply_patch",
                    "Applies a patch to several files: change, make, delete, rename.",
                    description,
                    input,
                )
            },
        }
    }
}

impl Tool for ApplyPatchTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let mut actions = Vec::new();
        let mut add = |action: fn(FileTarget) -> PolicyAction, name: &Option<String>| {
            if let Some(name) = name {
                actions.push(action(target(bench, name)?));
            }
            Ok(())
        };
        for file in read_patch(input)? {
            // A mismatch shows lines of the file, so every old file counts as read.
            add(PolicyAction::Read, &file.from)?;
            if file.to != file.from && file.keeps == PatchSourceHandling::Neither {
                add(PolicyAction::Delete, &file.from)?;
            }
            add(PolicyAction::Write, &file.to)?;
        }
        Ok(actions)
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let mut staged = StagedPatch {
            bench,
            changes: Vec::new(),
        };
        let mut said = Vec::new();
        for file in read_patch(input)? {
            said.push(staged.apply(&file).map_err(|mut trouble| {
                trouble
                    .hints
                    .push("nothing was changed, in no file".to_owned());
                trouble
            })?);
        }
        commit(&staged.changes, bench)?;
        Ok(ToolObservation {
            text: said.join("\n"),
            data: json!({"files": staged.changes.len()}),
            changed: staged
                .changes
                .iter()
                .map(|change| change.spot.name())
                .collect(),
            ..ToolObservation::default()
        })
    }
}

fn read_patch(input: &Value) -> Result<Vec<FilePatch>, ToolError> {
    let input: Input = parse(input)?;
    let bad = |why: String| ToolError::new(ToolErrorKind::BadInput, format!("the patch: {why}"));
    if input.patch.len() > MOST_PATCH {
        return Err(bad(format!("it is larger than {MOST_PATCH} bytes")));
    }
    let files = diff::parse(&input.patch).map_err(bad)?;
    if input.reverse {
        let files = files.into_iter().rev().map(FilePatch::reversed);
        files.collect::<Result<_, _>>().map_err(bad)
    } else {
        Ok(files)
    }
}

impl<'b> StagedPatch<'b> {
    /// Applies the part of one file, and returns a message about it.
    fn apply(&mut self, file: &FilePatch) -> Result<String, ToolError> {
        if let Some(mode) = file.new_mode.or(file.old_mode)
            && mode & 0o170_000 != 0o100_000
        {
            let name = file.to.as_ref().or(file.from.as_ref());
            let what = format!(
                "`{}` would be a link or a submodule: patches change ordinary files only",
                name.map_or("", String::as_str)
            );
            return Err(ToolError::new(ToolErrorKind::Unfit, what));
        }
        match (&file.from, &file.to) {
            (None, Some(to)) => self.make(to, file),
            (Some(from), None) => self.remove(from, file),
            (Some(from), Some(to)) if from == to => self.change(from, file),
            (Some(from), Some(to)) => self.rename(from, to, file),
            (None, None) => Ok(String::new()),
        }
    }

    fn make(&mut self, to: &str, file: &FilePatch) -> Result<String, ToolError> {
        let text = fit(to, "", file)?;
        self.put_new(to, text.into_bytes(), mode_of(file, None))?;
        Ok(format!("created `{to}`"))
    }

    fn remove(&mut self, from: &str, file: &FilePatch) -> Result<String, ToolError> {
        let at = self.stage(from)?;
        if !file.hunks.is_empty() {
            let opened = self.open(at, from)?;
            let rest = fit(from, &opened.text, file)?;
            if !rest.is_empty() {
                let what = format!(
                    "`{from}` has {} more lines than the patch deletes",
                    rest.lines().count()
                );
                return Err(ToolError::new(ToolErrorKind::Mismatch, what));
            }
        }
        self.changes[at].after = None;
        Ok(format!("deleted `{from}`"))
    }

    fn change(&mut self, from: &str, file: &FilePatch) -> Result<String, ToolError> {
        let at = self.stage(from)?;
        let counts = self.patch_text(at, from, file)?;
        if let Some(mode) = mode_of(file, self.changes[at].spot.about.map(|about| about.mode)) {
            self.changes[at].mode = Some(mode);
        }
        Ok(format!("changed `{from}`{counts}"))
    }

    fn rename(&mut self, from: &str, to: &str, file: &FilePatch) -> Result<String, ToolError> {
        let at = self.stage(from)?;
        let old_mode = self.changes[at].spot.about.map(|about| about.mode);
        let kept = self.changes[at].after.clone();
        let counts = self.patch_text(at, from, file)?;
        let bytes = self.changes[at].after.take().unwrap_or_default();
        let word = match file.keeps {
            PatchSourceHandling::Source => {
                self.changes[at].after = kept;
                "copied"
            }
            PatchSourceHandling::Neither => "renamed",
        };
        self.put_new(to, bytes, mode_of(file, old_mode).or(old_mode))?;
        Ok(format!("{word} `{from}` to `{to}`{counts}"))
    }

    /// Applies the hunks to a staged file. Files without hunks stay as they are, even binary
    /// ones.
    fn patch_text(&mut self, at: usize, name: &str, file: &FilePatch) -> Result<String, ToolError> {
        if file.hunks.is_empty() {
            return Ok(String::new());
        }
        let opened = self.open(at, name)?;
        let text = fit(name, &opened.text, file)?;
        self.changes[at].after = Some(encode(&opened, &text)?);
        let mut counts = String::new();
        let lines = || file.hunks.iter().flat_map(|hunk| &hunk.lines);
        let added = lines()
            .filter(|line| line.side == diff::PatchLineSide::New)
            .count();
        let removed = lines()
            .filter(|line| line.side == diff::PatchLineSide::Old)
            .count();
        // Writing to a string cannot fail.
        let _ = write!(counts, " (+{added} -{removed})");
        Ok(counts)
    }

    /// Returns the index of an existing file among the changes.
    fn stage(&mut self, name: &str) -> Result<usize, ToolError> {
        let spot = ResolvedToolPath::find(self.bench, name)?;
        let staged = self
            .changes
            .iter()
            .position(|change| change.spot.target == spot.target);
        if let Some(at) = staged {
            return match self.changes[at].after {
                Some(_) => Ok(at),
                None => Err(spot.missing()),
            };
        }
        let bytes = spot.read(MOST_BYTES)?;
        self.changes.push(PendingFileChange {
            spot,
            before: Some(bytes.clone()),
            after: Some(bytes),
            mode: None,
        });
        Ok(self.changes.len() - 1)
    }

    fn put_new(&mut self, name: &str, bytes: Vec<u8>, mode: Option<u32>) -> Result<(), ToolError> {
        let spot = ResolvedToolPath::find(self.bench, name)?;
        let exists = || {
            let what = format!(
                "`{}` exists already, and the patch would make it",
                spot.name()
            );
            ToolError::new(ToolErrorKind::Mismatch, what)
                .hint("to change it, name it as the file before")
        };
        let staged = self
            .changes
            .iter_mut()
            .find(|change| change.spot.target == spot.target);
        match staged {
            Some(change) if change.after.is_none() => {
                change.after = Some(bytes);
                change.mode = mode;
                Ok(())
            }
            Some(_) => Err(exists()),
            None if spot.about.is_some() => Err(exists()),
            None => {
                self.changes.push(PendingFileChange {
                    spot,
                    before: None,
                    after: Some(bytes),
                    mode,
                });
                Ok(())
            }
        }
    }

    fn open(&self, at: usize, name: &str) -> Result<EditableTextFile<'b>, ToolError> {
        let bytes = self.changes[at].after.clone().unwrap_or_default();
        decode(ResolvedToolPath::find(self.bench, name)?, bytes, self.bench)
    }
}

fn fit(name: &str, text: &str, file: &FilePatch) -> Result<String, ToolError> {
    diff::fit(text, &file.hunks).map_err(|HunkFitError { hunk, why }| {
        let count = file.hunks.len();
        let title = &file.hunks[hunk - 1].title;
        let what = format!("`{name}`: hunk {hunk} of {count} (`{title}`) {why}");
        let trouble = ToolError::new(ToolErrorKind::Mismatch, what);
        let trouble = match edit_of(name, text, &file.hunks[hunk - 1]) {
            Some(edit) => trouble.hint(format!("`{edit}` makes the same change")),
            None => trouble,
        };
        trouble.hint(format!("`read` `{name}` and make the patch from its lines"))
    })
}

/// Returns the `edit` call that makes the change of a hunk, if only its context lines do
/// not match: the removed lines must occur in the text exactly once.
fn edit_of(name: &str, text: &str, hunk: &diff::PatchHunk) -> Option<String> {
    let of = |side: diff::PatchLineSide| {
        let lines = hunk.lines.iter().filter(|line| line.side == side);
        lines.map(|line| line.text.as_str()).collect::<String>()
    };
    let (old, new) = (of(diff::PatchLineSide::Old), of(diff::PatchLineSide::New));
    let is_once = !old.trim().is_empty() && text.matches(&old).count() == 1;
    if !is_once || old.len() + new.len() > MOST_OFFERED {
        return None;
    }
    Some(format!(
        "edit {}",
        json!({"path": name, "old": old, "new": new})
    ))
}

/// Returns the mode that the patch sets, or `None` if it changes nothing. As in git, only
/// the executable bit is taken from the patch.
fn mode_of(file: &FilePatch, now: Option<u32>) -> Option<u32> {
    let wanted = file.new_mode?;
    let base = now.unwrap_or(0o644);
    let mode = match wanted & 0o100 {
        0 => base & !0o111,
        // Everybody who may read the file may run it.
        _ => base | ((base & 0o444) >> 2),
    };
    (now.is_none() && wanted & 0o100 != 0 || now.is_some_and(|now| now != mode)).then_some(mode)
}
