//! The differences between the providers, as one table of functions for each.

use axum::body::Bytes;
use serde_json::{Value, json};

use super::answer::Said;
use super::trouble::Refusal;
use super::{Format, Seen, anthropic, chat, google, ollama, responses};

/// A provider's format.
pub(super) struct Dialect {
    /// The path after the address in `base_url`.
    pub(super) base: &'static str,
    /// Returns what a request wants.
    pub(super) route: fn(&Seen) -> Route,
    /// Returns the key of a request.
    pub(super) key: fn(&Seen) -> Key<'_>,
    /// Returns the name of the model.
    pub(super) model: fn(&Seen) -> String,
    /// Checks a request. The error is the provider's sentence about it.
    pub(super) check: fn(&Seen) -> Result<(), String>,
    /// Returns the first offered tool, unless the request brings results.
    pub(super) offer: fn(&Value) -> Option<Offer>,
    /// Returns the reply as a stream of events.
    pub(super) events: fn(&Ask<'_>, &Said) -> Vec<Bytes>,
    /// Returns the content type of such a stream.
    pub(super) stream_type: fn(&Seen) -> &'static str,
    /// Returns the whole reply as one value.
    pub(super) whole: fn(&Ask<'_>, &Said) -> Value,
    /// Returns a refusal in the provider's words, with its status.
    pub(super) refuse: fn(&Refusal<'_>) -> (u16, Value),
    /// Where the provider says how long to wait.
    pub(super) wait: Wait,
    /// Returns the list of models, the request that is used to test a key.
    pub(super) models: fn() -> Value,
    /// Returns the headers that every response has, given the request's id.
    pub(super) headers: fn(&str) -> Vec<(&'static str, String)>,
    /// The headers that a model's response has.
    pub(super) limits: &'static [(&'static str, &'static str)],
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    Stream,
    Whole,
    Models,
    Nothing,
}

/// The place where a provider says how many seconds to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    InHeader,
    InBody,
}

/// The key of a request, or whether one is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key<'a> {
    Given(&'a str),
    Missing,
    /// There is no key, and none is needed.
    NotNeeded,
}

/// A request that is being answered.
pub(super) struct Ask<'a> {
    /// The number of the request, from 1. Ids are made from it.
    pub(super) number: usize,
    pub(super) model: String,
    pub(super) seen: &'a Seen,
}

/// A tool that a request offers.
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) schema: Value,
}

impl Dialect {
    pub(super) fn of(format: Format) -> &'static Self {
        match format {
            Format::Anthropic => &anthropic::DIALECT,
            Format::Responses => &responses::DIALECT,
            Format::Chat => &chat::DIALECT,
            Format::Google => &google::DIALECT,
            Format::Ollama => &ollama::DIALECT,
        }
    }
}

impl Offer {
    /// Creates an offer from a tool's name and schema, or returns `None` without a name.
    pub(super) fn new(name: &Value, schema: &Value) -> Option<Self> {
        Some(Self {
            name: name.as_str()?.to_owned(),
            schema: schema.clone(),
        })
    }

    /// Returns arguments with everything that the schema requires.
    pub(super) fn arguments(&self) -> Value {
        example(&self.schema)
    }
}

impl Seen {
    /// Returns the method and the path without its query.
    pub(super) fn route(&self) -> (&str, &str) {
        let path = self.path.split('?').next().unwrap_or_default();
        (&self.method, path)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Returns the text after `Bearer`.
    pub(super) fn bearer(&self) -> Option<&str> {
        let value = self.header("authorization")?;
        value
            .strip_prefix("Bearer ")
            .filter(|key| !key.trim().is_empty())
    }

    /// Returns the value of a query parameter, exactly as written.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=')?;
            (key == name).then_some(value)
        })
    }
}

/// Returns the items of an array, or nothing for any other value.
pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns a value that roughly fits a JSON schema.
fn example(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let kind = schema["type"].as_str().unwrap_or("object").to_lowercase();
    match kind.as_str() {
        "string" => json!("example"),
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        "array" => json!([]),
        _ => {
            let required = items(&schema["required"]).filter_map(Value::as_str);
            required
                .map(|name| (name.to_owned(), example(&schema["properties"][name])))
                .collect()
        }
    }
}

/// Returns the provider's sentence as an error unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($words:tt)+) => {
        if !$holds {
            return Err(format!($($words)+));
        }
    };
}
pub(super) use ensure;
