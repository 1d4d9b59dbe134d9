//! The prompts of a plan's agents: the request, results of earlier steps, failed attempts,
//! and the task itself.

use std::fmt::Write as _;

use artel_rules::conduct::StepVerifier;
use artel_types::plan::{PlanStep, Requirement, VerdictFinding};

use super::crew::{AgentExecutor, StepContext};

/// Longest request, value and earlier attempt in a prompt, in bytes. The rest is cut off.
const LONGEST_REQUEST: usize = 4_000;
const LONGEST_VALUE: usize = 2_000;
const LONGEST_ATTEMPT: usize = 4_000;

/// Returns the opening that all agents of a step get: the request, and the results of
/// earlier steps.
pub(super) fn standing(workers: &AgentExecutor, spot: &StepContext) -> String {
    let plan = spot.state.plan();
    let place = match plan.number(&spot.spec.id) {
        Some(number) => format!("step {number} of {}", plan.steps.len()),
        None => "about the branch as a whole, with all steps".to_owned(),
    };
    let mut text = format!(
        "<request>\n{}\n</request>\nThis is {place} of the plan \"{}\".",
        cut(&workers.request, LONGEST_REQUEST),
        plan.title,
    );
    let memory = spot.state.memory(&spot.spec.id);
    if !memory.is_empty() {
        text.push_str("\n<skill_memory>");
        for (name, value) in memory {
            let value = cut(&value, LONGEST_VALUE);
            // Each value stays on one line, even with line breaks in it.
            let value = value.replace('\n', "\\n");
            let _ = write!(text, "\n{name}={value}");
        }
        text.push_str("\n</skill_memory>");
    }
    if !spot.state.hints().is_empty() {
        text.push_str("\nThe person said while the plan was being done:");
        for hint in spot.state.hints() {
            let _ = write!(text, "\n- {}", cut(hint, LONGEST_VALUE));
        }
    }
    text
}

/// Returns the task of a step's worker.
pub(super) fn work(spot: &StepContext, kept: &[String]) -> String {
    let spec = &spot.spec;
    let mut text = format!("{}\n\n{}", spec.title, spec.work);
    let _ = write!(text, "\n\nYou may change: {}.", paths(spec));
    if !spec.scope.network.is_empty() {
        let hosts = spec.scope.network.join(", ");
        let _ = write!(
            text,
            " You may reach: {hosts}; a command names them in `network`."
        );
    }
    for (what, names) in [
        ("the declared tools", &spec.scope.tools),
        ("the secrets", &spec.scope.secrets),
    ] {
        if !names.is_empty() {
            let _ = write!(text, " It has {what} {}.", names.join(", "));
        }
    }
    text.push_str(
        " Tests, check scripts and settings of runners that were there before stay as they are, \
         unless they are named here by their own path; new tests are welcome.",
    );
    if !kept.is_empty() {
        let _ = write!(
            text,
            " These tests say what has to hold and are not yours to change: {}. Make them pass.",
            kept.join(", ")
        );
    }
    criteria_list(&mut text, &known_criteria(spot));
    if !spec.gives.is_empty() {
        let _ = write!(
            text,
            "\nLater steps need: {}. Say their values in your answer.",
            spec.gives.join(", ")
        );
    }
    text.push_str(
        "\nIf the step cannot be done within its scope or needs another step first, call \
         `propose_change`; do not work around it. Another agent checks the result.",
    );
    tried(&mut text, spot);
    text
}

/// Returns the task of a step's tester, before the work.
pub(super) fn tests(spot: &StepContext) -> String {
    let spec = &spot.spec;
    let mut text = format!(
        "Write tests for this step before it is done, in the project's own framework and style. \
         They have to fail now, for the reason that the step is about, and pass once it is done. \
         Change test files only.\n\nThe step: {}\n{}",
        spec.title, spec.work
    );
    criteria_list(&mut text, &known_criteria(spot));
    tried(&mut text, spot);
    text
}

/// Returns the task of a step's inspector, before the work.
pub(super) fn criteria(spec: &PlanStep) -> String {
    let mut text = format!(
        "Say what has to hold once this step is done: few criteria, each so that a test can show \
         it. Look at the code first. Then call `criteria`.\n\nThe step: {}\n{}\n\nHow it will be \
         checked: {}",
        spec.title, spec.work, spec.check
    );
    criteria_list(&mut text, &spec.scope.criteria);
    text
}

