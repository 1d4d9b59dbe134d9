//! A client of our own, byte by byte: what a library would refuse to send is sent here.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// After so long without an answer something is wrong. Nothing is measured by it.
const HANG: Duration = Duration::from_secs(60);

/// What became of a request.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Nothing where the server hung up without a word.
    pub(crate) status: Option<u16>,
    pub(crate) text: String,
}

impl Answer {
    /// Refused, in words or by hanging up.
    pub(crate) fn is_refused(&self) -> bool {
        self.status
            .is_none_or(|status| (400..500).contains(&status))
    }
}

pub(crate) fn connect(listen: &str) -> TcpStream {
    let stream = TcpStream::connect(listen).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.set_write_timeout(Some(HANG)).unwrap();
    stream
}

/// Sends bytes and reads to the end. A server that hangs up while it is being written to is
/// listened to all the same.
pub(crate) fn send(listen: &str, parts: &[&[u8]]) -> Answer {
    let mut stream = connect(listen);
    for part in parts {
        if stream.write_all(part).is_err() {
            break;
        }
    }
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    Answer { status, text }
}

/// Asks for something, and hangs up.
pub(crate) fn get(listen: &str, token: &str, path: &str) -> Answer {
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {listen}\r\nAuthorization: Bearer {token}\r\n\
         Connection: close\r\n\r\n"
    );
    send(listen, &[head.as_bytes()])
}

/// Has something done, and hangs up.
pub(crate) fn post(listen: &str, token: &str, path: &str, body: &str) -> Answer {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {listen}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    send(listen, &[head.as_bytes()])
}

/// A reader of live events.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
    pub(crate) status: u16,
}

impl Events {
    /// Follows the remarks of the journal after this one.
    pub(crate) fn follow(listen: &str, token: &str, last: u64) -> Self {
        let mut stream = connect(listen);
        let head = format!(
            "GET /api/v1/events?kind=note. HTTP/1.1\r\nHost: {listen}\r\n\
             Authorization: Bearer {token}\r\nAccept: text/event-stream\r\n\
             Last-Event-ID: {last}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        Self { lines, status }
    }
}

/// The numbers of the events, as they come; it ends when the server hangs up.
impl Iterator for Events {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let id = line.strip_prefix("id: ").or(line.strip_prefix("id:"));
            if let Some(id) = id {
                return Some(id.trim().parse().unwrap());
            }
        }
    }
}
