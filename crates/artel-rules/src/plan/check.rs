//! Checks a plan by code before anybody is shown it.

mod bounds;
mod scripts;
mod step;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use artel_types::plan::{Plan, PlanStep};

use super::graph::{StepGraph, in_step};
use super::problem::{PlanProblem, listed, shown};

pub use scripts::scripts_in;

/// Most steps of a plan.
pub const MOST_STEPS: usize = 500;
/// Longest title, in characters.
pub const LONGEST_TITLE: usize = 200;
/// Longest text, in characters: overview, reasoning, the texts for worker and verifier.
pub const LONGEST_TEXT: usize = 20_000;
/// Longest entry of a list, in characters.
pub const LONGEST_ENTRY: usize = 2_000;
/// Most entries of a list.
pub const MOST_ENTRIES: usize = 200;

/// The names that a plan may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanCheckContext {
    /// The roles, and whether they change files.
    pub roles: BTreeMap<String, RoleAccess>,
    /// The tools, by name.
    pub tools: BTreeSet<String>,
    /// The existing scripts, such as `scripts/make.py`: those of the planned skill and
    /// those of the project. `None` if nobody looked.
    pub scripts: Option<BTreeSet<String>>,
    /// Values that exist before the first step.
    pub keys: BTreeSet<String>,
}

/// A role's access to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleAccess {
    /// It reads files and runs checks.
    Reads,
    /// It changes files.
    Writes,
}

/// A plan in which nothing was found wrong; only [`check`] can make one.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedPlan {
    plan: Plan,
    graph: StepGraph,
}

impl CheckedPlan {
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the plan by value.
    pub fn into_plan(self) -> Plan {
        self.plan
    }
}

impl Deref for CheckedPlan {
    type Target = StepGraph;

    fn deref(&self) -> &StepGraph {
        &self.graph
    }
}

/// Checks a plan. Reports every problem at once, so that one revision can fix them all.
pub fn check(plan: &Plan, known: &PlanCheckContext) -> Result<CheckedPlan, Vec<PlanProblem>> {
    if plan.steps.is_empty() {
        let remedy = "add at least one step with a title and what its worker is told";
        return Err(vec![PlanProblem::in_plan("it has no steps", remedy)]);
    }
    if plan.steps.len() > MOST_STEPS {
        let what = format!("it has {} steps", plan.steps.len());
        let remedy = format!("use at most {MOST_STEPS}, or ask for less at once");
        return Err(vec![PlanProblem::in_plan(what, remedy)]);
    }
    let mut problems = bounds::of_plan(plan);
    for (at, step) in plan.steps.iter().enumerate() {
        let found = bounds::of_step(step)
            .into_iter()
            .chain(step::faults(step, known))
            .chain(scripts::faults(plan, at, known));
        problems.extend(found.map(|(what, remedy)| in_step(plan, at, what, remedy)));
    }
    let graph = match StepGraph::of(plan) {
        Ok(graph) => {
            problems.extend(keys(plan, &graph, known));
            graph
        }
        Err(found) => {
            problems.extend(found);
            return Err(problems);
        }
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(CheckedPlan {
        plan: plan.clone(),
        graph,
    })
}

/// Returns what a new version changes about finished steps: they must stay as they were.
pub fn keeps<'s>(
    old: &Plan,
    new: &Plan,
    finished: impl IntoIterator<Item = &'s str>,
) -> Vec<PlanProblem> {
    let lost = |id: &str| -> Option<PlanProblem> {
        let number = old.number(id)?;
        let step = old.step(id)?;
        let remedy = "finished steps stay as they are: put it back, and add a new step instead";
        let what = match new.step(id) {
            None => "it is finished and the new version leaves it out".to_owned(),
            Some(kept) if kept != step => {
                let fields = super::difference::changed_fields(step, kept).join(", ");
                format!("it is finished and the new version changes its {fields}")
            }
            Some(_) => return None,
        };
        Some(in_step(old, number - 1, what, remedy))
    };
    finished.into_iter().filter_map(lost).collect()
}

/// Finds values that no step hands on, and values that two steps could hand on at the same
/// time.
fn keys(plan: &Plan, graph: &StepGraph, known: &PlanCheckContext) -> Vec<PlanProblem> {
    let mut givers: BTreeMap<&str, Vec<&PlanStep>> = BTreeMap::new();
    for step in &plan.steps {
        for key in &step.gives {
            givers.entry(key).or_default().push(step);
        }
    }
    let mut problems = Vec::new();
    for (at, step) in plan.steps.iter().enumerate() {
        let before = graph.before(&step.id);
        for key in step.uses.iter().filter(|key| !known.keys.contains(*key)) {
            let givers = givers.get(key.as_str()).map_or(&[][..], Vec::as_slice);
            if givers.iter().any(|giver| before.contains(&*giver.id)) {
                continue;
            }
            let remedy = match givers.first() {
                Some(giver) => {
                    format!("`{}` gives it: put that into its `after`", shown(&giver.id))
                }
                None => format!("earlier steps give {}", listed(before_keys(plan, &before))),
            };
            let what = format!("it uses `{}`, which no step before it gives", shown(key));
            problems.push(in_step(plan, at, what, remedy));
        }
        for key in &step.gives {
            let others = givers.get(key.as_str()).map_or(&[][..], Vec::as_slice);
            let rival = others.iter().find(|other| {
                let number = |id: &str| plan.number(id);
                let is_earlier = number(&other.id) < number(&step.id);
                is_earlier
                    && !before.contains(&*other.id)
                    && !graph.before(&other.id).contains(&*step.id)
            });
            if let Some(rival) = rival {
                let what = format!(
                    "it gives `{}`, and so does `{}`, which may run at the same time",
                    shown(key),
                    shown(&rival.id)
                );
                problems.push(in_step(plan, at, what, "name the two values differently"));
            }
        }
    }
    problems
}

fn before_keys<'p>(plan: &'p Plan, before: &BTreeSet<&str>) -> Vec<&'p str> {
    let steps = plan.steps.iter().filter(|step| before.contains(&*step.id));
    steps
        .flat_map(|step| step.gives.iter().map(String::as_str))
        .collect()
}
