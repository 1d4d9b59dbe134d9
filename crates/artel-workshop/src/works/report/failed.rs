//! The sections of a report about a failed run.

use artel_types::plan::StepState;
use artel_types::{Fact, counted};

use super::page::{bounded, code, line};
use super::past::PastPlanRun;
use super::sections::inline;

/// Longest reason for a failed attempt in a report, in bytes.
const LONGEST_REASON: usize = 1_500;

pub(super) fn error(past: &PastPlanRun) -> String {
    let why = past.ended.as_ref().and_then(|(_, ended)| ended.why.clone());
    let why = why.unwrap_or_else(|| "its steps did not all pass".to_owned());
    let state = past
        .ended
        .as_ref()
        .map_or("failed", |(_, it)| it.state.as_str());
    format!(
        "- Type: {state}\n- Error: {}",
        line(&bounded(&why, LONGEST_REASON))
    )
}

/// Lists the reasons why attempts at steps failed.
pub(super) fn tried(past: &PastPlanRun) -> String {
    let mut text = String::new();
    for (number, (spec, step)) in past.conduct.steps().enumerate() {
        let failed = past.events.iter().filter_map(|event| match &event.fact {
            Fact::StepFailed(failed) if failed.step == spec.id => Some(failed),
            _ => None,
        });
        let attempts: Vec<String> = failed
            .map(|failed| {
                let why = bounded(inline(&failed.why).trim(), LONGEST_REASON);
                format!("- Attempt {}: {}\n", failed.round, indented(&why))
            })
            .collect();
        let is_bad = matches!(step.state, StepState::Failed | StepState::Skipped);
        if attempts.is_empty() && !is_bad {
            continue;
        }
        text.push_str(&format!("### {}. {}\n\n", number + 1, line(&spec.title)));
        text.push_str(&attempts.concat());
        if is_bad {
            let why = bounded(step.why.trim(), LONGEST_REASON);
            text.push_str(&format!(
                "- In the end {}: {}\n",
                step.state,
                indented(&why)
            ));
        }
        text.push('\n');
    }
    text
}

pub(super) fn context(past: &PastPlanRun) -> String {
    let last_step = past
        .events
        .iter()
        .rev()
        .find_map(|event| match &event.fact {
            Fact::StepPassed(passed) => Some(passed.step.clone()),
            _ => None,
        });
    // The branch exists once a step has passed.
    let branch = past
        .created
        .as_ref()
        .and_then(|made| made.branch.as_deref());
    let branch = branch.map(code);
    let last = past.last_done.as_deref().map(code);
    let none = || "none".to_owned();
    let mut text = format!(
        "- Agent: {}\n- Branch: {}\n- Last step that passed: {}\n- Last successful operation: {}\n\
         - Tools run: {}\n",
        line(&past.work.request.agent),
        branch.unwrap_or_else(none),
        last_step.as_deref().map_or_else(none, code),
        last.unwrap_or_else(none),
        if past.tools.is_empty() { "none" } else { "" },
    );
    for (tool, (calls, failures)) in &past.tools {
        let failed = match failures {
            0 => String::new(),
            failures => format!(", {failures} failed"),
        };
        text.push_str(&format!(
            "  - {}: {}{failed}\n",
            code(tool),
            counted(*calls, "call")
        ));
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n  ")
}
