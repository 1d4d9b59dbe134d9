//! The smallest client there can be: it shows every byte as it came.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use artel_testkit::standin::{Format, StandIn};
use serde_json::{Value, json};

/// A request to a provider, one that fits unless it is changed.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

/// An answer on its way.
pub(crate) struct Reply {
    reader: BufReader<TcpStream>,
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
}

/// The rest of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    pub(crate) chunks: Vec<Vec<u8>>,
    /// Whether it came to its proper end.
    pub(crate) is_whole: bool,
}

impl Ask {
    /// Asks for a streamed answer to a short prompt.
    pub(crate) fn short(format: Format) -> Self {
        let message = json!({"role": "user", "content": "Hello"});
        let bearer = ("authorization", "Bearer a-key".to_owned());
        let (path, headers, body) = match format {
            Format::Anthropic => (
                "/v1/messages",
                vec![
                    ("x-api-key", "a-key".to_owned()),
                    ("anthropic-version", "2023-06-01".to_owned()),
                ],
                json!({"model": "m", "max_tokens": 100, "stream": true, "messages": [message]}),
            ),
            Format::Responses => (
                "/v1/responses",
                vec![bearer],
                json!({"model": "m", "stream": true, "input": [message]}),
            ),
            Format::Chat => (
                "/v1/chat/completions",
                vec![bearer],
                json!({"model": "m", "stream": true, "messages": [message]}),
            ),
            Format::Google => (
                "/v1beta/models/m:streamGenerateContent?alt=sse",
                vec![("x-goog-api-key", "a-key".to_owned())],
                json!({"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}),
            ),
            Format::Ollama => (
                "/api/chat",
                vec![],
                json!({"model": "m", "messages": [message]}),
            ),
        };
        Self {
            method: "POST",
            path: path.to_owned(),
            headers,
            body,
        }
    }

    /// Changes a field of the body; null takes it away.
    pub(crate) fn with(mut self, field: &str, value: Value) -> Self {
        let fields = self.body.as_object_mut().unwrap();
        match value {
            Value::Null => drop(fields.remove(field)),
            value => drop(fields.insert(field.to_owned(), value)),
        }
        self
    }

    /// Sends it on a connection of its own and does not wait.
    pub(crate) fn send(&self, stand_in: &StandIn) -> TcpStream {
        let url = stand_in.url();
        let address = url.strip_prefix("http://").unwrap().split('/').next();
        self.send_to(address.unwrap())
    }

    /// The same to a server in another process.
    pub(crate) fn send_to(&self, address: &str) -> TcpStream {
        let mut connection = TcpStream::connect(address).unwrap();
        let body = match self.method {
            "GET" => String::new(),
            _ => self.body.to_string(),
        };
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        text += "host: stand-in\r\nconnection: close\r\n";
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("content-length: {}\r\n\r\n{body}", body.len());
        connection.write_all(text.as_bytes()).unwrap();
        connection
    }

    /// Sends it and returns the status and the whole body.
    pub(crate) fn get(&self, stand_in: &StandIn) -> (u16, String) {
        let reply = Reply::head(self.send(stand_in));
        let status = reply.status;
        let rest = reply.rest();
        assert!(rest.is_whole, "an answer that comes to its end");
        (status, rest.text())
    }
}

impl Reply {
    /// Waits for the head of an answer.
    pub(crate) fn head(connection: TcpStream) -> Self {
        let mut reader = BufReader::new(connection);
        let first = line(&mut reader);
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = BTreeMap::new();
        loop {
            let line = line(&mut reader);
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            headers.insert(name.to_owned(), value.to_owned());
        }
        Self {
            reader,
            status,
            headers,
        }
    }

    /// Waits until so many bytes of the body have come.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            bytes.extend(self.chunk().unwrap());
        }
        bytes
    }

    /// Waits for the end of the connection.
    pub(crate) fn rest(mut self) -> Rest {
        if let Some(length) = self.headers.get("content-length") {
            let mut body = Vec::new();
            self.reader.read_to_end(&mut body).unwrap();
            return Rest {
                is_whole: body.len().to_string() == *length,
                chunks: vec![body],
            };
        }
        let mut chunks = Vec::new();
        while let Some(chunk) = self.chunk() {
            if chunk.is_empty() {
                return Rest {
                    chunks,
                    is_whole: true,
                };
            }
            chunks.push(chunk);
        }
        Rest {
            chunks,
            is_whole: false,
        }
    }

    /// Returns the next chunk, which is empty at the end; nothing once the connection is closed.
    fn chunk(&mut self) -> Option<Vec<u8>> {
        let length = line(&mut self.reader);
        let length = usize::from_str_radix(&length, 16).ok()?;
        let mut chunk = vec![0; length + 2];
        self.reader.read_exact(&mut chunk).ok()?;
        chunk.truncate(length);
        Some(chunk)
    }
}

impl Rest {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }
}

fn line(reader: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    // A connection that was reset is one that was closed.
    drop(reader.read_line(&mut line));
    line.trim_end().to_owned()
}
