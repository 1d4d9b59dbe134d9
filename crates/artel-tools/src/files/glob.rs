//! `glob`: finds files by name patterns.

use std::collections::{BTreeSet, BinaryHeap};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use artel_policy::PolicyAction;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::{DirEntry, WalkState};
use serde::Deserialize;
use serde_json::{Value, json};

use super::card;
use super::spot::target;
use super::walk::{HiddenFileHandling, TreeWalkStart};
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolErrorKind,
    ToolObservation, ToolSchemaDelivery, nearest, parse,
};

/// Largest number of paths in a result.
const MOST_PATHS: usize = 500;

/// Largest number of entries examined for other extensions.
const MOST_LOOKED_AT: usize = 20_000;

pub(crate) struct GlobTool {
    card: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    path: Option<String>,
}

/// A pattern, split for the walk.
struct GlobWalkPattern {
    /// The folders before the first wildcard, where the walk begins.
    folder: String,
    matcher: GlobSet,
    /// Whether only file names are compared, not whole paths.
    is_name: bool,
    wants: GlobTargetKind,
    hidden: HiddenFileHandling,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GlobTargetKind {
    Files,
    Folders,
}

/// The first paths in sorted order, with the total number of matches.
#[derive(Default)]
struct GlobResults {
    paths: BinaryHeap<String>,
    total: usize,
}

impl GlobTool {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "`*.rs`, `src/**/*.{ts,tsx}`; `build/` finds folders"},
                "path": {"type": "string", "description": "A folder; all if not said"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        });
        let description = "Finds files by name. A pattern without `/` is compared in every \
            folder. Ignored and hidden files are left out.";
        Self {
            card: ToolDescriptor {
                effects: vec![ToolEffect::Read],
                unknown: ToolCrashRecovery::Pure,
                reach: ToolSchemaDelivery::Always,
                keywords: &["find", "files", "name", "pattern", "wildcard", "fd"],
                ..card(
                    "glob",
                    "Finds files by the pattern of their names.",
                    description,
                    input,
                )
            },
        }
    }
}

impl Tool for GlobTool {
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
        let pattern = GlobWalkPattern::read(&input.pattern)?;
        let base = TreeWalkStart::find(bench, input.path.as_deref())?;
        let start = match pattern.folder.as_str() {
            "" => base,
            folder => {
                let path = match input.path.as_deref() {
                    Some(path) => format!("{}/{folder}", path.trim_end_matches('/')),
                    None => folder.to_owned(),
                };
                match TreeWalkStart::find(bench, Some(&path)) {
                    Err(trouble) if trouble.kind == ToolErrorKind::NotFound => {
                        return Ok(nothing(&input, bench.tree.path()));
                    }
                    start => start?,
                }
            }
        };
        let found = search(&start, &pattern);
        if found.total == 0 {
            return Ok(nothing(&input, start.root.path()));
        }
        Ok(observation(found))
    }
}

impl GlobWalkPattern {
    fn read(text: &str) -> Result<Self, ToolError> {
        let wants = if text.ends_with('/') {
            GlobTargetKind::Folders
        } else {
            GlobTargetKind::Files
        };
        let text = text.trim_end_matches('/');
        let text = text.strip_prefix("./").unwrap_or(text);
        let is_name = !text.contains('/');
        let (folder, rest) = split(text);
        let bad = |cause: globset::Error| {
            let what = format!("the pattern `{text}` cannot be read: {}", cause.kind());
            ToolError::new(ToolErrorKind::BadInput, what)
                .hint("wildcards are `*`, `**`, `?`, `[abc]` and `{a,b}`; `\\` takes their meaning")
        };
        let glob = GlobBuilder::new(rest).literal_separator(true).build();
        let set = GlobSetBuilder::new().add(glob.map_err(bad)?).build();
        let is_dotted = text
            .split('/')
            .any(|name| name.starts_with('.') && name != "..");
        Ok(Self {
            folder: folder.to_owned(),
            matcher: set.map_err(bad)?,
            is_name,
            wants,
            hidden: if is_dotted {
                HiddenFileHandling::Shown
            } else {
                HiddenFileHandling::Skipped
            },
        })
    }

