//! The questions of a trial, and the check of its answers.

use std::sync::Arc;

use artel_types::model::{ModelMessage, ModelRequest, ToolCall, ToolChoice, ToolSpec};

/// The tool that the model is offered.
const TOOL: &str = "echo";

/// Asks for text and a call at once.
pub(super) fn both() -> ModelRequest {
    let words = "Say hello in one short sentence. Then call the tool `echo` with that sentence.";
    with_tool(words, ToolChoice::Auto)
}

/// Asks for a call, and leaves the model no choice.
pub(super) fn only_call() -> ModelRequest {
    with_tool(
        "Call the tool `echo` with the text `hello`.",
        ToolChoice::Any,
    )
}

/// Asks for text.
pub(super) fn only_words() -> ModelRequest {
    request("Say hello in one short sentence.")
}

/// Returns the fault of a call, or `None` if the call is right.
pub(super) fn complaint(call: &ToolCall) -> Option<String> {
    if call.name != TOOL {
        return Some(format!(
            "the model called `{}`, which was not offered",
            call.name
        ));
    }
    let bad = call.input().err()?;
    let why = bad.why;
    Some(format!(
        "the arguments of `{TOOL}` are not a JSON object: {why}"
    ))
}

fn request(words: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![ModelMessage::user(words)],
        max_output: Some(1_024),
        ..ModelRequest::default()
    }
}

fn with_tool(words: &str, tool_choice: ToolChoice) -> ModelRequest {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "What to repeat." } },
        "required": ["text"],
    });
    ModelRequest {
        tools: vec![Arc::new(ToolSpec {
            name: TOOL.to_owned(),
            description: "Repeats a text.".to_owned(),
            schema,
        })],
        tool_choice,
        ..request(words)
    }
}
