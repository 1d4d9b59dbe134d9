//! Reads the Markdown file of a plan.

use artel_types::plan::{CommitType, Plan, PlanState, PlannedFile, PlannedFileAction};

use super::sections::{PlanSectionName, cut};
use super::text::{NumberedLines, items, take_code, unescaped};
use super::{ParsedPlanDocument, PlanDocumentComment, PlanFrontmatter, steps};
use crate::front::{self, FrontmatterEntry};
use crate::plan::normal::{name, normalise};
use crate::plan::problem::{PlanProblem, shown};

/// Reads a plan from the file that a person edited. Reports every unreadable part with its
/// line; whether the plan can be used is a separate question.
pub fn parse(text: &str) -> Result<ParsedPlanDocument, Vec<PlanProblem>> {
    let text = text.replace("\r\n", "\n");
    let parts = match front::split(&text) {
        Err(broken) => {
            return Err(vec![PlanProblem::in_line(
                broken.line,
                broken.what,
                broken.remedy,
            )]);
        }
        Ok(None) => {
            let remedy = "expected `---`, then keys such as `trace_id`, then `---`";
            return Err(vec![PlanProblem::in_line(
                1,
                "no frontmatter found",
                remedy,
            )]);
        }
        Ok(Some(parts)) => parts,
    };
    let mut problems = Vec::new();
    let mut plan = Plan::default();
    let head = head(&parts.entries, &mut plan, &mut problems);
    let lines = parts.body.split('\n').enumerate();
    let lines: Vec<(usize, &str)> = lines
        .map(|(at, line)| (parts.body_line + at, line))
        .collect();
    let remarks = body(&lines, &mut plan, &mut problems);
    match head {
        Some(head) if problems.is_empty() => {
            name(&mut plan.steps);
            Ok(ParsedPlanDocument {
                head,
                plan: normalise(plan),
                remarks,
            })
        }
        _ => {
            problems.sort_by_key(|problem| match problem.place {
                crate::plan::PlanProblemPlace::Line(line) => line,
                _ => 0,
            });
            Err(problems)
        }
    }
}

fn body(
    lines: NumberedLines<'_>,
    plan: &mut Plan,
    problems: &mut Vec<PlanProblem>,
) -> Vec<PlanDocumentComment> {
    let (before, sections) = cut(lines, problems);
    title(before, plan, problems);
    let mut remarks = Vec::new();
    for section in &sections {
        let lines = section.lines;
        let mut list = || match items(lines) {
            Ok(items) => items,
            Err(line) => {
                let remedy = "expected a list: `- ` before each entry";
                problems.push(PlanProblem::in_line(
                    line,
                    "this is no entry of a list",
                    remedy,
                ));
                Vec::new()
            }
        };
        let texts = |items: Vec<(usize, String)>| items.into_iter().map(|(_, text)| text).collect();
        match section.name {
            PlanSectionName::Overview => plan.overview = unescaped(lines),
            PlanSectionName::Reasoning => plan.reasoning = unescaped(lines),
            PlanSectionName::Files => {
                let items = list();
                plan.files = files(items, problems);
            }
            PlanSectionName::Steps => plan.steps = steps::read(lines, problems),
            PlanSectionName::Risks => plan.risks = texts(list()),
            PlanSectionName::Questions => plan.questions = texts(list()),
            PlanSectionName::References => {
                plan.references = list().iter().map(|(_, text)| reference(text)).collect();
            }
            PlanSectionName::Warnings => plan.warnings = texts(list()),
            PlanSectionName::Comments => {
                remarks = list().into_iter().map(|(_, text)| remark(text)).collect()
            }
            PlanSectionName::Permissions | PlanSectionName::Links | PlanSectionName::Next => {}
        }
    }
    let last = lines.last().map_or(1, |(number, _)| *number);
    for (needed, heading) in [
        (PlanSectionName::Overview, "## Overview"),
        (PlanSectionName::Steps, "## Steps"),
    ] {
        if !sections.iter().any(|section| section.name == needed) {
            let what = format!("the part `{heading}` is missing");
            problems.push(PlanProblem::in_line(
                last,
                what,
                "expected it as a heading of its own",
            ));
        }
    }
    remarks
}

/// Reads the part before the first section: the title, and nothing else.
fn title(lines: NumberedLines<'_>, plan: &mut Plan, problems: &mut Vec<PlanProblem>) {
    let mut is_titled = false;
    for (number, line) in lines.iter().filter(|(_, line)| !line.trim().is_empty()) {
        match line.strip_prefix("# ").filter(|_| !is_titled) {
            Some(title) => {
                let title = title.trim();
                let title = title.strip_prefix("Plan:").unwrap_or(title);
                plan.title = title.trim().to_owned();
                is_titled = true;
            }
            None if *line == "#" && !is_titled => is_titled = true,
            None => {
                let remedy = "expected `# Plan: title` first, then `## Overview`";
                problems.push(PlanProblem::in_line(
                    *number,
                    "this is part of nothing",
                    remedy,
                ));
            }
        }
    }
    if !is_titled {
        let number = lines.first().map_or(1, |(number, _)| *number);
        let what = "the title is missing";
        problems.push(PlanProblem::in_line(
            number,
            what,
            "expected `# Plan: title`",
        ));
    }
}

fn files(items: Vec<(usize, String)>, problems: &mut Vec<PlanProblem>) -> Vec<PlannedFile> {
    let mut files = Vec::new();
    for (number, text) in items {
        match file(&text) {
            Some(file) => files.push(file),
            None => problems.push(PlanProblem::in_line(
                number,
                format!("`{}` is no file to change", shown(&text)),
                "expected `` `path` (modify): why ``, with create, modify or delete",
            )),
        }
    }
    files
}

