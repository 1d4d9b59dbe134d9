//! Reads the events of a reply.

use std::collections::BTreeMap;

use artel_types::model::{
    ModelFault, ModelFaultKind, ProviderSignature, ReplyChunk, ReplyStopReason, TokenUsage,
};
use serde_json::Value;

use super::{REDACTED, SIGNATURE, WIRE};
use crate::answer::{StreamedToolCalls, text};
use crate::count::{self, StreamedTokenCounter};
use crate::decoder::{ReplyFrameReader, json};
use crate::frame::UNNAMED;
use crate::refusal;
use crate::wire::WireFormat;

/// The events that are read. The API may send others at any time, and they need not even
/// be JSON.
const EVENTS: [&str; 7] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
];

#[derive(Debug, Default)]
pub(crate) struct AnthropicReplyReader {
    blocks: BTreeMap<u64, AnthropicOpenBlock>,
    calls: StreamedToolCalls,
    /// A call that ended without arguments. Either the model wanted none, or it was
    /// stopped before it could write any; the next event tells which.
    bare: Option<u32>,
    counts: AnthropicTokenCounts,
    stop: Option<ReplyStopReason>,
}

/// A block that has begun and not ended. Several may be open at once.
#[derive(Debug)]
enum AnthropicOpenBlock {
    Text,
    Thinking {
        signature: String,
    },
    Call {
        index: u32,
        /// Arguments that came with the start of the call, from servers that do not stream
        /// them.
        whole: Option<String>,
        has_pieces: bool,
    },
    /// A block type that this build does not know.
    Other,
}

/// Token counts as the provider reports them. The input excludes tokens that were read
/// from the cache or written to it.
#[derive(Debug, Default)]
struct AnthropicTokenCounts {
    input: StreamedTokenCounter,
    cache_read: StreamedTokenCounter,
    cache_write: StreamedTokenCounter,
    output: StreamedTokenCounter,
    thinking: StreamedTokenCounter,
}

impl ReplyFrameReader for AnthropicReplyReader {
    fn frame(
        &mut self,
        name: &str,
        data: &str,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<(), ModelFault> {
        if name != UNNAMED && !EVENTS.contains(&name) {
            return Ok(());
        }
        let event = json(data)?;
        match event["type"].as_str().unwrap_or(name) {
            "message_start" => self.start(&event["message"], out),
            "content_block_start" => self.open(&event, out)?,
            "content_block_delta" => self.add(&event, out),
            "content_block_stop" => self.close(index(&event), out),
            "message_delta" => self.note(&event),
            "message_stop" => self.end(out)?,
            "error" => return Err(fault(&event)),
            _ => {}
        }
        Ok(())
    }

    /// Does nothing: only `message_stop` ends a reply.
    fn finish(&mut self, _out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        Ok(())
    }
}

impl AnthropicReplyReader {
    fn start(&mut self, message: &Value, out: &mut Vec<ReplyChunk>) {
        self.counts.note(&message["usage"]);
        out.push(ReplyChunk::Start {
            id: message["id"].as_str().map(str::to_owned),
            model: message["model"].as_str().map(str::to_owned),
        });
    }

    fn open(&mut self, event: &Value, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        self.settle("{}", out);
        let block = &event["content_block"];
        let opened = match block["type"].as_str().unwrap_or_default() {
            "text" => {
                say(&block["text"], out);
                AnthropicOpenBlock::Text
            }
            "thinking" => {
                think(&block["thinking"], out);
                let signature = block["signature"].as_str().unwrap_or_default();
                AnthropicOpenBlock::Thinking {
                    signature: signature.to_owned(),
                }
            }
            "redacted_thinking" => {
                let data = block["data"].as_str().unwrap_or_default();
                close_thought(REDACTED, data, out);
                AnthropicOpenBlock::Other
            }
            "tool_use" => self.begin(block, out)?,
            _ => AnthropicOpenBlock::Other,
        };
        match self.blocks.insert(index(event), opened) {
            Some(AnthropicOpenBlock::Call { .. }) => Err(open_call()),
            _ => Ok(()),
        }
    }

