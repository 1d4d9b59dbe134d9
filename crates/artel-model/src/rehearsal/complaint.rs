//! Errors in a script, with their place, in our own words.

use artel_types::{Failure, FailureCode};
use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::difference::window;
use super::script::DEEPEST;

/// Number of characters of the parser's message that are shown. It may quote the script.
const LONGEST: usize = 300;

/// Returns the failure that a script cannot be used. The place is written in a form that
/// editors understand.
pub(super) fn unusable(place: &str, why: &str) -> Failure {
    Failure::new(
        FailureCode::M011,
        format!("the script `{place}` cannot be used"),
    )
    .because(window(why, 0, LONGEST))
    .advise("`docs/rehearsal.md` shows what a script looks like")
}

/// Returns the failure that a script cannot be parsed.
pub(super) fn unreadable(name: &str, error: &Error) -> Failure {
    let place = error.location().map_or_else(
        || name.to_owned(),
        |location| format!("{name}:{}:{}", location.line(), location.column()),
    );
    unusable(&place, &reason(error))
}

/// Returns the reason, in our own words if the parser's message is about its internals.
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

/// Drops the place, which parsers put at the end: our message begins with it.
pub(super) fn without_place(said: &str) -> String {
    let cut = said.rsplit_once(" at line ");
    cut.map_or(said, |(why, _)| why).to_owned()
}
