//! Parts that both OpenAI formats share: usage, images, efforts, and when a schema is
//! strict.

use artel_types::model::{MessageImage, ThinkingEffort, TokenUsage};
use serde_json::Value;

use crate::answer::{tokens, tokens_or_zero};
use crate::count::believed;

/// The names that the two formats give to the same token counts.
pub(crate) struct OpenAiUsageNames {
    pub(crate) input: &'static str,
    pub(crate) input_details: &'static str,
    pub(crate) output: &'static str,
    pub(crate) output_details: &'static str,
}

/// Reads a usage. Implausible numbers make all of it unknown.
pub(crate) fn usage(usage: &Value, names: &OpenAiUsageNames) -> Option<TokenUsage> {
    let input = &usage[names.input_details];
    let output = &usage[names.output_details];
    believed(TokenUsage {
        input: tokens(&usage[names.input])?,
        cache_read: tokens_or_zero(&input["cached_tokens"])?,
        cache_write: tokens_or_zero(&input["cache_write_tokens"])?,
        output: tokens(&usage[names.output])?,
        thinking: tokens_or_zero(&output["reasoning_tokens"])?,
    })
}

/// Returns an image as a `data:` URL.
pub(crate) fn data_url(image: &MessageImage) -> String {
    format!("data:{};base64,{}", image.media_type, image.data)
}

/// Returns the API's word for an effort.
pub(crate) fn effort(effort: ThinkingEffort) -> &'static str {
    match effort {
        ThinkingEffort::Off => "none",
        ThinkingEffort::Low => "low",
        ThinkingEffort::Medium => "medium",
        ThinkingEffort::High => "high",
    }
}

/// Returns whether `strict` accepts a schema: its objects are closed and require all their
/// properties, and every keyword is known to be supported. Asking for `strict` with any
/// other schema is an error; without `strict`, the model may deviate from the schema.
pub(crate) fn is_strict(schema: &Value) -> bool {
    schema["type"] == "object" && fits(schema)
}

fn fits(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else {
        return false;
    };
    let inner = |value: &Value| value.as_object().is_some_and(|map| map.values().all(fits));
    let list = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(fits));
    let is_known = fields.iter().all(|(key, value)| match key.as_str() {
        "type" | "description" | "title" | "enum" | "const" | "$ref" | "required" => true,
        "additionalProperties" => value == false,
        "properties" | "$defs" => inner(value),
        "items" => fits(value),
        "anyOf" => list(value),
        _ => false,
    });
    let kind = &schema["type"];
    let has_kind = |kinds: &Vec<Value>| kinds.iter().any(|kind| kind == "object");
    let is_object = kind == "object" || kind.as_array().is_some_and(has_kind);
    is_known && (!is_object || is_closed(schema))
}

fn is_closed(schema: &Value) -> bool {
    let required = schema["required"].as_array();
    let required = required.map_or(&[][..], Vec::as_slice);
    let properties = schema["properties"].as_object();
    let all = properties.is_some_and(|properties| {
        properties
            .keys()
            .all(|name| required.iter().any(|known| known == name.as_str()))
    });
    all && schema["additionalProperties"] == false
}
