//! Suggests the tool for what git cannot do inside the sandbox.

use artel_policy::command;
use serde_json::json;

/// Returns the git tool call for a command: inside the sandbox git cannot write to `.git`;
/// the git tools do it outside.
pub(super) fn git_hint(command: &str) -> Option<String> {
    let reading = command::read(command);
    let call = reading.words().find_map(|words| {
        let program = words.first()?;
        if program.rsplit('/').next() != Some("git") {
            return None;
        }
        git_call(words.get(1..)?)
    })?;
    Some(format!("git writes nothing from here; `{call}` does it"))
}

/// Returns the call of a git tool that does the same as git's own words.
fn git_call(words: &[String]) -> Option<String> {
    let at = words.iter().position(|word| !word.starts_with('-'))?;
    let subcommand = words[at].as_str();
    let rest = &words[at + 1..];
    let value_of = |flags: &[&str]| {
        let place = rest
            .iter()
            .position(|word| flags.contains(&word.as_str()))?;
        rest.get(place + 1).cloned()
    };
    let names: Vec<&String> = rest.iter().filter(|word| !word.starts_with('-')).collect();
    let first = names.first().copied();
    let (tool, input) = match subcommand {
        "add" if names.is_empty() => ("git_add", json!({ "all": true })),
        "add" => ("git_add", json!({ "paths": names })),
        "commit" => {
            let message = value_of(&["-m", "--message", "-am"]);
            (
                "git_commit",
                json!({ "message": message.unwrap_or_default() }),
            )
        }
        "checkout" | "switch" => {
            let made = value_of(&["-b", "-c", "--create"]);
            match (made, first) {
                (Some(name), _) => ("git_switch", json!({ "target": name, "create": true })),
                (None, Some(name)) => ("git_switch", json!({ "target": name })),
                (None, None) => ("git_switch", json!({})),
            }
        }
        "branch" => ("git_branch_create", json!({ "name": first })),
        "stash" => ("git_stash", json!({})),
        "revert" => ("git_revert", json!({ "commit": first })),
        "cherry-pick" => ("git_cherry_pick", json!({ "commits": names })),
        "reset" => ("git_reset_soft", json!({ "commit": first })),
        "fetch" => ("git_fetch", json!({})),
        "pull" => ("git_pull", json!({})),
        _ => return None,
    };
    Some(format!("{tool} {input}"))
}
