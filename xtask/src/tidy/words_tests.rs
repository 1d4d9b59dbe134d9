//! Tests of the gate for words.

use super::super::measure::TidyMeasure;
use super::super::settings::{TidySettings, WordPlace, WordRule};
use super::super::tree::tree_of;

fn settings() -> TidySettings {
    let rule = |name: &str, phrases: &[&str], place| WordRule {
        name: name.to_owned(),
        phrases: phrases.iter().map(|it| (*it).to_owned()).collect(),
        better: "plain words".to_owned(),
        place,
        ..WordRule::default()
    };
    TidySettings {
        words: vec![
            rule("whoever", &["whoever"], WordPlace::Anywhere),
            WordRule {
                unless_after: vec!["there".to_owned()],
                unless_before: vec!["longer".to_owned()],
                ..rule("is-no", &["is no"], WordPlace::Anywhere)
            },
            rule(
                "nothing",
                &["; nothing", ", nothing"],
                WordPlace::InComments,
            ),
            WordRule {
                unless_before: vec!["if".to_owned()],
                ..rule("what", &["What "], WordPlace::AtStartOfCommentLine)
            },
        ],
        ..TidySettings::default()
    }
}

fn figure(measures: &[TidyMeasure], name: &str) -> usize {
    let found = measures.iter().find(|it| it.name == name);
    found.map_or(usize::MAX, |it| it.figure)
}

fn in_code(text: &str, measure: &str) -> usize {
    let tree = tree_of([("src/a.rs", text)]);
    figure(&super::measures(&tree, &settings()), measure)
}

#[test]
fn comments_are_read_in_production_only() {
    let text = "/// Whoever asks, whoever answers.\nfn a() {} // whoevers\n\
                #[cfg(test)]\nmod tests {\n    // whoever\n}\n";
    assert_eq!(in_code(text, "whoever-in-comments"), 2);
    assert_eq!(in_code(text, "whoever-in-texts"), 0);
}

#[test]
fn literals_are_texts_and_a_line_break_hides_nothing() {
    let text = "fn a() { say(\"it is \\\n    no text\"); b(\"it is no longer there\"); }";
    assert_eq!(in_code(text, "is-no-in-texts"), 1);
    assert_eq!(in_code("fn a() { b(\"whoever\") }", "whoever-in-texts"), 1);
}

#[test]
fn words_around_a_phrase_can_make_it_right() {
    assert_eq!(in_code("// `x` is no text.", "is-no-in-comments"), 1);
    assert_eq!(in_code("// There is no text.", "is-no-in-comments"), 0);
    assert_eq!(in_code("// That is no longer so.", "is-no-in-comments"), 0);
    assert_eq!(
        in_code("/// The id; nothing before.", "nothing-in-comments"),
        1
    );
    assert_eq!(in_code("/// The id, nothings.", "nothing-in-comments"), 0);
}

#[test]
fn some_words_are_odd_at_the_start_of_a_line_only() {
    let text = "/// What is asked.\n/// Tell What.\n/// What if not?\n//! What is\nfn a() {}";
    assert_eq!(in_code(text, "what-in-comments"), 2);
    assert_eq!(in_code(text, "what-in-texts"), usize::MAX);
}

#[test]
fn pages_are_texts_and_released_history_is_not() {
    let log = "# Changelog\n\n## Unreleased\n\n- whoever\n\n## 0.1.0\n\n- whoever\n";
    let tree = tree_of([("CHANGELOG.md", log), ("docs/a.md", "a\nis\nno text")]);
    let found = super::measures(&tree, &settings());
    assert_eq!(figure(&found, "whoever-in-texts"), 1);
    let is_no = found.iter().find(|it| it.name == "is-no-in-texts");
    let lines: Vec<usize> = is_no.map_or(vec![], |it| it.places.iter().map(|p| p.line).collect());
    assert_eq!(lines, [2]);
}
