//! The tails: long files and long functions.

use super::measure::{CodePlace, TidyMeasure};
use super::tree::SourceTree;

const LONG_FILE: usize = 500;
const LONG_FUNCTION: usize = 80;

/// Counts long files and functions, and takes the 95th percentile of the length of files.
pub(super) fn measures(tree: &SourceTree) -> Vec<TidyMeasure> {
    vec![long_files(tree), file_length(tree), long_functions(tree)]
}

fn long_files(tree: &SourceTree) -> TidyMeasure {
    let advice = "divide the file by idea; declarations first, helpers in a file of their own";
    TidyMeasure::of_places("files-over-500", advice, files_from(tree, LONG_FILE + 1))
}

fn file_length(tree: &SourceTree) -> TidyMeasure {
    let mut lengths: Vec<usize> = tree.files.iter().map(|file| file.length).collect();
    lengths.sort_unstable();
    let index = (lengths.len() * 95 / 100).min(lengths.len().saturating_sub(1));
    let figure = lengths.get(index).copied().unwrap_or(0);
    TidyMeasure {
        name: "file-length-p95".to_owned(),
        figure,
        places: files_from(tree, figure),
        advice: "one file in twenty is as long as this: divide the longest".to_owned(),
    }
}

fn long_functions(tree: &SourceTree) -> TidyMeasure {
    let places = tree.files.iter().flat_map(|file| {
        let functions = file.functions();
        let long = functions.filter(|function| function.length > LONG_FUNCTION);
        long.map(move |function| CodePlace {
            path: file.path.clone(),
            line: function.line,
            last_line: function.line + function.length - 1,
            note: format!("{}: {} lines", function.name, function.length),
        })
    });
    let advice = "divide the function where its steps have names";
    TidyMeasure::of_places("functions-over-80", advice, places.collect())
}

/// Returns the files of at least `length` lines, the longest first.
fn files_from(tree: &SourceTree, length: usize) -> Vec<CodePlace> {
    let mut long: Vec<_> = tree.files.iter().filter(|it| it.length >= length).collect();
    long.sort_by_key(|file| std::cmp::Reverse(file.length));
    let places = long.into_iter().map(|file| CodePlace {
        path: file.path.clone(),
        line: 1,
        last_line: usize::MAX,
        note: format!("{} lines", file.length),
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    fn figures(text: &str) -> [usize; 3] {
        let found = measures(&tree_of([("src/a.rs", text), ("src/b.rs", "fn b() {}\n")]));
        [0, 1, 2].map(|index: usize| found[index].figure)
    }

    #[test]
    fn long_files_and_functions_are_found() {
        let body = "    step();\n".repeat(79);
        let long = format!("fn a() {{\n{body}}}\n{}", "// on\n".repeat(420));
        assert_eq!(figures(&long), [1, 501, 1]);
    }

    #[test]
    fn the_limits_themselves_and_tests_pass() {
        let body = "    step();\n".repeat(78);
        let text = format!("fn a() {{\n{body}}}\n{}", "// on\n".repeat(420));
        assert_eq!(figures(&text), [0, 500, 0]);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "// on\n".repeat(600));
        assert_eq!(figures(&format!("fn a() {{}}\n{tests}")), [0, 1, 0]);
    }
}
