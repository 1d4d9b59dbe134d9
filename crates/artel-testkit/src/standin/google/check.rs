//! The checks that Google makes before it generates content.

use serde_json::Value;

use crate::standin::Seen;
use crate::standin::dialect::{ensure, items};

type Checked = Result<(), String>;

/// Fields of the request, in both spellings that Google accepts.
const KNOWN: [&str; 13] = [
    "cachedContent",
    "cached_content",
    "contents",
    "generationConfig",
    "generation_config",
    "model",
    "safetySettings",
    "safety_settings",
    "systemInstruction",
    "system_instruction",
    "toolConfig",
    "tool_config",
    "tools",
];

/// The kinds of data that a part may hold, one each.
const DATA: [&str; 7] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
];

/// The schema keywords that Google knows; it does not know the rest of JSON Schema.
const SCHEMA: [&str; 22] = [
    "anyOf",
    "default",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
];

pub(super) fn check(seen: &Seen) -> Checked {
    let body = &seen.body;
    for name in body.as_object().into_iter().flat_map(|body| body.keys()) {
        ensure!(KNOWN.contains(&name.as_str()), "{}", unknown(name, ""));
    }
    for (place, tool) in items(&body["tools"]).enumerate() {
        for (index, function) in items(&tool["functionDeclarations"]).enumerate() {
            let at = format!("tools[{place}].function_declarations[{index}]");
            ensure!(
                function["name"].as_str().is_some_and(is_fit_name),
                "* GenerateContentRequest.{at}.name: Invalid function name."
            );
            check_schema(&function["parameters"], &format!("{at}.parameters"))?;
        }
    }
    check_contents(body)
}

fn is_fit_name(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || "_.:-".contains(letter);
    begins && name.len() <= 64 && name.chars().all(is_fit)
}

fn check_schema(schema: &Value, at: &str) -> Checked {
    let Some(fields) = schema.as_object() else {
        return Ok(());
    };
    for name in fields.keys() {
        ensure!(SCHEMA.contains(&name.as_str()), "{}", unknown(name, at));
    }
    ensure!(
        fields.get("type").is_none_or(Value::is_string),
        "Invalid JSON payload received. Unknown name \"type\" at '{at}': Proto field is not \
         repeating, cannot start list."
    );
    ensure!(
        items(&schema["enum"]).all(Value::is_string),
        "Invalid value at '{at}.enum' (TYPE_STRING)"
    );
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (place, (_, property)) in properties.enumerate() {
        check_schema(property, &format!("{at}.properties[{place}].value"))?;
    }
    for (place, variant) in items(&schema["anyOf"]).enumerate() {
        check_schema(variant, &format!("{at}.any_of[{place}]"))?;
    }
    check_schema(&schema["items"], &format!("{at}.items"))
}

fn check_contents(body: &Value) -> Checked {
    let contents: Vec<&Value> = items(&body["contents"]).collect();
    ensure!(
        !contents.is_empty(),
        "* GenerateContentRequest.contents: contents is not specified"
    );
    let mut calls = 0;
    for (place, content) in contents.iter().enumerate() {
        let role = content.get("role").and_then(Value::as_str);
        ensure!(
            matches!(role, Some("user" | "model")) || (role.is_none() && contents.len() == 1),
            "Please use a valid role: user, model."
        );
        ensure!(
            items(&content["parts"]).next().is_some(),
            "* GenerateContentRequest.contents[{place}].parts: contents.parts must not be empty."
        );
        for (index, part) in items(&content["parts"]).enumerate() {
            let data = DATA.iter().filter(|name| part.get(name).is_some()).count();
            ensure!(
                data == 1,
                "* GenerateContentRequest.contents[{place}].parts[{index}].data: required oneof \
                 field 'data' must have one initialized field"
            );
        }
        let count = |name: &str| {
            let parts = items(&content["parts"]);
            parts.filter(|part| part.get(name).is_some()).count()
        };
        ensure!(
            count("functionResponse") == calls,
            "Please ensure that the number of function response parts is equal to the number of \
             function call parts of the function call turn."
        );
        calls = count("functionCall");
        ensure!(
            calls == 0 || (role == Some("model") && place > 0),
            "Please ensure that function call turn comes immediately after a user turn or after a \
             function response turn."
        );
    }
    Ok(())
}

fn unknown(name: &str, at: &str) -> String {
    let place = match at {
        "" => String::new(),
        at => format!(" at '{at}'"),
    };
    format!("Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field.")
}
