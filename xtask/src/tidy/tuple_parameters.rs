//! Parameters that are taken apart as tuples: a small struct has names.

use super::measure::{CodePlace, TidyMeasure};
use super::tree::SourceTree;

/// Counts the functions with such a parameter.
pub(super) fn measure(tree: &SourceTree) -> TidyMeasure {
    let places = tree.files.iter().flat_map(|file| {
        let is_tuple = move |(first, _): &(usize, usize)| file.code.at(*first) == "(";
        let functions = file.functions();
        let found = functions.filter(move |function| function.parameters.iter().any(is_tuple));
        found.map(move |function| CodePlace::new(&file.path, function.line, function.name))
    });
    let advice = "give the values a small struct with names, or make them parameters";
    TidyMeasure::of_places("tuple-parameters", advice, places.collect())
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    fn figure(text: &str) -> usize {
        measure(&tree_of([("src/a.rs", text)])).figure
    }

    #[test]
    fn a_tuple_pattern_is_found_behind_generics_and_other_parameters() {
        let text = "fn a<F: Fn(u8) -> u8>(\n    &self,\n    (run, trace): (RunId, TraceId),\n) {}";
        assert_eq!(figure(text), 1);
    }

    #[test]
    fn tuple_types_closures_and_tests_are_fine() {
        let text = "fn a(pair: (u8, u8), f: fn((u8, u8))) { b(|(x, y)| x); }\n\
                    #[cfg(test)]\nfn c((x, y): (u8, u8)) {}\n";
        assert_eq!(figure(text), 0);
    }
}
