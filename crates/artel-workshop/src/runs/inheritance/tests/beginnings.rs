//! Reads the source of every shipped crate to find where runs start and how their bounds
//! are passed on.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// Code that creates a run, or gives bounds to a run or to commands.
const SIGNS: [&str; 7] = [
    "RunStartSpec {",
    "RunInheritance::of_person(",
    "RunLineage {",
    "RunLineage::root(",
    "RunToolingContext {",
    "RunStarted {",
    "RunStarted::new(",
];

/// A crate that only tests use.
const NOT_SHIPPED: &str = "artel-testkit";

/// One place: the file in `artel-workshop/src`, the function, and the code there.
type Place = (&'static str, &'static str, &'static str);

/// Every place, listed as often as the code occurs there, with the words in that function
/// that pass on the inheritance.
const PLACES: &[(Place, &str)] = &[
    (
        ("runs/child.rs", "carry_out", "RunStartSpec {"),
        "mut kin: RunLineage,",
    ),
    (
        ("runs/child.rs", "kin_of", "RunLineage {"),
        "inherits: self.handed_down(",
    ),
    (
        ("runs/fork.rs", "on_its_own", "RunStarted {"),
        "let mut inherits = started.inherits;",
    ),
    (
        (
            "runs/inheritance/ancestors.rs",
            "of_old_root",
            "RunInheritance::of_person(",
        ),
        ".for_child(terms)",
    ),
    (
        (
            "runs/inheritance/ancestors.rs",
            "ordered",
            "RunInheritance::of_person(",
        ),
        "self.named",
    ),
    (
        ("runs/start.rs", "stage", "RunToolingContext {"),
        "inherits: kin.inherits.clone()",
    ),
    (
        ("runs/start.rs", "start_run", "RunStartSpec {"),
        "house.ordered_now()",
    ),
    (
        ("runs/start.rs", "start_run", "RunLineage::root("),
        "house.ordered_now()",
    ),
    (
        ("runs/start.rs", "started", "RunStarted {"),
        "inherits: Some(kin.inherits.recorded())",
    ),
    (
        ("runs/start.rs", "started", "RunStarted::new("),
        "inherits: Some(kin.inherits.recorded())",
    ),
    (
        ("runs/succeed.rs", "begin_heir", "RunStarted {"),
        "..started",
    ),
    (
        ("runs/succeed.rs", "succession", "RunLineage {"),
        "inherits: kin.inherits.for_child(",
    ),
    (
        ("runs/take_up.rs", "kin_of", "RunLineage {"),
        "self.inheritance_of(started)",
    ),
    (
        ("runs/take_up.rs", "kin_of", "RunLineage::root("),
        "self.inheritance_of(started)",
    ),
    // A plan run calls no model and no tool. Its agents do, and `child` starts each of them.
    (
        ("works/carry.rs", "begin_plan", "RunStarted {"),
        "plan: Some(version)",
    ),
    (
        ("works/carry.rs", "begin_plan", "RunStarted::new("),
        "plan: Some(version)",
    ),
    (
        ("works/children.rs", "child", "RunStartSpec {"),
        "self.ordered().for_child(contract.terms(parent))",
    ),
    (
        ("works/children.rs", "child", "RunLineage {"),
        "self.ordered().for_child(contract.terms(parent))",
    ),
    (
        ("works/children.rs", "child", "RunLineage::root("),
        "self.ordered().for_child(contract.terms(parent))",
    ),
    // Project checks are not runs, but their commands are bounded like those of a run.
    (
        ("works/prover.rs", "hands", "RunToolingContext {"),
        "inherits: house.ordered().for_child(",
    ),
];

/// Functions that the places above rely on.
const BEHIND: [(&str, &str, &str); 2] = [
    ("runs/child.rs", "handed_down", "inherits.for_child(terms)"),
    (
        "runs/inheritance/ancestors.rs",
        "ordered_now",
        "self.ordered().for_child(",
    ),
];

/// The lines of a shipped file, without its tests.
struct Source(Vec<String>);

impl Source {
    fn of(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let is_tests = |at: usize| {
            let next = lines.get(at + 1).copied().unwrap_or_default();
            lines[at] == "#[cfg(test)]" && next.starts_with("mod ") && next.ends_with('{')
        };
        let end = (0..lines.len()).find(|at| is_tests(*at));
        let lines = lines[..end.unwrap_or(lines.len())].iter();
        Self(lines.map(|line| (*line).to_owned()).collect())
    }

    /// Returns the function that begins at a line, up to its closing brace.
    fn function_at(&self, at: usize) -> Option<(&str, Range<usize>)> {
        let line = &self.0[at];
        let (before, rest) = line.split_once("fn ")?;
        let is_head = before.split_whitespace().all(|word| {
            word.starts_with("pub") || ["async", "const", "unsafe", "super)"].contains(&word)
        });
        let name = rest.split(['(', '<']).next().filter(|_| is_head)?;
        let indent = &line[..line.len() - line.trim_start().len()];
        let close = format!("{indent}}}");
        let length = self.0[at..].iter().position(|line| *line == close)?;
        Some((name, at..at + length + 1))
    }

    fn function_around(&self, at: usize) -> Option<(&str, Range<usize>)> {
        let mut starts = (0..=at).rev();
        starts.find_map(|start| {
            let found = self.function_at(start)?;
            found.1.contains(&at).then_some(found)
        })
    }

    /// Returns whether a line creates one. Naming or reading the type does not count.
    fn makes(&self, at: usize, sign: &str) -> bool {
        let line = self.0[at].trim_start();
        let reads = format!("let {sign}");
        line.contains(sign)
            && !line.starts_with("//")
            && !line.starts_with(&reads)
            && !line.contains("-> ")
    }

    /// Returns whether a function of this name contains these words.
    fn goes_by(&self, function: &str, words: &str) -> bool {
        (0..self.0.len()).any(|at| {
            let found = self.function_at(at).filter(|(name, _)| *name == function);
            found.is_some_and(|(_, lines)| self.0[lines].iter().any(|line| line.contains(words)))
        })
    }
}

/// Reads all shipped files, keyed by their path below the folder of all crates.
fn sources() -> BTreeMap<String, Source> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut sources = BTreeMap::new();
    let mut waiting: Vec<_> = fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with(NOT_SHIPPED))
        .map(|path| path.join("src"))
        .collect();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(crates).unwrap().display().to_string();
            if path.is_dir() {
                waiting.push(path);
            } else if name.ends_with(".rs") && !name.contains("tests") {
                let text = fs::read_to_string(&path).unwrap();
                sources.insert(name, Source::of(&text));
            }
        }
    }
    sources
}

