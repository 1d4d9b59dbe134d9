//! `format`: formats files in the way their project does.
//!
//! Only the named files change. If a formatter fails, its file is left as it was; if it
//! changes other files on the way, as rustfmt does with modules, those are restored.

use std::path::Path;

use artel_files::{FileAccessKind, FileEntryKind};
use artel_policy::{FileTarget, PolicyAction, TargetTree};
use serde::Deserialize;
use serde_json::{Value, json};

use super::formatter::{FormatterChoices, choose};
use super::launch::{self, CheckProgramOutput};
use super::project::ProjectProbe;
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolErrorKind,
    ToolObservation, parse,
};

/// Largest number of files per call.
const MOST_FILES: usize = 50;

/// Largest file that is formatted, in bytes.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Largest number of neighbouring files that are watched for changes.
const MOST_WATCHED: usize = 2000;

pub(crate) struct FormatFilesTool(ToolDescriptor);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    paths: Vec<String>,
}

/// A file and the formatters available for it.
struct FileToFormat {
    target: FileTarget,
    choices: FormatterChoices,
}

/// The outcome for one file.
#[derive(Debug, PartialEq, Eq)]
enum FormatOutcome {
    Changed,
    Same,
    Failed(String),
}

impl FormatFilesTool {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["paths"],
            "properties": {
                "paths": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "maxItems": MOST_FILES,
                    "description": "The files to format",
                },
            },
        });
        let description = "Formats files in place with the formatter that the project is \
            configured for (goimports, gofmt, biome, prettier, ruff, black, rustfmt, \
            clang-format, shfmt, rubocop, terraform). A formatter that fails leaves the file as \
            it was. Nothing is installed.";
        Self(ToolDescriptor {
            effects: vec![ToolEffect::Read, ToolEffect::Write, ToolEffect::Process],
            unknown: ToolCrashRecovery::Idempotent,
            keywords: &[
                "format", "style", "indent", "prettier", "rustfmt", "black", "gofmt", "pretty",
            ],
            ..super::card(
                "format",
                "Format files as their project does",
                description,
                input,
            )
        })
    }
}

impl Tool for FormatFilesTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let mut actions = Vec::new();
        for job in jobs(&parse(input)?, bench)? {
            if let Some(choice) = job.choices.ready.into_iter().next() {
                actions.push(PolicyAction::Write(job.target));
                actions.push(PolicyAction::Words(choice.words));
            }
        }
        if actions.is_empty() {
            actions.push(PolicyAction::Nothing);
        }
        Ok(actions)
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let mut lines = Vec::new();
        let mut results = Vec::new();
        let mut changed = Vec::new();
        let mut sandbox = Value::Null;
        for job in jobs(&parse(input)?, bench)? {
            let path = &job.target.path;
            let Some(choice) = job.choices.ready.first() else {
                lines.push(nothing_for(path, &job.choices));
                results.push(
                    json!({"path": path, "formatter": null, "success": false, "changed": false}),
                );
                continue;
            };
            let launch = || launch::run(bench, &choice.words, &choice.folder);
            let (end, data) = format(bench, &job.target, launch)?;
            sandbox = data["sandbox"].clone();
            let id = choice.formatter.id();
            lines.push(match &end {
                FormatOutcome::Changed => format!("`{path}` was formatted by {id}"),
                FormatOutcome::Same => format!("`{path}` is as {id} wants it"),
                FormatOutcome::Failed(why) => {
                    format!("{id} failed on `{path}`, which is unchanged:\n{why}")
                }
            });
            let error = match &end {
                FormatOutcome::Failed(why) => Some(why),
                FormatOutcome::Changed | FormatOutcome::Same => None,
            };
            results.push(json!({
                "path": path,
                "formatter": id,
                "command": choice.words,
                "success": error.is_none(),
                "changed": matches!(end, FormatOutcome::Changed),
                "error": error,
                "millis": data["millis"],
                "alternatives": job.choices.ready[1..].iter().map(|it| it.formatter.id()).collect::<Vec<_>>(),
            }));
            if matches!(end, FormatOutcome::Changed) {
                changed.push(path.clone());
            }
        }
        Ok(ToolObservation {
            text: lines.join("\n"),
            data: json!({"results": results, "sandbox": sandbox}),
            changed,
            ..ToolObservation::default()
        })
    }
}

fn jobs(input: &Input, bench: &ToolContext) -> Result<Vec<FileToFormat>, ToolError> {
    if input.paths.is_empty() || input.paths.len() > MOST_FILES {
        let what = format!("`paths` names 1 to {MOST_FILES} files");
        return Err(ToolError::new(ToolErrorKind::BadInput, what));
    }
    let programs = launch::programs(bench)?;
    let top = ProjectProbe {
        root: &bench.tree,
        programs: &programs,
        folder: String::new(),
    };
    let mut jobs: Vec<FileToFormat> = Vec::new();
    for path in &input.paths {
        let target = file(path, bench)?;
        if jobs.iter().all(|job| job.target != target) {
            let choices = choose(&top, &target.path);
            jobs.push(FileToFormat { target, choices });
        }
    }
    Ok(jobs)
}

