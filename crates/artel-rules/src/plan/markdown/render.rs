//! Writes the Markdown file of a plan.

use artel_types::plan::{Plan, PlanState, PlanStep, StepState};

use super::text::{code, escaped, item};
use super::{PlanDocument, PlanFrontmatter, fields};
use crate::front;
use crate::plan::graph::StepGraph;
use crate::plan::normal::{line, normalise};

/// Most characters shown of a reason.
const LONGEST_WHY: usize = 500;

/// Writes a plan as Markdown.
pub fn render(sheet: &PlanDocument) -> String {
    let plan = normalise(sheet.plan.clone());
    let mut file = head(&sheet.head, &plan);
    file.push_str(&format!("\n# Plan: {}\n", plan.title));
    section(&mut file, "Overview", &escaped(&plan.overview));
    if !plan.reasoning.is_empty() {
        section(&mut file, "Reasoning", &escaped(&plan.reasoning));
    }
    list(
        &mut file,
        "Files to Modify",
        plan.files.iter().map(|planned| {
            let why = if planned.why.is_empty() { "" } else { ": " };
            format!(
                "- {} ({}){why}{}\n",
                code(&planned.path),
                planned.action,
                planned.why
            )
        }),
    );
    steps(&mut file, sheet, &plan);
    list(&mut file, "Risks", plan.risks.iter().map(|text| item(text)));
    list(
        &mut file,
        "Open Questions",
        plan.questions.iter().map(|text| item(text)),
    );
    list(
        &mut file,
        "Context References",
        plan.references.iter().map(|text| reference(text)),
    );
    list(
        &mut file,
        "Context Warnings",
        plan.warnings.iter().map(|text| item(text)),
    );
    list(&mut file, "Required Permissions", permissions(&plan));
    list(
        &mut file,
        "Review Comments",
        sheet.remarks.iter().map(|remark| {
            let text = crate::plan::normal::item(&remark.text);
            match &remark.by {
                Some(by) => item(&format!("**{}**: {text}", line(by))),
                None => item(&text),
            }
        }),
    );
    list(
        &mut file,
        "Links",
        sheet.links.iter().map(|text| format!("- {}\n", line(text))),
    );
    list(&mut file, "Next Steps", next(&sheet.head));
    file
}

