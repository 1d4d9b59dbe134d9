//! `{:?}` where its text is stored or serves as a word: it changes with the name of a variant.

use std::collections::BTreeSet;

use super::facts::FactTable;
use super::measure::{CodePlace, TidyMeasure};
use super::source::SourceFile;
use super::tree::SourceTree;

/// Counts `{:?}` inside literals of facts, and `{:?}` that is made lower case.
pub(super) fn measures(tree: &SourceTree, table: &FactTable) -> Vec<TidyMeasure> {
    let files = tree.files.iter();
    let in_facts = files.flat_map(|file| in_facts(file, table)).collect();
    let as_words = tree.files.iter().flat_map(as_words).collect();
    let advice = "store the word that the type gives itself, or the type";
    vec![
        TidyMeasure::of_places("debug-text-in-facts", advice, in_facts),
        TidyMeasure::of_places("debug-text-as-word", advice, as_words),
    ]
}

fn in_facts(file: &SourceFile, table: &FactTable) -> Vec<CodePlace> {
    let code = &file.code;
    let facts =
        (0..code.len()).filter(|at| code.at(at + 1) == "{" && table.facts.contains(code.at(*at)));
    let found: BTreeSet<usize> = facts
        .flat_map(|at| at..code.partner(at + 1).unwrap_or(at))
        .filter(|at| formats(file, *at).is_some_and(has_debug))
        .collect();
    places(file, found)
}

fn as_words(file: &SourceFile) -> Vec<CodePlace> {
    let code = &file.code;
    let formatted = code.places_of(&["format", "!", "("]);
    let found = formatted.filter(|at| {
        let after = code.partner(at + 2).map_or(code.len(), |close| close + 1);
        let is_lowered = code.at(after) == "."
            && matches!(code.at(after + 1), "to_lowercase" | "to_ascii_lowercase");
        is_lowered && formats(file, *at).is_some_and(is_only_debug)
    });
    places(file, found)
}

fn places(file: &SourceFile, tokens: impl IntoIterator<Item = usize>) -> Vec<CodePlace> {
    let tokens = tokens.into_iter();
    tokens
        .map(|at| {
            let line = file.line_of(at);
            CodePlace::new(&file.path, line, file.text_of_line(line).trim())
        })
        .collect()
}

/// Returns the literal of a `format!` at the token.
fn formats(file: &SourceFile, at: usize) -> Option<&str> {
    let code = &file.code;
    let is_format = code.reads(at, &["format", "!", "("]) && code.is_literal(at + 3);
    is_format.then(|| code.at(at + 3))
}

fn has_debug(literal: &str) -> bool {
    let mut insertions = literal.split('{').skip(1);
    insertions.any(|rest| {
        let inside = rest.split_once('}').map_or("", |(inside, _)| inside);
        inside.ends_with('?')
    })
}

fn is_only_debug(literal: &str) -> bool {
    let inside = literal
        .strip_prefix("\"{")
        .and_then(|rest| rest.strip_suffix("?}\""));
    inside.is_some_and(|inside| !inside.contains(['{', '}']))
}

#[cfg(test)]
mod tests {
    use super::super::facts::TABLE;
    use super::super::tree::tree_of;
    use super::*;

    fn figures(text: &str) -> (usize, usize) {
        let tree = tree_of([("src/fact.rs", TABLE), ("src/a.rs", text)]);
        let found = measures(&tree, &FactTable::read(&tree));
        (found[0].figure, found[1].figure)
    }

    #[test]
    fn debug_text_is_found_in_a_fact_and_in_a_word() {
        let text = "fn a() { RunPaused { why: format!(\"is {x:?}\"), name } }";
        assert_eq!(figures(text), (1, 0));
        let text = "fn a() { format!(\"{:?}\", b.c())\n .to_lowercase() }";
        assert_eq!(figures(text), (0, 1));
    }

    #[test]
    fn other_texts_pass() {
        let text = "fn a() { say(format!(\"{x:?}\")); RunPaused { why: format!(\"{x}?\"), name }; \
                    format!(\"{x}\").to_lowercase(); }\n#[cfg(test)]\nfn b() { \
                    format!(\"{x:?}\").to_lowercase() }";
        assert_eq!(figures(text), (0, 0));
    }
}
