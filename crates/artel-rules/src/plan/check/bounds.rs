//! The limits for every text of a plan: present, readable in size, and made of visible
//! characters.

use artel_types::plan::{Plan, PlanStep};

use super::{LONGEST_ENTRY, LONGEST_TEXT, LONGEST_TITLE, MOST_ENTRIES};
use crate::excerpt::is_hidden;
use crate::plan::problem::PlanProblem;

/// A problem and its remedy.
pub(super) type PlanBoundsFault = (String, String);

/// Checks the texts of a plan as a whole.
pub(super) fn of_plan(plan: &Plan) -> Vec<PlanProblem> {
    let mut faults = Vec::new();
    faults.extend(filled("title", &plan.title, LONGEST_TITLE));
    faults.extend(filled("overview", &plan.overview, LONGEST_TEXT));
    faults.extend(bounded("reasoning", &plan.reasoning, LONGEST_TEXT));
    for (name, list) in [
        ("risks", &plan.risks),
        ("questions", &plan.questions),
        ("references", &plan.references),
        ("warnings", &plan.warnings),
    ] {
        faults.extend(entries(name, list.iter().map(String::as_str)));
    }
    faults.extend(entries("files", plan.files.iter().map(|file| &*file.path)));
    faults.extend(entries("files", plan.files.iter().map(|file| &*file.why)));
    let problem = |(what, remedy)| PlanProblem::in_plan(what, remedy);
    faults.into_iter().map(problem).collect()
}

/// Checks the texts of a step.
pub(super) fn of_step(step: &PlanStep) -> Vec<PlanBoundsFault> {
    let mut faults = Vec::new();
    faults.extend(filled("title", &step.title, LONGEST_TITLE));
    faults.extend(filled("work", &step.work, LONGEST_TEXT));
    faults.extend(bounded("check", &step.check, LONGEST_TEXT));
    faults.extend(bounded("role", &step.role, LONGEST_TITLE));
    let scope = &step.scope;
    for (name, list) in [
        ("after", &step.after),
        ("gives", &step.gives),
        ("uses", &step.uses),
        ("paths", &scope.paths),
        ("commands", &scope.commands),
        ("network", &scope.network),
        ("tools", &scope.tools),
        ("secrets", &scope.secrets),
    ] {
        faults.extend(entries(name, list.iter().map(String::as_str)));
    }
    let criteria = scope.criteria.iter().map(|claim| &*claim.text);
    faults.extend(entries("criteria", criteria));
    let evidence = step.evidence.iter().map(|evidence| &*evidence.what);
    faults.extend(entries("evidence", evidence));
    faults
}

fn filled(name: &str, text: &str, longest: usize) -> Option<PlanBoundsFault> {
    if text.trim().is_empty() {
        return Some((format!("its {name} is empty"), format!("write the {name}")));
    }
    bounded(name, text, longest)
}

fn bounded(name: &str, text: &str, longest: usize) -> Option<PlanBoundsFault> {
    let count = text.chars().count();
    if count > longest {
        return Some((
            format!("its {name} has {count} characters"),
            format!("use at most {longest}"),
        ));
    }
    let letter = unseen(text)?;
    Some((
        format!(
            "its {name} holds a character that cannot be seen, U+{:04X}",
            u32::from(letter)
        ),
        "take it out".to_owned(),
    ))
}

fn entries<'e>(name: &str, entries: impl Iterator<Item = &'e str>) -> Vec<PlanBoundsFault> {
    let mut count = 0;
    let mut faults = Vec::new();
    for entry in entries {
        count += 1;
        faults.extend(bounded(name, entry, LONGEST_ENTRY));
    }
    if count > MOST_ENTRIES {
        faults.push((
            format!("its {name} has too many entries"),
            format!("use at most {MOST_ENTRIES}"),
        ));
    }
    faults
}

/// Finds a character that hides text from the reader, or moves it elsewhere on a screen.
/// Joiners in emoji, and in scripts that need them, are allowed.
fn unseen(text: &str) -> Option<char> {
    let can_be_joined = |letter: char| !letter.is_ascii() && !is_hidden(letter);
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let joins = matches!(letter, '\u{200c}' | '\u{200d}')
            && can_be_joined(before)
            && letters.peek().is_some_and(|next| can_be_joined(*next));
        if letter != '\n' && is_hidden(letter) && !joins {
            return Some(letter);
        }
        before = letter;
    }
    None
}
