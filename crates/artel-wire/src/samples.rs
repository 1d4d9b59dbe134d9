//! A request with everything in it, for the tests of all formats.

use artel_types::model::{
    MessageImage, MessagePart, MessageRole, ModelMessage, ModelRequest, PromptCacheLifetime,
    ProviderSignature, ReplyFormat, ThinkingEffort, ToolCall, ToolChoice, ToolResult, ToolSpec,
};
use serde_json::json;

pub(crate) fn seal(wire: &str, data: &str) -> Option<ProviderSignature> {
    Some(ProviderSignature {
        wire: wire.into(),
        data: data.into(),
    })
}

pub(crate) fn thought(text: &str, seal: Option<ProviderSignature>) -> MessagePart {
    MessagePart::Thinking {
        text: text.into(),
        seal,
    }
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> MessagePart {
    MessagePart::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        seal: None,
    })
}

pub(crate) fn result(id: &str, name: &str, text: &str) -> ToolResult {
    ToolResult {
        id: id.into(),
        name: name.into(),
        text: text.into(),
        images: Vec::new(),
        is_error: false,
    }
}

fn image() -> MessageImage {
    MessageImage {
        media_type: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
    }
}

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("does {name}"),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    }
}

/// Returns a request with everything in it: images, two calls, one of them malformed,
/// their results out of order, a format, a limit. The model's turn begins with `thoughts`.
pub(crate) fn rich(thoughts: &[MessagePart]) -> ModelRequest {
    let first = ModelMessage {
        role: MessageRole::User,
        parts: vec![
            MessagePart::text("look at this"),
            MessagePart::Image(image()),
        ],
    };
    let said = [
        MessagePart::text(" \n"),
        MessagePart::text("I will look."),
        call("toolu_1", "read", r#"{"path":"a"}"#),
        call("toolu_2", "search", "{\"query\": "),
    ];
    let answer = ModelMessage::assistant([thoughts, &said].concat());
    let results = ModelMessage {
        role: MessageRole::User,
        parts: vec![
            MessagePart::text("go on"),
            MessagePart::ToolResult(ToolResult {
                images: vec![image()],
                ..result("toolu_1", "read", "a file")
            }),
            MessagePart::ToolResult(ToolResult {
                is_error: true,
                ..result("toolu_2", "search", "")
            }),
        ],
    };
    ModelRequest {
        system: "Be kind.".into(),
        messages: vec![first, answer, results],
        tools: vec![tool("read").into(), tool("search").into()],
        tool_choice: ToolChoice::Auto,
        format: Some(ReplyFormat {
            name: "finding".into(),
            schema: json!({
                "type": "object",
                "properties": { "n": { "type": "integer", "minimum": 1 } },
                "required": ["n"],
            }),
        }),
        max_output: Some(2_000),
        temperature: Some(0.5),
        stop: vec!["STOP".into()],
        thinking: Some(ThinkingEffort::High),
        cache: PromptCacheLifetime::Long,
    }
}
