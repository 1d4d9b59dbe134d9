//! Scripts that a plan names: those of a skill, those of the project, and those that its
//! own steps are to make.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use artel_types::plan::{Plan, PlanStep, PlannedFileAction};
use regex::Regex;

use super::PlanCheckContext;
use super::bounds::PlanBoundsFault;
use crate::plan::problem::{listed, shown};
use crate::plan::scope;

/// Endings of programs that are texts for an interpreter.
const ENDINGS: [&str; 9] = ["sh", "bash", "py", "rb", "pl", "js", "mjs", "ts", "php"];

static SCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^A-Za-z0-9_./-])((?:\./)?scripts/[A-Za-z0-9_./-]*[A-Za-z0-9_])").ok()
});

/// Returns every script that a plan names, relative to the root of the project or the
/// skill.
pub fn scripts_in(plan: &Plan) -> BTreeSet<&str> {
    plan.steps.iter().flat_map(named).collect()
}

/// Finds scripts that neither exist nor are made by the plan up to this step.
pub(super) fn faults(plan: &Plan, at: usize, known: &PlanCheckContext) -> Vec<PlanBoundsFault> {
    let (Some(scripts), Some(step)) = (&known.scripts, plan.steps.get(at)) else {
        return Vec::new();
    };
    let made = |name: &str| {
        let listed = plan.files.iter().any(|file| {
            file.action == PlannedFileAction::Create && file.path.trim_start_matches("./") == name
        });
        let mut steps = plan.steps[..=at].iter();
        listed || steps.any(|step| scope::covers_path(&step.scope.paths, name))
    };
    let missing = named(step).into_iter();
    let missing = missing.filter(|name| !scripts.contains(*name) && !made(name));
    let fault = |name: &str| {
        let there = if scripts.is_empty() {
            String::new()
        } else {
            format!("there is {}; ", listed(scripts.iter().map(String::as_str)))
        };
        (
            format!("it names the script `{}`, which is not there", shown(name)),
            format!("{there}one that the plan makes stands under `files` with `create`"),
        )
    };
    missing.map(fault).collect()
}

/// Returns the scripts that a step names: unmistakably in its texts, and as programs to
/// run.
fn named(step: &PlanStep) -> BTreeSet<&str> {
    let texts = [&step.work, &step.check];
    let texts = texts.into_iter().chain(&step.scope.commands);
    let mut names: BTreeSet<&str> = BTreeSet::new();
    if let Some(pattern) = SCRIPT.as_ref() {
        let found = texts.flat_map(|text| pattern.captures_iter(text));
        names.extend(found.filter_map(|found| found.get(1)).map(|it| it.as_str()));
    }
    let programs = step.scope.commands.iter().map(|rule| scope::program(rule));
    names.extend(programs.filter(|program| is_script(program)));
    let plain = |name| -> &str { str::trim_start_matches(name, "./") };
    names.into_iter().map(plain).collect()
}

fn is_script(program: &str) -> bool {
    let is_below = program.contains('/') && !program.starts_with(['/', '~']);
    let ending = program.rsplit_once('.').map(|(_, ending)| ending);
    is_below && ending.is_some_and(|ending| ENDINGS.contains(&ending))
}
