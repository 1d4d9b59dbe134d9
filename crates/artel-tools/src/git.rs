//! Git for agents. The permission matrix decides what each role may do, and `artel-git`
//! decides how git runs. Nothing here pushes, merges or rewrites history.

mod arguments;
mod cards;
mod left_out;

use std::sync::Arc;

use artel_git::{GitError, GitIdentity, GitRunner};
use artel_policy::rules::RequestedHost;
use artel_policy::{FileTarget, GitOperation, PolicyAction, TargetTree};
use serde_json::{Value, json};

use crate::{Tool, ToolContext, ToolDescriptor, ToolError, ToolErrorKind, ToolObservation};

/// Longest output shown, in bytes: more than a model should read at once.
const LONGEST: usize = 64 * 1024;

/// Returns the git tools.
pub fn git_tools() -> Vec<Arc<dyn Tool>> {
    let tool = |(card, operation)| Arc::new(GitTool { card, operation }) as Arc<dyn Tool>;
    cards::all().into_iter().map(tool).collect()
}

/// Returns the operation of a git tool, or `None` for other tools. An unknown `git_…`
/// counts as an operation that is never allowed.
pub(crate) fn operation_of(name: &str) -> Option<GitOperation> {
    use GitOperation as Does;
    let what = name.strip_prefix("git_")?;
    Some(match what {
        "status" | "diff" | "diff_between" | "log" | "show" | "blame" | "ls_files" | "ls_tree"
        | "branch_list" | "tag_list" | "remote_list" => Does::Read,
        "add" | "commit" | "stash" | "stash_pop" => Does::Commit,
        "branch_create" => Does::BranchCreate,
        "checkout" | "switch" => Does::Checkout,
        "revert" | "cherry_pick" | "reset_soft" => Does::History,
        "fetch" | "pull" => Does::Remote,
        "clone_temp" => Does::Clone,
        "push" => Does::Push,
        "merge" => Does::Merge,
        _ => Does::Rewrite,
    })
}

struct GitTool {
    card: ToolDescriptor,
    operation: GitOperation,
}

impl Tool for GitTool {
    fn card(&self) -> &ToolDescriptor {
        &self.card
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        // Input that does not fit is reported before policy is asked.
        let call = arguments::of(&self.card.name, input)?;
        let mut actions = vec![PolicyAction::Git(self.operation)];
        actions.extend(call.reads.into_iter().map(|path| {
            PolicyAction::Read(FileTarget {
                place: TargetTree::Worktree,
                path,
            })
        }));
        let git = repository(bench)?;
        let dangers = git.dangers().map_err(trouble)?;
        if !dangers.0.is_empty() {
            actions.push(PolicyAction::Trust {
                what: format!("git:{}", dangers.hash()),
                shown: dangers
                    .0
                    .iter()
                    .map(|danger| format!("{} = {}", danger.key, danger.value))
                    .collect(),
            });
        }
        if self.operation == GitOperation::Remote {
            actions.push(PolicyAction::Network(remote_host(&git, input)?));
        }
        Ok(actions)
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let git = repository(bench)?;
        let call = arguments::of(&self.card.name, input)?;
        let words = left_out::words(&call, bench)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = git.run_with(&words, call.stdin);
        let said = said.map_err(|error| advised(&git, input, trouble(error)))?;
        let text = String::from_utf8_lossy(&said);
        let (shown, is_partial) = shorten(text.trim_end());
        let text = if shown.is_empty() {
            call.nothing.to_owned()
        } else {
            shown
        };
        Ok(ToolObservation {
            text,
            data: json!({ "git": call.words.first() }),
            is_partial,
            ..ToolObservation::default()
        })
    }
}

/// Returns the run's own repository.
fn repository(bench: &ToolContext) -> Result<GitRunner, ToolError> {
    let program = bench.git.clone().ok_or_else(|| {
        ToolError::new(ToolErrorKind::NotFound, "git is not installed").hint("go on without git")
    })?;
    let identity = GitIdentity {
        name: format!("Artel {}", bench.role),
        email: "artel@localhost".to_owned(),
    };
    Ok(GitRunner::new(program, bench.tree.path(), identity))
}

/// Adds a hint after git refused: a revision similar to the given one, or the call that
/// must come first.
fn advised(git: &GitRunner, input: &Value, trouble: ToolError) -> ToolError {
    const UNKNOWN: [&str; 5] = [
        "unknown revision",
        "bad revision",
        "invalid reference",
        "not a valid object",
        "did not match any",
    ];
    let has = |said: &str| trouble.what.contains(said);
    if has("nothing to commit") || has("no changes added") || has("nothing added") {
        let call = json!({ "all": true });
        return trouble.hint(format!("`git_add {call}` first, then commit"));
    }
    if !UNKNOWN.iter().any(|said| has(said)) {
        return trouble;
    }
    let refs = git.run(&["for-each-ref", "--format=%(refname:short)", "--count=500"]);
    let refs = refs.map(|refs| String::from_utf8_lossy(&refs).into_owned());
    let refs = refs.unwrap_or_default();
    let given = input
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.values());
    let mut given = given.filter_map(Value::as_str).filter(|word| has(word));
    let near = given.find_map(|word| {
        let near = crate::nearest(word, refs.lines(), 1);
        near.first()
            .map(|near| (word.to_owned(), (*near).to_owned()))
    });
    match near {
        Some((word, near)) => {
            trouble.hint(format!("`{word}` is not known; did you mean `{near}`?"))
        }
        None => trouble.hint("`git_branch_list` and `git_log` show what there is"),
    }
}

fn remote_host(git: &GitRunner, input: &Value) -> Result<String, ToolError> {
    let remote = input
        .get("remote")
        .and_then(Value::as_str)
        .unwrap_or("origin");
    let url = git
        .run(&["remote", "get-url", "--", remote])
        .map_err(trouble)?;
    let url = String::from_utf8_lossy(&url);
    let url = url.trim();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']').map(|at| at + 2),
        None => host.find(['/', ':']),
    };
    let host = &host[..end.unwrap_or(host.len())];
    Ok(RequestedHost::read(host).to_string())
}

fn shorten(text: &str) -> (String, bool) {
    if text.len() <= LONGEST {
        return (text.to_owned(), false);
    }
    let mut end = LONGEST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let left = text.len() - end;
    let shown = format!(
        "{}\n… {left} more bytes: narrow it with `path`, `limit` or `stat`",
        &text[..end]
    );
    (shown, true)
}

fn trouble(error: GitError) -> ToolError {
    match error {
        GitError::NoRepository(_) => {
            ToolError::new(ToolErrorKind::NotFound, "not in a git repository")
                .hint("use the file tools")
        }
        GitError::Refused { command, said } => {
            ToolError::new(ToolErrorKind::Failed, format!("git {command}: {said}"))
        }
        odd @ GitError::OddInclude { .. } => ToolError::new(ToolErrorKind::Failed, odd.to_string()),
        GitError::NotRun(cause) => ToolError::new(
            ToolErrorKind::Machine,
            format!("git could not be run: {cause}"),
        ),
    }
}

#[cfg(test)]
mod tests;