    fn begin(
        &mut self,
        block: &Value,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<AnthropicOpenBlock, ModelFault> {
        let id = block["id"].as_str().unwrap_or_default();
        let name = block["name"].as_str().unwrap_or_default();
        let input = block["input"].as_object();
        Ok(AnthropicOpenBlock::Call {
            index: self.calls.begin(id, name, out)?,
            whole: input
                .filter(|input| !input.is_empty())
                .map(|_| block["input"].to_string()),
            has_pieces: false,
        })
    }

    fn add(&mut self, event: &Value, out: &mut Vec<ReplyChunk>) {
        let delta = &event["delta"];
        let Some(block) = self.blocks.get_mut(&index(event)) else {
            return;
        };
        match (block, delta["type"].as_str().unwrap_or_default()) {
            (AnthropicOpenBlock::Text, "text_delta") => say(&delta["text"], out),
            (AnthropicOpenBlock::Thinking { .. }, "thinking_delta") => {
                think(&delta["thinking"], out)
            }
            (AnthropicOpenBlock::Thinking { signature }, "signature_delta") => {
                signature.push_str(delta["signature"].as_str().unwrap_or_default());
            }
            (
                AnthropicOpenBlock::Call {
                    index, has_pieces, ..
                },
                "input_json_delta",
            ) => {
                if let Some(piece) = text(&delta["partial_json"]) {
                    *has_pieces = true;
                    self.calls.add(*index, piece, out);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, at: u64, out: &mut Vec<ReplyChunk>) {
        match self.blocks.remove(&at) {
            Some(AnthropicOpenBlock::Thinking { signature }) => {
                close_thought(SIGNATURE, &signature, out)
            }
            Some(AnthropicOpenBlock::Call {
                index,
                whole,
                has_pieces,
            }) => {
                self.settle("{}", out);
                self.bare = Some(index);
                match whole {
                    _ if has_pieces => self.settle("", out),
                    Some(whole) => self.settle(&whole, out),
                    None => {}
                }
            }
            _ => {}
        }
    }

    /// Ends the pending call with these arguments.
    fn settle(&mut self, arguments: &str, out: &mut Vec<ReplyChunk>) {
        if let Some(index) = self.bare.take() {
            self.calls.add(index, arguments, out);
            self.calls.end(index, out);
        }
    }

    fn note(&mut self, event: &Value) {
        self.counts.note(&event["usage"]);
        if let Some(word) = event["delta"]["stop_reason"].as_str() {
            self.stop = Some(stop(word));
        }
    }

    fn end(&mut self, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        let is_open = |block: &AnthropicOpenBlock| matches!(block, AnthropicOpenBlock::Call { .. });
        if self.blocks.values().any(is_open) {
            return Err(open_call());
        }
        let unsaid = if self.calls.is_empty() {
            ReplyStopReason::End
        } else {
            ReplyStopReason::ToolUse
        };
        let stop = self.stop.take().unwrap_or(unsaid);
        match stop {
            // An unclosed brace keeps a call from being carried out that the model never
            // finished.
            ReplyStopReason::MaxTokens
            | ReplyStopReason::Refusal
            | ReplyStopReason::ContextFull => self.settle("{", out),
            _ => self.settle("{}", out),
        }
        let usage = self.counts.usage();
        out.push(ReplyChunk::End { stop, usage });
        Ok(())
    }
}

impl AnthropicTokenCounts {
    fn note(&mut self, usage: &Value) {
        self.input.note(&usage["input_tokens"]);
        self.cache_read.note(&usage["cache_read_input_tokens"]);
        self.cache_write.note(&usage["cache_creation_input_tokens"]);
        self.output.note(&usage["output_tokens"]);
        self.thinking
            .note(&usage["output_tokens_details"]["thinking_tokens"]);
    }

    fn usage(&self) -> Option<TokenUsage> {
        let cache_read = self.cache_read.value();
        let cache_write = self.cache_write.value();
        let input = self.input.value().saturating_add(cache_read);
        count::believed(TokenUsage {
            input: input.saturating_add(cache_write),
            cache_read,
            cache_write,
            output: self.output.value(),
            thinking: self.thinking.value(),
        })
    }
}

fn index(event: &Value) -> u64 {
    event["index"].as_u64().unwrap_or(0)
}

fn say(said: &Value, out: &mut Vec<ReplyChunk>) {
    if let Some(text) = text(said).map(str::to_owned) {
        out.push(ReplyChunk::Text { text });
    }
}

fn think(said: &Value, out: &mut Vec<ReplyChunk>) {
    if let Some(text) = text(said).map(str::to_owned) {
        out.push(ReplyChunk::Thinking { text });
    }
}

/// Emits the seal of a thought. Without a token there is no seal, and the thought cannot
/// be sent back.
fn close_thought(sort: &str, token: &str, out: &mut Vec<ReplyChunk>) {
    if !token.is_empty() {
        let wire = WIRE.to_owned();
        let data = format!("{sort}{token}");
        out.push(ReplyChunk::ThinkingSealed {
            seal: ProviderSignature { wire, data },
        });
    }
}

fn stop(word: &str) -> ReplyStopReason {
    match word {
        "end_turn" => ReplyStopReason::End,
        "tool_use" => ReplyStopReason::ToolUse,
        "max_tokens" => ReplyStopReason::MaxTokens,
        "stop_sequence" => ReplyStopReason::StopSequence,
        "refusal" => ReplyStopReason::Refusal,
        "pause_turn" => ReplyStopReason::Paused,
        "model_context_window_exceeded" => ReplyStopReason::ContextFull,
        other => ReplyStopReason::Other(other.chars().take(100).collect()),
    }
}

fn open_call() -> ModelFault {
    ModelFault::new(
        ModelFaultKind::Garbled,
        "the answer goes on before a call ends",
    )
}

fn fault(event: &Value) -> ModelFault {
    let status = match event["error"]["type"].as_str().unwrap_or_default() {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "overloaded_error" => 529,
        _ => 500,
    };
    refusal::within(WireFormat::Anthropic, status, event)
}
