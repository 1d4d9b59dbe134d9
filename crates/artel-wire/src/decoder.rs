//! Bytes in, chunks out: framing, bounds and the grammar around one format's reader.

use artel_types::model::{Chunk, Fault, FaultKind};
use serde_json::Value;

use crate::frame::{Events, Frames, Lines};

/// An answer may have so many bytes; more is an attack or a fault.
const LARGEST_ANSWER: u64 = 64 * 1024 * 1024;

/// What one format makes of one frame: the data of a server-sent event, or a line.
pub(crate) trait Read: Send {
    /// Reads a frame. `name` is the event's name where the framing has names.
    fn frame(&mut self, name: &str, data: &str, out: &mut Vec<Chunk>) -> Result<(), Fault>;

    /// The bytes have ended. An answer that is complete only now ends here; one that is not,
    /// stays without an end, and the decoder reports the cut.
    fn finish(&mut self, out: &mut Vec<Chunk>) -> Result<(), Fault>;
}

/// Reads one answer. After an end or a fault it is done, and whatever follows is passed over.
pub struct Decoder {
    frames: Frames,
    reader: Box<dyn Read>,
    bytes: u64,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Within,
    Done,
}

impl Decoder {
    pub(crate) fn of_events(reader: impl Read + 'static) -> Self {
        Self::new(Frames::Events(Events::default()), reader)
    }

    pub(crate) fn of_lines(reader: impl Read + 'static) -> Self {
        Self::new(Frames::Lines(Lines::default()), reader)
    }

    fn new(frames: Frames, reader: impl Read + 'static) -> Self {
        Self {
            frames,
            reader: Box::new(reader),
            bytes: 0,
            stage: Stage::Before,
        }
    }

    /// Tells whether the answer has ended, well or badly.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Reads some bytes and appends what they make. They may be cut anywhere.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Chunk>) -> Result<(), Fault> {
        if self.is_done() {
            return Ok(());
        }
        // However the bytes are cut, what fits is read and the first one too many is a fault.
        let room = LARGEST_ANSWER.saturating_sub(self.bytes);
        let fits = usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()));
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let mut result = self.read(&bytes[..fits], out);
        if result.is_ok() && fits < bytes.len() && !self.is_done() {
            result = Err(Fault::new(
                FaultKind::Garbled,
                "the answer has more than 64 MiB",
            ));
        }
        if result.is_err() {
            self.stage = Stage::Done;
        }
        result
    }

    /// Says that no more bytes will come. An answer without its end was cut off.
    pub fn finish(&mut self, out: &mut Vec<Chunk>) -> Result<(), Fault> {
        if self.is_done() {
            return Ok(());
        }
        let result = self.read_rest(out);
        let is_complete = self.is_done();
        self.stage = Stage::Done;
        if is_complete {
            return Ok(());
        }
        result?;
        Err(Fault::new(
            FaultKind::Cut,
            format!(
                "the answer ended after {} bytes without its end",
                self.bytes
            ),
        ))
    }

    fn read(&mut self, bytes: &[u8], out: &mut Vec<Chunk>) -> Result<(), Fault> {
        let Self {
            frames,
            reader,
            stage,
            ..
        } = self;
        let result = frames.push(bytes, &mut |name, data| {
            read_frame(reader.as_mut(), stage, name, data, out)
        });
        // Rubbish behind the end is no fault, whether it comes with the end or after it.
        if *stage == Stage::Done {
            return Ok(());
        }
        result
    }

    fn read_rest(&mut self, out: &mut Vec<Chunk>) -> Result<(), Fault> {
        let Self {
            frames,
            reader,
            stage,
            ..
        } = self;
        let rest =
            frames.finish(&mut |name, data| read_frame(reader.as_mut(), stage, name, data, out));
        if *stage == Stage::Done {
            return Ok(());
        }
        rest?;
        let before = out.len();
        let result = reader.finish(out);
        note(stage, out, before);
        result
    }
}

/// Reads the JSON of a frame.
pub(crate) fn json(data: &str) -> Result<Value, Fault> {
    serde_json::from_str(data).map_err(|error| {
        Fault::new(
            FaultKind::Garbled,
            format!("a piece of the answer is not JSON: {error}"),
        )
    })
}

fn read_frame(
    reader: &mut dyn Read,
    stage: &mut Stage,
    name: &str,
    data: &str,
    out: &mut Vec<Chunk>,
) -> Result<(), Fault> {
    if *stage == Stage::Done {
        return Ok(());
    }
    let before = out.len();
    let result = reader.frame(name, data, out);
    note(stage, out, before);
    result
}

/// Keeps the stage, and the promise of one start and one end whatever the reader hands out.
fn note(stage: &mut Stage, out: &mut Vec<Chunk>, before: usize) {
    let mut at = before;
    while at < out.len() {
        match (*stage, &out[at]) {
            (Stage::Before, Chunk::Start { .. }) => *stage = Stage::Within,
            (Stage::Before, _) => {
                let (id, model) = (None, None);
                out.insert(at, Chunk::Start { id, model });
                *stage = Stage::Within;
            }
            (Stage::Within, Chunk::Start { .. }) => {
                out.remove(at);
                continue;
            }
            (Stage::Within, Chunk::End { .. }) => {
                *stage = Stage::Done;
                out.truncate(at + 1);
            }
            (Stage::Within | Stage::Done, _) => {}
        }
        at += 1;
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Decoder({:?} after {} bytes)", self.stage, self.bytes)
    }
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
