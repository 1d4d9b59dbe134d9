//! Checks one step by itself.

use std::sync::LazyLock;

use artel_types::plan::{PlanStep, StepEvidenceKind, StepVerification};
use regex::Regex;

use super::bounds::PlanBoundsFault;
use super::{PlanCheckContext, RoleAccess};
use crate::plan::problem::{listed, shown};
use crate::plan::scope;

const MOST_TURNS: u32 = 100;
const MOST_DOLLARS: f64 = 100_000.0;

static MCP: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bmcp__[A-Za-z0-9_.-]*[A-Za-z0-9]").ok());
static NAMED_TOOL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"`([A-Za-z][A-Za-z0-9_]*)` tool\b|\btool `([A-Za-z][A-Za-z0-9_]*)`").ok()
});

/// Finds everything that is wrong with a step.
pub(super) fn faults(step: &PlanStep, known: &PlanCheckContext) -> Vec<PlanBoundsFault> {
    let mut faults = Vec::new();
    faults.extend(id(step));
    faults.extend(role(step, known));
    if step.verify != StepVerification::None && step.check.trim().is_empty() {
        faults.push((
            format!("it is verified by `{}` and its check is empty", step.verify),
            "write what its verifier looks at, or set `verify` to `none`".to_owned(),
        ));
    }
    faults.extend(keys(step));
    faults.extend(scope_faults(step));
    faults.extend(tools(step, known));
    faults.extend(evidence(step));
    faults
}

fn id(step: &PlanStep) -> Option<PlanBoundsFault> {
    let id = &step.id;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_good = !id.is_empty() && id.len() <= 64 && id.chars().all(is_plain);
    if is_good && !id.starts_with('-') && !id.ends_with('-') {
        return None;
    }
    Some((
        format!("its id `{}` is no name for a step", shown(id)),
        "use 1 to 64 of a-z, 0-9 and hyphens between them".to_owned(),
    ))
}

fn role(step: &PlanStep, known: &PlanCheckContext) -> Option<PlanBoundsFault> {
    let writers = || {
        let roles = known
            .roles
            .iter()
            .filter(|(_, reach)| **reach == RoleAccess::Writes);
        listed(roles.map(|(role, _)| role.as_str()))
    };
    match known.roles.get(&step.role) {
        None => Some((
            format!("its role `{}` is not known", shown(&step.role)),
            format!(
                "the roles are {}",
                listed(known.roles.keys().map(String::as_str))
            ),
        )),
        Some(RoleAccess::Reads) if step.verify == StepVerification::Tdd => Some((
            format!(
                "it is verified by `tdd`, but `{}` changes no files",
                step.role
            ),
            format!("use one of {}, or another `verify`", writers()),
        )),
        Some(_) => None,
    }
}

fn keys(step: &PlanStep) -> Vec<PlanBoundsFault> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_bad = |key: &&String| key.len() > 64 || key.is_empty() || !key.chars().all(is_plain);
    let bad = step.gives.iter().chain(&step.uses).filter(is_bad);
    let fault = |key: &String| {
        (
            format!("`{}` is no name for a value", shown(key)),
            "use 1 to 64 of letters, digits, `_`, `-` and `.`".to_owned(),
        )
    };
    bad.map(fault).collect()
}

