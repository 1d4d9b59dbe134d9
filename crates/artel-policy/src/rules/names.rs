//! The spelling of tool names in rules.
//!
//! The tools that every agent has are written with a capital letter, as in skills for
//! other agents: `Bash`, `Read`. Calls use `bash`, `read`. All other names are spelled as
//! in calls.

/// Names as spelled in rules, with the names used in calls.
const SPELLED: [(&str, &str); 11] = [
    ("Bash", "bash"),
    ("Edit", "edit"),
    ("Fetch", "fetch"),
    ("Git", "git"),
    ("Glob", "glob"),
    ("Grep", "grep"),
    ("List", "list"),
    ("Read", "read"),
    ("Secret", "secret"),
    ("Trust", "trust"),
    ("Write", "write"),
];

/// Artel's own tools that may also be written with a capital letter.
const ALSO_SPELLED: [(&str, &str); 4] = [
    ("Job", "job"),
    ("Output", "output"),
    ("Script", "script"),
    ("Skill", "skill"),
];

/// All other built-in tools, spelled the same in calls and rules.
const PLAIN: [&str; 35] = [
    "apply_patch",
    "ask_person",
    "batch_write",
    "diagnostics",
    "find_tools",
    "finish",
    "format",
    "git_add",
    "git_blame",
    "git_branch_create",
    "git_branch_list",
    "git_checkout",
    "git_cherry_pick",
    "git_commit",
    "git_diff",
    "git_diff_between",
    "git_fetch",
    "git_log",
    "git_ls_files",
    "git_ls_tree",
    "git_pull",
    "git_remote_list",
    "git_reset_soft",
    "git_revert",
    "git_show",
    "git_stash",
    "git_stash_pop",
    "git_status",
    "git_switch",
    "git_tag_list",
    "multi_edit",
    "propose_change",
    "remember",
    "run_tests",
    "todo",
];

/// Returns the name that calls use for a name in a rule, or `Err` with the spelling that
/// the rule must use.
pub(super) fn tool_of(spelled: &str) -> Result<&str, &'static str> {
    let mut all = SPELLED.iter().chain(&ALSO_SPELLED);
    let known = all.find(|(rule, _)| rule.eq_ignore_ascii_case(spelled));
    let plain = PLAIN.iter().find(|it| it.eq_ignore_ascii_case(spelled));
    match (known, plain) {
        (Some((rule, call)), _) if *rule == spelled => Ok(call),
        (Some((_, call)), _) if *call == spelled && !is_capital_only(call) => Ok(call),
        (Some((rule, _)), _) => Err(rule),
        (None, Some(plain)) if *plain != spelled => Err(plain),
        (None, _) => Ok(spelled),
    }
}

/// Returns whether a built-in tool has this name in calls.
pub(super) fn is_built_in(call: &str) -> bool {
    let mut spelled = SPELLED.iter().chain(&ALSO_SPELLED);
    PLAIN.contains(&call) || spelled.any(|(_, name)| *name == call)
}

/// Returns the built-in name that a name is close to, or `None` for a built-in name
/// itself.
///
/// A server chooses the names of its own tools. A short name is close to many others, so
/// it may differ by one slip only.
pub(super) fn near(name: &str) -> Option<&'static str> {
    if is_built_in(name) || is_of_server(name) {
        return None;
    }
    let most = match name.chars().count() {
        ..=4 => 1,
        _ => 2,
    };
    let spelled = SPELLED.iter().chain(&ALSO_SPELLED).map(|(rule, _)| *rule);
    let all = spelled.chain(PLAIN);
    let lower = name.to_ascii_lowercase();
    let slips = all.map(|known| {
        let known_lower = known.to_ascii_lowercase();
        (strsim::osa_distance(&known_lower, &lower), known)
    });
    let nearest = slips.min_by_key(|(slips, _)| *slips)?;
    (nearest.0 <= most).then_some(nearest.1)
}

/// Returns whether the name is a server's tool, or stands for all of a server's tools.
pub(super) fn is_of_server(name: &str) -> bool {
    name.starts_with("mcp__")
}

/// Returns how a rule spells a tool, given its name in calls.
pub(super) fn written(call: &str) -> &str {
    let known = SPELLED.iter().find(|(_, name)| *name == call);
    known.map_or(call, |(rule, _)| rule)
}

fn is_capital_only(call: &str) -> bool {
    SPELLED.iter().any(|(_, name)| *name == call)
}