    fn fits(&self, entry: &DirEntry, below: usize) -> bool {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if is_folder != (self.wants == GlobTargetKind::Folders) || entry.depth() == 0 {
            return false;
        }
        if self.is_name {
            return self.matcher.is_match(entry.file_name());
        }
        let path = entry.path().as_os_str().as_encoded_bytes();
        let inside = path
            .get(below..)
            .and_then(|inside| std::str::from_utf8(inside).ok());
        inside.is_some_and(|inside| self.matcher.is_match(inside))
    }
}

/// Splits a pattern after the folders that contain no wildcard.
fn split(pattern: &str) -> (&str, &str) {
    let wild = pattern
        .find(['*', '?', '[', '{', '\\'])
        .unwrap_or(pattern.len());
    match pattern[..wild].rfind('/') {
        Some(slash) => (&pattern[..slash], &pattern[slash + 1..]),
        None => ("", pattern),
    }
}

fn search(start: &TreeWalkStart<'_>, pattern: &GlobWalkPattern) -> GlobResults {
    let all = Mutex::new(GlobResults::default());
    let folder = start.folder();
    let below = folder.as_os_str().len() + usize::from(folder.parent().is_some());
    let walk = start.walk(pattern.hidden).build_parallel();
    walk.run(|| {
        let mut mine = GlobThreadResults {
            first: GlobResults::default(),
            into: &all,
        };
        Box::new(move |entry| {
            if let Ok(entry) = entry
                && pattern.fits(&entry, below)
            {
                mine.first.add(start.name(start.relative(&entry)));
            }
            WalkState::Continue
        })
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The results of one thread, merged into the others on drop.
struct GlobThreadResults<'g> {
    first: GlobResults,
    into: &'g Mutex<GlobResults>,
}

impl Drop for GlobThreadResults<'_> {
    fn drop(&mut self) {
        let mut into = self.into.lock().unwrap_or_else(PoisonError::into_inner);
        let total = into.total + self.first.total;
        for path in self.first.paths.drain() {
            into.add(path);
        }
        into.total = total;
    }
}

impl GlobResults {
    fn add(&mut self, path: String) {
        self.total += 1;
        let is_full = self.paths.len() == MOST_PATHS;
        if is_full && self.paths.peek().is_some_and(|last| *last <= path) {
            return;
        }
        self.paths.push(path);
        if is_full {
            self.paths.pop();
        }
    }
}

fn nothing(input: &Input, root: &Path) -> ToolObservation {
    let place = input.path.as_deref().unwrap_or("the tree");
    ToolObservation {
        data: json!({"total": 0}),
        hints: other_ending(&input.pattern, root).into_iter().collect(),
        ..ToolObservation::text(format!("no file matches `{}` in {place}", input.pattern))
    }
}

/// Returns a hint with the pattern rewritten to similar extensions that files in the tree
/// do have.
fn other_ending(pattern: &str, root: &Path) -> Option<String> {
    let (stem, ending) = pattern.rsplit_once('.')?;
    let walk = crate::similar::walk(root);
    let endings: BTreeSet<String> = walk
        .take(MOST_LOOKED_AT)
        .filter_map(|entry| Some(entry.ok()?.path().extension()?.to_str()?.to_owned()))
        .filter(|other| other != ending)
        .collect();
    let near = nearest(ending, endings.iter().map(String::as_str), 2);
    let near: Vec<_> = near.iter().map(|near| format!("`{stem}.{near}`")).collect();
    (!near.is_empty()).then(|| format!("write `pattern` as {}", near.join(" or ")))
}

fn observation(found: GlobResults) -> ToolObservation {
    let total = found.total;
    let paths = found.paths.into_sorted_vec();
    let is_partial = paths.len() < total;
    let mut text = paths.join("\n");
    if is_partial {
        text.push_str(&format!(
            "\n[the first {} of {total}; a narrower pattern or `path` shows the others]",
            paths.len()
        ));
    }
    ToolObservation {
        text,
        data: json!({"total": total, "shown": paths.len()}),
        is_partial,
        ..ToolObservation::default()
    }
}
