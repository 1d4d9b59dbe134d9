//! Framing: server-sent events and lines of JSON, from bytes cut anywhere.

use std::io::BufRead;

use artel_types::model::{ModelFault, ModelFaultKind};

/// Most bytes of one event or line. A whole reply can come in one frame.
const LARGEST_FRAME: usize = 32 * 1024 * 1024;

/// Name of an event that gives none.
pub(crate) const UNNAMED: &str = "message";

/// Callback for each frame: the name of its event ([`UNNAMED`] if it has none, empty for a
/// line) and its data.
pub(crate) type FrameSink<'a> = dyn FnMut(&str, &str) -> Result<(), ModelFault> + 'a;

/// The framing of a reply: server-sent events or lines.
#[derive(Debug)]
pub(crate) enum WireFraming {
    Events(ServerSentEventParser),
    Lines(WireLineSplitter),
}

impl WireFraming {
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        sink: &mut FrameSink<'_>,
    ) -> Result<(), ModelFault> {
        match self {
            Self::Events(events) => events.push(bytes, sink),
            Self::Lines(lines) => lines.push(bytes, &mut |line| sink("", text(line)?)),
        }
    }

    pub(crate) fn finish(&mut self, sink: &mut FrameSink<'_>) -> Result<(), ModelFault> {
        match self {
            // An event counts only once its blank line has come.
            Self::Events(_) => Ok(()),
            Self::Lines(lines) => lines.finish(&mut |line| sink("", text(line)?)),
        }
    }
}

/// Splits bytes into lines that end with LF or CRLF. An unfinished line is kept for the
/// next bytes.
#[derive(Debug, Default)]
pub(crate) struct WireLineSplitter {
    rest: Vec<u8>,
}

impl WireLineSplitter {
    /// Hands over every complete line without its line ending, even an empty one.
    fn push_all(
        &mut self,
        mut bytes: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), ModelFault>,
    ) -> Result<(), ModelFault> {
        // Reading from memory cannot fail.
        while let Ok(1..) = bytes.read_until(b'\n', &mut self.rest) {
            let line = self.rest.strip_suffix(b"\n");
            if line.unwrap_or(&self.rest).len() > LARGEST_FRAME {
                return Err(too_large());
            }
            if let Some(line) = line {
                sink(trimmed(line))?;
                self.rest.clear();
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        bytes: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), ModelFault>,
    ) -> Result<(), ModelFault> {
        self.push_all(bytes, &mut |line| unless_blank(line, sink))
    }

    /// Hands over the last line if it came without its line ending.
    fn finish(
        &mut self,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), ModelFault>,
    ) -> Result<(), ModelFault> {
        let rest = std::mem::take(&mut self.rest);
        unless_blank(trimmed(&rest), sink)
    }
}

fn unless_blank(
    line: &[u8],
    sink: &mut dyn FnMut(&[u8]) -> Result<(), ModelFault>,
) -> Result<(), ModelFault> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(());
    }
    sink(line)
}

/// Parses server-sent events. Only `event` and `data` matter here; comments, ids and retry
/// times are skipped. Unlike in the standard, a lone CR does not end a line: no provider
/// sends one, and JSON never contains it raw.
#[derive(Debug, Default)]
pub(crate) struct ServerSentEventParser {
    lines: WireLineSplitter,
    name: String,
    data: String,
    has_data: bool,
    is_begun: bool,
}

impl ServerSentEventParser {
    fn push(&mut self, bytes: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ModelFault> {
        let Self {
            lines,
            name,
            data,
            has_data,
            is_begun,
        } = self;
        let mut event = PartialServerSentEvent {
            name,
            data,
            has_data,
            is_begun,
        };
        lines.push_all(bytes, &mut |line| event.line(line, sink))
    }
}

struct PartialServerSentEvent<'a> {
    name: &'a mut String,
    data: &'a mut String,
    has_data: &'a mut bool,
    is_begun: &'a mut bool,
}

impl PartialServerSentEvent<'_> {
    fn line(&mut self, line: &[u8], sink: &mut FrameSink<'_>) -> Result<(), ModelFault> {
        let line = if *self.is_begun {
            line
        } else {
            line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
        };
        *self.is_begun = true;
        if line.is_empty() {
            return self.close(sink);
        }
        let colon = line
            .iter()
            .position(|byte| *byte == b':')
            .unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => text(value)?.clone_into(self.name),
            b"data" => {
                if self.data.len() + value.len() > LARGEST_FRAME {
                    return Err(too_large());
                }
                if *self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(text(value)?);
                *self.has_data = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, sink: &mut FrameSink<'_>) -> Result<(), ModelFault> {
        let name = if self.name.is_empty() {
            UNNAMED
        } else {
            self.name.as_str()
        };
        let result = if *self.has_data {
            sink(name, self.data)
        } else {
            Ok(())
        };
        self.name.clear();
        self.data.clear();
        *self.has_data = false;
        result
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn text(bytes: &[u8]) -> Result<&str, ModelFault> {
    std::str::from_utf8(bytes).map_err(|error| {
        ModelFault::new(
            ModelFaultKind::Garbled,
            format!("the answer is not UTF-8: {error}"),
        )
    })
}

fn too_large() -> ModelFault {
    ModelFault::new(
        ModelFaultKind::Endless,
        "one piece of the answer has more than 32 MiB",
    )
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