fn head(head: &PlanFrontmatter, plan: &Plan) -> String {
    let mut text = String::from("---\n");
    let mut key = |key: &str, value: String| text.push_str(&format!("{key}: {value}\n"));
    key("trace_id", front::always_quoted(&head.trace.to_string()));
    key("request_id", front::quoted(&head.request));
    key("status", head.status.to_string());
    key("kind", plan.kind.to_string());
    key("version", head.version.to_string());
    key("hash", front::always_quoted(&head.hash));
    if let Some(created) = head.created {
        key("created", created.to_string());
    }
    key("agent", front::quoted(&head.agent));
    if let Some(portal) = &head.portal {
        key("portal", front::quoted(portal));
    }
    key("tags", front::listed(&head.tags));
    for line in &head.other {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("---\n");
    text
}

fn section(file: &mut String, name: &str, text: &str) {
    file.push_str(&format!("\n## {name}\n\n{text}\n"));
}

fn list(file: &mut String, name: &str, entries: impl IntoIterator<Item = String>) {
    let entries: String = entries.into_iter().collect();
    if !entries.is_empty() {
        file.push_str(&format!("\n## {name}\n\n{entries}"));
    }
}

fn reference(text: &str) -> String {
    if text.contains("[[") || text.contains("]]") || text.starts_with('[') || text.ends_with(']') {
        format!("- {}\n", code(text))
    } else {
        format!("- [[{text}]]\n")
    }
}

fn steps(file: &mut String, sheet: &PlanDocument, plan: &Plan) {
    let state = |step: &PlanStep| {
        let mark = sheet.progress.get(&step.id);
        mark.map_or(StepState::Waiting, |mark| mark.state)
    };
    let done = plan
        .steps
        .iter()
        .filter(|step| state(step) == StepState::Done)
        .count();
    let count = plan.steps.len();
    file.push_str(&format!(
        "\n## Steps\n\n**Progress: {done} of {count} steps**\n"
    ));
    let graph = StepGraph::of(plan).ok();
    for (at, step) in plan.steps.iter().enumerate() {
        let mark = state(step).checkbox();
        file.push_str(&format!("\n### {mark} Step {}: {}\n\n", at + 1, step.title));
        file.push_str(&fields::write(step));
        if let Some(layer) = graph.as_ref().and_then(|graph| graph.layer(&step.id)) {
            file.push_str(&format!("- layer: {}\n", layer + 1));
        }
        let why = sheet
            .progress
            .get(&step.id)
            .and_then(|mark| mark.why.as_deref());
        if let Some(why) = why.map(line).filter(|why| !why.is_empty()) {
            let why: String = why.chars().take(LONGEST_WHY).collect();
            file.push_str(&format!("- why: {}, {why}\n", state(step)));
        }
        file.push_str(&format!("\nWork:\n\n{}\n", escaped(&step.work)));
        if !step.check.is_empty() {
            file.push_str(&format!("\nCheck:\n\n{}\n", escaped(&step.check)));
        }
    }
}

/// Lists what an approval allows, step by step.
fn permissions(plan: &Plan) -> Vec<String> {
    let codes = |entries: &[String]| {
        let entries: Vec<String> = entries.iter().map(|entry| code(entry)).collect();
        entries.join(", ")
    };
    let mut lines = Vec::new();
    for (at, step) in plan.steps.iter().enumerate() {
        let scope = &step.scope;
        let mut parts = Vec::new();
        for (may, entries, otherwise) in scope.admits() {
            parts.push(match entries {
                [] => format!("{may} {otherwise}"),
                entries => format!("{may} {}", codes(entries)),
            });
        }
        parts.extend(
            scope
                .cost_usd
                .map(|cost| format!("cost up to {cost} dollars")),
        );
        lines.push(format!("- Step {} may {}\n", at + 1, parts.join("; ")));
    }
    lines
}

/// Lists the commands that a person can type next, depending on the state of the plan.
fn next(head: &PlanFrontmatter) -> Vec<String> {
    let trace = head.trace.short();
    let lines: &[&str] = match head.status {
        PlanState::Exploring | PlanState::Drafting => {
            &["The architect is at it: nothing to do yet"]
        }
        PlanState::Review => &[
            "Approve: `artel plan approve TRACE`",
            "Ask for changes: `artel plan revise TRACE --comment \"…\"`",
            "Change it yourself: edit this file, or `artel plan edit TRACE`",
            "Turn it down: `artel plan reject TRACE --reason \"…\"`",
        ],
        PlanState::Approved | PlanState::Running => &[
            "See how far it is: `artel plan show TRACE`",
            "See what needs you: `artel waiting`",
            "Change what is left: `artel plan edit TRACE` or `artel plan revise TRACE --comment \"…\"`",
        ],
        PlanState::Done => &[
            "Look at the result: `artel changeset show TRACE --diff`",
            "Merge it: `artel changeset approve TRACE`",
            "Turn it down: `artel changeset reject TRACE --reason \"…\"`",
        ],
        PlanState::Failed => &[
            "Try again from the steps that passed: `artel plan retry TRACE`",
            "Read what was tried: `artel report show TRACE`",
            "Look at what there is, if a step passed: `artel changeset show TRACE --diff`",
        ],
        PlanState::Rejected | PlanState::Cancelled => &["Ask again: `artel ask \"…\"`"],
    };
    lines
        .iter()
        .map(|text| format!("- {}\n", text.replace("TRACE", &trace)))
        .collect()
}
