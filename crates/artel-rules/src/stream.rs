//! Assembles a reply from its chunks.
//!
//! Every maker of chunks, a codec or a rehearsal, must keep the grammar of [`ReplyChunk`]:
//! exactly one start, then pieces, then exactly one end, with calls numbered in the order
//! in which they began. A chunk that breaks the grammar is refused and changes nothing, so
//! everything before it stays readable. The chunks are not kept, only their result.

use artel_types::model::{
    MessagePart, ModelReply, ProviderSignature, ReplyChunk, ReplyStopReason, TokenUsage, ToolCall,
};

/// The reply as far as it has arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelReplyBuilder {
    opening: Option<ModelReplyHeader>,
    parts: Vec<MessagePart>,
    calls: Vec<AssembledToolCall>,
    ending: Option<(ReplyStopReason, Option<TokenUsage>)>,
    chunks: u64,
    bytes: u64,
}

/// Why a chunk does not fit the chunks before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReplyChunkError {
    /// A chunk came before the start.
    #[error("the answer has not begun")]
    BeforeStart,
    /// The reply started a second time.
    #[error("the answer begins a second time")]
    SecondStart,
    /// A chunk came after the end.
    #[error("the answer has ended already")]
    AfterEnd,
    /// A call has the number of an earlier one.
    #[error("call {index} begins a second time")]
    CallTwice {
        /// The number of the call.
        index: u32,
    },
    /// A call skips a number.
    #[error("call {index} begins where call {expected} is due")]
    CallOutOfOrder {
        /// The number of the call.
        index: u32,
        /// The expected number.
        expected: u32,
    },
    /// A piece belongs to a call that never began.
    #[error("call {index} goes on without having begun")]
    UnknownCall {
        /// The number of the call.
        index: u32,
    },
    /// A piece belongs to a call that is complete.
    #[error("call {index} goes on after its end")]
    CallEnded {
        /// The number of the call.
        index: u32,
    },
    /// The reply ended in the middle of a call.
    #[error("the answer ends before call {index} does")]
    CallOpen {
        /// The number of the first such call.
        index: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ModelReplyHeader {
    id: Option<String>,
    model: Option<String>,
}

/// The place of a call among the parts, and whether the call is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AssembledToolCall {
    place: usize,
    is_ended: bool,
}

impl ModelReplyBuilder {
    /// Adds the next chunk, or refuses it and stays unchanged.
    pub fn add(&mut self, chunk: &ReplyChunk) -> Result<(), ReplyChunkError> {
        self.admit(chunk)?;
        match chunk {
            ReplyChunk::Start { id, model } => self.start(id, model),
            ReplyChunk::Text { text } => self.say(text),
            ReplyChunk::TextSealed { seal } => self.seal_text(seal),
            ReplyChunk::Thinking { text } => self.think(text),
            ReplyChunk::ThinkingSealed { seal } => self.seal_thought(seal),
            ReplyChunk::ToolStart { index, id, name } => self.begin_call(*index, id, name)?,
            ReplyChunk::ToolDelta { index, arguments } => self.add_arguments(*index, arguments)?,
            ReplyChunk::ToolEnd { index, seal } => self.end_call(*index, seal.as_ref())?,
            ReplyChunk::End { stop, usage } => self.end(stop, *usage)?,
        }
        self.chunks += 1;
        Ok(())
    }

    /// Returns whether the reply is complete.
    pub fn is_ended(&self) -> bool {
        self.ending.is_some()
    }

    /// Returns the number of accepted chunks.
    pub fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Returns the text so far, without thoughts and calls.
    pub fn text(&self) -> String {
        let words = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        words.collect()
    }

    /// Returns the bytes of text, thoughts and arguments so far, from which tokens are
    /// estimated if the provider does not count them.
    pub fn output_bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the complete reply, or `None` if it has not ended.
    pub fn reply(self) -> Option<ModelReply> {
        let (stop, usage) = self.ending?;
        let ModelReplyHeader { id, model } = self.opening?;
        Some(ModelReply {
            id,
            model,
            parts: self.parts,
            stop,
            usage,
        })
    }

    /// Returns the usable parts of a reply that broke off: text and thoughts as far as
    /// they arrived, and complete calls. Half a call must never be carried out, so it is
    /// left out.
    pub fn partial(&self) -> Vec<MessagePart> {
        let mut calls = self.calls.iter();
        let kept = self.parts.iter().filter(|part| match part {
            MessagePart::ToolCall(_) => calls.next().is_some_and(|call| call.is_ended),
            _ => true,
        });
        kept.cloned().collect()
    }

