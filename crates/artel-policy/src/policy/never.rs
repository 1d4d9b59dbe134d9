//! Actions that are never allowed: built in, and not lifted by any rule or grant.

use super::deny;
use crate::{GitOperation, PolicyAction, PolicyRuling, TargetTree, command, path};

/// Returns the denial of an action that is never allowed.
pub(super) fn denies(action: &PolicyAction) -> Option<PolicyRuling> {
    match action {
        PolicyAction::Write(target) | PolicyAction::Delete(target) => {
            if let TargetTree::Portal(name) = &target.place {
                let reason = format!(
                    "files of `@{name}` are changed only by approving a changeset; work in the \
                     run's own tree"
                );
                return Some(deny("never.portal-tree", reason));
            }
            if target.place == TargetTree::Skill {
                let reason = "a skill's own files are never changed; write into the run's tree";
                return Some(deny("never.skill-folder", reason));
            }
            let ground = path::protected(&target.path)?;
            let reason = format!("agents never write `{}`", target.path);
            Some(deny(ground, reason))
        }
        PolicyAction::Shell(text) => command::read(text).words().find_map(command_denied),
        PolicyAction::Words(words) => command_denied(words),
        PolicyAction::Git(GitOperation::Push) => Some(push()),
        PolicyAction::Git(GitOperation::Merge) => Some(merge()),
        PolicyAction::Git(GitOperation::Rewrite) => Some(rewrite()),
        PolicyAction::Git(_)
        | PolicyAction::Read(_)
        | PolicyAction::Network(_)
        | PolicyAction::Secret(_)
        | PolicyAction::Trust { .. }
        | PolicyAction::Nothing => None,
    }
}

/// Returns the denial for the words of one command.
fn command_denied(words: &[String]) -> Option<PolicyRuling> {
    let (program, arguments) = words.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    match name {
        "artel" => Some(deny(
            "never.self-grant",
            "an agent cannot use Artel's own commands to change what it may do",
        )),
        "git" => git_denied(arguments),
        // `git-push` is how git calls its own subcommands.
        _ => {
            let subcommand = name.strip_prefix("git-")?.to_owned();
            let whole: Vec<String> = [subcommand].into_iter().chain(arguments.to_vec()).collect();
            git_denied(&whole)
        }
    }
}

/// Returns the subcommand of a `git` command line and the words that follow it.
pub(super) fn git_subcommand(arguments: &[String]) -> Option<(&str, &[String])> {
    let mut at = 0;
    loop {
        match arguments.get(at)?.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path"
            | "--config-env" | "--super-prefix" | "--attr-source" => at += 2,
            option if option.starts_with('-') => at += 1,
            word => return Some((word, &arguments[at + 1..])),
        }
    }
}

fn git_denied(arguments: &[String]) -> Option<PolicyRuling> {
    let (subcommand, rest) = git_subcommand(arguments)?;
    let options: Vec<&str> = rest.iter().map(String::as_str).collect();
    let has = |least: &str, whole: &str| {
        options
            .iter()
            .any(|option| option.starts_with(least) && whole.starts_with(option))
    };
    match subcommand {
        "push" | "send-pack" | "send-email" => Some(push()),
        "merge" => Some(merge()),
        "rebase" | "filter-branch" | "filter-repo" | "replace" | "update-ref" | "fast-import" => {
            Some(rewrite())
        }
        "reset" if has("--h", "--hard") || has("--m", "--merge") || has("--k", "--keep") => {
            Some(rewrite())
        }
        "commit" if has("--am", "--amend") => Some(rewrite()),
        "reflog"
            if options
                .iter()
                .any(|word| matches!(*word, "expire" | "delete")) =>
        {
            Some(rewrite())
        }
        _ => None,
    }
}

fn push() -> PolicyRuling {
    deny(
        "never.git-push",
        "pushing leaves this machine; a person pushes after the run",
    )
}

fn merge() -> PolicyRuling {
    deny(
        "never.git-merge",
        "a person merges, by approving the changeset",
    )
}

fn rewrite() -> PolicyRuling {
    deny(
        "never.git-history",
        "history is not rewritten; make a new commit instead",
    )
}
