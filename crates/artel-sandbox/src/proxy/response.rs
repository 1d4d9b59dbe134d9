//! The server's response on its way back: its head, then its body, then nothing.
//!
//! Servers are parsed more leniently than commands: an odd response harms only the client
//! that asked for it. What matters is where it ends, so that the connection can end with
//! it.

use super::body::{
    HttpBodyRemainder, HttpChunkPosition, HttpFramingError, HttpMessageProgress, parse_length,
};
use super::request::HttpResponseExtent;

/// A response, as far as it has arrived.
#[derive(Debug)]
pub(crate) struct RelayedResponse {
    answer: HttpResponseExtent,
    /// The body, or `None` before the final head has arrived.
    body: Option<HttpBodyRemainder>,
}

/// Longest head, in bytes; a longer one is an error.
const LONGEST_HEAD: usize = 64 * 1024;

/// Hop-by-hop headers. `Transfer-Encoding` is kept, because the body keeps its form.
const HOP_BY_HOP: [&[u8]; 4] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"upgrade",
];

impl RelayedResponse {
    pub(crate) fn to(answer: HttpResponseExtent) -> Self {
        Self { answer, body: None }
    }

    /// Moves the bytes of the response from the input to the output, and returns how much of
    /// the input was consumed.
    pub(crate) fn pass(
        &mut self,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(usize, HttpMessageProgress), HttpFramingError> {
        let mut at = 0;
        while self.body.is_none() {
            let rest = &input[at..];
            let Some(length) = head_length(rest) else {
                if rest.len() > LONGEST_HEAD {
                    return Err(HttpFramingError);
                }
                return Ok((at, HttpMessageProgress::More));
            };
            let (head, body) = self.rewrite(&rest[..length])?;
            output.extend_from_slice(&head);
            self.body = body;
            at += length;
        }
        match &mut self.body {
            Some(body) => {
                let (taken, flow) = body.pass(&input[at..], output)?;
                Ok((at + taken, flow))
            }
            None => Ok((at, HttpMessageProgress::More)),
        }
    }

    /// Returns whether the response may end here because the connection did.
    pub(crate) fn may_end(&self) -> bool {
        self.body.as_ref().is_some_and(HttpBodyRemainder::may_end)
    }

    /// Rewrites a head and returns the body that follows, or `None` after an interim head.
    fn rewrite(
        &self,
        head: &[u8],
    ) -> Result<(Vec<u8>, Option<HttpBodyRemainder>), HttpFramingError> {
        let mut lines = head
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .filter(|line| !line.is_empty());
        let first = lines.next().ok_or(HttpFramingError)?;
        let status = parse_status(first)?;
        let mut output = first.to_owned();
        let (mut length, mut chunked, mut coded) = (None, false, false);
        for line in lines {
            let colon = line
                .iter()
                .position(|byte| *byte == b':')
                .ok_or(HttpFramingError)?;
            let name = line[..colon].trim_ascii().to_ascii_lowercase();
            let value = line[colon + 1..].trim_ascii();
            if HOP_BY_HOP.contains(&name.as_slice()) {
                continue;
            }
            if name == b"content-length" {
                length = Some(parse_length(value).ok_or(HttpFramingError)?);
            }
            if name == b"transfer-encoding" {
                coded = true;
                chunked = value.to_ascii_lowercase().ends_with(b"chunked");
            }
            output.extend_from_slice(b"\r\n");
            output.extend_from_slice(line);
        }
        // Nobody asked to change the protocol.
        if status == 101 {
            return Err(HttpFramingError);
        }
        if status < 200 {
            output.extend_from_slice(b"\r\n\r\n");
            return Ok((output, None));
        }
        output.extend_from_slice(b"\r\nConnection: close\r\n\r\n");
        let bodiless = self.answer == HttpResponseExtent::HeadOnly || matches!(status, 204 | 304);
        let body = match (length, chunked, coded) {
            _ if bodiless => HttpBodyRemainder::Nothing,
            (_, true, _) => HttpBodyRemainder::Chunked(HttpChunkPosition::Size),
            (_, false, true) | (None, ..) => HttpBodyRemainder::UntilClose,
            (Some(0), ..) => HttpBodyRemainder::Nothing,
            (Some(length), ..) => HttpBodyRemainder::Length(length),
        };
        Ok((output, Some(body)))
    }
}

/// Returns where the empty line after a head ends.
fn head_length(input: &[u8]) -> Option<usize> {
    let lines = input.split_inclusive(|byte| *byte == b'\n');
    let mut length = 0;
    for line in lines {
        length += line.len();
        if matches!(line, b"\n" | b"\r\n") {
            return Some(length);
        }
    }
    None
}

fn parse_status(line: &[u8]) -> Result<u16, HttpFramingError> {
    let rest = line.strip_prefix(b"HTTP/1.").ok_or(HttpFramingError)?;
    let code = rest.get(2..5).ok_or(HttpFramingError)?;
    let text = std::str::from_utf8(code).map_err(|_| HttpFramingError)?;
    match text.parse() {
        Ok(status) if (100..1000).contains(&status) => Ok(status),
        _ => Err(HttpFramingError),
    }
}
