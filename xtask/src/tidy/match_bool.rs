//! `match flag { true => …, false => … }`, which is an `if`.

use super::measure::{CodePlace, TidyMeasure};
use super::source::SourceFile;
use super::tree::SourceTree;

/// Counts such matches.
pub(super) fn measure(tree: &SourceTree) -> TidyMeasure {
    let places = tree.files.iter().flat_map(|file| {
        let matches = file.code.places_of(&["match"]);
        let found = matches.filter(move |at| is_on_bool(file, *at));
        found.map(move |at| {
            let line = file.line_of(at);
            CodePlace::new(&file.path, line, file.text_of_line(line).trim())
        })
    });
    TidyMeasure::of_places("match-on-bool", "write `if … else`", places.collect())
}

/// Tells whether the first arm of the `match` is `true` or `false`.
fn is_on_bool(file: &SourceFile, at: usize) -> bool {
    let code = &file.code;
    let mut ahead = at + 1..code.len();
    let stop = ahead.find(|at| matches!(code.at(*at), "{" | ";"));
    stop.is_some_and(|open| {
        code.at(open) == "{"
            && matches!(code.at(open + 1), "true" | "false")
            && code.at(open + 2) == "=>"
    })
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    fn figure(text: &str) -> usize {
        measure(&tree_of([("src/a.rs", text)])).figure
    }

    #[test]
    fn a_match_on_a_flag_is_found_with_either_arm_first() {
        let text = "fn a() {\n match x.is_some() {\n true => 1,\n false => 2,\n };\n\
                    match y { false => 1, _ => 2 }\n}";
        assert_eq!(figure(text), 2);
    }

    #[test]
    fn pairs_of_flags_macros_and_tests_are_fine() {
        let text = "fn a() { match (x, y) { (true, _) => 1, _ => 2 }; matches!(x, true); }\n\
                    // match x { true => 1 }\n#[cfg(test)]\nfn b() { match x { true => 1, _ => 2 } }";
        assert_eq!(figure(text), 0);
    }
}
