//! The part of JSON Schema that Anthropic enforces on a structured reply.
//!
//! Objects must be closed, and limits on numbers, lengths and counts are refused. The
//! limits are left out here, because the caller checks the reply against the whole schema
//! anyway.

use serde_json::{Map, Value};

/// Deepest nesting that is rewritten; anything deeper is passed on unchanged.
const DEEPEST: usize = 64;

/// Keywords that the API refuses.
const REFUSED: [&str; 14] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "contains",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "propertyNames",
];

/// Returns the schema with closed objects and without the keywords that the API refuses.
pub(super) fn strict(schema: &Value) -> Value {
    node(schema, DEEPEST)
}

fn node(schema: &Value, depth: usize) -> Value {
    let (Some(fields), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else {
        return schema.clone();
    };
    let mut kept = Map::new();
    for (name, value) in fields {
        if REFUSED.contains(&name.as_str()) || is_high_count(name, value) {
            continue;
        }
        let (name, value) = match name.as_str() {
            "properties" | "$defs" | "definitions" => (name.as_str(), each(value, depth)),
            "items" | "additionalProperties" => (name.as_str(), node(value, depth)),
            "anyOf" | "allOf" => (name.as_str(), all(value, depth)),
            "oneOf" => ("anyOf", all(value, depth)),
            other => (other, value.clone()),
        };
        kept.insert(name.to_owned(), value);
    }
    if is_object(fields) {
        kept.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(kept)
}

/// Returns whether this is a `minItems` that the API refuses: it accepts only 0 and 1.
fn is_high_count(name: &str, value: &Value) -> bool {
    name == "minItems" && value.as_u64().is_none_or(|count| count > 1)
}

fn is_object(fields: &Map<String, Value>) -> bool {
    match &fields.get("type") {
        Some(Value::String(word)) => word == "object",
        Some(Value::Array(words)) => words.iter().any(|word| word == "object"),
        _ => fields.contains_key("properties"),
    }
}

fn each(value: &Value, depth: usize) -> Value {
    let Some(fields) = value.as_object() else {
        return value.clone();
    };
    let written = fields
        .iter()
        .map(|(name, value)| (name.clone(), node(value, depth)));
    Value::Object(written.collect())
}

fn all(value: &Value, depth: usize) -> Value {
    match value.as_array() {
        Some(items) => items.iter().map(|item| node(item, depth)).collect(),
        None => value.clone(),
    }
}
