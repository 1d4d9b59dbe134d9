//! Reads replies.
//!
//! The finish reason comes before the end of a reply: the usage follows in a chunk of its
//! own, then `[DONE]`, which some servers leave out. So calls are ended and the end is
//! reported at `[DONE]`, or when the bytes end after a finish reason. Bytes that end
//! without one were cut off.

use artel_types::model::{ModelFault, ModelFaultKind, ReplyChunk, ReplyStopReason, TokenUsage};
use serde_json::Value;

use crate::answer::{StreamedToolCalls, fault, text};
use crate::decoder::{ReplyFrameReader, json};
use crate::frame::UNNAMED;
use crate::openai::{OpenAiUsageNames, usage};
use crate::wire::WireFormat;

const USAGE: OpenAiUsageNames = OpenAiUsageNames {
    input: "prompt_tokens",
    input_details: "prompt_tokens_details",
    output: "completion_tokens",
    output_details: "completion_tokens_details",
};

/// Name of an event that reports an error.
const ERROR: &str = "error";

#[derive(Debug, Default)]
pub(crate) struct ChatReplyReader {
    has_started: bool,
    has_refused: bool,
    calls: StreamedToolCalls,
    slots: Vec<ChatToolCallSlot>,
    reason: Option<String>,
    usage: Option<TokenUsage>,
}

/// A tool call, with the keys by which the server tells it apart from others.
#[derive(Debug)]
struct ChatToolCallSlot {
    place: Option<u64>,
    id: String,
    name: String,
    index: u32,
}

/// A piece of a tool call. Fields that the server leaves out are empty.
struct ChatToolCallPiece<'a> {
    place: Option<u64>,
    id: &'a str,
    name: &'a str,
}

impl ReplyFrameReader for ChatReplyReader {
    fn frame(
        &mut self,
        name: &str,
        data: &str,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<(), ModelFault> {
        if data.trim() == "[DONE]" {
            return self.close(out);
        }
        let chunk = match json(data) {
            // An event with a name of its own is not a chunk, and its data may be
            // anything.
            Err(_) if name != UNNAMED && name != ERROR => return Ok(()),
            read => read?,
        };
        if let Some(error) = error_in(name, &chunk) {
            return Err(fault(WireFormat::Chat, error));
        }
        self.start(&chunk, out);
        if chunk["usage"].is_object() {
            self.usage = usage(&chunk["usage"], &USAGE);
        }
        let choice = &chunk["choices"][0];
        self.delta(&choice["delta"], out)?;
        if let Some(reason) = text(&choice["finish_reason"]) {
            self.reason = Some(reason.to_owned());
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        match self.reason {
            Some(_) => self.close(out),
            None => Ok(()),
        }
    }
}

impl ChatReplyReader {
    /// Emits the start with the first chunk that names the reply or the model. Azure
    /// begins with a chunk that names neither.
    fn start(&mut self, chunk: &Value, out: &mut Vec<ReplyChunk>) {
        let id = text(&chunk["id"]).map(str::to_owned);
        let model = text(&chunk["model"]).map(str::to_owned);
        if !self.has_started && (id.is_some() || model.is_some()) {
            self.has_started = true;
            out.push(ReplyChunk::Start { id, model });
        }
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        // Servers that are changing the field's name send the same thought under both
        // names.
        let thought = text(&delta["reasoning_content"]).or_else(|| text(&delta["reasoning"]));
        if let Some(thought) = thought {
            let text = thought.to_owned();
            out.push(ReplyChunk::Thinking { text });
        }
        if let Some(words) = text(&delta["content"]) {
            let text = words.to_owned();
            out.push(ReplyChunk::Text { text });
        }
        if let Some(words) = text(&delta["refusal"]) {
            self.has_refused = true;
            let text = words.to_owned();
            out.push(ReplyChunk::Text { text });
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let piece = ChatToolCallPiece {
                place: call["index"].as_u64(),
                id: call["id"].as_str().unwrap_or_default(),
                name: call["function"]["name"].as_str().unwrap_or_default(),
            };
            self.call(&piece, &call["function"]["arguments"], out)?;
        }
        // The older form of a tool call, from when a reply could have only one.
        let call = &delta["function_call"];
        if call.is_object() {
            let piece = ChatToolCallPiece {
                place: Some(0),
                id: "",
                name: call["name"].as_str().unwrap_or_default(),
            };
            self.call(&piece, &call["arguments"], out)?;
        }
        Ok(())
    }

    fn call(
        &mut self,
        piece: &ChatToolCallPiece<'_>,
        arguments: &Value,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<(), ModelFault> {
        let index = match self.slot(piece) {
            Some(slot) => slot.index,
            None => {
                let index = self.calls.begin(piece.id, piece.name, out)?;
                self.slots.push(ChatToolCallSlot {
                    place: piece.place,
                    id: piece.id.to_owned(),
                    name: piece.name.to_owned(),
                    index,
                });
                index
            }
        };
        match arguments {
            Value::String(more) => self.calls.add(index, more, out),
            Value::Object(_) => self.calls.add(index, &arguments.to_string(), out),
            _ => {}
        }
        Ok(())
    }

    /// Finds the call that a piece belongs to, or `None` if the piece begins a new one.
    fn slot(&self, piece: &ChatToolCallPiece<'_>) -> Option<&ChatToolCallSlot> {
        let mut newest_first = self.slots.iter().rev();
        if piece.place.is_some() {
            let slot = newest_first.find(|slot| slot.place == piece.place)?;
            return (!begins_another(slot, piece)).then_some(slot);
        }
        let same = |slot: &&ChatToolCallSlot| !piece.id.is_empty() && slot.id == piece.id;
        match newest_first.find(same) {
            Some(slot) => Some(slot),
            None if piece.name.is_empty() => self.slots.last(),
            None => None,
        }
    }

    fn close(&mut self, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        let stop = match self.reason.as_deref() {
            Some("error") => {
                return Err(ModelFault::new(
                    ModelFaultKind::Server,
                    "the server ended the answer with an error and gave no reason",
                ));
            }
            _ if self.has_refused => ReplyStopReason::Refusal,
            Some("length" | "max_tokens") => ReplyStopReason::MaxTokens,
            Some("content_filter") => ReplyStopReason::Refusal,
            None | Some("stop" | "eos" | "tool_calls" | "tool_use" | "function_call") => {
                if self.calls.is_empty() {
                    ReplyStopReason::End
                } else {
                    ReplyStopReason::ToolUse
                }
            }
            Some(other) => ReplyStopReason::Other(other.chars().take(64).collect()),
        };
        match stop {
            ReplyStopReason::End | ReplyStopReason::ToolUse => self.calls.end_all(out),
            _ => self.calls.break_off(out),
        }
        let usage = self.usage;
        out.push(ReplyChunk::End { stop, usage });
        Ok(())
    }
}

/// Returns whether a piece with the place of a known call is another call all the same.
/// Servers that send calls whole have been seen to give all of them the place 0. Neither
/// the name nor the id alone proves anything: some servers repeat the name and make a new
/// id with every piece.
fn begins_another(slot: &ChatToolCallSlot, piece: &ChatToolCallPiece<'_>) -> bool {
    if piece.name.is_empty() {
        return false;
    }
    if piece.id.is_empty() || slot.id.is_empty() {
        piece.name != slot.name
    } else {
        piece.id != slot.id
    }
}

fn error_in<'a>(name: &str, chunk: &'a Value) -> Option<&'a Value> {
    let error = &chunk["error"];
    if error.is_object() || error.is_string() {
        return Some(error);
    }
    (name == ERROR || chunk["object"] == "error").then_some(chunk)
}
