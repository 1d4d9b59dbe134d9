//! Names of types: each once in the workspace, and of more than one word.

use std::collections::BTreeMap;

use super::measure::{CodePlace, TidyMeasure};
use super::settings::{TidySettings, TypeNameSettings};
use super::source::SourceFile;
use super::tree::SourceTree;

/// Counts the types that share a name, and the share of names that are one word.
pub(super) fn measures(tree: &SourceTree, settings: &TidySettings) -> Vec<TidyMeasure> {
    let mut by_name: BTreeMap<String, Vec<CodePlace>> = BTreeMap::new();
    for file in &tree.files {
        for (name, place) in types_of(file, &settings.types) {
            by_name.entry(name).or_default().push(place);
        }
    }
    vec![shared(&by_name), one_word(&by_name)]
}

fn shared(by_name: &BTreeMap<String, Vec<CodePlace>>) -> TidyMeasure {
    let repeated = by_name.iter().filter(|(_, places)| places.len() > 1);
    let places = repeated.flat_map(|(name, places)| {
        places.iter().enumerate().map(move |(index, place)| {
            let other = &places[usize::from(index == 0)];
            let note = format!("{name}, also at {}:{}", other.path, other.line);
            CodePlace {
                note,
                ..place.clone()
            }
        })
    });
    let advice = "give the type a name that no other type of the workspace has";
    TidyMeasure::of_places("shared-type-names", advice, places.collect())
}

fn one_word(by_name: &BTreeMap<String, Vec<CodePlace>>) -> TidyMeasure {
    let all: usize = by_name.values().map(Vec::len).sum();
    let short = by_name.iter().filter(|(name, _)| is_one_word(name));
    let places: Vec<CodePlace> = short.flat_map(|(_, places)| places.clone()).collect();
    TidyMeasure {
        name: "one-word-types-percent".to_owned(),
        figure: (100 * places.len()).div_ceil(all.max(1)),
        places,
        advice: "let the name say what the type is: `PlanRun`, not `Run`".to_owned(),
    }
}

fn is_one_word(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut pairs = bytes.windows(2);
    !pairs.any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Returns the types that a file defines, without those whose names follow a convention.
fn types_of(file: &SourceFile, settings: &TypeNameSettings) -> Vec<(String, CodePlace)> {
    let code = &file.code;
    if is_versioned(&file.path) {
        return Vec::new();
    }
    let keywords = (0..code.len())
        .filter(|at| matches!(code.at(*at), "struct" | "enum" | "trait" | "union"))
        .filter(|at| code.is_word(at + 1) && file.begins_line(*at));
    let found: Vec<(String, CodePlace)> = keywords
        .map(|at| {
            let name = code.at(at + 1);
            let place = CodePlace::new(&file.path, file.line_of(at + 1), name);
            (name.to_owned(), place)
        })
        .collect();
    let is_conventional = |name: &String| {
        let mut folders = settings.folders.iter();
        settings.once_per_file.contains(name)
            && folders.any(|folder| file.path.starts_with(&**folder))
            && found.iter().filter(|(other, _)| other == name).count() == 1
    };
    let kept = found.iter().filter(|(name, _)| !is_conventional(name));
    kept.cloned().collect()
}

/// Tells whether the file holds an old shape, `stored::v3` or `wire::v1`: there names repeat on
/// purpose.
fn is_versioned(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    parts.windows(2).any(|pair| {
        let version = pair[1].strip_suffix(".rs").unwrap_or(pair[1]);
        matches!(pair[0], "stored" | "wire")
            && version
                .strip_prefix('v')
                .is_some_and(|number| number.parse::<u32>().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    fn figures(tree: &SourceTree) -> (usize, usize) {
        let settings = TidySettings {
            types: TypeNameSettings {
                once_per_file: vec!["Args".to_owned()],
                folders: vec!["src/commands/".to_owned()],
            },
            ..TidySettings::default()
        };
        let found = measures(tree, &settings);
        (found[0].figure, found[1].figure)
    }

    #[test]
    fn a_name_used_twice_counts_at_both_places() {
        let tree = tree_of([
            (
                "src/a.rs",
                "pub struct PlanRun;\npub(crate) enum Wanted {}\n",
            ),
            ("src/b.rs", "trait PlanRun {}\n// struct PlanRun\n"),
        ]);
        assert_eq!(figures(&tree), (2, 34));
    }

    #[test]
    fn tests_and_names_by_convention_may_repeat() {
        let command = "struct Args;\nstruct FirstThing;\n#[cfg(test)]\nstruct FirstThing;\n";
        let tree = tree_of([
            ("src/commands/a.rs", command),
            ("src/commands/b.rs", "struct Args;\n"),
            ("src/stored/v1.rs", "struct FirstThing;\n"),
            ("src/wire/v2/b.rs", "struct FirstThing;\n"),
        ]);
        assert_eq!(figures(&tree), (0, 0));
        let tree = tree_of([
            (
                "src/commands/a.rs",
                "struct Args;\nmod b {\n    struct Args;\n}\n",
            ),
            ("src/stored/version.rs", "struct Args;\n"),
        ]);
        assert_eq!(figures(&tree), (3, 100));
    }
}
