//! Turns bytes into chunks: framing, size limits and the chunk grammar, around the reader
//! of one format.

use artel_types::model::{ModelFault, ModelFaultKind, ReplyChunk};
use serde_json::Value;

use crate::frame::{ServerSentEventParser, WireFraming, WireLineSplitter};

/// Most bytes of one reply; more is an attack or a fault. A long reply has many pieces,
/// and each adds some hundred bytes of overhead.
const LARGEST_ANSWER: u64 = 64 * 1024 * 1024;

/// Most bytes of content in one reply: more than any model writes, and as much as can be
/// stored.
const LARGEST_CONTENT: u64 = 16 * 1024 * 1024;

/// Turns the frames of one format into chunks. A frame is the data of a server-sent event,
/// or a line.
pub(crate) trait ReplyFrameReader: Send {
    /// Reads a frame. `name` is the event's name if the framing has names.
    fn frame(
        &mut self,
        name: &str,
        data: &str,
        out: &mut Vec<ReplyChunk>,
    ) -> Result<(), ModelFault>;

    /// Handles the end of the bytes. If only this completes the reply, the reader ends it
    /// here. An incomplete reply stays without an end, and the decoder reports the cut.
    fn finish(&mut self, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault>;
}

/// Decodes one reply. After an end or a fault the decoder is done and ignores any further
/// bytes.
pub struct ReplyDecoder {
    frames: WireFraming,
    reader: Box<dyn ReplyFrameReader>,
    bytes: u64,
    told: ReplyDecodeProgress,
}

/// Progress of the chunks handed out so far.
#[derive(Debug, Clone, Copy)]
struct ReplyDecodeProgress {
    stage: ReplyDecodeStage,
    /// Bytes of text, thoughts and arguments.
    content: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyDecodeStage {
    Before,
    Within,
    Done,
}

impl ReplyDecoder {
    pub(crate) fn of_events(reader: impl ReplyFrameReader + 'static) -> Self {
        Self::new(
            WireFraming::Events(ServerSentEventParser::default()),
            reader,
        )
    }

    pub(crate) fn of_lines(reader: impl ReplyFrameReader + 'static) -> Self {
        Self::new(WireFraming::Lines(WireLineSplitter::default()), reader)
    }

    fn new(frames: WireFraming, reader: impl ReplyFrameReader + 'static) -> Self {
        Self {
            frames,
            reader: Box::new(reader),
            bytes: 0,
            told: ReplyDecodeProgress {
                stage: ReplyDecodeStage::Before,
                content: 0,
            },
        }
    }

    /// Returns whether the reply has ended, well or badly.
    pub fn is_done(&self) -> bool {
        self.told.stage == ReplyDecodeStage::Done
    }

    /// Decodes some bytes, which may be cut anywhere, and appends the resulting chunks.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        if self.is_done() {
            return Ok(());
        }
        // However the bytes are cut, everything that fits is read, and the first byte too
        // many is a fault.
        let room = LARGEST_ANSWER.saturating_sub(self.bytes);
        let fits = usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()));
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let mut result = self.read(&bytes[..fits], out);
        if result.is_ok() && fits < bytes.len() && !self.is_done() {
            result = Err(too_long("the answer has more than 64 MiB"));
        }
        if result.is_err() {
            self.told.stage = ReplyDecodeStage::Done;
        }
        result
    }

    /// Signals that no more bytes will come. A reply without its end was cut off.
    pub fn finish(&mut self, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        if self.is_done() {
            return Ok(());
        }
        let result = self.read_rest(out);
        let is_complete = self.is_done();
        self.told.stage = ReplyDecodeStage::Done;
        if is_complete {
            return Ok(());
        }
        result?;
        Err(ModelFault::new(
            ModelFaultKind::Cut,
            format!(
                "the answer ended after {} bytes without its end",
                self.bytes
            ),
        ))
    }

    fn read(&mut self, bytes: &[u8], out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        let Self {
            frames,
            reader,
            told,
            ..
        } = self;
        let result = frames.push(bytes, &mut |name, data| {
            read_frame(reader.as_mut(), told, name, data, out)
        });
        // Garbage after the end is not a fault, whether it comes with the end or later.
        if told.stage == ReplyDecodeStage::Done {
            return Ok(());
        }
        result
    }

    fn read_rest(&mut self, out: &mut Vec<ReplyChunk>) -> Result<(), ModelFault> {
        let Self {
            frames,
            reader,
            told,
            ..
        } = self;
        let rest =
            frames.finish(&mut |name, data| read_frame(reader.as_mut(), told, name, data, out));
        if told.stage == ReplyDecodeStage::Done {
            return Ok(());
        }
        rest?;
        let before = out.len();
        let result = reader.finish(out);
        told.note(out, before)?;
        result
    }
}

/// Parses the JSON of a frame.
pub(crate) fn json(data: &str) -> Result<Value, ModelFault> {
    serde_json::from_str(data).map_err(|error| {
        ModelFault::new(
            ModelFaultKind::Garbled,
            format!("a piece of the answer is not JSON: {error}"),
        )
    })
}

fn read_frame(
    reader: &mut dyn ReplyFrameReader,
    told: &mut ReplyDecodeProgress,
    name: &str,
    data: &str,
    out: &mut Vec<ReplyChunk>,
) -> Result<(), ModelFault> {
    if told.stage == ReplyDecodeStage::Done {
        return Ok(());
    }
    let before = out.len();
    let result = reader.frame(name, data, out);
    told.note(out, before)?;
    result
}

impl ReplyDecodeProgress {
    /// Enforces one start, one end and the size limit, whatever the reader emits.
    fn note(&mut self, out: &mut Vec<ReplyChunk>, before: usize) -> Result<(), ModelFault> {
        let mut at = before;
        while at < out.len() {
            match (self.stage, &out[at]) {
                (ReplyDecodeStage::Before, ReplyChunk::Start { .. }) => {
                    self.stage = ReplyDecodeStage::Within
                }
                (ReplyDecodeStage::Before, _) => {
                    let (id, model) = (None, None);
                    out.insert(at, ReplyChunk::Start { id, model });
                    self.stage = ReplyDecodeStage::Within;
                }
                (ReplyDecodeStage::Within, ReplyChunk::Start { .. }) => {
                    out.remove(at);
                    continue;
                }
                (ReplyDecodeStage::Within, ReplyChunk::End { .. }) => {
                    self.stage = ReplyDecodeStage::Done;
                    out.truncate(at + 1);
                }
                (ReplyDecodeStage::Within | ReplyDecodeStage::Done, chunk) => {
                    self.content += size(chunk)
                }
            }
            if self.content > LARGEST_CONTENT {
                out.truncate(at);
                return Err(too_long("the answer says more than 16 MiB"));
            }
            at += 1;
        }
        Ok(())
    }
}

fn size(chunk: &ReplyChunk) -> u64 {
    let bytes = match chunk {
        ReplyChunk::Text { text } | ReplyChunk::Thinking { text } => text.len(),
        ReplyChunk::ToolDelta { arguments, .. } => arguments.len(),
        _ => 0,
    };
    bytes as u64
}

fn too_long(why: &str) -> ModelFault {
    ModelFault::new(ModelFaultKind::Endless, why)
}

impl std::fmt::Debug for ReplyDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stage = self.told.stage;
        write!(f, "ReplyDecoder({stage:?} after {} bytes)", self.bytes)
    }
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
