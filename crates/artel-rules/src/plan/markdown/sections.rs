//! Splits a file at its headings.

use super::text::NumberedLines;
use crate::plan::problem::{PlanProblem, shown};

/// The sections of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlanSectionName {
    Overview,
    Reasoning,
    Files,
    Steps,
    Risks,
    Questions,
    References,
    Warnings,
    Permissions,
    Comments,
    Links,
    Next,
}

const NAMES: &[(&str, PlanSectionName)] = &[
    ("Overview", PlanSectionName::Overview),
    ("Reasoning", PlanSectionName::Reasoning),
    ("Files to Modify", PlanSectionName::Files),
    ("Steps", PlanSectionName::Steps),
    ("Risks", PlanSectionName::Risks),
    ("Open Questions", PlanSectionName::Questions),
    ("Context References", PlanSectionName::References),
    ("Context Warnings", PlanSectionName::Warnings),
    ("Required Permissions", PlanSectionName::Permissions),
    ("Review Comments", PlanSectionName::Comments),
    ("Links", PlanSectionName::Links),
    ("Next Steps", PlanSectionName::Next),
];

/// One section with its lines.
#[derive(Debug)]
pub(super) struct PlanSection<'t> {
    pub(super) name: PlanSectionName,
    pub(super) lines: NumberedLines<'t>,
}

/// Splits a body at its headings of the second level. The lines before the first heading
/// are returned separately.
pub(super) fn cut<'t>(
    lines: NumberedLines<'t>,
    problems: &mut Vec<PlanProblem>,
) -> (NumberedLines<'t>, Vec<PlanSection<'t>>) {
    let headings = lines.iter().enumerate().filter_map(|(at, (_, line))| {
        let name = heading(line)?;
        Some((at, name))
    });
    let headings: Vec<(usize, &str)> = headings.collect();
    let first = headings.first().map_or(lines.len(), |(at, _)| *at);
    let mut sections: Vec<PlanSection<'t>> = Vec::new();
    for (place, (at, title)) in headings.iter().enumerate() {
        let end = headings
            .get(place + 1)
            .map_or(lines.len(), |(next, _)| *next);
        let number = lines[*at].0;
        let known = NAMES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(title));
        match known {
            None => problems.push(unknown(number, title)),
            Some((_, name)) if sections.iter().any(|section| section.name == *name) => {
                let what = format!("`## {title}` stands here a second time");
                problems.push(PlanProblem::in_line(number, what, "put the two together"));
            }
            Some((_, name)) => sections.push(PlanSection {
                name: *name,
                lines: &lines[at + 1..end],
            }),
        }
    }
    (&lines[..first], sections)
}

/// Reads a heading of the second level.
fn heading(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("##")?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

fn unknown(number: usize, title: &str) -> PlanProblem {
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    PlanProblem::in_line(
        number,
        format!("`## {}` is no part of a plan", shown(title)),
        format!(
            "expected one of {}; put a backslash before it if it is part of a text",
            names.join(", ")
        ),
    )
}
