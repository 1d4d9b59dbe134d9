//! Reads a request in Anthropic's format.

use serde_json::Value;

use super::call::Tools;
use super::goal::Goal;

pub(super) struct Heard {
    pub(super) goal: Option<Goal>,
    pub(super) tools: Tools,
    pub(super) results: Vec<Told>,
}

/// The result of a call.
pub(super) struct Told {
    pub(super) text: String,
    pub(super) is_bad: bool,
}

impl Told {
    pub(super) fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

impl Heard {
    pub(super) fn of(body: &Value) -> Self {
        let messages = body["messages"].as_array().map(Vec::as_slice);
        let messages = messages.unwrap_or_default();
        let opening = messages.first().map(|first| text_of(&first["content"]));
        let results = messages
            .iter()
            .filter(|message| message["role"] == "user")
            .filter_map(|message| message["content"].as_array())
            .flatten()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| {
                let text = text_of(&block["content"]);
                // A program that failed is not an error on the wire, but its output says so
                // first.
                let is_bad = block["is_error"] == true || text.starts_with("exit code ");
                Told { text, is_bad }
            });
        Self {
            goal: opening.and_then(|opening| Goal::read(&opening)),
            tools: Tools::of(&body["tools"], &text_of(&body["system"])),
            results: results.collect(),
        }
    }
}

/// Joins the text of a content, which is a string or a list of blocks.
fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}
