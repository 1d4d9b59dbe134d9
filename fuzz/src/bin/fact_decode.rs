//! Stored facts: whatever decodes must encode and decode to the same again.
//!
//! The input is the kind, a line break, the schema, a line break, the payload.
#![no_main]

use artel_types::Fact;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let mut parts = input.splitn(3, '\n');
    let kind = parts.next().unwrap_or_default();
    let schema = parts.next().unwrap_or_default().parse().unwrap_or(1);
    let payload = parts.next().unwrap_or_default();

    let Ok(fact) = Fact::decode(kind, schema, payload) else {
        return;
    };
    assert_eq!(fact.kind(), kind);
    let stored = fact.encode().expect("a decoded fact encodes");
    let again = Fact::decode(fact.kind(), fact.schema(), &stored).expect("what we wrote decodes");
    assert_eq!(again, fact, "stored as {stored}");
});
