//! The list of a plan's steps, each with its scope and the evidence required of it.

use std::collections::BTreeMap;

use artel_types::plan::{Plan, PlanStep, StepState};
use artel_workshop::StepEstimate;

use crate::console::words;

/// A step in the list.
#[derive(Debug, Clone)]
pub(in crate::console) struct PlanPageStep {
    pub(in crate::console) number: usize,
    pub(in crate::console) id: String,
    pub(in crate::console) title: String,
    pub(in crate::console) state: Option<words::StateLabel>,
    /// Whether the step can be skipped: it is waiting or has failed.
    pub(in crate::console) is_open: bool,
    pub(in crate::console) role: String,
    pub(in crate::console) verify: &'static str,
    pub(in crate::console) after: String,
    pub(in crate::console) work: String,
    pub(in crate::console) check: String,
    pub(in crate::console) scope: Vec<(&'static str, String)>,
    pub(in crate::console) criteria: Vec<(String, &'static str)>,
    pub(in crate::console) evidence: Vec<String>,
    pub(in crate::console) hands: Vec<(&'static str, String)>,
    pub(in crate::console) estimate: Option<String>,
}

/// Returns all steps of a plan.
pub(in crate::console) fn cards(
    plan: &Plan,
    (states, drawn): (
        &BTreeMap<String, StepState>,
        &BTreeMap<String, words::StateLabel>,
    ),
    estimates: &[StepEstimate],
) -> Vec<PlanPageStep> {
    let steps = plan.steps.iter().enumerate();
    steps
        .map(|(index, step)| {
            let estimate = estimates.iter().find(|it| it.step == step.id);
            card(
                plan,
                index + 1,
                step,
                states
                    .get(&step.id)
                    .copied()
                    .zip(drawn.get(&step.id).copied()),
                estimate,
            )
        })
        .collect()
}

fn card(
    plan: &Plan,
    number: usize,
    step: &PlanStep,
    state: Option<(StepState, words::StateLabel)>,
    estimate: Option<&StepEstimate>,
) -> PlanPageStep {
    let after = step.after.iter().filter_map(|id| plan.number(id));
    let after: Vec<String> = after.map(|number| number.to_string()).collect();
    let claims = step.scope.criteria.iter();
    let evidence = step.evidence.iter();
    PlanPageStep {
        number,
        id: step.id.clone(),
        title: step.title.clone(),
        state: state.map(|(_, shown)| shown),
        is_open: state
            .is_some_and(|(state, _)| matches!(state, StepState::Waiting | StepState::Failed)),
        role: step.role.clone(),
        verify: step.verify.as_str(),
        after: after.join(", "),
        work: step.work.clone(),
        check: step.check.clone(),
        scope: scope(step),
        criteria: claims
            .map(|claim| (claim.text.clone(), claim.source.as_str()))
            .collect(),
        evidence: evidence
            .map(|it| format!("{} {}", it.kind, it.what).trim().to_owned())
            .collect(),
        hands: [("uses", &step.uses), ("gives", &step.gives)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(word, names)| (word, names.join(", ")))
            .collect(),
        estimate: estimate.map(|it| {
            let cost = words::cost(it.cost, it.tokens);
            format!("{} tokens, {cost}", words::tokens(it.tokens))
        }),
    }
}

/// Returns what a step may touch and use, as labels and values.
fn scope(step: &PlanStep) -> Vec<(&'static str, String)> {
    let scope = &step.scope;
    let rows = scope
        .admits()
        .into_iter()
        .map(|(may, names, otherwise)| match names {
            [] => (may, otherwise.to_owned()),
            names => (may, names.join(", ")),
        });
    let mut rows: Vec<_> = rows.collect();
    if let Some(priority) = step.priority {
        rows.push(("priority", priority.to_string()));
    }
    if let Some(turns) = scope.turns {
        rows.push(("turns", turns.to_string()));
    }
    if let Some(cost) = scope.cost() {
        rows.push(("may cost", cost.to_string()));
    }
    rows
}
