//! The checks that OpenAI makes before it completes a chat.

use serde_json::Value;

use crate::standin::Seen;
use crate::standin::dialect::{ensure, items};
use crate::standin::openai::{check_strict, is_fit_name};

type Checked = Result<(), String>;

pub(super) fn check(seen: &Seen) -> Checked {
    let body = &seen.body;
    ensure!(
        body["model"].is_string(),
        "you must provide a model parameter"
    );
    ensure!(
        body.get("stream_options").is_none() || body["stream"] == true,
        "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    );
    ensure!(
        body.get("max_tokens").is_none() || body.get("max_completion_tokens").is_none(),
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
    );
    for (place, tool) in items(&body["tools"]).enumerate() {
        ensure!(
            tool["type"] == "function",
            "Missing required parameter: 'tools[{place}].type'."
        );
        ensure!(
            tool["function"]["name"].as_str().is_some_and(is_fit_name),
            "Invalid 'tools[{place}].function.name': string does not match pattern. Expected a \
             string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        );
        if tool["function"]["strict"] == true {
            check_strict(&tool["function"]["name"], &tool["function"]["parameters"])?;
        }
    }
    ensure!(
        body.get("tool_choice").is_none() || items(&body["tools"]).next().is_some(),
        "'tool_choice' is only allowed when 'tools' are specified."
    );
    let schema = &body["response_format"]["json_schema"];
    if schema["strict"] == true {
        check_strict(&schema["name"], &schema["schema"])?;
    }
    check_messages(body)
}

fn check_messages(body: &Value) -> Checked {
    let messages: Vec<&Value> = items(&body["messages"]).collect();
    ensure!(
        !messages.is_empty(),
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an \
         empty array instead."
    );
    // Calls that are not answered yet.
    let mut left: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let before = left.len();
            left.retain(|call| *call != id);
            ensure!(
                left.len() < before,
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
                 message with 'tool_calls'."
            );
            continue;
        }
        ensure!(left.is_empty(), "{}", unanswered(&left));
        match role {
            "system" | "developer" | "user" => ensure!(
                has_content(message),
                "Invalid value for 'messages[{place}].content': expected a string or an array."
            ),
            "assistant" => {
                left = calls_of(place, message)?;
                ensure!(
                    has_content(message) || !left.is_empty() || message["refusal"].is_string(),
                    "Invalid value for 'content': expected a string, got null."
                );
            }
            other => {
                return Err(format!(
                    "Invalid value: '{other}'. Supported values are: 'system', 'assistant', 'user', 'tool' and 'developer'."
                ));
            }
        }
    }
    ensure!(left.is_empty(), "{}", unanswered(&left));
    Ok(())
}

fn calls_of(place: usize, message: &Value) -> Result<Vec<&str>, String> {
    let mut ids = Vec::new();
    for (index, call) in items(&message["tool_calls"]).enumerate() {
        let at = format!("messages[{place}].tool_calls[{index}]");
        let Some(id) = call["id"].as_str() else {
            return Err(format!("Missing required parameter: '{at}.id'."));
        };
        ensure!(
            call["type"] == "function",
            "Missing required parameter: '{at}.type'."
        );
        ensure!(
            call["function"]["name"].is_string(),
            "Missing required parameter: '{at}.function.name'."
        );
        ensure!(
            call["function"]["arguments"].is_string(),
            "Invalid type for '{at}.function.arguments': expected a string."
        );
        ids.push(id);
    }
    Ok(ids)
}

fn unanswered(left: &[&str]) -> String {
    format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to \
         each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        left.join(", ")
    )
}

fn has_content(message: &Value) -> bool {
    message["content"].is_string() || items(&message["content"]).next().is_some()
}
