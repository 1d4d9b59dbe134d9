//! A model that replies with the time: Chat Completions over a plain socket.
//!
//! Every reply begins at once and then waits until all have begun. From then on, each gets
//! one piece per pace, spread evenly over it, so that the readers get one piece after the
//! other and never all at the same moment.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::ops::Range;
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use crate::reader::allow_sockets;
use crate::{PACE, meter};

/// The argument that starts a server.
pub(crate) const SERVE: &str = "serve";

/// The bytes before the time in a piece.
pub(crate) const BEFORE_TIME: &str = "\"content\":\"";

/// Number of digits of a time. A space follows them: digits could be the beginning of a key
/// in another spelling, and would be held back until the next piece shows what they are.
pub(crate) const DIGITS: usize = 20;

/// Time for the readers to settle after the last reply has begun.
const CALM: Duration = Duration::from_millis(500);

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
    transfer-encoding: chunked\r\nconnection: close\r\n\r\n";

/// Prints the base URL, answers this many requests at once, and exits.
pub(crate) fn serve(streams: usize, pieces: usize) {
    allow_sockets();
    let listener = listen(streams);
    println!("http://{}/v1", listener.local_addr().unwrap());
    let mut sockets: Vec<TcpStream> = (0..streams).map(|_| begin(&listener)).collect();
    let mut piece = Piece::new();
    let start = Instant::now();
    for turn in 0..pieces {
        for (place, socket) in sockets.iter_mut().enumerate() {
            let part = (turn * streams + place) as f64 / streams as f64;
            let due = CALM + PACE.mul_f64(part);
            if let Some(early) = due.checked_sub(start.elapsed()) {
                std::thread::sleep(early);
            }
            socket.write_all(piece.stamped()).unwrap();
        }
    }
    sockets.iter_mut().for_each(end);
}

/// Listens on a free port, with a backlog for all clients at once: the usual one is 128.
fn listen(streams: usize) -> TcpListener {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let _inside = runtime.enter();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let listener = socket.listen(u32::try_from(streams).unwrap()).unwrap();
    let listener = listener.into_std().unwrap();
    listener.set_nonblocking(false).unwrap();
    listener
}

/// Accepts a request and begins to reply.
fn begin(listener: &TcpListener) -> TcpStream {
    let (mut socket, _) = listener.accept().unwrap();
    socket.set_nodelay(true).unwrap();
    let mut question = BufReader::new(&socket);
    let mut length = 0;
    loop {
        let mut line = String::new();
        question.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    question.read_exact(&mut vec![0; length]).unwrap();
    let first = framed(&event(r#"{"role":"assistant","content":""}"#, "null"));
    socket
        .write_all((HEAD.to_owned() + &first).as_bytes())
        .unwrap();
    socket
}

fn end(socket: &mut TcpStream) {
    let last = framed(&event("{}", "\"stop\""));
    let done = framed("data: [DONE]\n\n");
    socket
        .write_all((last + &done + "0\r\n\r\n").as_bytes())
        .unwrap();
}

/// A piece of a reply, complete except for the time.
struct Piece {
    bytes: Vec<u8>,
    time: Range<usize>,
}

impl Piece {
    fn new() -> Self {
        let zeros = "0".repeat(DIGITS);
        let text = framed(&event(&format!(r#"{{"content":"{zeros} "}}"#), "null"));
        let at = text.find(&zeros).unwrap();
        Self {
            bytes: text.into_bytes(),
            time: at..at + DIGITS,
        }
    }

    fn stamped(&mut self) -> &[u8] {
        let time = format!("{:0DIGITS$}", meter::now());
        self.bytes[self.time.clone()].copy_from_slice(time.as_bytes());
        &self.bytes
    }
}

fn event(delta: &str, stop: &str) -> String {
    format!(
        "data: {{\"id\":\"chatcmpl-0123456789abcdef0123456789a\",\
         \"object\":\"chat.completion.chunk\",\"created\":1794733200,\"model\":\"bench-1\",\
         \"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\",\
         \"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\
         \"finish_reason\":{stop}}}]}}\n\n"
    )
}

fn framed(event: &str) -> String {
    format!("{:x}\r\n{event}\r\n", event.len())
}
