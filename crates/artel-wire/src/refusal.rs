//! Classifies refusals: a status, a few headers and a body in any shape become one
//! [`ModelFault`].
//!
//! The same table serves an error in the middle of a reply.

mod said;
mod wait;

use artel_types::Timestamp;
use artel_types::model::{ModelFault, ModelFaultKind};
use serde_json::Value;

use crate::wire::WireFormat;
use said::ProviderRefusal;

/// Headers with the request id for the provider's support, the most useful first.
const REQUEST_IDS: [&str; 4] = ["request-id", "x-request-id", "x-goog-request-id", "cf-ray"];

/// Longest request id that is kept, in characters.
const LONGEST_ID: usize = 200;

/// Phrases by which providers say that the conversation does not fit. All words of a row
/// must occur.
const OVERFLOW: &[&[&str]] = &[
    &["context_length_exceeded"],
    &["model_context_window_exceeded"],
    &["exceed_context_size"],
    &["prompt is too long"],
    &["prompt too long"],
    &["input is too long"],
    &["input length", "exceed"],
    &["input token count", "exceed"],
    &["exceeds the maximum number of tokens"],
    &["maximum context length"],
    &["maximum prompt length"],
    &["context window", "exceed"],
    &["context window", "too "],
    &["context length", "exceed"],
    &["context size", "exceed"],
    &["reduce the length of the messages"],
    &["context the overflows"],
];

/// Phrases by which providers say that the account is empty. They come with almost any
/// status.
const NO_CREDIT: &[&str] = &[
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_disabled",
    "credit balance is too low",
    "insufficient credits",
    "insufficient balance",
    "usage limit, please",
    "usage limit, upgrade",
];

/// Phrases by which providers say that a key is wrong when the status is 400.
const BAD_KEY: &[&str] = &["api_key_invalid", "api key not valid", "api key expired"];

/// Phrases by which providers say that they are overloaded when the status alone does not.
const OVERLOADED: &[&str] = &[
    "overloaded",
    "slow_down",
    "over capacity",
    "high demand",
    "server busy",
];

/// Reads a refusal.
pub(crate) fn read(
    wire: WireFormat,
    status: u16,
    header: &dyn Fn(&str) -> Option<String>,
    body: &[u8],
    now: Timestamp,
) -> ModelFault {
    let said = ProviderRefusal::in_body(body);
    let mut fault = judge(wire, status, &said);
    fault.status = Some(status);
    fault.retry_after = wait::in_headers(header, now).or(fault.retry_after);
    fault.request_id = request_id(header).or(fault.request_id);
    fault
}

/// Finds the provider's request id among the headers.
pub(crate) fn request_id(header: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let named = REQUEST_IDS.iter().find_map(|name| header(name));
    named.and_then(clean_id)
}

/// Reads an error in the middle of a reply. `body` is the object with the member `error`;
/// `status` is the one that the error would have had at the start.
pub(crate) fn within(wire: WireFormat, status: u16, body: &Value) -> ModelFault {
    judge(wire, status, &ProviderRefusal::in_json(body))
}

fn judge(wire: WireFormat, status: u16, said: &ProviderRefusal) -> ModelFault {
    let message = if said.message.is_empty() {
        format!("status {status}, without a word")
    } else {
        said.message.clone()
    };
    let mut fault = ModelFault::new(kind(wire, status, said), message);
    fault.retry_after = wait::in_body(said);
    fault.request_id = said.request_id.clone().and_then(clean_id);
    fault
}

fn kind(wire: WireFormat, status: u16, said: &ProviderRefusal) -> ModelFaultKind {
    let has = |word: &&str| said.folded.contains(word);
    if status == 402 || (status < 500 && NO_CREDIT.iter().any(has)) {
        return ModelFaultKind::Quota;
    }
    match status {
        401 | 403 => ModelFaultKind::Key,
        429 if wire == WireFormat::Google && said.names_long_quota() => ModelFaultKind::Quota,
        429 => ModelFaultKind::RateLimit,
        529 => ModelFaultKind::Overloaded,
        500.. if OVERLOADED.iter().any(has) => ModelFaultKind::Overloaded,
        500.. => ModelFaultKind::Server,
        404 => ModelFaultKind::NoSuchModel,
        408 | 409 => ModelFaultKind::Network,
        400 | 413 | 422 if OVERFLOW.iter().any(|row| row.iter().all(has)) => {
            ModelFaultKind::ContextOverflow
        }
        413 => ModelFaultKind::TooLarge,
        400 if BAD_KEY.iter().any(has) => ModelFaultKind::Key,
        _ => ModelFaultKind::BadRequest,
    }
}

fn clean_id(id: String) -> Option<String> {
    let id: String = id
        .chars()
        .filter(char::is_ascii_graphic)
        .take(LONGEST_ID)
        .collect();
    (!id.is_empty()).then_some(id)
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;
