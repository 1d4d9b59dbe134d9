//! Reads the steps of a plan's file.

use artel_types::plan::{PlanStep, StepScope, StepVerification};

use super::fields;
use super::text::{NumberedLines, StepTextBlock, mark, unescaped};
use crate::plan::problem::{PlanProblem, shown};

/// Reads all steps of the section. A step without an id has none for now.
pub(super) fn read(lines: NumberedLines<'_>, problems: &mut Vec<PlanProblem>) -> Vec<PlanStep> {
    let starts: Vec<usize> = (0..lines.len())
        .filter(|at| heading(lines[*at].1).is_some())
        .collect();
    let before = &lines[..starts.first().copied().unwrap_or(lines.len())];
    for (number, line) in before {
        if !line.trim().is_empty() && !line.starts_with("**Progress") {
            let remedy = "expected a step such as `### Step 1: Title`";
            problems.push(PlanProblem::in_line(
                *number,
                "this is part of no step",
                remedy,
            ));
        }
    }
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let steps = starts.iter().zip(ends);
    steps
        .map(|(start, end)| one(&lines[*start..end], problems))
        .collect()
}

/// Reads the heading of a step and returns its title.
fn heading(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("###")?;
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let rest = rest.trim();
    let rest = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((mark, rest)) if mark.chars().count() <= 1 => rest.trim_start(),
        _ => rest,
    };
    let Some(behind) = rest.strip_prefix("Step ") else {
        return Some(rest);
    };
    let name = behind.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = name.len() < behind.len();
    match name.strip_prefix([':', '.']) {
        Some(title) if is_numbered => Some(title.trim()),
        _ => Some(rest),
    }
}

fn one(lines: NumberedLines<'_>, problems: &mut Vec<PlanProblem>) -> PlanStep {
    let (number, first) = lines[0];
    let mut step = PlanStep {
        id: String::new(),
        title: heading(first).unwrap_or_default().to_owned(),
        role: "engineer".to_owned(),
        work: String::new(),
        check: String::new(),
        after: Vec::new(),
        verify: StepVerification::default(),
        scope: StepScope::default(),
        evidence: Vec::new(),
        gives: Vec::new(),
        uses: Vec::new(),
        tokens: None,
        priority: None,
    };
    let body = &lines[1..];
    let marks: Vec<usize> = (0..body.len())
        .filter(|at| mark(body[*at].1).is_some())
        .collect();
    let end = marks.first().copied().unwrap_or(body.len());
    read_fields(&mut step, &body[..end], problems);
    let mut seen = Vec::new();
    for (place, at) in marks.iter().enumerate() {
        let end = marks.get(place + 1).copied().unwrap_or(body.len());
        let (number, line) = body[*at];
        let Some((block, inline)) = mark(line) else {
            continue;
        };
        if seen.contains(&block) {
            let what = format!("`{block:?}:` stands here a second time");
            let remedy = "put a backslash before it if it is part of the text";
            problems.push(PlanProblem::in_line(number, what, remedy));
            continue;
        }
        seen.push(block);
        let text = texts(inline, &body[at + 1..end]);
        match block {
            StepTextBlock::Work => step.work = text,
            StepTextBlock::Check => step.check = text,
        }
    }
    if !seen.contains(&StepTextBlock::Work) {
        let what = format!(
            "step `{}` does not say what its worker is told",
            shown(&step.title)
        );
        let remedy = "expected a line with `Work:` and the text below it; a heading that is part \
                      of a text has a backslash before it";
        problems.push(PlanProblem::in_line(number, what, remedy));
    }
    step
}

fn texts(inline: &str, lines: NumberedLines<'_>) -> String {
    let below = unescaped(lines);
    match (inline.trim(), below.is_empty()) {
        ("", _) => below,
        (inline, true) => inline.to_owned(),
        (inline, false) => format!("{inline}\n{below}"),
    }
}

fn read_fields(step: &mut PlanStep, lines: NumberedLines<'_>, problems: &mut Vec<PlanProblem>) {
    let mut seen: Vec<String> = Vec::new();
    for (number, line) in lines.iter().filter(|(_, line)| !line.trim().is_empty()) {
        let is_inner = line.starts_with([' ', '\t']);
        let entry = ["- ", "* ", "+ "]
            .iter()
            .find_map(|mark| line.trim_start().strip_prefix(mark));
        let entry = entry.or_else(|| line.trim_start().strip_prefix("-"));
        let is_criterion = is_inner && seen.last().is_some_and(|name| name == "criteria");
        if let Some(entry) = entry.filter(|_| is_criterion) {
            let claim = fields::claim(entry);
            if !claim.text.is_empty() {
                step.scope.criteria.push(claim);
            }
            continue;
        }
        let field = entry
            .filter(|_| !is_inner)
            .and_then(|entry| entry.split_once(':'));
        let Some((name, value)) = field else {
            let remedy = "expected a field such as `- role: engineer`, or `Work:`";
            problems.push(PlanProblem::in_line(
                *number,
                "this is no field of a step",
                remedy,
            ));
            continue;
        };
        let name = name.trim().to_lowercase();
        if fields::SHOWN.contains(&&*name) {
            continue;
        }
        if seen.contains(&name) {
            let what = format!("`{}` stands here a second time", shown(&name));
            problems.push(PlanProblem::in_line(*number, what, "keep one of them"));
            continue;
        }
        if let Err(expected) = fields::set(step, &name, value.trim()) {
            let what = format!("the field `{}` cannot be read", shown(&name));
            problems.push(PlanProblem::in_line(*number, what, expected));
        }
        seen.push(name);
    }
}
