//! Tells news from noise, byte by byte, without storing a line.

use memchr::{memchr2, memrchr};

/// Reads one stream of output and detects lines that say something new.
///
/// It keeps a few flags and no text, so a line may be endless. Text that a carriage return
/// overwrites is never judged: a progress line counts once, when it finally stays. A line
/// counts when it ends, so a prompt that waits for an answer is not news.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProgressDetector {
    /// The line contains text.
    text: bool,
    /// The line contains a number without a percent sign so far.
    number: bool,
    /// The last byte was a carriage return.
    returned: bool,
    escape: TerminalEscapeState,
}

/// The position within a terminal control sequence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum TerminalEscapeState {
    #[default]
    Outside,
    /// After the escape character.
    Begun,
    /// In parameters, until a final byte.
    Parameters,
    /// In a title or the like, until a bell or `ESC \`.
    Text,
    /// After an escape character in such a text.
    TextEnding,
    /// After the first byte of a drawing character: boxes, blocks, braille.
    Drawn,
    /// After the second byte of a drawing character.
    DrawnLast,
}

/// Returns whether a line, given without its line end, says nothing new: blank, dots,
/// spinners, bars, bare percentages, colours alone, and text that a carriage return
/// overwrote.
pub fn is_noise(line: &[u8]) -> bool {
    let mut ear = ProgressDetector::default();
    !ear.hear(line) && !ear.hear(b"\n")
}

impl ProgressDetector {
    /// Reads output and returns whether a line with something new ended in it.
    pub fn hear(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            let skip = if self.text && !self.returned {
                // Only the end of the line, or its overwriting, can change the answer.
                memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())
            } else {
                0
            };
            if skip > 0 {
                rest = &rest[skip..];
                continue;
            }
            if self.take(*byte) {
                self.hear_tail(&rest[1..]);
                return true;
            }
            rest = &rest[1..];
        }
        false
    }

    /// Prepares for the next bytes once the answer is known: only the open line matters.
    fn hear_tail(&mut self, rest: &[u8]) {
        let line = memrchr(b'\n', rest).map_or(rest, |end| &rest[end + 1..]);
        *self = Self::default();
        self.hear(line);
    }

    /// Reads one byte and returns whether it ended a line with something new.
    fn take(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' => {
                let news = self.text || self.number;
                *self = Self::default();
                return news;
            }
            b'\r' => {
                self.returned = true;
                self.escape = TerminalEscapeState::Outside;
                return false;
            }
            _ if self.returned => *self = Self::default(),
            _ => {}
        }
        match self.escape {
            TerminalEscapeState::Outside => self.take_plain(byte),
            TerminalEscapeState::Begun => {
                self.escape = match byte {
                    b'[' => TerminalEscapeState::Parameters,
                    b']' | b'P' | b'X' | b'^' | b'_' => TerminalEscapeState::Text,
                    0x20..=0x2f => TerminalEscapeState::Begun,
                    _ => TerminalEscapeState::Outside,
                };
            }
            TerminalEscapeState::Parameters if (0x40..=0x7e).contains(&byte) => {
                self.escape = TerminalEscapeState::Outside
            }
            TerminalEscapeState::Parameters => {}
            TerminalEscapeState::Text => {
                self.escape = match byte {
                    0x07 => TerminalEscapeState::Outside,
                    0x1b => TerminalEscapeState::TextEnding,
                    _ => TerminalEscapeState::Text,
                };
            }
            TerminalEscapeState::TextEnding => self.escape = TerminalEscapeState::Outside,
            TerminalEscapeState::Drawn => match byte {
                // U+2500 to U+25FF and U+2800 to U+28FF; `…` and dashes come with U+20xx.
                0x94..=0x97 | 0xa0..=0xa3 | 0x80 => self.escape = TerminalEscapeState::DrawnLast,
                _ => {
                    self.text = true;
                    self.escape = TerminalEscapeState::Outside;
                }
            },
            TerminalEscapeState::DrawnLast => self.escape = TerminalEscapeState::Outside,
        }
        false
    }

    fn take_plain(&mut self, byte: u8) {
        match byte {
            0x1b => self.escape = TerminalEscapeState::Begun,
            0xe2 => self.escape = TerminalEscapeState::Drawn,
            b'0'..=b'9' => self.number = true,
            b'%' if self.number => self.number = false,
            b'.' | b'|' | b'/' | b'-' | b'\\' | b'=' | b'#' | b'>' | b'<' | b'*' | b'_' | b'~'
            | b'+' | b'[' | b']' | b'(' | b')' => {}
            0..=0x20 | 0x7f => {}
            _ => self.text = true,
        }
    }
}
