//! One line of a script: the request it expects and the reply it gives.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use artel_types::model::{
    MessagePart, ModelFault, ModelFaultKind, ModelRequest, ReplyChunk, ReplyStopReason, TokenUsage,
};
use serde::Deserialize;

use super::beat::RehearsalEvent;
use super::expect::RehearsalExpectation;
use super::field::{RehearsalDuration, RehearsalFault, RehearsalToolCall, RehearsalUsage, calls};

/// Length of the silence in a slow reply.
const SLOW: Duration = Duration::from_secs(60);
/// Number of characters in a chunk, unless the line says otherwise.
const PIECE: usize = 24;
/// Number of bytes that count as one token.
const BYTES_PER_TOKEN: u64 = 4;

/// A line as it is written in the script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RehearsalLine {
    /// Expectations about the request.
    #[serde(default)]
    pub(super) expect: RehearsalExpectation,
    /// Number of times that the line answers.
    pub(super) times: Option<NonZeroU32>,
    think: Option<String>,
    say: Option<String>,
    #[serde(default, deserialize_with = "calls")]
    call: Vec<RehearsalToolCall>,
    usage: Option<RehearsalUsage>,
    stop: Option<ReplyStopReason>,
    pace: Option<RehearsalDuration>,
    pieces: Option<NonZeroUsize>,
    then: Option<RehearsalBreakOff>,
    fault: Option<RehearsalFault>,
}

/// The way in which a reply breaks off, instead of ending properly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RehearsalBreakOff {
    /// The connection closes.
    Cut,
    /// Meaningless bytes arrive.
    Garbage,
    /// Nothing more arrives, and the connection stays open.
    Silent,
    /// Nothing arrives for a minute, then the end.
    Slow,
}

impl RehearsalLine {
    /// Returns an error in the line that the grammar does not catch.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let has_end = self.stop.is_some() || self.usage.is_some();
        if self.fault.is_some() && self.then.is_some() {
            return Some("`fault` and `then` both say how it breaks off; keep one");
        }
        if self.breaks_off() && has_end {
            return Some("an answer that breaks off has neither `stop` nor `usage`");
        }
        if !self.speaks() && self.fault.is_none() && self.then.is_none() && !has_end {
            return Some("it answers nothing; expected `say`, `think`, `call`, `then` or `fault`");
        }
        None
    }

    /// Returns the events of the line's reply to a request, in order.
    pub(super) fn beats(&self, request: &ModelRequest) -> Vec<RehearsalEvent> {
        if let Some(fault) = self.fault.as_ref().filter(|_| !self.speaks()) {
            return vec![RehearsalEvent::Fault(fault.0.clone())];
        }
        let (id, model) = (None, Some("rehearsal".to_owned()));
        let mut beats = vec![RehearsalEvent::Chunk(ReplyChunk::Start { id, model })];
        self.speak(request, &mut beats);
        beats.extend(self.ending(request));
        beats
    }

    fn speak(&self, request: &ModelRequest, beats: &mut Vec<RehearsalEvent>) {
        if let Some(text) = &self.think {
            self.split(text, beats, |text| ReplyChunk::Thinking { text });
        }
        if let Some(text) = &self.say {
            self.split(text, beats, |text| ReplyChunk::Text { text });
        }
        let first = next_call(request);
        for (index, call) in (0_u32..).zip(&self.call) {
            let id = format!("call-{}", first.saturating_add(index.into()));
            let name = call.name.clone();
            beats.push(RehearsalEvent::Chunk(ReplyChunk::ToolStart {
                index,
                id,
                name,
            }));
            self.split(&call.arguments, beats, |arguments| ReplyChunk::ToolDelta {
                index,
                arguments,
            });
            beats.push(RehearsalEvent::Chunk(ReplyChunk::ToolEnd {
                index,
                seal: None,
            }));
        }
        if self.breaks_off() && !self.call.is_empty() {
            // Nobody may run a tool call of a reply that breaks off before it is complete.
            beats.pop();
        }
    }

    fn speaks(&self) -> bool {
        self.think.is_some() || self.say.is_some() || !self.call.is_empty()
    }

    fn breaks_off(&self) -> bool {
        self.fault.is_some() || matches!(self.then, Some(then) if then != RehearsalBreakOff::Slow)
    }

    fn split(
        &self,
        text: &str,
        beats: &mut Vec<RehearsalEvent>,
        chunk: impl Fn(String) -> ReplyChunk,
    ) {
        let size = self.pieces.map_or(PIECE, NonZeroUsize::get);
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest
                .char_indices()
                .nth(size)
                .map_or(rest.len(), |(end, _)| end);
            let (piece, left) = rest.split_at(end);
            beats.extend(self.pace.map(|pace| RehearsalEvent::Wait(pace.0)));
            beats.push(RehearsalEvent::Chunk(chunk(piece.to_owned())));
            rest = left;
        }
    }

    fn ending(&self, request: &ModelRequest) -> Vec<RehearsalEvent> {
        if let Some(fault) = &self.fault {
            return vec![RehearsalEvent::Fault(fault.0.clone())];
        }
        let broken = |kind, message| vec![RehearsalEvent::Fault(ModelFault::new(kind, message))];
        match self.then {
            Some(RehearsalBreakOff::Cut) => {
                broken(ModelFaultKind::Cut, "the script cuts the answer off here")
            }
            Some(RehearsalBreakOff::Garbage) => {
                broken(ModelFaultKind::Garbled, "the script sends garbage here")
            }
            Some(RehearsalBreakOff::Silent) => vec![RehearsalEvent::Hang],
            Some(RehearsalBreakOff::Slow) => vec![RehearsalEvent::Wait(SLOW), self.end(request)],
            None => vec![self.end(request)],
        }
    }

    fn end(&self, request: &ModelRequest) -> RehearsalEvent {
        let usual = if self.call.is_empty() {
            ReplyStopReason::End
        } else {
            ReplyStopReason::ToolUse
        };
        let stop = self.stop.clone().unwrap_or(usual);
        let estimate = self.estimate(request);
        let usage = match &self.usage {
            None => Some(estimate),
            Some(counted) => counted.usage(&estimate),
        };
        RehearsalEvent::Chunk(ReplyChunk::End { stop, usage })
    }

    /// Estimates tokens from bytes, so that the same request gives the same numbers everywhere.
    fn estimate(&self, request: &ModelRequest) -> TokenUsage {
        let bytes = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let calls = self
            .call
            .iter()
            .map(|call| call.name.len() + call.arguments.len());
        let mut read = ByteCounter(0);
        // A request can always be written as JSON, and counting cannot fail.
        drop(serde_json::to_writer(&mut read, request));
        let thinking = bytes(&self.think);
        let written = thinking + bytes(&self.say) + calls.sum::<usize>();
        TokenUsage {
            input: tokens(read.0),
            output: tokens(written),
            thinking: tokens(thinking),
            ..TokenUsage::default()
        }
    }
}

/// A writer that counts the bytes written to it.
struct ByteCounter(usize);

impl std::io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Returns the number of the next tool call. It follows the highest one in the
/// conversation. So ids are unique within a conversation, even if its beginning was
/// dropped, and the same on every replay.
fn next_call(request: &ModelRequest) -> u64 {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let numbers = parts.filter_map(|part| match part {
        MessagePart::ToolCall(call) => call.id.strip_prefix("call-")?.parse::<u64>().ok(),
        _ => None,
    });
    numbers.max().unwrap_or(0).saturating_add(1)
}
