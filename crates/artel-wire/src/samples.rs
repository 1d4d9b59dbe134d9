//! A request with everything in it, for the tests of all formats.

use artel_types::model::{
    Cache, Effort, Format, Image, Message, Part, Request, Role, Seal, ToolCall, ToolChoice,
    ToolResult, ToolSpec,
};
use serde_json::json;

pub(crate) fn seal(wire: &str, data: &str) -> Option<Seal> {
    Some(Seal {
        wire: wire.into(),
        data: data.into(),
    })
}

pub(crate) fn thought(text: &str, seal: Option<Seal>) -> Part {
    Part::Thinking {
        text: text.into(),
        seal,
    }
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall {
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

fn image() -> Image {
    Image {
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
pub(crate) fn rich(thoughts: &[Part]) -> Request {
    let first = Message {
        role: Role::User,
        parts: vec![Part::text("look at this"), Part::Image(image())],
    };
    let said = [
        Part::text(" \n"),
        Part::text("I will look."),
        call("toolu_1", "read", r#"{"path":"a"}"#),
        call("toolu_2", "search", "{\"query\": "),
    ];
    let answer = Message::assistant([thoughts, &said].concat());
    let results = Message {
        role: Role::User,
        parts: vec![
            Part::text("go on"),
            Part::ToolResult(ToolResult {
                images: vec![image()],
                ..result("toolu_1", "read", "a file")
            }),
            Part::ToolResult(ToolResult {
                is_error: true,
                ..result("toolu_2", "search", "")
            }),
        ],
    };
    Request {
        system: "Be kind.".into(),
        messages: vec![first, answer, results],
        tools: vec![tool("read").into(), tool("search").into()],
        tool_choice: ToolChoice::Auto,
        format: Some(Format {
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
        thinking: Some(Effort::High),
        cache: Cache::Long,
    }
}
