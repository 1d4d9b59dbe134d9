//! Removal of what looks like a secret: a stream cut anywhere comes to the same as the whole.
//!
//! The input is a seed for the cuts, a line break, then the text.
#![no_main]

use artel_policy::redact::{find_in_json, find_secret_in, redact_line, redactor};
use artel_types::Secret;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let split = input.iter().position(|byte| *byte == b'\n');
    let (seed, text) = input.split_at(split.unwrap_or(0));
    let known = [Secret::new("known-value"), Secret::new("value-known")];
    let redactor = redactor(&known);
    let whole = redactor.redact_bytes(text).into_owned();
    assert_eq!(redactor.finds_in(text), whole != text);

    let mut stream = redactor.stream();
    let (mut shown, mut rest) = (Vec::new(), text);
    for step in seed.iter().cycle().take(text.len()) {
        let (piece, after) = rest.split_at(usize::from(*step).min(rest.len()));
        shown.extend_from_slice(&stream.push_bytes(piece));
        rest = after;
    }
    shown.extend_from_slice(&stream.push_bytes(rest));
    shown.extend(stream.finish_bytes());
    assert_eq!(shown, whole, "the stream is not the whole");

    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    assert_eq!(redactor.redact(text).as_bytes(), whole);
    for found in find_secret_in(text) {
        assert!(text.get(found.range).is_some(), "a character is cut");
    }
    assert_eq!(redact_line(text).lines().count(), 1);
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
        find_in_json(&value);
        let clean = redactor.redact_json(text);
        serde_json::from_str::<serde_json::Value>(&clean).expect("JSON stays JSON");
    }
});
