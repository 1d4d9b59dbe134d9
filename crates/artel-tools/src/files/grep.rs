//! `grep`: searches content by regular expression, with ripgrep's engine.

use artel_policy::PolicyAction;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::card;
use super::search::{GrepOutputMode, GrepQuery, search};
use super::spot::target;
use super::walk::{HiddenFileHandling, TreeWalkStart};
use crate::similar::nearest;
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolErrorKind,
    ToolObservation, ToolSchemaDelivery, parse,
};

/// Default and largest number of lines or files in a result.
const USUAL_LIMIT: usize = 200;
const MOST_LIMIT: usize = 2000;
/// Largest number of context lines around a match.
const MOST_CONTEXT: usize = 50;

pub(crate) struct GrepTool {
    card: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    output: GrepOutputMode,
    #[serde(default)]
    before: usize,
    #[serde(default)]
    after: usize,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    multiline: bool,
    limit: Option<usize>,
}

impl GrepTool {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A regular expression, as in ripgrep"},
                "path": {"type": "string", "description": "A folder or file; all if not said"},
                "glob": {"type": "string", "description": "Like `src/**/*.rs`"},
                "type": {"type": "string", "description": "rust, py, …"},
                "output": {"type": "string", "enum": ["content", "files", "count"], "description": "`content` if not said"},
                "before": {"type": "integer", "minimum": 0, "description": "Lines"},
                "after": {"type": "integer", "minimum": 0, "description": "Lines"},
                "ignore_case": {"type": "boolean", "description": "Any case"},
                "multiline": {"type": "boolean", "description": "Across lines"},
                "limit": {"type": "integer", "minimum": 1, "description": "200 if not said"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        });
        let description = "Searches the content of files. `12:` marks a match at line 12, `13-` \
            a line around one. Hidden, ignored and binary files are left out.";
        Self {
            card: ToolDescriptor {
                effects: vec![ToolEffect::Read],
                unknown: ToolCrashRecovery::Pure,
                reach: ToolSchemaDelivery::Always,
                keywords: &[
                    "search", "content", "regex", "find", "text", "rg", "ripgrep",
                ],
                ..card("grep", "Searches the content of files.", description, input)
            },
        }
    }
}

impl Tool for GrepTool {
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
        let matcher = matcher(&input)?;
        let start = TreeWalkStart::find(bench, input.path.as_deref())?;
        let mut walk = start.walk(HiddenFileHandling::Skipped);
        narrow(&mut walk, &start, &input)?;
        let asked = GrepQuery {
            matcher,
            output: input.output,
            before: input.before.min(MOST_CONTEXT),
            after: input.after.min(MOST_CONTEXT),
            is_multiline: input.multiline,
            limit: input.limit.unwrap_or(USUAL_LIMIT).clamp(1, MOST_LIMIT),
        };
        let found = search(&start, &walk, &asked, bench)?;
        let mut observation = found.observation(&input.pattern, &asked);
        let has_letters = input.pattern.chars().any(char::is_alphabetic);
        if observation.data["files"] == 0 && !input.ignore_case && has_letters {
            let hint = "write `ignore_case` as `true` if upper and lower case may differ";
            observation.hints.push(hint.to_owned());
        }
        Ok(observation)
    }
}

fn matcher(input: &Input) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(input.ignore_case).multi_line(true);
    if input.multiline {
        builder.dot_matches_new_line(true)
    } else {
        builder.line_terminator(Some(b'\n'))
    };
    builder.build(&input.pattern).map_err(|cause| {
        let what = format!("the pattern cannot be read: {cause}");
        let trouble = ToolError::new(ToolErrorKind::BadInput, what);
        if !input.multiline && input.pattern.contains("\\n") {
            trouble.hint("write `multiline` as `true` to match over line ends")
        } else {
            trouble.hint(format!(
                "write `pattern` as `{}` to search for it as it stands",
                escaped(&input.pattern)
            ))
        }
    })
}

/// Escapes the characters that have a meaning in a pattern.
fn escaped(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len() + 8);
    for letter in pattern.chars() {
        if "()[]{}.*+?|^$\\#&-~".contains(letter) {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

fn narrow(
    walk: &mut WalkBuilder,
    start: &TreeWalkStart<'_>,
    input: &Input,
) -> Result<(), ToolError> {
    if let Some(glob) = &input.glob {
        let mut overrides = OverrideBuilder::new(start.root.path());
        let overrides = overrides.add(glob).and_then(|overrides| overrides.build());
        walk.overrides(overrides.map_err(|cause| {
            let what = format!("`glob` cannot be read: {cause}");
            ToolError::new(ToolErrorKind::BadInput, what)
        })?);
    }
    if let Some(kind) = &input.kind {
        let mut types = TypesBuilder::new();
        types.add_defaults();
        let selected = types.select(kind).build();
        walk.types(selected.map_err(|_| unknown_type(&types, kind))?);
    }
    Ok(())
}

fn unknown_type(types: &TypesBuilder, kind: &str) -> ToolError {
    let known = types.definitions();
    let similar = nearest(kind, known.iter().map(|known| known.name()), 5);
    let trouble = ToolError::new(
        ToolErrorKind::BadInput,
        format!("there is no type `{kind}`"),
    );
    if similar.is_empty() {
        trouble.hint("`glob` narrows by name instead: `*.ext`")
    } else {
        let similar: Vec<_> = similar.iter().map(|kind| format!("`{kind}`")).collect();
        trouble.hint(format!("similar types: {}", similar.join(", ")))
    }
}
