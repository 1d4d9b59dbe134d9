//! Writes the conversation of a run to a file that hooks can read: JSON lines, one per
//! message, in the form that hooks written for other agents expect. It contains no
//! secrets.

use std::fs;
use std::io;
use std::path::Path;

use artel_types::SecretRedactor;
use artel_types::model::{MessagePart, MessageRole, ModelMessage};
use serde_json::{Value, json};

/// Replaces the file. It is a copy of recorded data, so nothing waits for the disk.
pub(super) fn write(
    path: &Path,
    session: &str,
    messages: &[ModelMessage],
    redactor: &SecretRedactor,
) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        artel_files::make_dirs(folder, 0o700).map_err(io::Error::other)?;
    }
    let fresh = path.with_extension("new");
    fs::write(&fresh, lines(session, messages, redactor))?;
    fs::rename(&fresh, path)
}

fn lines(session: &str, messages: &[ModelMessage], redactor: &SecretRedactor) -> String {
    let mut text = String::new();
    for message in messages {
        let role = match message.role {
            MessageRole::User => "user",
            MessageRole::Assistant => "assistant",
        };
        let content: Vec<Value> = message.parts.iter().map(part).collect();
        let line = json!({
            "type": role,
            "sessionId": session,
            "message": {"role": role, "content": content},
        });
        text.push_str(&redactor.redact_json(&line.to_string()));
        text.push('\n');
    }
    text
}

fn part(part: &MessagePart) -> Value {
    match part {
        MessagePart::Text { text, .. } => json!({"type": "text", "text": text}),
        MessagePart::Thinking { text, .. } => json!({"type": "thinking", "thinking": text}),
        MessagePart::Image(image) => json!({"type": "image", "media_type": image.media_type}),
        MessagePart::ToolCall(call) => {
            let input = serde_json::from_str(&call.arguments);
            let input = input.unwrap_or_else(|_| Value::from(call.arguments.clone()));
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
        }
        MessagePart::ToolResult(result) => json!({
            "type": "tool_result",
            "tool_use_id": result.id,
            "content": &*result.text,
            "is_error": result.is_error,
        }),
    }
}

#[cfg(test)]
mod tests {
    use artel_types::model::{ToolCall, ToolResult};
    use artel_types::{Secret, SecretRedactor};

    use super::*;

    #[test]
    fn every_part_has_its_usual_form_and_no_secret() {
        let call = ToolCall {
            id: "c1".to_owned(),
            name: "read".to_owned(),
            arguments: r#"{"path":"a"}"#.to_owned(),
            seal: None,
        };
        let result = ToolResult {
            id: "c1".to_owned(),
            name: "read".to_owned(),
            text: "the key is hunter2hunter2".into(),
            images: Vec::new(),
            is_error: false,
        };
        let said = ModelMessage {
            role: MessageRole::Assistant,
            parts: vec![MessagePart::text("I look."), MessagePart::ToolCall(call)],
        };
        let messages = [
            ModelMessage::user("go"),
            said,
            ModelMessage::results(vec![result]),
        ];
        let secret = Secret::new("hunter2hunter2");
        let redactor = SecretRedactor::of_known_values([&secret]);
        let text = lines("s1", &messages, &redactor);
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0]["message"]["content"][0]["text"], "go");
        let use_of = &lines[1]["message"]["content"][1];
        assert_eq!(use_of["type"], "tool_use");
        assert_eq!(use_of["input"]["path"], "a");
        assert_eq!(lines[2]["type"], "user");
        assert!(!text.contains("hunter2"), "{text}");
    }
}