/// Reads `` `path` (action): why ``; the action and the reason may be missing.
fn file(text: &str) -> Option<PlannedFile> {
    let (path, rest) = match take_code(text) {
        Some((path, rest)) => (path, rest),
        None => {
            let end = text
                .find(" (")
                .or_else(|| text.find(": "))
                .unwrap_or(text.len());
            (text[..end].to_owned(), &text[end..])
        }
    };
    let rest = rest.trim();
    let (action, rest) = match rest.strip_prefix('(') {
        Some(inner) => {
            let (action, rest) = inner.split_once(')')?;
            (
                action.trim().parse::<PlannedFileAction>().ok()?,
                rest.trim(),
            )
        }
        None => (PlannedFileAction::default(), rest),
    };
    let why = match rest.strip_prefix(':') {
        Some(why) => why.trim(),
        None if rest.is_empty() => "",
        None => return None,
    };
    Some(PlannedFile {
        path,
        action,
        why: why.to_owned(),
    })
}

fn reference(text: &str) -> String {
    if let Some(link) = text
        .strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"))
    {
        return link.to_owned();
    }
    match take_code(text) {
        Some((inner, "")) => inner,
        _ => text.to_owned(),
    }
}

fn remark(text: String) -> PlanDocumentComment {
    let signed = text
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**:"));
    match signed {
        Some((by, said)) => PlanDocumentComment {
            by: Some(by.to_owned()),
            text: said.trim_start().to_owned(),
        },
        None => PlanDocumentComment { by: None, text },
    }
}

fn head(
    entries: &[FrontmatterEntry],
    plan: &mut Plan,
    problems: &mut Vec<PlanProblem>,
) -> Option<PlanFrontmatter> {
    let mut keys = PlanFrontmatterReader { entries, problems };
    let trace = keys.read("trace_id", "a UUID in quotes", |text| text.parse().ok());
    let states: Vec<&str> = PlanState::ALL.iter().map(|state| state.as_str()).collect();
    let status = keys.read("status", &format!("one of {}", states.join(", ")), |text| {
        text.parse().ok()
    });
    let version = keys.read("version", "a whole number", |text| text.parse().ok());
    for key in ["trace_id", "status", "version"] {
        keys.require(key);
    }
    let kinds: Vec<&str> = CommitType::ALL.iter().map(|kind| kind.as_str()).collect();
    let kinds = format!("one of {}", kinds.join(", "));
    let kind = keys.read("kind", &kinds, |text| text.parse().ok());
    plan.kind = kind.unwrap_or_default();
    let text = |text: &str| Some(text.to_owned());
    let request = keys.read("request_id", "a name", text).unwrap_or_default();
    let hash = keys
        .read("hash", "a hash in quotes", text)
        .unwrap_or_default();
    let created = keys.read("created", "a moment such as 2026-11-15T08:30:00Z", |text| {
        text.parse().ok()
    });
    let agent = keys.read("agent", "a name", text).unwrap_or_default();
    let portal = keys.read("portal", "a name", text);
    let tags = keys.tags();
    Some(PlanFrontmatter {
        trace: trace?,
        request,
        status: status?,
        version: version?,
        hash,
        created,
        agent,
        portal,
        tags,
        other: others(entries),
    })
}

const KEYS: &[&str] = &[
    "trace_id",
    "request_id",
    "status",
    "kind",
    "version",
    "hash",
    "created",
    "agent",
    "portal",
    "tags",
];

fn others(entries: &[FrontmatterEntry]) -> Vec<String> {
    let others = entries.iter().filter(|entry| !KEYS.contains(&&*entry.key));
    others.flat_map(|entry| entry.raw.clone()).collect()
}

struct PlanFrontmatterReader<'p> {
    entries: &'p [FrontmatterEntry],
    problems: &'p mut Vec<PlanProblem>,
}

impl PlanFrontmatterReader<'_> {
    fn find(&self, key: &str) -> Option<&FrontmatterEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn read<T>(
        &mut self,
        key: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let entry = self.find(key)?;
        let line = entry.line;
        let what = match entry.text() {
            Ok(None) => return None,
            Ok(Some(text)) => match parse(&text) {
                Some(value) => return Some(value),
                None => format!("`{key}` is `{}`", shown(&text)),
            },
            Err(why) => format!("`{key}` cannot be read: {why}"),
        };
        self.problems.push(PlanProblem::in_line(
            line,
            what,
            format!("expected {expected}"),
        ));
        None
    }

    /// Reports a missing key. A key with a wrong value was reported when it was read.
    fn require(&mut self, key: &str) {
        let entry = self.find(key);
        let is_there = entry.is_some_and(|entry| !matches!(entry.text(), Ok(None)));
        if !is_there {
            let what = format!("`{key}` is missing in the frontmatter");
            let remedy = format!("put `{key}: …` back");
            self.problems.push(PlanProblem::in_line(1, what, remedy));
        }
    }

    fn tags(&mut self) -> Vec<String> {
        let Some(entry) = self.find("tags") else {
            return Vec::new();
        };
        let line = entry.line;
        match entry.texts() {
            Ok(tags) => tags,
            Err(why) => {
                let what = format!("`tags` cannot be read: {why}");
                self.problems
                    .push(PlanProblem::in_line(line, what, "expected `[a, b]`"));
                Vec::new()
            }
        }
    }
}
