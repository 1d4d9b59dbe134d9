//! Finds the end of a message. A body is followed to its last byte, so that nothing after
//! it passes.

use super::request::{ProxyHttpVersion, ProxyRequestError};

/// The rest of a body, counted down as it passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HttpBodyRemainder {
    /// No body, or none left.
    Nothing,
    /// This many bytes.
    Length(u64),
    /// Chunks that state their own length.
    Chunked(HttpChunkPosition),
    /// Everything up to the end of the connection.
    UntilClose,
}

/// The position inside a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpChunkPosition {
    /// Before the line with a chunk's length.
    Size,
    /// This many bytes before the end of a chunk.
    Data(u64),
    /// Before the line break after a chunk.
    End,
    /// After the last chunk, where trailer lines may follow and are dropped.
    Trailer,
}

/// Progress of a message: more is to come, or it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpMessageProgress {
    More,
    Complete,
}

/// A message that violates its framing or breaks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HttpFramingError;

/// Longest line between chunks, in bytes; a longer one is an error.
const LONGEST_LINE: usize = 4096;

impl HttpBodyRemainder {
    /// Reads the framing of a request's body from its head. Anything that two readers could
    /// understand differently is refused: both kinds of length, a repeated one, a list, a
    /// sign.
    pub(crate) fn announced<'a>(
        version: ProxyHttpVersion,
        headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Self, ProxyRequestError> {
        let (mut lengths, mut encodings) = (Vec::new(), Vec::new());
        for (name, value) in headers {
            match name {
                "content-length" => lengths.push(value),
                "transfer-encoding" => encodings.push(value),
                _ => {}
            }
        }
        match (lengths.as_slice(), encodings.as_slice()) {
            ([], []) => Ok(Self::Nothing),
            ([length], []) => match parse_length(length) {
                Some(0) => Ok(Self::Nothing),
                Some(length) => Ok(Self::Length(length)),
                None => Err(ProxyRequestError::Length),
            },
            ([], [coding])
                if coding.eq_ignore_ascii_case(b"chunked")
                    && version == ProxyHttpVersion::Http11 =>
            {
                Ok(Self::Chunked(HttpChunkPosition::Size))
            }
            _ => Err(ProxyRequestError::Length),
        }
    }

    /// Moves the bytes of the body from the input to the output, and returns how much of the
    /// input was consumed. Chunks are rewritten without their extensions.
    pub(crate) fn pass(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(usize, HttpMessageProgress), HttpFramingError> {
        match self {
            Self::Nothing => Ok((0, HttpMessageProgress::Complete)),
            Self::UntilClose => {
                output.extend_from_slice(input);
                Ok((input.len(), HttpMessageProgress::More))
            }
            Self::Length(left) => {
                let taken = copy(left, input, output);
                let complete = *left == 0;
                Ok((
                    taken,
                    if complete {
                        HttpMessageProgress::Complete
                    } else {
                        HttpMessageProgress::More
                    },
                ))
            }
            Self::Chunked(chunk) => chunk.pass(input, output),
        }
    }

    /// Returns whether the body may end here because the connection did.
    pub(crate) fn may_end(&self) -> bool {
        matches!(self, Self::Nothing | Self::UntilClose)
    }
}

impl HttpChunkPosition {
    fn pass(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(usize, HttpMessageProgress), HttpFramingError> {
        let mut at = 0;
        loop {
            if let Self::Data(left) = self {
                at += copy(left, &input[at..], output);
                if *left > 0 {
                    return Ok((at, HttpMessageProgress::More));
                }
                *self = Self::End;
            }
            let Some((line, length)) = line(&input[at..])? else {
                return Ok((at, HttpMessageProgress::More));
            };
            at += length;
            *self = match (*self, line) {
                (Self::Size, line) => match parse_size(line)? {
                    0 => Self::Trailer,
                    size => {
                        output.extend_from_slice(format!("{size:x}\r\n").as_bytes());
                        Self::Data(size)
                    }
                },
                (Self::End, b"") => {
                    output.extend_from_slice(b"\r\n");
                    Self::Size
                }
                (Self::Trailer, b"") => {
                    output.extend_from_slice(b"0\r\n\r\n");
                    return Ok((at, HttpMessageProgress::Complete));
                }
                (Self::Trailer, _) => Self::Trailer,
                (Self::End | Self::Data(_), _) => return Err(HttpFramingError),
            };
        }
    }
}

/// Parses a body length, a plain decimal number.
pub(crate) fn parse_length(value: &[u8]) -> Option<u64> {
    let plain = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| plain)?;
    text.parse().ok()
}

fn parse_size(line: &[u8]) -> Result<u64, HttpFramingError> {
    let end = line.iter().position(|byte| *byte == b';');
    let digits = line[..end.unwrap_or(line.len())].trim_ascii_end();
    let plain = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).map_err(|_| HttpFramingError)?;
    match u64::from_str_radix(text, 16) {
        Ok(size) if plain => Ok(size),
        _ => Err(HttpFramingError),
    }
}

/// Returns the first line and its length including the line break.
fn line(input: &[u8]) -> Result<Option<(&[u8], usize)>, HttpFramingError> {
    match input
        .iter()
        .take(LONGEST_LINE)
        .position(|byte| *byte == b'\n')
    {
        Some(end) => {
            let line = input[..end].strip_suffix(b"\r").ok_or(HttpFramingError)?;
            let odd = line
                .iter()
                .any(|byte| byte.is_ascii_control() && *byte != b'\t');
            if odd {
                return Err(HttpFramingError);
            }
            Ok(Some((line, end + 1)))
        }
        None if input.len() >= LONGEST_LINE => Err(HttpFramingError),
        None => Ok(None),
    }
}

fn copy(left: &mut u64, input: &[u8], output: &mut Vec<u8>) -> usize {
    let taken = usize::try_from(*left)
        .unwrap_or(usize::MAX)
        .min(input.len());
    output.extend_from_slice(&input[..taken]);
    *left -= taken as u64;
    taken
}
