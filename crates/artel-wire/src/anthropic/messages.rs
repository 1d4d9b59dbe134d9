//! Encodes the conversation.

use std::collections::{HashMap, HashSet};

use artel_types::model::{
    MessageImage, MessagePart, MessageRole, ModelMessage, ProviderSignature, ToolCall, ToolResult,
};
use serde_json::{Value, json};

use super::{REDACTED, SIGNATURE, WIRE};
use crate::request::{MergedMessage, arguments, turns};

/// Encodes the conversation. A turn without any content left is omitted, because the API
/// refuses it.
pub(super) fn messages(messages: &[ModelMessage]) -> Vec<Value> {
    let mut ids = AnthropicCallIds::default();
    let written = turns(messages).into_iter().filter_map(|turn| {
        let (role, content) = match turn.role {
            MessageRole::User => ("user", user(&turn, &ids)),
            MessageRole::Assistant => ("assistant", assistant(&turn, &mut ids)),
        };
        (!content.is_empty()).then(|| json!({ "role": role, "content": content }))
    });
    written.collect()
}

/// Encodes a turn of the person. Tool results come before everything else, or the API does
/// not find them.
fn user(turn: &MergedMessage<'_>, ids: &AnthropicCallIds) -> Vec<Value> {
    let results = turn.results().map(|result| tool_result(result, ids));
    let others = turn.parts.iter().filter_map(|part| match part {
        MessagePart::Text { text, .. } => said(text),
        MessagePart::Image(image) => Some(image_block(image)),
        MessagePart::Thinking { .. } | MessagePart::ToolCall(_) | MessagePart::ToolResult(_) => {
            None
        }
    });
    results.chain(others).collect()
}

fn assistant(turn: &MergedMessage<'_>, ids: &mut AnthropicCallIds) -> Vec<Value> {
    let blocks = turn.parts.iter().filter_map(|part| match part {
        MessagePart::Text { text, .. } => said(text),
        MessagePart::Thinking { text, seal } => thought(text, seal.as_ref()?),
        MessagePart::ToolCall(call) => Some(tool_use(call, ids)),
        MessagePart::Image(_) | MessagePart::ToolResult(_) => None,
    });
    blocks.collect()
}

/// Returns a text block, or `None` for blank text, which the API refuses.
fn said(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| text_block(text))
}

pub(super) fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image_block(image: &MessageImage) -> Value {
    let MessageImage { media_type, data } = image;
    let source = json!({ "type": "base64", "media_type": media_type, "data": data });
    json!({ "type": "image", "source": source })
}

/// Encodes a thought, or returns `None` if another provider sealed it: then it cannot be
/// sent back.
fn thought(text: &str, seal: &ProviderSignature) -> Option<Value> {
    if seal.wire != WIRE {
        return None;
    }
    if let Some(data) = seal.data.strip_prefix(REDACTED) {
        return Some(json!({ "type": "redacted_thinking", "data": data }));
    }
    let signature = seal.data.strip_prefix(SIGNATURE)?;
    Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
}

fn tool_use(call: &ToolCall, ids: &mut AnthropicCallIds) -> Value {
    json!({
        "type": "tool_use",
        "id": ids.of_call(&call.id),
        "name": call.name,
        "input": arguments(call),
    })
}

fn tool_result(result: &ToolResult, ids: &AnthropicCallIds) -> Value {
    let mut content: Vec<Value> = said(&result.text).into_iter().collect();
    content.extend(result.images.iter().map(image_block));
    // The API refuses an error result without content.
    if content.is_empty() && result.is_error {
        content.push(text_block("it failed and did not say why"));
    }
    let mut block = json!({ "type": "tool_result", "tool_use_id": ids.of_result(&result.id) });
    if !content.is_empty() {
        block["content"] = Value::Array(content);
    }
    if result.is_error {
        block["is_error"] = true.into();
    }
    block
}

/// Rewrites call ids to what the API accepts: letters, digits, `_` and `-`, unique in a
/// conversation. Ids that come from another provider, or from none, may be different.
#[derive(Debug, Default)]
struct AnthropicCallIds {
    used: HashSet<String>,
    newest: HashMap<String, String>,
}

impl AnthropicCallIds {
    fn of_call(&mut self, id: &str) -> String {
        let clean = Self::clean(id);
        let others = (self.used.len()..).map(|number| format!("{clean}-{number}"));
        let unique = std::iter::once(clean.clone())
            .chain(others)
            .find(|id| !self.used.contains(id))
            .unwrap_or_default();
        self.used.insert(unique.clone());
        self.newest.insert(id.to_owned(), unique.clone());
        unique
    }

    fn of_result(&self, id: &str) -> String {
        let known = self.newest.get(id).cloned();
        known.unwrap_or_else(|| Self::clean(id))
    }

    fn clean(id: &str) -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let clean: String = id.chars().map(|c| if fits(c) { c } else { '_' }).collect();
        if clean.is_empty() {
            return "call".to_owned();
        }
        clean
    }
}
