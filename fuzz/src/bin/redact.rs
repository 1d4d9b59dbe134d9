//! Removal of known secrets: none is left in the output, and JSON stays JSON.
//!
//! The input is up to three secrets, one a line, an empty line, then the text.
#![no_main]

use artel_types::{REDACTED, SHORTEST_KNOWN_VALUE, Secret, SecretRedactor};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: &str| {
    let (head, text) = input.split_once("\n\n").unwrap_or((input, ""));
    let secrets: Vec<Secret> = head.lines().take(3).map(Secret::new).collect();
    let redactor = SecretRedactor::of_known_values(&secrets);
    let values: Vec<&str> = secrets
        .iter()
        .map(Secret::expose)
        .filter(|value| value.len() >= SHORTEST_KNOWN_VALUE)
        .collect();

    let clean = redactor.redact(text);
    assert_eq!(clean.as_bytes(), &*redactor.redact_bytes(text.as_bytes()));
    assert_absent(&values, &clean);

    if let Ok(before) = serde_json::from_str::<Value>(text) {
        let clean = redactor.redact_json(text);
        let after: Value = serde_json::from_str(&clean).expect("JSON stays JSON");
        assert_absent_inside(&values, &after);
        if values.is_empty() {
            assert_eq!(after, before, "nothing was to be removed");
        }
    }
});

/// The pieces between the marks are what is left of the original; a value that spells part of the
/// mark itself cannot be told from it, so the marks are not looked at.
fn assert_absent(values: &[&str], clean: &str) {
    for piece in clean.split(REDACTED) {
        for value in values {
            assert!(!piece.contains(value), "{value:?} is left in {clean:?}");
        }
    }
}

fn assert_absent_inside(values: &[&str], json: &Value) {
    match json {
        Value::String(text) => assert_absent(values, text),
        Value::Number(number) => assert_absent(values, &number.to_string()),
        Value::Array(items) => items
            .iter()
            .for_each(|item| assert_absent_inside(values, item)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            assert_absent(values, key);
            assert_absent_inside(values, value);
        }),
        Value::Null | Value::Bool(_) => {}
    }
}