/// Finds a file in the run's own tree, with links resolved.
fn file(path: &str, bench: &ToolContext) -> Result<FileTarget, ToolError> {
    let (target, root) = bench.find(path)?;
    if target.place != TargetTree::Worktree {
        let what = "formatters run in the run's own tree only";
        return Err(ToolError::new(ToolErrorKind::Unfit, what));
    }
    let resolved = root.resolve(Path::new(&target.path));
    let resolved =
        resolved.map_err(|error| ToolError::new(ToolErrorKind::Refused, error.to_string()))?;
    match resolved.about.map(|about| about.found) {
        Some(FileEntryKind::File) => Ok(FileTarget {
            place: target.place,
            path: resolved.path.to_string_lossy().into_owned(),
        }),
        None => Err(
            ToolError::new(ToolErrorKind::NotFound, format!("there is no `{path}`"))
                .hint("`glob` finds files by name"),
        ),
        Some(_) => Err(
            ToolError::new(ToolErrorKind::Unfit, format!("`{path}` is not a file"))
                .hint("name each file; `glob` lists them"),
        ),
    }
}

fn nothing_for(path: &str, choices: &FormatterChoices) -> String {
    let missing = choices.missing.iter().map(|formatter| {
        format!(
            "{} is configured but not installed; a person can: {}",
            formatter.id(),
            formatter.install()
        )
    });
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() {
        format!("no formatter available for `{path}`; it is unchanged")
    } else {
        format!(
            "no formatter available for `{path}`: {}",
            missing.join("; ")
        )
    }
}

/// Runs one formatter on one file, and restores everything that should not have changed.
fn format(
    bench: &ToolContext,
    target: &FileTarget,
    launch: impl FnOnce() -> Result<CheckProgramOutput, ToolError>,
) -> Result<(FormatOutcome, Value), ToolError> {
    let guard = bench.guard.in_place(&target.place);
    let path = Path::new(&target.path);
    let refused = |reason: String| ToolError::new(ToolErrorKind::Refused, reason);
    let judged = guard.judge(path, FileAccessKind::Write);
    judged.map_err(|refusal| refused(refusal.reason))?;
    let root = &bench.tree;
    let read = || root.read(path, MOST_BYTES, &*guard);
    let before = read().map_err(|error| refused(error.to_string()))?;
    let others = watched(bench, &target.path);
    let ran = launch();
    put_back(bench, &others)?;
    let after = read().ok();
    let put_own_back = || -> Result<(), ToolError> {
        if after.as_ref() == Some(&before) {
            return Ok(());
        }
        let written = root.write(path, &before, &*guard);
        written.map(drop).map_err(|error| {
            let what = format!("`{}` could not be put back: {error}", target.path);
            ToolError::new(ToolErrorKind::Machine, what)
        })
    };
    let ran = match ran {
        Ok(ran) => ran,
        Err(trouble) => {
            put_own_back()?;
            return Err(trouble);
        }
    };
    let Some(after) = after.as_ref().filter(|_| ran.exit == 0) else {
        put_own_back()?;
        let said = if ran.stderr.trim().is_empty() {
            &ran.excerpt
        } else {
            &ran.stderr
        };
        let said = said.trim();
        let end = said.floor_char_boundary(4000.min(said.len()));
        return Ok((FormatOutcome::Failed(said[..end].to_owned()), ran.data));
    };
    if blake3::hash(after) == blake3::hash(&before) {
        return Ok((FormatOutcome::Same, ran.data));
    }
    bench.seen().edited(target, after);
    Ok((FormatOutcome::Changed, ran.data))
}

/// Returns the nearby files that a formatter might change as well, with their content.
/// Only rustfmt is known to do so: it follows modules.
fn watched(bench: &ToolContext, path: &str) -> Vec<(String, Vec<u8>)> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let walk = ignore::WalkBuilder::new(bench.tree.path().join(folder))
        .standard_filters(false)
        .follow_links(false)
        .filter_entry(|entry| !matches!(entry.file_name().to_str(), Some("target" | ".git")))
        .build();
    let names = walk.filter_map(Result::ok).filter_map(|entry| {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let inside = entry
            .path()
            .strip_prefix(bench.tree.path())
            .ok()?
            .to_str()?;
        (is_file && inside.ends_with(".rs") && inside != path).then(|| inside.to_owned())
    });
    let content = |name: String| {
        let bytes = bench.tree.read(Path::new(&name), MOST_BYTES, &any).ok()?;
        Some((name, bytes))
    };
    names.take(MOST_WATCHED).filter_map(content).collect()
}

/// Restores the watched files that have changed.
fn put_back(bench: &ToolContext, files: &[(String, Vec<u8>)]) -> Result<(), ToolError> {
    for (name, before) in files {
        let path = Path::new(name);
        let now = bench.tree.read(path, MOST_BYTES, &any).ok();
        if now.as_ref() != Some(before) {
            let written = bench.tree.write(path, before, &any);
            written.map_err(|error| {
                let what = format!("`{name}` was changed too and could not be put back: {error}");
                ToolError::new(ToolErrorKind::Machine, what)
            })?;
        }
    }
    Ok(())
}

/// Permits everything: the bytes stay in this process and go back where they came from.
fn any(_: &Path, _: FileAccessKind) -> Result<(), artel_files::FileAccessRefusal> {
    Ok(())
}

#[cfg(test)]
mod tests;