/// Returns the task of an agent that verifies an attempt.
pub(super) fn judge(
    _: &AgentExecutor,
    spot: &StepContext,
    judge: StepVerifier,
    diff: &str,
) -> String {
    let spec = &spot.spec;
    let what = match judge {
        StepVerifier::Evaluator => {
            "Judge whether this step is done. You did not do it: look yourself, run what shows it, \
             believe no claim."
        }
        StepVerifier::Inspector => {
            "Inspect the change of this step: is every criterion met, is it correct, safe, in the \
             style of the code around it? Report findings on changed lines only."
        }
        StepVerifier::Tester => {
            "Run the tests of this step and judge what they show. Where one fails, say whether the \
             test or the code is at fault."
        }
    };
    let mut text = format!(
        "{what} Then call `verdict`.\n\nThe step: {}\n{}\n\nHow to check it: {}",
        spec.title, spec.work, spec.check
    );
    criteria_list(&mut text, &known_criteria(spot));
    if !spec.gives.is_empty() {
        let _ = write!(
            text,
            "\nPut the values of {} into `outputs`, as you found them yourself.",
            spec.gives.join(", ")
        );
    }
    if diff.trim().is_empty() {
        text.push_str("\n\nNo file was changed.");
    } else {
        let _ = write!(text, "\n\n<change>\n{}\n</change>", diff.trim_end());
    }
    text
}

/// Returns the task of the agent that mends the branch.
pub(super) fn mend(title: &str, spec: &PlanStep, why: &[String]) -> String {
    format!(
        "All steps of the plan \"{title}\" passed, but together they do not hold on a clean \
         checkout of the branch:\n- {}\n\nFind out why, mend it with the smallest change, and run \
         the tests. You may change: {}. Tests, check scripts and settings of runners stay as they \
         are: changes of them are taken back. Another agent looks at what you did.",
        why.join("\n- "),
        paths(spec)
    )
}

/// Tells the next round of mending why the last change was refused.
pub(super) fn not_taken(said: &str) -> String {
    let said = cut(said.trim(), LONGEST_ATTEMPT);
    format!("\n\nAn earlier change for this was not taken, and is not there:\n{said}")
}

/// Returns a finding as one line.
pub(super) fn finding(finding: &VerdictFinding) -> String {
    let line = finding
        .line
        .map_or(String::new(), |line| format!(":{line}"));
    let fix = match finding.fix.as_str() {
        "" => String::new(),
        fix => format!(" Fix: {fix}"),
    };
    format!(
        "\n[{}] {} {}{line}: {}{fix}",
        finding.id, finding.severity, finding.file, finding.why
    )
}

/// Describes the files that a step may change.
pub(super) fn paths(spec: &PlanStep) -> String {
    match spec.scope.paths.as_slice() {
        [] => "any file of the project".to_owned(),
        paths => paths.join(", "),
    }
}

fn known_criteria(spot: &StepContext) -> Vec<Requirement> {
    let named = spot.state.step(&spot.spec.id).map(|it| it.criteria.clone());
    named
        .filter(|list| !list.is_empty())
        .unwrap_or_else(|| spot.spec.scope.criteria.clone())
}

fn criteria_list(text: &mut String, criteria: &[Requirement]) {
    if criteria.is_empty() {
        return;
    }
    text.push_str("\n\nWhat has to hold:");
    for claim in criteria {
        let _ = write!(text, "\n- {} ({})", claim.text, claim.source);
    }
}

/// Tells an agent about the earlier attempts at its step.
fn tried(text: &mut String, spot: &StepContext) {
    let Some(step) = spot.state.step(&spot.spec.id) else {
        return;
    };
    if step.history.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\n\nThis is attempt {} of {}. Your files are as the last attempt left them. What came of \
         the earlier ones:",
        spot.round, step.allowed
    );
    came_of(text, spot);
    text.push_str("\nDo not repeat what failed.");
}

/// Lists why earlier attempts at a step failed, with the comments about them.
pub(super) fn came_of(text: &mut String, spot: &StepContext) {
    let step = spot.state.step(&spot.spec.id);
    let history = step.into_iter().flat_map(|step| &step.history);
    for (index, why) in history.enumerate() {
        let _ = write!(text, "\n{}. {}", index + 1, cut(why, LONGEST_ATTEMPT));
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{} [cut]", &text[..text.floor_char_boundary(most)])
}
