//! Shared parts of OpenAI's two interfaces: keys, headers, refusals, the list of models.

use serde_json::{Value, json};

use super::Seen;
use super::dialect::{Key, ensure, items};
use super::trouble::{Refusal, Trouble};

pub(super) const LIMITS: &[(&str, &str)] = &[
    ("x-ratelimit-limit-requests", "10000"),
    ("x-ratelimit-limit-tokens", "2000000"),
    ("x-ratelimit-remaining-requests", "9999"),
    ("x-ratelimit-remaining-tokens", "1999000"),
    ("x-ratelimit-reset-requests", "6ms"),
    ("x-ratelimit-reset-tokens", "30ms"),
];

pub(super) fn key(seen: &Seen) -> Key<'_> {
    seen.bearer().map_or(Key::Missing, Key::Given)
}

pub(super) fn headers(id: &str) -> Vec<(&'static str, String)> {
    vec![
        ("x-request-id", id.to_owned()),
        ("openai-version", "2020-10-01".to_owned()),
        ("openai-processing-ms", "12".to_owned()),
    ]
}

pub(super) fn refuse(refusal: &Refusal<'_>) -> (u16, Value) {
    let status = refusal.trouble.status_elsewhere();
    let error = error(&refusal.trouble, refusal.retry_after);
    (status, json!({"error": error}))
}

/// Returns the error object.
pub(super) fn error(trouble: &Trouble, retry_after: Option<&str>) -> Value {
    let (kind, code) = names(trouble);
    let message = match trouble {
        Trouble::NoKey => "You didn't provide an API key.".to_owned(),
        // The key is repeated, as OpenAI does, so code that logs this must remove it.
        Trouble::WrongKey(key) => format!("Incorrect API key provided: {key}."),
        Trouble::Status(401) => "Incorrect API key provided.".to_owned(),
        Trouble::Status(429) => match retry_after {
            Some(wait) if wait.parse::<f64>().is_ok() => {
                format!("Rate limit reached for requests. Please try again in {wait}s.")
            }
            _ => "Rate limit reached for requests.".to_owned(),
        },
        Trouble::Status(500) => "The server had an error while processing your request.".to_owned(),
        Trouble::Status(503 | 529) => "The server is currently overloaded.".to_owned(),
        Trouble::TooLong => {
            "This model's maximum context length is 128000 tokens. However, your messages \
             resulted in 210000 tokens."
                .to_owned()
        }
        Trouble::NoQuota => {
            "You exceeded your current quota, please check your plan and billing details."
                .to_owned()
        }
        Trouble::NoModel(model) => {
            format!("The model `{model}` does not exist or you do not have access to it.")
        }
        other => other.plainly(),
    };
    json!({"message": message, "type": kind, "param": null, "code": code})
}

/// Returns the type and the code of an error.
fn names(trouble: &Trouble) -> (&'static str, Option<&'static str>) {
    match trouble {
        Trouble::NoKey => ("invalid_request_error", None),
        Trouble::WrongKey(_) | Trouble::Status(401) => {
            ("invalid_request_error", Some("invalid_api_key"))
        }
        Trouble::NoQuota => ("insufficient_quota", Some("insufficient_quota")),
        Trouble::TooLong => ("invalid_request_error", Some("context_length_exceeded")),
        Trouble::NoModel(_) => ("invalid_request_error", Some("model_not_found")),
        Trouble::Status(429) => ("requests", Some("rate_limit_exceeded")),
        Trouble::Status(503 | 529) => ("service_unavailable_error", Some("server_is_overloaded")),
        other if other.usual_status() >= 500 => ("server_error", Some("server_error")),
        _ => ("invalid_request_error", None),
    }
}

/// Returns whether a tool may have this name.
pub(super) fn is_fit_name(name: &str) -> bool {
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    (1..=64).contains(&name.len()) && name.chars().all(is_fit)
}

/// A strict schema allows no other fields, and requires all the fields it has.
pub(super) fn check_strict(name: &Value, schema: &Value) -> Result<(), String> {
    let name = name.as_str().unwrap_or_default();
    ensure!(
        schema["additionalProperties"] == false,
        "Invalid schema for '{name}': In context=(), 'additionalProperties' is required to be \
         supplied and to be false."
    );
    let required: Vec<&str> = items(&schema["required"])
        .filter_map(Value::as_str)
        .collect();
    let known = schema["properties"].as_object().into_iter().flatten();
    for (property, _) in known {
        ensure!(
            required.contains(&property.as_str()),
            "Invalid schema for '{name}': In context=(), 'required' is required to be supplied and \
             to be an array including every key in properties. Missing '{property}'."
        );
    }
    Ok(())
}

pub(super) fn models() -> Value {
    let model = |id: &str| json!({"id": id, "object": "model", "created": 1_767_225_600, "owned_by": "stand-in"});
    json!({"object": "list", "data": [model("stand-in-large"), model("stand-in-small")]})
}
