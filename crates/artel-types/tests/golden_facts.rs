//! Every record ever written loads for ever: one stored payload per kind and schema, and more
//! where a field has several shapes.
//!
//! A line is written once, when its schema is released, and never changed afterwards. A new schema
//! gets new lines; the older ones stay and must still load.
#![expect(clippy::expect_used, reason = "a step that fails, fails the test")]

use artel_types::{Fact, FactDecodeError};
use serde::Deserialize;
use serde_json::Value;

const STORED: &str = include_str!("golden/facts_v1.jsonl");

#[derive(Deserialize)]
struct Stored {
    kind: String,
    schema: u32,
    payload: Value,
}

fn stored() -> Vec<Stored> {
    let read = |line| serde_json::from_str(line).expect("a line of kind, schema and payload");
    STORED.lines().map(read).collect()
}

#[test]
fn every_stored_fact_loads_and_is_written_the_same_again() {
    for line in stored() {
        let Stored {
            kind,
            schema,
            payload,
        } = line;
        let fact = Fact::decode(&kind, schema, &payload.to_string())
            .unwrap_or_else(|error| panic!("{kind} {schema} no longer loads: {error:?}"));
        assert_eq!(fact.kind(), kind);
        let again = fact.encode().expect("a fact that can be written");
        // An older schema loads into the newest shape, which is what is written from then on.
        if schema == fact.schema() {
            let again: Value = serde_json::from_str(&again).expect("JSON");
            assert_eq!(again, payload, "{kind} {schema} is written differently");
        }
        let back = Fact::decode(&kind, fact.schema(), &again).expect("what was just written");
        assert_eq!(
            back, fact,
            "{kind} {schema} does not survive a second writing"
        );
    }
}

#[test]
fn every_kind_has_a_line_for_each_of_its_schemas() {
    let stored = stored();
    for page in Fact::PAGES {
        for schema in 1..=page.schema {
            assert!(
                stored
                    .iter()
                    .any(|line| line.kind == page.kind && line.schema == schema),
                "add a line for `{}` schema {schema} to tests/golden/facts_v1.jsonl",
                page.kind
            );
        }
    }
}

#[test]
fn a_kind_is_never_dropped() {
    for line in stored() {
        assert!(
            Fact::PAGES.iter().any(|page| page.kind == line.kind),
            "`{}` was recorded once and must stay readable",
            line.kind
        );
    }
}

#[test]
fn what_a_newer_build_wrote_is_refused_by_name() {
    let newer = Fact::decode("note.added", 99, r#"{"text":"a"}"#);
    assert!(
        matches!(newer, Err(FactDecodeError::TooNew { found: 99, .. })),
        "{newer:?}"
    );
    let unknown = Fact::decode("note.sung", 1, "{}");
    assert!(
        matches!(unknown, Err(FactDecodeError::UnknownKind(_))),
        "{unknown:?}"
    );
}
