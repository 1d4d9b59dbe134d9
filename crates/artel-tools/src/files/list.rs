//! `list`: shows a folder as a tree.

use std::fmt::Write as _;
use std::path::Path;

use artel_files::FileEntryKind;
use artel_policy::PolicyAction;
use ignore::DirEntry;
use serde::Deserialize;
use serde_json::{Value, json};

use super::spot::target;
use super::walk::{HiddenFileHandling, TreeWalkStart};
use super::{card, size};
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolErrorKind,
    ToolObservation, parse,
};

/// Default depth of a listing.
const USUAL_DEPTH: usize = 2;
/// Largest number of entries in a result.
const MOST_ENTRIES: usize = 1000;

pub(crate) struct ListFolderTool {
    card: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: Option<String>,
    depth: Option<usize>,
}

impl ListFolderTool {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The folder. Default: the whole tree."},
                "depth": {"type": "integer", "minimum": 1, "description": "How many levels to show. Default: 2."},
            },
            "additionalProperties": false,
        });
        let description = "Shows what is in a folder as a tree, with sizes. Ignored files are \
            left out, hidden ones are shown. Links show where they lead and are not followed.";
        Self {
            card: ToolDescriptor {
                effects: vec![ToolEffect::Read],
                unknown: ToolCrashRecovery::Pure,
                keywords: &["ls", "tree", "folder", "directory", "sizes"],
                ..card(
                    "list",
                    "Shows a folder as a tree, with sizes.",
                    description,
                    input,
                )
            },
        }
    }
}

impl Tool for ListFolderTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let input: Input = parse(input)?;
        let path = input.path.as_deref().unwrap_or(".");
        Ok(vec![PolicyAction::Read(target(bench, path)?)])
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let input: Input = parse(input)?;
        let depth = input.depth.unwrap_or(USUAL_DEPTH);
        if depth == 0 {
            return Err(ToolError::new(
                ToolErrorKind::BadInput,
                "`depth` counts from 1",
            ));
        }
        let start = TreeWalkStart::find(bench, input.path.as_deref())?;
        if start.found != FileEntryKind::Folder {
            let what = format!(
                "`{}` is {}, not a folder",
                start.name(Path::new(&start.target.path)),
                start.found
            );
            return Err(ToolError::new(ToolErrorKind::Unfit, what).hint("`read` shows it"));
        }
        Ok(tree(&start, depth))
    }
}

fn tree(start: &TreeWalkStart<'_>, depth: usize) -> ToolObservation {
    let walk = start
        .walk(HiddenFileHandling::Shown)
        .max_depth(Some(depth))
        .sort_by_file_name(Ord::cmp)
        .build();
    let (mut text, mut files, mut folders, mut more) = (String::new(), 0_usize, 0_usize, 0_usize);
    for entry in walk
        .filter_map(Result::ok)
        .filter(|entry| entry.depth() > 0)
    {
        if files + folders == MOST_ENTRIES {
            more += 1;
            continue;
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        files += usize::from(!is_folder);
        folders += usize::from(is_folder);
        let indent = "  ".repeat(entry.depth() - 1);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{indent}{}", words(&entry));
    }
    let _ = write!(
        text,
        "[{files} files, {folders} folders, {depth} levels deep"
    );
    if more > 0 {
        let _ = write!(
            text,
            "; {more} more entries are not shown, list a folder below"
        );
    }
    text.push(']');
    ToolObservation {
        text,
        data: json!({"files": files, "folders": folders, "more": more}),
        is_partial: more > 0,
        ..ToolObservation::default()
    }
}

fn words(entry: &DirEntry) -> String {
    let name = entry.file_name().to_string_lossy();
    let name = if name.chars().any(char::is_control) {
        format!("{name:?}")
    } else {
        name.into_owned()
    };
    let Some(kind) = entry.file_type() else {
        return name;
    };
    if kind.is_dir() {
        return format!("{name}/");
    }
    if kind.is_symlink() {
        let leads = std::fs::read_link(entry.path()).unwrap_or_default();
        return format!("{name} -> {}", leads.to_string_lossy());
    }
    match entry.metadata() {
        Ok(about) if kind.is_file() => format!("{name}  {}", size(about.len())),
        _ => format!("{name}  (a pipe, a socket or a device)"),
    }
}
