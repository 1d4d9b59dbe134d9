//! Lines in, lines out.

use artel_policy::redact::redact_line;
use serde_json::{Value, json};

fn answer(line: &str) -> Value {
    let said = redact_line(line);
    assert!(!said.contains('\n'), "{said}");
    serde_json::from_str(&said).unwrap()
}

#[test]
fn a_line_is_answered_with_its_text() {
    let line = json!({"text": "password=hunter2 é"}).to_string();
    assert_eq!(answer(&line), json!({"text": "password=[REDACTED] é"}));
    let line = json!({"text": "a zebra-lantern b", "known": ["zebra-lantern"]}).to_string();
    assert_eq!(answer(&line), json!({"text": "a [REDACTED] b"}));
}

#[test]
fn cuts_may_stand_anywhere() {
    for cut in 0..40 {
        let line = json!({
            "text": "é pässword=x DB_PASSWORD=hunter2 é",
            "chunks": [cut, 3, 100, cut + 1],
        });
        let clean = json!({"text": "é pässword=x DB_PASSWORD=[REDACTED] é"});
        assert_eq!(answer(&line.to_string()), clean);
    }
}

#[test]
fn a_line_that_cannot_be_read_is_an_error_that_repeats_nothing() {
    for line in [
        "",
        "{",
        "[]",
        r#"{"text": 5}"#,
        r#"{"known": ["hunter2hunter2"]}"#,
        "null",
    ] {
        let said = answer(line);
        assert!(said["error"].is_string(), "{line}: {said}");
        assert!(!said.to_string().contains("hunter2"));
    }
}
