//! The permission matrix of git: roles and operations.

use super::never::git_subcommand;
use super::{allow, deny};
use crate::rules::PolicyRule;
use crate::{GitOperation, PolicyAction, PolicyRuling, command};

/// Returns whether a role may perform this git operation. A role that is not in the matrix
/// may only read.
pub fn may(role: &str, operation: GitOperation) -> bool {
    use GitOperation as Does;
    match operation {
        Does::Read => true,
        Does::Commit => matches!(
            role,
            "engineer" | "designer" | "tester" | "architect" | "default"
        ),
        Does::BranchCreate | Does::History => role == "architect",
        Does::Checkout | Does::Remote => matches!(role, "architect" | "librarian"),
        Does::Clone => role == "librarian",
        Does::Push | Does::Merge | Does::Rewrite => false,
    }
}

pub(super) fn decide(role: &str, operation: GitOperation) -> PolicyRuling {
    if may(role, operation) {
        return allow("shipped.git", "the role may do that in the run's own tree");
    }
    let what = operation.phrase();
    deny(
        format!("matrix.{what}"),
        format!("the role `{role}` may not {what} in git"),
    )
}

/// Returns whether a ban or ask rule covers a git tool: by its name, by `Git` for all of
/// them, or by the equivalent command. A rule about every command does not cover tools.
pub(super) fn is_about(rule: &PolicyRule, tool: &str) -> bool {
    let Some(does) = tool.strip_prefix("git_") else {
        return rule.admits_tool(tool);
    };
    let is_about_all = rule.tool() == "git" && !rule.names_something();
    let lines = commands_of(does).iter();
    let mut lines = lines.map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
    rule.admits_tool(tool)
        || is_about_all
        || (!rule.prefix().is_empty() && lines.any(|words| rule.catches_command(&words)))
}

/// Returns whether a ban or ask rule on reading any file covers a git tool, because that
/// tool shows file contents.
pub(super) fn is_about_shown(rule: &PolicyRule, tool: &str) -> bool {
    const SHOWING: [&str; 4] = ["git_blame", "git_diff", "git_diff_between", "git_show"];
    rule.bans_all_reading() && SHOWING.contains(&tool)
}

/// Returns the commands equivalent to a git tool, given its name without `git_`.
fn commands_of(does: &str) -> &'static [&'static str] {
    match does {
        "status" => &["git status"],
        "diff" | "diff_between" => &["git diff"],
        "log" => &["git log"],
        "show" => &["git show"],
        "blame" => &["git blame", "git annotate"],
        "ls_files" => &["git ls-files"],
        "ls_tree" => &["git ls-tree"],
        "branch_list" => &["git branch --list"],
        "tag_list" => &["git tag --list"],
        "remote_list" => &["git remote --verbose"],
        "add" => &["git add", "git stage"],
        "commit" => &["git commit"],
        "stash" => &["git stash push"],
        "stash_pop" => &["git stash pop"],
        "branch_create" => &["git branch", "git checkout -b", "git switch -c"],
        "checkout" | "switch" => &["git checkout", "git switch"],
        "revert" => &["git revert"],
        "cherry_pick" => &["git cherry-pick"],
        "reset_soft" => &["git reset --soft"],
        "fetch" => &["git fetch"],
        "pull" => &["git pull", "git fetch"],
        // Tools that are not listed here are never allowed anyway.
        _ => &["git"],
    }
}

/// Returns whether the role may do everything that the command would do in `git`, so that
/// the shell is not a way around the matrix. All other commands and actions are admitted.
pub(super) fn admits(role: &str, action: &PolicyAction) -> bool {
    let may = |words: &[String]| operation(words).is_none_or(|does| may(role, does));
    match action {
        PolicyAction::Shell(text) => command::read(text).words().all(may),
        PolicyAction::Words(words) => may(words),
        _ => true,
    }
}

