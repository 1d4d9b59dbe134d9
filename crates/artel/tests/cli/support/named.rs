//! The names of tests, for pages that name them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

/// Returns the names of all functions in the code of all crates.
pub(crate) fn tests_that_are_there() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut there = BTreeSet::new();
    functions(crates, &mut there);
    there
}

/// Adds the names of the functions in all code below a folder.
fn functions(folder: &Path, names: &mut BTreeSet<String>) {
    let function = Regex::new(r"fn ([a-z0-9_]+)").unwrap();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            functions(&path, names);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            names.extend(function.captures_iter(&text).map(|it| it[1].to_owned()));
        }
    }
}
