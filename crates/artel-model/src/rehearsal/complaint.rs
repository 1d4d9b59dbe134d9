//! What is wrong with a script, with its place, in our words.

use artel_types::{Code, Failure};
use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::difference::window;
use super::script::DEEPEST;

/// So much of what the parser says is shown; it may quote the script.
const LONGEST: usize = 300;

/// Says that a script cannot be used. A place is written as editors understand it.
pub(super) fn unusable(place: &str, why: &str) -> Failure {
    Failure::new(Code::M011, format!("the script `{place}` cannot be used"))
        .because(window(why, 0, LONGEST))
        .advise("`docs/rehearsal.md` shows what a script looks like")
}

/// Says that a script cannot even be read.
pub(super) fn unreadable(name: &str, error: &Error) -> Failure {
    let place = error.location().map_or_else(
        || name.to_owned(),
        |location| format!("{name}:{}:{}", location.line(), location.column()),
    );
    unusable(&place, &reason(error))
}

/// Returns the reason, in our words where the parser talks of its own workings.
fn reason(error: &Error) -> String {
    match error {
        Error::Budget { breach, .. } => beyond(breach),
        Error::MergeKeyNotAllowed { .. } => "a script has no `<<`; write it out".into(),
        Error::MultipleDocuments { .. } => {
            "a second document begins here; a script is a single one".into()
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("the key");
            format!("`{key}` stands here twice")
        }
        Error::InvalidScalar { ty, .. } => {
            format!("expected a whole number, 0 or more, that fits `{ty}`")
        }
        Error::Unexpected { expected, .. } => match *expected {
            "mapping start" => "expected a mapping, `key: value`".into(),
            "sequence start" => "expected a list, `- item`".into(),
            other => format!("expected a {other}"),
        },
        other => without_place(&other.to_string()),
    }
}

fn beyond(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. } => {
            "a script has no anchors (`&`) and aliases (`*`); write it out".into()
        }
        BudgetBreach::Depth { .. } => format!("it is nested more than {DEEPEST} deep"),
        _ => "it is too large for a script".into(),
    }
}

/// Drops the place, which parsers name at the end: it stands at the beginning already.
pub(super) fn without_place(said: &str) -> String {
    let cut = said.rsplit_once(" at line ");
    cut.map_or(said, |(why, _)| why).to_owned()
}
