//! Reads replies.

use artel_types::model::{ModelFault, ReplyChunk, ReplyStopReason, TokenUsage};
use serde_json::Value;

use crate::answer::{StreamedToolCalls, fault, text, tokens, tokens_or_zero};
use crate::count::believed;
use crate::decoder::{ReplyFrameReader, json};
use crate::wire::WireFormat;

#[derive(Debug, Default)]
pub(crate) struct OllamaReplyReader {
    has_started: bool,
    calls: StreamedToolCalls,
}

impl ReplyFrameReader for OllamaReplyReader {
    fn frame(
        &mut self,
        _name: &str,
        data: &str,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<(), ModelFault> {
        let line = json(data)?;
        if !line["error"].is_null() {
            return Err(fault(WireFormat::Ollama, &line["error"]));
        }
        if !self.has_started {
            self.has_started = true;
            let model = text(&line["model"]).map(str::to_owned);
            out.push(ReplyChunk::Start { id: None, model });
        }
        self.message(&line["message"], out)?;
        if line["done"] == true {
            self.close(&line, out);
        }
        Ok(())
    }

    /// Does nothing: a reply says itself that it is complete.
    fn finish(&mut self, _out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        Ok(())
    }
}

impl OllamaReplyReader {
    fn message(&mut self, message: &Value, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        if let Some(thought) = text(&message["thinking"]) {
            let text = thought.to_owned();
            out.push(ReplyChunk::Thinking { text });
        }
        if let Some(words) = text(&message["content"]) {
            let text = words.to_owned();
            out.push(ReplyChunk::Text { text });
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap_or_default();
            let name = call["function"]["name"].as_str().unwrap_or_default();
            let index = self.calls.begin(id, name, out)?;
            match &call["function"]["arguments"] {
                Value::Null => {}
                Value::String(written) => self.calls.add(index, written, out),
                other => self.calls.add(index, &other.to_string(), out),
            }
            self.calls.end(index, out);
        }
        Ok(())
    }

    fn close(&self, line: &Value, out: &mut Vec<ReplyChunk>) {
        let stop = match line["done_reason"].as_str() {
            Some("length") => ReplyStopReason::MaxTokens,
            None | Some("" | "stop") if self.calls.is_empty() => ReplyStopReason::End,
            None | Some("" | "stop") => ReplyStopReason::ToolUse,
            // `load` and `unload`: the model was only loaded into memory, or removed from
            // it.
            Some(other) => ReplyStopReason::Other(other.chars().take(64).collect()),
        };
        let usage = usage(line);
        out.push(ReplyChunk::End { stop, usage });
    }
}

/// Reads the usage. Ollama leaves out counts that are zero. An output of zero can be true.
/// An input of zero cannot: it means that the prompt was still in memory, so its length is
/// unknown.
fn usage(line: &Value) -> Option<TokenUsage> {
    believed(TokenUsage {
        input: tokens(&line["prompt_eval_count"])?,
        output: tokens_or_zero(&line["eval_count"])?,
        ..TokenUsage::default()
    })
}
