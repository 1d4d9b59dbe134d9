//! The descriptors of the git tools: the purpose and the fields of each.

use artel_policy::GitOperation;
use serde_json::{Map, Value, json};

use super::operation_of;
use crate::{ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolSchemaDelivery};

/// A tool in one row: name, purpose, fields, required fields.
type Entry = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const TOOLS: &[Entry] = &[
    (
        "git_status",
        "What changed in the tree, and on which branch",
        &[],
        &[],
    ),
    (
        "git_diff",
        "Differences of the tree, or of what is staged",
        &["path", "staged", "stat", "name_only"],
        &[],
    ),
    (
        "git_diff_between",
        "Differences between two commits",
        &["from", "to", "stat", "name_only", "path"],
        &["from"],
    ),
    (
        "git_log",
        "The latest commits, newest first",
        &["limit", "path", "author", "since", "grep", "commit", "stat"],
        &[],
    ),
    (
        "git_show",
        "One commit with its changes",
        &["commit", "stat", "name_only", "path"],
        &[],
    ),
    (
        "git_blame",
        "Who last changed each line of a file",
        &["path", "lines"],
        &["path"],
    ),
    (
        "git_ls_files",
        "Files that git knows",
        &["pattern", "modified"],
        &[],
    ),
    (
        "git_ls_tree",
        "Files of a commit",
        &["tree", "path", "recursive"],
        &[],
    ),
    ("git_branch_list", "Branches", &["pattern"], &[]),
    ("git_tag_list", "Tags", &["pattern"], &[]),
    ("git_remote_list", "Remotes with their addresses", &[], &[]),
    (
        "git_add",
        "Stage files for the next commit",
        &["paths", "all"],
        &[],
    ),
    (
        "git_commit",
        "Commit what is staged",
        &["message", "body"],
        &["message"],
    ),
    (
        "git_stash",
        "Put changes aside",
        &["message", "include_untracked"],
        &[],
    ),
    (
        "git_stash_pop",
        "Bring changes back that were put aside",
        &["index"],
        &[],
    ),
    (
        "git_branch_create",
        "Make a branch",
        &["name", "start"],
        &["name"],
    ),
    (
        "git_checkout",
        "Look at another commit in the run's tree",
        &["target", "create"],
        &["target"],
    ),
    (
        "git_switch",
        "Go to another branch in the run's tree",
        &["branch", "create"],
        &["branch"],
    ),
    (
        "git_revert",
        "Make a commit that undoes another",
        &["commit", "no_commit"],
        &["commit"],
    ),
    (
        "git_cherry_pick",
        "Apply commits of another branch",
        &["commits", "no_commit"],
        &["commits"],
    ),
    (
        "git_reset_soft",
        "Move the branch back; files stay",
        &["commit"],
        &[],
    ),
    ("git_fetch", "Get new commits of a remote", &["remote"], &[]),
    (
        "git_pull",
        "Get new commits of a remote and move on to them",
        &["remote", "branch"],
        &[],
    ),
];

pub(super) fn all() -> Vec<(ToolDescriptor, GitOperation)> {
    let entry = |(name, line, fields, required): &Entry| {
        let operation = operation_of(name)?;
        Some((card(name, line, fields, required, operation), operation))
    };
    TOOLS.iter().filter_map(entry).collect()
}

fn card(
    name: &str,
    line: &str,
    fields: &[&str],
    required: &[&str],
    operation: GitOperation,
) -> ToolDescriptor {
    let properties: Map<_, _> = fields
        .iter()
        .map(|field| ((*field).to_owned(), property(field)))
        .collect();
    let effects = match operation {
        GitOperation::Read => vec![ToolEffect::Read],
        GitOperation::Remote => vec![ToolEffect::Write, ToolEffect::Network],
        _ => vec![ToolEffect::Write],
    };
    ToolDescriptor {
        name: name.to_owned(),
        line: line.to_owned(),
        description: format!("{line}. Works in the run's own tree."),
        input: json!({
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": properties,
        }),
        effects,
        unknown: match operation {
            GitOperation::Read => ToolCrashRecovery::Pure,
            GitOperation::Remote => ToolCrashRecovery::Idempotent,
            _ => ToolCrashRecovery::Probe,
        },
        bundle: "git",
        keywords: &["git", "version", "history", "commit"],
        reach: ToolSchemaDelivery::Found,
    }
}

fn property(field: &str) -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let flag = |about: &str| json!({"type": "boolean", "description": about});
    match field {
        "path" => text("Only this file or folder"),
        "paths" => {
            json!({"type": "array", "items": {"type": "string"}, "description": "Files to stage"})
        }
        "staged" => flag("What is staged instead of what is not"),
        "stat" => flag("Only counts per file"),
        "name_only" => flag("Only names of files"),
        "limit" => {
            json!({"type": "integer", "description": "How many; 10 if not said, at most 500"})
        }
        "author" => text("Only commits of this author"),
        "since" => text("Only commits since then, such as 2026-01-31"),
        "grep" => text("Only commits whose message has this"),
        "commit" => text("A commit, branch or tag"),
        "commits" => {
            json!({"type": "array", "items": {"type": "string"}, "description": "Commits, oldest first"})
        }
        "from" => text("The older commit"),
        "to" => text("The newer commit; HEAD if not said"),
        "lines" => text("A range of lines, such as 10,20"),
        "pattern" => text("Only names like this"),
        "modified" => flag("Only files that changed"),
        "all" => flag("Every tracked file that changed"),
        "message" => text("What changed and why, at least 10 characters: `<type>: <description>`"),
        "body" => text("More about it"),
        "include_untracked" => flag("Also files that git does not know"),
        "index" => json!({"type": "integer", "description": "Which one; 0 is the newest"}),
        "name" | "branch" => text("The branch's name"),
        "start" => text("Where it begins; HEAD if not said"),
        "target" => text("A commit, branch or tag"),
        "create" => flag("Make it new"),
        "no_commit" => flag("Change files and index only"),
        "remote" => text("The remote's name; origin if not said"),
        "tree" => text("A commit, branch or tag; HEAD if not said"),
        "recursive" => flag("Also below folders"),
        _ => json!({}),
    }
}
