//! The request that is sent a thousand times.

use artel_types::model::{ModelMessage, ModelRequest, ModelSpec};
use artel_types::{Money, Secret};
use artel_wire::{WireFormat, WireTarget};

/// The wire format of the request and its reply.
pub(crate) const WIRE: WireFormat = WireFormat::Chat;

/// The model that the request is for.
pub(crate) const MODEL: &str = "bench-1";

/// Returns a request of about two thousand bytes.
pub(crate) fn question() -> ModelRequest {
    let words = "Which of these words is said more often than it should be? ".repeat(32);
    ModelRequest {
        system: "Answer with numbers.".to_owned(),
        messages: vec![ModelMessage::user(words)],
        ..ModelRequest::default()
    }
}

/// Returns the path and the body of the HTTP request.
pub(crate) fn sent() -> (String, Vec<u8>) {
    let card = card();
    let target = WireTarget {
        model: MODEL,
        max_output: card.max_output,
        context: card.context,
        thinking: card.thinking,
    };
    let outgoing = WIRE.encode(&target, &question());
    (outgoing.path, outgoing.body)
}

/// Returns the limits and prices of the model.
pub(crate) fn card() -> ModelSpec {
    ModelSpec {
        input: Some(Money(1_000_000)),
        output: Some(Money(1_000_000)),
        ..ModelSpec::default()
    }
}

/// Returns keys as long as real ones, because replies are searched for all of them.
pub(crate) fn keys() -> [Secret; 3] {
    ["sk-one-", "sk-two-", "sk-three-"]
        .map(|begin| Secret::new(begin.to_owned() + &"k3Y".repeat(30)))
}