/// Checks every place in the product where a run starts or is resumed, or where commands
/// get their bounds, and how it passes them on.
#[test]
fn every_place_that_begins_a_run_hands_down_in_the_one_way() {
    let sources = sources();
    let mut found: Vec<(String, String, &str)> = Vec::new();
    for (file, source) in &sources {
        let all = (0..source.0.len()).flat_map(|at| SIGNS.map(|sign| (at, sign)));
        for (at, sign) in all.filter(|(at, sign)| source.makes(*at, sign)) {
            // Outside of functions there are only the definitions.
            if let Some((function, _)) = source.function_around(at) {
                found.push((file.clone(), function.to_owned(), sign));
            }
        }
    }
    found.sort();
    let file_of = |file: &str| format!("artel-workshop/src/{file}");
    let known = PLACES.iter().map(|((file, function, sign), _)| {
        let function = (*function).to_owned();
        (file_of(file), function, *sign)
    });
    let mut known: Vec<_> = known.collect();
    known.sort();
    assert_eq!(
        found, known,
        "a new place that begins a run has to hand down, and to stand here"
    );
    let places = PLACES
        .iter()
        .map(|((file, function, _), how)| (file, function, how));
    let behind = BEHIND
        .iter()
        .map(|(file, function, how)| (file, function, how));
    for (file, function, how) in places.chain(behind) {
        let source = &sources[&file_of(file)];
        assert!(
            source.goes_by(function, how),
            "`{function}` in {file} does not go by `{how}`"
        );
    }
}

#[test]
fn a_second_place_in_a_known_file_is_seen_and_by_its_function() {
    let text = "struct RunLineage {\n    a: u8,\n}\n\nimpl House {\n    pub(super) async fn one(&self) {\n        \
                let kin = RunLineage {\n            a: self.for_child(),\n        };\n    }\n\n    fn \
                two(kin: &RunLineage) -> RunLineage {\n        RunLineage { a: 2 }\n    }\n}\n\n#[cfg(test)]\nmod tests \
                {\n    fn three() -> RunLineage {\n        RunLineage { a: 3 }\n    }\n}\n";
    let source = Source::of(text);
    let lines = (0..source.0.len()).filter(|at| source.makes(*at, "RunLineage {"));
    let around = lines.filter_map(|at| Some(source.function_around(at)?.0));
    assert_eq!(around.collect::<Vec<_>>(), ["one", "two"]);
    assert!(source.goes_by("one", "for_child(") && !source.goes_by("two", "for_child("));
}
