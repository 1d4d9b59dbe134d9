//! The checks that OpenAI makes before it creates a response.

use serde_json::Value;

use crate::standin::Seen;
use crate::standin::dialect::{ensure, items};
use crate::standin::openai::{check_strict, is_fit_name};

type Checked = Result<(), String>;

pub(super) fn check(seen: &Seen) -> Checked {
    let body = &seen.body;
    ensure!(
        body["model"].is_string(),
        "Missing required parameter: 'model'."
    );
    for name in [
        "messages",
        "max_tokens",
        "max_completion_tokens",
        "response_format",
    ] {
        ensure!(
            body.get(name).is_none(),
            "Unsupported parameter: '{name}'. It belongs to another interface."
        );
    }
    for (place, tool) in items(&body["tools"]).enumerate() {
        if tool["type"] != "function" {
            continue;
        }
        ensure!(
            tool["name"].as_str().is_some_and(is_fit_name),
            "Missing required parameter: 'tools[{place}].name'."
        );
        if tool["strict"] == true {
            check_strict(&tool["name"], &tool["parameters"])?;
        }
    }
    let format = &body["text"]["format"];
    if format["type"] == "json_schema" {
        ensure!(
            format["name"].is_string(),
            "Missing required parameter: 'text.format.name'."
        );
        if format["strict"] == true {
            check_strict(&format["name"], &format["schema"])?;
        }
    }
    match &body["input"] {
        Value::String(_) => Ok(()),
        Value::Array(_) => check_items(body),
        _ => Err("Missing required parameter: 'input'.".to_owned()),
    }
}

fn check_items(body: &Value) -> Checked {
    ensure!(
        items(&body["input"]).next().is_some(),
        "Invalid 'input': empty array."
    );
    // All calls so far, and those that still lack their output.
    let mut calls: Vec<&str> = Vec::new();
    let mut left: Vec<&str> = Vec::new();
    for (place, item) in items(&body["input"]).enumerate() {
        let call = item["call_id"].as_str();
        match item["type"].as_str().unwrap_or("message") {
            "message" => check_message(place, item)?,
            "function_call" => {
                let is_whole = item["name"].is_string() && item["arguments"].is_string();
                let Some(call) = call.filter(|_| is_whole) else {
                    return Err(format!(
                        "Missing required parameter: a call_id, a name or arguments of 'input[{place}]'."
                    ));
                };
                calls.push(call);
                left.push(call);
            }
            "function_call_output" => {
                let call = call.unwrap_or_default();
                ensure!(
                    calls.contains(&call),
                    "No tool call found for function call output with call_id {call}."
                );
                let output = &item["output"];
                ensure!(
                    output.is_string() || output.is_array(),
                    "Missing required parameter: 'input[{place}].output'."
                );
                left.retain(|open| *open != call);
            }
            "reasoning" => ensure!(
                body["store"] != false || item["encrypted_content"].is_string(),
                "Item with id '{}' not found. Items are not persisted when `store` is set to false.",
                item["id"].as_str().unwrap_or_default()
            ),
            _ => {}
        }
    }
    ensure!(
        left.is_empty(),
        "No tool output found for function call {}.",
        left.join(", ")
    );
    Ok(())
}

/// Messages from the person and from the model have parts of different types.
fn check_message(place: usize, item: &Value) -> Checked {
    let role = item["role"].as_str().unwrap_or_default();
    let fit: &[&str] = match role {
        "user" | "system" | "developer" => &["input_text", "input_image", "input_file"],
        "assistant" => &["output_text", "refusal"],
        other => {
            return Err(format!(
                "Invalid value: '{other}' for 'input[{place}].role'."
            ));
        }
    };
    if item["content"].is_string() {
        return Ok(());
    }
    ensure!(
        items(&item["content"]).next().is_some(),
        "Missing required parameter: 'input[{place}].content'."
    );
    for (index, part) in items(&item["content"]).enumerate() {
        let kind = part["type"].as_str().unwrap_or_default();
        ensure!(
            fit.contains(&kind),
            "Invalid value: '{kind}' for 'input[{place}].content[{index}].type'. Supported values \
             are: {}.",
            fit.join(", ")
        );
    }
    Ok(())
}