fn scope_faults(step: &PlanStep) -> Vec<PlanBoundsFault> {
    let scope = &step.scope;
    let mut faults = Vec::new();
    for path in &scope.paths {
        if let Some(why) = scope::fault_in_path(path) {
            faults.push((
                format!("its path `{}` cannot be used: {why}", shown(path)),
                "write it from the root of the project, such as `src/**`".to_owned(),
            ));
        }
    }
    for rule in scope
        .commands
        .iter()
        .filter(|rule| !rule.starts_with("mcp__"))
    {
        if let Some(why) = scope::fault_in_command(rule) {
            faults.push((
                format!("its command `{}` is no rule: {why}", shown(rule)),
                "write one plain command each, such as `cargo test:*`".to_owned(),
            ));
        }
    }
    for host in &scope.network {
        if let Some(why) = scope::fault_in_host(host) {
            faults.push((
                format!("its host `{}` cannot be used: {why}", shown(host)),
                "write the name alone, without `https://` and path".to_owned(),
            ));
        }
    }
    for (sort, names) in [("tool", &scope.tools), ("secret", &scope.secrets)] {
        let bad = names.iter().filter(|name| !is_plain_name(name));
        faults.extend(bad.map(|name| {
            (
                format!("its {sort} `{}` is no name", shown(name)),
                format!("write the name of the {sort} alone"),
            )
        }));
    }
    if scope
        .turns
        .is_some_and(|turns| turns == 0 || turns > MOST_TURNS)
    {
        faults.push((
            format!("{} turns cannot be given", scope.turns.unwrap_or_default()),
            format!("use 1 to {MOST_TURNS}"),
        ));
    }
    if let Some(cost) = scope.cost_usd
        && !(0.0..=MOST_DOLLARS).contains(&cost)
    {
        faults.push((
            format!("a cost of {cost} dollars cannot be given"),
            format!("use 0 to {MOST_DOLLARS}"),
        ));
    }
    faults
}

/// Returns whether a text can be the name of a tool or secret.
fn is_plain_name(name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_part)
}

/// Finds tools that are named but do not exist: in the scope, and unmistakably in the
/// texts.
fn tools(step: &PlanStep, known: &PlanCheckContext) -> Vec<PlanBoundsFault> {
    let has = |tool: &str| known.tools.iter().any(|it| it.eq_ignore_ascii_case(tool));
    let is_program = |name: &str| {
        let mut rules = step.scope.commands.iter();
        rules.any(|rule| scope::program(rule) == name)
    };
    let mut named: Vec<&str> = Vec::new();
    let in_scope = step
        .scope
        .commands
        .iter()
        .filter(|rule| rule.starts_with("mcp__"));
    named.extend(
        in_scope
            .map(String::as_str)
            .filter(|rule| !covers_any(rule, known)),
    );
    let declared = step.scope.tools.iter().map(String::as_str);
    named.extend(declared.filter(|tool| !has(tool)));
    for text in [&step.work, &step.check] {
        if let Some(mcp) = MCP.as_ref() {
            named.extend(
                mcp.find_iter(text)
                    .map(|found| found.as_str())
                    .filter(|tool| !has(tool)),
            );
        }
        if let Some(pattern) = NAMED_TOOL.as_ref() {
            let names = pattern.captures_iter(text);
            let names = names.filter_map(|found| found.get(1).or(found.get(2)));
            let names = names.map(|name| name.as_str());
            named.extend(names.filter(|name| !has(name) && !is_program(name)));
        }
    }
    named.sort_unstable();
    named.dedup();
    let fault = |tool: &str| {
        (
            format!("it names the tool `{}`, which is not known", shown(tool)),
            format!(
                "the tools are {}",
                listed(known.tools.iter().map(String::as_str))
            ),
        )
    };
    named.into_iter().map(fault).collect()
}

/// Returns whether a rule for tools, such as `mcp__server__*`, matches a tool that exists.
fn covers_any(rule: &str, known: &PlanCheckContext) -> bool {
    let tool = rule.split('(').next().unwrap_or(rule);
    known
        .tools
        .iter()
        .any(|known| match tool.strip_suffix('*') {
            Some(start) => known.len() > start.len() && known.starts_with(start),
            None => known == tool,
        })
}

fn evidence(step: &PlanStep) -> Vec<PlanBoundsFault> {
    let mut faults = Vec::new();
    for evidence in &step.evidence {
        let is_empty = evidence.what.trim().is_empty();
        let fault = match evidence.kind {
            StepEvidenceKind::Command if is_empty => Some("names no command".to_owned()),
            StepEvidenceKind::File if is_empty => Some("names no file".to_owned()),
            StepEvidenceKind::File => scope::fault_in_name(&evidence.what)
                .map(|why| format!("names a file that cannot be used: {why}")),
            StepEvidenceKind::Command | StepEvidenceKind::Tests | StepEvidenceKind::Red => None,
        };
        faults.extend(fault.map(|what| {
            (
                format!("its evidence of sort `{}` {what}", evidence.kind),
                "say what has to be shown, such as the command or the file".to_owned(),
            )
        }));
    }
    faults
}
