//! Fingerprints of model requests: BLAKE3 of the JSON with sorted keys, in hex.
//!
//! A conversation grows at its end, and every request holds all of it. The fingerprint of
//! one request is kept, so that the next one only adds the new messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_types::model::{ModelMessage, ModelRequest};
use serde_json::Value;

/// The fingerprint of a request, which can be extended to that of a longer one.
#[derive(Clone)]
pub struct ModelRequestFingerprint {
    /// Hash state up to the end of the last message.
    begun: blake3::Hasher,
    /// Text after the messages.
    rest: Arc<str>,
    messages: usize,
}

impl ModelRequestFingerprint {
    /// Computes the fingerprint of a request.
    pub fn of(request: &ModelRequest) -> Self {
        let bare = ModelRequest {
            messages: Vec::new(),
            ..request.clone()
        };
        let (before, rest) = around_messages(&json(&bare));
        let mut begun = blake3::Hasher::new();
        begun.update(before.as_bytes());
        let print = Self {
            begun,
            rest: rest.into(),
            messages: 0,
        };
        print.and(&request.messages)
    }

    /// Returns the fingerprint of the same request with more messages.
    #[must_use]
    pub fn and(&self, more: &[ModelMessage]) -> Self {
        let mut longer = self.clone();
        let mut text = String::new();
        for message in more {
            if longer.messages > 0 {
                text.push(',');
            }
            write_sorted(&json(message), &mut text);
            longer.messages += 1;
        }
        longer.begun.update(text.as_bytes());
        longer
    }

    /// Returns the fingerprint in hex.
    pub fn hex(&self) -> String {
        let mut whole = self.begun.clone();
        whole.update(self.rest.as_bytes());
        whole.finalize().to_hex().to_string()
    }
}

impl PartialEq for ModelRequestFingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.hex() == other.hex()
    }
}

impl std::fmt::Debug for ModelRequestFingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ModelRequestFingerprint({})", self.hex())
    }
}

/// Returns the fingerprint of a request in hex.
pub fn fingerprint(request: &ModelRequest) -> String {
    ModelRequestFingerprint::of(request).hex()
}

pub(super) fn json(value: &impl serde::Serialize) -> Value {
    // A request can always be written as JSON: it has no maps with keys other than text.
    serde_json::to_value(value).unwrap_or_default()
}

/// Returns the text before the first message and after the last one.
fn around_messages(request: &Value) -> (String, String) {
    let empty = serde_json::Map::new();
    let fields: BTreeMap<_, _> = request.as_object().unwrap_or(&empty).iter().collect();
    let (mut before, mut rest) = (String::new(), String::new());
    let mut mark = '{';
    let mut is_behind = false;
    for (name, field) in fields {
        let out = if is_behind { &mut rest } else { &mut before };
        out.push(mark);
        mark = ',';
        out.push_str(&Value::from(name.as_str()).to_string());
        out.push(':');
        if name == "messages" {
            out.push('[');
            rest.push(']');
            is_behind = true;
        } else {
            write_sorted(field, out);
        }
    }
    rest.push('}');
    (before, rest)
}

/// Writes JSON with sorted keys, even in a build whose maps keep the order of insertion.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> = fields.iter().collect();
            let mut mark = '{';
            for (name, field) in &sorted {
                out.push(mark);
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write_sorted(field, out);
                mark = ',';
            }
            out.push_str(if sorted.is_empty() { "{}" } else { "}" });
        }
        Value::Array(items) => {
            let mut mark = '[';
            for item in items {
                out.push(mark);
                write_sorted(item, out);
                mark = ',';
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use artel_types::model::{MessagePart, ToolSpec};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_print_goes_on_from_that_of_a_shorter_request() {
        let mut request = ModelRequest {
            system: "\"messages\":[] is data".to_owned(),
            tools: vec![
                ToolSpec {
                    name: "read".to_owned(),
                    description: String::new(),
                    schema: json!({"messages": [], "b": 1, "a": {}}),
                }
                .into(),
            ],
            ..ModelRequest::default()
        };
        let mut print = ModelRequestFingerprint::of(&request);
        for text in ["one", "two", "three"] {
            let said = [
                ModelMessage::user(text),
                ModelMessage::assistant(vec![MessagePart::text(text)]),
            ];
            print = print.and(&said);
            request.messages.extend(said);
            // The original definition: the hash of the whole text at once.
            let mut whole = String::new();
            write_sorted(&super::json(&request), &mut whole);
            let whole = blake3::hash(whole.as_bytes()).to_hex().to_string();
            assert_eq!(print.hex(), whole);
            assert_eq!(fingerprint(&request), whole);
        }
        assert_eq!(print.and(&[]), print);
    }
}
