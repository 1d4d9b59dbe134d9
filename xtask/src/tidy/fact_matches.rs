//! Where facts are matched on. Views and rules fold them; every other package asks those.

use super::measure::{CodePlace, TidyMeasure};
use super::settings::TidySettings;
use super::source::SourceFile;
use super::tokens::CodeTokens;
use super::tree::SourceTree;

/// Counts the patterns `Fact::…` in packages that may not match on facts.
pub(super) fn measure(tree: &SourceTree, settings: &TidySettings) -> TidyMeasure {
    let allowed = &settings.facts.matching_packages;
    let files = tree.files.iter();
    let others = files.filter(|file| !allowed.contains(&file.package));
    let places = others.flat_map(in_file).collect();
    let advice = "ask a view or a rule for what the facts mean";
    TidyMeasure::of_places("fact-matches-elsewhere", advice, places)
}

fn in_file(file: &SourceFile) -> Vec<CodePlace> {
    let code = &file.code;
    let paths = code.places_of(&["Fact", "::"]);
    let patterns = paths.filter(|at| is_variant(code.at(at + 2)) && is_pattern(code, *at));
    patterns
        .map(|at| {
            let line = file.line_of(at);
            CodePlace::new(&file.path, line, file.text_of_line(line).trim())
        })
        .collect()
}

/// Tells a variant from a constant and from a function.
fn is_variant(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains(|c: char| c.is_lowercase())
}

/// Tells whether the path at `at` is a pattern and not a value.
fn is_pattern(code: &CodeTokens, at: usize) -> bool {
    let mut first = at;
    let mut after = after_group(code, at + 3);
    loop {
        after = after_alternatives(code, after);
        match code.at(after) {
            "=>" | "=" => return true,
            "if" if guards_an_arm(code, after) => return true,
            _ => {}
        }
        let Some(open) = code.parent(first) else {
            return false;
        };
        let Some(close) = code.partner(open) else {
            return false;
        };
        if is_second_of_matches(code, open, first) {
            return true;
        }
        // A pattern can lie in a tuple, a slice, a variant or a struct; a value in anything else.
        let name = path_before(code, open);
        let is_plain = name == open && matches!(code.at(open), "(" | "[") && !is_call(code, open);
        let is_named = name < open && is_variant(code.before(open));
        if !is_plain && !is_named {
            return false;
        }
        first = name;
        after = close + 1;
    }
}

/// Skips the `{ … }` or `( … )` of a variant.
fn after_group(code: &CodeTokens, at: usize) -> usize {
    let is_group = matches!(code.at(at), "(" | "{");
    let close = is_group.then(|| code.partner(at)).flatten();
    close.map_or(at, |close| close + 1)
}

/// Skips `| other patterns`.
fn after_alternatives(code: &CodeTokens, mut at: usize) -> usize {
    while code.at(at) == "|" {
        at += 1;
        while code.at(at) == "&" {
            at += 1;
        }
        if code.is_word(at) {
            at += 1;
            while code.at(at) == "::" {
                at += 2;
            }
        } else if !matches!(code.at(at), "(" | "{") {
            at += 1;
        }
        at = after_group(code, at);
    }
    at
}

/// Tells whether the `if` is followed by the `=>` of an arm.
fn guards_an_arm(code: &CodeTokens, at: usize) -> bool {
    let mut at = at + 1;
    while at < code.len() {
        match code.at(at) {
            "=>" => return true,
            ";" | ")" | "]" | "}" => return false,
            "(" | "[" | "{" => at = code.partner(at).unwrap_or(at),
            _ => {}
        }
        at += 1;
    }
    false
}

fn is_second_of_matches(code: &CodeTokens, open: usize, first: usize) -> bool {
    let is_macro = open >= 2 && matches!(code.at(open - 2), "matches" | "assert_matches");
    let mut parts = code.parts(open).into_iter().skip(1);
    is_macro && code.at(open - 1) == "!" && parts.any(|(from, to)| from <= first && first <= to)
}

/// Returns where the path in front of the bracket begins; the bracket itself if there is none.
fn path_before(code: &CodeTokens, open: usize) -> usize {
    let mut first = open;
    if open > 0 && code.is_word(open - 1) && is_variant(code.at(open - 1)) {
        first = open - 1;
        while first >= 2 && code.at(first - 1) == "::" {
            first -= 2;
        }
    }
    first
}

/// Tells whether the bracket belongs to a call, a macro or an index.
fn is_call(code: &CodeTokens, open: usize) -> bool {
    let before = code.before(open);
    let is_keyword = matches!(before, "match" | "let" | "if" | "in" | "return" | "else");
    let is_word = open > 0 && code.is_word(open - 1);
    (is_word && !is_keyword) || matches!(before, "!" | ">" | ")" | "]" | "?")
}

#[cfg(test)]
#[path = "fact_matches_tests.rs"]
mod tests;
