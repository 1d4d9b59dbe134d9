//! Repairs a plan where no question is needed: space around words, empty entries, a
//! missing id.

use std::collections::BTreeSet;

use artel_types::plan::{Plan, PlanStep};

use super::names::slug;

/// Repairs everything that can be meant in only one way. A normalised plan stays
/// unchanged, also when it is written as Markdown and read back.
pub fn normalise(mut plan: Plan) -> Plan {
    for text in [&mut plan.overview, &mut plan.reasoning] {
        *text = block(text);
    }
    plan.title = line(&plan.title);
    for file in &mut plan.files {
        file.path = line(&file.path);
        file.why = line(&file.why);
    }
    plan.files.retain(|file| !file.path.is_empty());
    for list in [&mut plan.risks, &mut plan.questions, &mut plan.warnings] {
        *list = list.iter().map(|text| item(text)).collect();
        list.retain(|text| !text.is_empty());
    }
    entries(&mut plan.references);
    plan.steps.iter_mut().for_each(step);
    name(&mut plan.steps);
    plan
}

fn step(step: &mut PlanStep) {
    step.id = line(&step.id);
    step.title = line(&step.title);
    step.role = line(&step.role);
    if step.role.is_empty() {
        step.role = "engineer".to_owned();
    }
    step.work = block(&step.work);
    step.check = block(&step.check);
    let scope = &mut step.scope;
    for list in [
        &mut step.after,
        &mut step.gives,
        &mut step.uses,
        &mut scope.paths,
        &mut scope.commands,
        &mut scope.network,
        &mut scope.tools,
        &mut scope.secrets,
    ] {
        entries(list);
    }
    for claim in &mut scope.criteria {
        claim.text = line(&claim.text);
    }
    scope.criteria.retain(|claim| !claim.text.is_empty());
    for evidence in &mut step.evidence {
        evidence.what = line(&evidence.what);
    }
}

/// Gives every step without an id one made from its title.
pub(super) fn name(steps: &mut [PlanStep]) {
    let ids = steps.iter().map(|step| step.id.clone());
    let mut taken: BTreeSet<String> = ids.filter(|id| !id.is_empty()).collect();
    for (at, step) in steps.iter_mut().enumerate() {
        if !step.id.is_empty() {
            continue;
        }
        let stem = match slug(&step.title).as_str() {
            "untitled" => format!("step-{}", at + 1),
            slug => slug.to_owned(),
        };
        let mut id = stem.clone();
        let mut count = 1;
        while !taken.insert(id.clone()) {
            count += 1;
            id = format!("{stem}-{count}");
        }
        step.id = id;
    }
}

/// Puts each entry on one line, without empty and repeated ones.
fn entries(list: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    *list = list.iter().map(|entry| line(entry)).collect();
    list.retain(|entry| !entry.is_empty() && seen.insert(entry.clone()));
}

/// Puts a text on one line.
pub(super) fn line(text: &str) -> String {
    let flat = text.replace("\r\n", " ").replace(['\n', '\r'], " ");
    flat.trim().to_owned()
}

/// Normalises the line ends of a text, and removes empty lines at its beginning and end.
pub(super) fn block(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.split('\n').collect();
    let first = lines.iter().position(|line| !line.trim().is_empty());
    let lines = first.map_or(&[][..], |first| &lines[first..]);
    lines.join("\n").trim_end().to_owned()
}

/// The same for an entry of a list, without space before its first word.
pub(super) fn item(text: &str) -> String {
    block(text).trim_start().to_owned()
}