/// Returns the git operation of a command, or `None` if it does not run git or only asks
/// for its version. An unknown subcommand counts as an operation that is never allowed.
fn operation(words: &[String]) -> Option<GitOperation> {
    use GitOperation as Does;
    let (program, arguments) = words.split_first()?;
    if program.rsplit('/').next() != Some("git") {
        return None;
    }
    let (subcommand, rest) = git_subcommand(arguments)?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(word));
    let begins = |words: &[&str]| rest.first().is_some_and(|word| words.contains(word));
    Some(match subcommand {
        "status" | "diff" | "log" | "show" | "blame" | "annotate" | "ls-files" | "ls-tree"
        | "grep" | "describe" | "shortlog" | "rev-parse" | "rev-list" | "cat-file" | "reflog"
        | "for-each-ref" | "show-ref" | "show-branch" | "merge-base" | "name-rev" | "cherry"
        | "range-diff" | "whatchanged" | "diff-tree" | "diff-index" | "diff-files" | "fsck"
        | "count-objects" | "check-ignore" | "check-attr" | "var" | "version" | "help"
        | "hash-object" | "patch-id" | "merge-tree" | "format-patch" | "archive" | "bundle" => {
            Does::Read
        }
        "stash" if begins(&["list", "show"]) => Does::Read,
        "branch" | "tag" if is_list(&rest) => Does::Read,
        "remote" if is_list(&rest) || begins(&["show", "get-url"]) => Does::Read,
        "worktree" if begins(&["list"]) => Does::Read,
        "add" | "commit" | "stash" | "rm" | "mv" | "restore" | "apply" | "clean" | "init"
        | "config" | "update-index" | "stage" => Does::Commit,
        "checkout" if has(&["-b", "-B", "--orphan"]) => Does::BranchCreate,
        "switch" if has(&["-c", "-C", "--create", "--force-create", "--orphan"]) => {
            Does::BranchCreate
        }
        "branch" | "tag" | "worktree" => Does::BranchCreate,
        "checkout" | "switch" | "bisect" => Does::Checkout,
        "revert" | "cherry-pick" | "reset" | "am" => Does::History,
        "fetch" | "pull" | "ls-remote" | "remote" | "submodule" => Does::Remote,
        "clone" => Does::Clone,
        "push" => Does::Push,
        "merge" => Does::Merge,
        _ => Does::Rewrite,
    })
}

/// Returns whether `git branch`, `git tag` or `git remote` with these words only lists:
/// there is no operand or a listing option, and no option that changes anything.
fn is_list(rest: &[&str]) -> bool {
    const LISTS: [&str; 2] = ["-l", "--list"];
    const CHANGES: [&str; 24] = [
        "-d",
        "-D",
        "--delete",
        "-m",
        "-M",
        "--move",
        "-c",
        "-C",
        "--copy",
        "-f",
        "--force",
        "-u",
        "--set-upstream-to",
        "--unset-upstream",
        "-t",
        "--track",
        "--edit-description",
        "--create-reflog",
        "-s",
        "--sign",
        "--annotate",
        "-F",
        "--file",
        "--message",
    ];
    let name = |word: &&str| word.split('=').next().unwrap_or_default().to_owned();
    let changes = rest
        .iter()
        .any(|word| CHANGES.contains(&name(word).as_str()));
    let takes_value = [
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
    ];
    let asks = rest
        .iter()
        .any(|word| LISTS.contains(word) || takes_value.contains(&name(word).as_str()));
    let has_operand = rest.iter().any(|word| !word.starts_with('-'));
    !changes && (asks || !has_operand)
}

impl GitOperation {
    /// Returns the operation as a verb phrase.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Commit => "commit",
            Self::BranchCreate => "create branches",
            Self::Checkout => "check out",
            Self::History => "revert or pick commits",
            Self::Remote => "fetch or pull",
            Self::Clone => "clone",
            Self::Push => "push",
            Self::Merge => "merge",
            Self::Rewrite => "rewrite history",
        }
    }
}
