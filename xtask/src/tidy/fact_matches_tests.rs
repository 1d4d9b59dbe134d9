//! Tests of the gate for matches on facts.

use super::super::settings::{FactSettings, TidySettings};
use super::super::tree::tree_of;

fn figure(body: &str) -> usize {
    let text = format!("fn a() {{ {body} }}\n");
    let manifest = "[package]\nname = \"shop\"\n";
    let rules = "[package]\nname = \"rules\"\n";
    let tree = tree_of([
        ("shop/Cargo.toml", manifest),
        ("shop/src/a.rs", &text),
        ("rules/Cargo.toml", rules),
        ("rules/src/a.rs", &text),
    ]);
    let settings = TidySettings {
        facts: FactSettings {
            matching_packages: vec!["rules".to_owned()],
            ..FactSettings::default()
        },
        ..TidySettings::default()
    };
    super::measure(&tree, &settings).figure
}

#[test]
fn patterns_are_found_in_every_place() {
    for body in [
        "match it { Fact::RunPaused(paused) => 1, _ => 2 }",
        "match it { Fact::RunPaused { why, .. } if why.is_some_and(|x| { x }) => 1, _ => 2 }",
        "match it { Other::Some | Fact::RunPaused(_) | Other::One => 1, _ => 2 }",
        "match (it, that) { (Some(Fact::RunPaused(_)), _) => 1, _ => 2 }",
        "match it { Event { fact: Fact::RunPaused(_), .. } => 1, _ => 2 }",
        "if let Fact::RunPaused(paused) = it {}",
        "let Some(artel_types::Fact::RunPaused(paused)) = it else { return };",
        "matches!(it.fact, Fact::RunPaused(_))",
        "matches!(it.fact(), Some(Fact::RunPaused { .. }) if true)",
    ] {
        assert_eq!(figure(body), 1, "{body}");
    }
    let two = "match it { Fact::RunPaused(_) | Fact::RunEnded(_) => 1, _ => 2 }";
    assert_eq!(figure(two), 2);
}

#[test]
fn values_constants_and_functions_pass() {
    for body in [
        "append(Fact::RunPaused(RunPaused { why }))",
        "match it { One => Fact::RunPaused(paused), Two => Fact::RunEnded(ended) }",
        "match it { One => Some(Fact::RunPaused(paused)), Two => None }",
        "let facts = vec![Fact::RunPaused(paused), Fact::RunEnded(ended)];",
        "let draft = Draft { fact: Fact::RunPaused(paused), stream };",
        "for page in Fact::PAGES {}",
        "Fact::read(bytes)",
        "if ready { Fact::RunPaused(paused) } else { Fact::RunEnded(ended) }",
        "matches!(read(Fact::RunPaused(paused)), Ok(_))",
        "let pair = (Fact::RunPaused(paused), 1);",
    ] {
        assert_eq!(figure(body), 0, "{body}");
    }
}
