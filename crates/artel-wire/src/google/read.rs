//! Reads the pieces of a reply. Each piece is a reply of its own, with some of the parts.

use artel_types::model::{ModelFault, ProviderSignature, ReplyChunk, ReplyStopReason, TokenUsage};
use serde_json::Value;

use super::WIRE;
use crate::answer::text;
use crate::calls::ToolCallNumbering;
use crate::count::{self, StreamedTokenCounter};
use crate::decoder::{ReplyFrameReader, json};
use crate::refusal;
use crate::wire::WireFormat;

#[derive(Debug, Default)]
pub(crate) struct GoogleReplyReader {
    is_begun: bool,
    calls: ToolCallNumbering,
    counts: GoogleTokenCounts,
    stop: Option<ReplyStopReason>,
}

/// Token counts as the provider reports them. The candidates' tokens do not include the
/// thoughts.
#[derive(Debug, Default)]
struct GoogleTokenCounts {
    prompt: StreamedTokenCounter,
    cached: StreamedTokenCounter,
    candidates: StreamedTokenCounter,
    thoughts: StreamedTokenCounter,
}

impl ReplyFrameReader for GoogleReplyReader {
    fn frame(
        &mut self,
        _name: &str,
        data: &str,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<(), ModelFault> {
        let piece = json(data)?;
        if !piece["error"].is_null() {
            return Err(fault(&piece));
        }
        self.start(&piece, out);
        self.counts.note(&piece["usageMetadata"]);
        let candidate = &piece["candidates"][0];
        for part in candidate["content"]["parts"]
            .as_array()
            .into_iter()
            .flatten()
        {
            self.part(part, out)?;
        }
        if let Some(word) = candidate["finishReason"].as_str() {
            self.stop = Some(stop(word));
        }
        if piece["promptFeedback"]["blockReason"].is_string() {
            self.stop = Some(ReplyStopReason::Refusal);
        }
        Ok(())
    }

    /// Handles the end of the bytes, the only sign that a reply is over. The reply is
    /// complete if its finish reason came before.
    fn finish(&mut self, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        let Some(stop) = self.stop.take() else {
            return Ok(());
        };
        let stop = match stop {
            ReplyStopReason::End if !self.calls.is_empty() => ReplyStopReason::ToolUse,
            stop => stop,
        };
        let usage = self.counts.usage();
        out.push(ReplyChunk::End { stop, usage });
        Ok(())
    }
}

impl GoogleReplyReader {
    fn start(&mut self, piece: &Value, out: &mut Vec<ReplyChunk>) {
        if self.is_begun {
            return;
        }
        self.is_begun = true;
        out.push(ReplyChunk::Start {
            id: piece["responseId"].as_str().map(str::to_owned),
            model: piece["modelVersion"].as_str().map(str::to_owned),
        });
    }

    fn part(&mut self, part: &Value, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        let seal = text(&part["thoughtSignature"]).map(|data| ProviderSignature {
            wire: WIRE.to_owned(),
            data: data.to_owned(),
        });
        let call = &part["functionCall"];
        if call.is_object() {
            return self.call(call, seal, out);
        }
        let is_thought = part["thought"].as_bool().unwrap_or(false);
        if let Some(text) = text(&part["text"]).map(str::to_owned) {
            out.push(if is_thought {
                ReplyChunk::Thinking { text }
            } else {
                ReplyChunk::Text { text }
            });
        }
        if let Some(seal) = seal {
            out.push(if is_thought {
                ReplyChunk::ThinkingSealed { seal }
            } else {
                ReplyChunk::TextSealed { seal }
            });
        }
        Ok(())
    }

    /// Emits a tool call, which always comes whole.
    fn call(
        &mut self,
        call: &Value,
        seal: Option<ProviderSignature>,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<(), ModelFault> {
        let id = call["id"].as_str().unwrap_or_default();
        let name = call["name"].as_str().unwrap_or_default();
        let index = self.calls.begin(id, name, out)?;
        let arguments = match &call["args"] {
            Value::Null => "{}".to_owned(),
            args => args.to_string(),
        };
        out.push(ReplyChunk::ToolDelta { index, arguments });
        out.push(ReplyChunk::ToolEnd { index, seal });
        Ok(())
    }
}

impl GoogleTokenCounts {
    fn note(&mut self, usage: &Value) {
        self.prompt.note(&usage["promptTokenCount"]);
        self.cached.note(&usage["cachedContentTokenCount"]);
        self.candidates.note(&usage["candidatesTokenCount"]);
        self.thoughts.note(&usage["thoughtsTokenCount"]);
    }

    fn usage(&self) -> Option<TokenUsage> {
        let thinking = self.thoughts.value();
        count::believed(TokenUsage {
            input: self.prompt.value(),
            cache_read: self.cached.value(),
            cache_write: 0,
            output: self.candidates.value().saturating_add(thinking),
            thinking,
        })
    }
}

fn stop(word: &str) -> ReplyStopReason {
    match word {
        "STOP" => ReplyStopReason::End,
        "MAX_TOKENS" => ReplyStopReason::MaxTokens,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
            ReplyStopReason::Refusal
        }
        other => ReplyStopReason::Other(other.chars().take(100).collect()),
    }
}

/// Reads an error. Its number is the HTTP status it would have had; if the number is
/// missing, the status word decides.
fn fault(piece: &Value) -> ModelFault {
    let error = &piece["error"];
    let code = error["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let told = code.filter(|code| (400..600).contains(code));
    let status = told.unwrap_or_else(|| match error["status"].as_str().unwrap_or_default() {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "RESOURCE_EXHAUSTED" => 429,
        "UNAVAILABLE" => 503,
        "DEADLINE_EXCEEDED" => 504,
        _ => 500,
    });
    refusal::within(WireFormat::Google, status, piece)
}
