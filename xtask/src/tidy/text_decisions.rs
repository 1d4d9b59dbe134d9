//! Decisions by text: a text field of a fact, compared with a literal or searched for one.
//!
//! The gate knows fields by name only, in files that name a fact. A constant of type `&str` counts
//! as a literal.

use std::collections::BTreeSet;

use super::facts::FactTable;
use super::measure::{CodePlace, TidyMeasure};
use super::settings::{PATH, TextException, TidySettings};
use super::tokens::CodeTokens;
use super::tree::SourceTree;

const SEARCHES: [&str; 4] = ["starts_with", "ends_with", "contains", "strip_prefix"];
const VIEWS: [&str; 3] = ["as_str", "as_deref", "as_ref"];

/// Counts comparisons and searches that `xtask/tidy.toml` does not except, and the exceptions that
/// except nothing.
pub(super) fn measures(
    tree: &SourceTree,
    table: &FactTable,
    settings: &TidySettings,
) -> Vec<TidyMeasure> {
    let (compared, searched) = all_places(tree, table, settings);
    let idle = settings.exceptions.iter().filter(|exception| {
        let mut places = compared.iter().chain(&searched);
        !places.any(|place| excepts(exception, place))
    });
    let idle = idle.map(|it| {
        let note = format!("`{}` in {} ({})", it.pattern, it.file, it.reason);
        CodePlace::new(PATH, 1, note)
    });
    let idle = idle.collect();
    let keep = |places: Vec<CodePlace>| {
        let excepted = |place: &CodePlace| settings.exceptions.iter().any(|it| excepts(it, place));
        places.into_iter().filter(|it| !excepted(it)).collect()
    };
    let advice = "make the words an enum and match on it; a name or free text is an open field";
    vec![
        TidyMeasure::of_places("fact-text-compared", advice, keep(compared)),
        TidyMeasure::of_places("fact-text-searched", advice, keep(searched)),
        TidyMeasure::of_places("idle-exceptions", "remove the exception", idle),
    ]
}

fn excepts(exception: &TextException, place: &CodePlace) -> bool {
    exception.file == place.path && place.note.contains(&exception.pattern)
}

/// Returns where text is compared, and where it is searched.
fn all_places(
    tree: &SourceTree,
    table: &FactTable,
    settings: &TidySettings,
) -> (Vec<CodePlace>, Vec<CodePlace>) {
    let open = &settings.facts.open_fields;
    let finder = TextFinder {
        fields: table
            .text_fields
            .iter()
            .filter(|it| !open.contains(it))
            .map(|it| &**it)
            .collect(),
        constants: tree
            .files
            .iter()
            .flat_map(|file| constants(&file.code))
            .collect(),
    };
    let (mut compared, mut searched) = (Vec::new(), Vec::new());
    for file in tree.files.iter().filter(|file| table.is_named_in(file)) {
        let code = &file.code;
        for at in (0..code.len()).filter(|at| finder.fields.contains(code.at(*at))) {
            let places = if finder.is_compared(code, at) {
                &mut compared
            } else if finder.is_searched(code, at) {
                &mut searched
            } else {
                continue;
            };
            let line = file.line_of(at);
            places.push(CodePlace::new(
                &file.path,
                line,
                file.text_of_line(line).trim(),
            ));
        }
    }
    (compared, searched)
}

/// Returns the names of the constants of type `&str`.
fn constants(code: &CodeTokens) -> impl Iterator<Item = &str> {
    let found = code.places_of(&["const"]);
    let texts = found.filter(move |at| is_text_constant(code, at + 2));
    texts.map(move |at| code.at(at + 1))
}

fn is_text_constant(code: &CodeTokens, colon: usize) -> bool {
    code.reads(colon, &[":", "&", "str"]) || code.reads(colon, &[":", "&", "'", "static", "str"])
}

/// Finds what is done with the text of a field.
struct TextFinder<'a> {
    fields: BTreeSet<&'a str>,
    constants: BTreeSet<&'a str>,
}

impl TextFinder<'_> {
    fn is_compared(&self, code: &CodeTokens, field: usize) -> bool {
        let after = after_view(code, field);
        self.is_compared_ahead(code, after)
            || self.is_compared_behind(code, field, after)
            || self.is_matched(code, field, after)
    }

    /// `field == "word"`
    fn is_compared_ahead(&self, code: &CodeTokens, after: usize) -> bool {
        matches!(code.at(after), "==" | "!=") && self.is_text(code, after + 1)
    }

    /// `"word" == it.field`
    fn is_compared_behind(&self, code: &CodeTokens, field: usize, after: usize) -> bool {
        let first = path_start(code, field);
        let is_operator = matches!(code.before(first), "==" | "!=");
        if !is_operator || code.at(after) == "(" {
            return false;
        }
        let mut left = first - 1;
        if code.before(left) == ")" {
            left -= 1;
        }
        left.checked_sub(1)
            .is_some_and(|left| code.is_literal(left) || self.is_constant(code, left))
    }

    /// `matches!(it.field, "word")` and `match it.field { "word" => … }`
    fn is_matched(&self, code: &CodeTokens, field: usize, after: usize) -> bool {
        let mut first = path_start(code, field);
        while matches!(code.before(first), "&" | "*") {
            first -= 1;
        }
        if first >= 3 && code.reads(first - 3, &["matches", "!", "("]) {
            return code.at(after) == "," && self.is_text(code, after + 1);
        }
        while matches!(code.before(first), "&" | "*" | "(") {
            first -= 1;
        }
        let open = after + usize::from(code.at(after) == ")");
        code.before(first) == "match" && code.at(open) == "{" && self.is_text(code, open + 1)
    }

    /// `field.starts_with("word")`
    fn is_searched(&self, code: &CodeTokens, field: usize) -> bool {
        let after = after_view(code, field);
        code.at(after) == "."
            && SEARCHES.contains(&code.at(after + 1))
            && code.at(after + 2) == "("
            && self.is_text(code, after + 3)
    }

    /// Tells whether a literal or a constant stands at the token, in `Some` or not.
    fn is_text(&self, code: &CodeTokens, at: usize) -> bool {
        let mut at = at + 2 * usize::from(code.reads(at, &["Some", "("]));
        while code.is_word(at) && code.at(at + 1) == "::" {
            at += 2;
        }
        code.is_literal(at) || self.is_constant(code, at)
    }

    fn is_constant(&self, code: &CodeTokens, at: usize) -> bool {
        self.constants.contains(code.at(at))
    }
}

/// Returns the token after the field and its `.as_str()`.
fn after_view(code: &CodeTokens, field: usize) -> usize {
    let has_view = code.at(field + 1) == "."
        && VIEWS.contains(&code.at(field + 2))
        && code.reads(field + 3, &["(", ")"]);
    field + if has_view { 5 } else { 1 }
}

/// Returns where the path that ends in the field begins: `it` in `it.call.field`.
fn path_start(code: &CodeTokens, field: usize) -> usize {
    let mut first = field;
    while first >= 2 && code.at(first - 1) == "." && code.is_word(first - 2) {
        first -= 2;
    }
    first
}

#[cfg(test)]
#[path = "text_decisions_tests.rs"]
mod tests;