    fn admit(&self, chunk: &ReplyChunk) -> Result<(), ReplyChunkError> {
        let is_start = matches!(chunk, ReplyChunk::Start { .. });
        match (&self.opening, &self.ending) {
            (_, Some(_)) => Err(ReplyChunkError::AfterEnd),
            (Some(_), None) if is_start => Err(ReplyChunkError::SecondStart),
            (None, None) if !is_start => Err(ReplyChunkError::BeforeStart),
            _ => Ok(()),
        }
    }

    fn start(&mut self, id: &Option<String>, model: &Option<String>) {
        self.opening = Some(ModelReplyHeader {
            id: id.clone(),
            model: model.clone(),
        });
    }

    /// Adds text. Empty text does not start a part: providers send empty pieces where
    /// nothing is said.
    fn say(&mut self, more: &str) {
        self.bytes += more.len() as u64;
        match self.parts.last_mut() {
            Some(MessagePart::Text { text, seal: None }) => text.push_str(more),
            _ if more.is_empty() => {}
            _ => self.parts.push(MessagePart::text(more)),
        }
    }

    fn seal_text(&mut self, new: &ProviderSignature) {
        if let Some(MessagePart::Text { seal, .. }) = self.parts.last_mut()
            && seal.is_none()
        {
            *seal = Some(new.clone());
            return;
        }
        self.parts.push(MessagePart::Text {
            text: String::new(),
            seal: Some(new.clone()),
        });
    }

    fn think(&mut self, more: &str) {
        self.bytes += more.len() as u64;
        match self.parts.last_mut() {
            Some(MessagePart::Thinking { text, seal: None }) => text.push_str(more),
            _ if more.is_empty() => {}
            _ => self.parts.push(MessagePart::Thinking {
                text: more.to_owned(),
                seal: None,
            }),
        }
    }

    fn seal_thought(&mut self, new: &ProviderSignature) {
        if let Some(MessagePart::Thinking { seal, .. }) = self.parts.last_mut()
            && seal.is_none()
        {
            *seal = Some(new.clone());
            return;
        }
        self.parts.push(MessagePart::Thinking {
            text: String::new(),
            seal: Some(new.clone()),
        });
    }

    fn begin_call(&mut self, index: u32, id: &str, name: &str) -> Result<(), ReplyChunkError> {
        let expected = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
        if index < expected {
            return Err(ReplyChunkError::CallTwice { index });
        }
        if index > expected {
            return Err(ReplyChunkError::CallOutOfOrder { index, expected });
        }
        self.calls.push(AssembledToolCall {
            place: self.parts.len(),
            is_ended: false,
        });
        self.parts.push(MessagePart::ToolCall(ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: String::new(),
            seal: None,
        }));
        Ok(())
    }

    fn add_arguments(&mut self, index: u32, more: &str) -> Result<(), ReplyChunkError> {
        self.open_call(index)?.0.arguments.push_str(more);
        self.bytes += more.len() as u64;
        Ok(())
    }

    fn end_call(
        &mut self,
        index: u32,
        seal: Option<&ProviderSignature>,
    ) -> Result<(), ReplyChunkError> {
        let (call, is_ended) = self.open_call(index)?;
        call.seal = seal.cloned();
        *is_ended = true;
        Ok(())
    }

    fn end(
        &mut self,
        stop: &ReplyStopReason,
        usage: Option<TokenUsage>,
    ) -> Result<(), ReplyChunkError> {
        if let Some(index) = self.calls.iter().position(|call| !call.is_ended) {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            return Err(ReplyChunkError::CallOpen { index });
        }
        self.ending = Some((stop.clone(), usage));
        Ok(())
    }

    fn open_call(&mut self, index: u32) -> Result<(&mut ToolCall, &mut bool), ReplyChunkError> {
        let unknown = ReplyChunkError::UnknownCall { index };
        let at = usize::try_from(index).map_err(|_| unknown)?;
        let AssembledToolCall { place, is_ended } = self.calls.get_mut(at).ok_or(unknown)?;
        if *is_ended {
            return Err(ReplyChunkError::CallEnded { index });
        }
        match self.parts.get_mut(*place) {
            Some(MessagePart::ToolCall(call)) => Ok((call, is_ended)),
            _ => Err(unknown),
        }
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
