//! Tests of the gate for decisions by text.

use super::super::facts::{FactTable, TABLE};
use super::super::measure::TidyMeasure;
use super::super::settings::{FactSettings, TextException, TidySettings};
use super::super::tree::{SourceTree, tree_of};

fn settings() -> TidySettings {
    TidySettings {
        facts: FactSettings {
            open_fields: vec!["name".to_owned()],
            ..FactSettings::default()
        },
        ..TidySettings::default()
    }
}

fn tree(body: &str) -> SourceTree {
    let text = format!("const LAPSED: &str = \"lapsed\";\nfn a(it: &RunPaused) {{ {body} }}\n");
    tree_of([("src/fact.rs", TABLE), ("src/a.rs", &text)])
}

fn measures(tree: &SourceTree, settings: &TidySettings) -> Vec<TidyMeasure> {
    super::measures(tree, &FactTable::read(tree), settings)
}

fn figures(body: &str) -> (usize, usize) {
    let found = measures(&tree(body), &settings());
    (found[0].figure, found[1].figure)
}

#[test]
fn comparisons_are_found_in_every_spelling() {
    for body in [
        "it.why == \"hint\"",
        "it.why.as_str() != \"hint\"",
        "*why == LAPSED",
        "ended.state.as_deref() == Some(\"done\")",
        "\"hint\" == it.why",
        "Some(\"done\") == ended.state.as_deref()",
        "matches!(it.why.as_str(), \"hint\" | \"stop\")",
        "matches!(&*why, words::LAPSED)",
        "match it.why.as_str() { \"hint\" => 1, _ => 2 }",
        "match (*why) { \"hint\" => 1, _ => 2 }",
        "match ended.state.as_deref() { Some(\"done\") => 1, _ => 2 }",
    ] {
        assert_eq!(figures(body), (1, 0), "{body}");
    }
}

#[test]
fn searches_are_found() {
    for body in [
        "it.why.starts_with(\"hint\")",
        "why.contains(LAPSED)",
        "why.as_str().strip_prefix(\"found: \")",
    ] {
        assert_eq!(figures(body), (0, 1), "{body}");
    }
}

#[test]
fn names_other_fields_and_typed_words_pass() {
    for body in [
        "it.name == \"hint\"",
        "it.reason == \"hint\"",
        "it.why == other.why",
        "it.why == WaitReason::Person",
        "match it.why { WaitReason::Person => \"a\", _ => \"b\" }",
        "why.contains(word)",
        "say(\"hint\", it.why)",
    ] {
        assert_eq!(figures(body), (0, 0), "{body}");
    }
}

#[test]
fn files_without_facts_pass() {
    let text = "fn a(it: &Other) { it.why == \"hint\" }";
    let tree = tree_of([("src/fact.rs", TABLE), ("src/a.rs", text)]);
    assert_eq!(measures(&tree, &settings())[0].figure, 0);
}

#[test]
fn an_exception_holds_for_its_line_and_must_be_needed() {
    let exception = |pattern: &str| TextException {
        file: "src/a.rs".to_owned(),
        pattern: pattern.to_owned(),
        reason: "read from schema 1".to_owned(),
    };
    let settings = TidySettings {
        exceptions: vec![
            exception("it.why == \"hint\""),
            exception("it.why == \"stop\""),
        ],
        ..settings()
    };
    let tree = tree("it.why == \"hint\";\n it.why == \"wait\"");
    let found = measures(&tree, &settings);
    assert_eq!(found[0].figure, 1);
    assert_eq!(found[2].figure, 1);
    assert!(found[2].places[0].note.contains("stop"));
}
