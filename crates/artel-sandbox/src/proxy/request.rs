//! The head of an HTTP request: parsed once, strictly, and rewritten for the server.
//!
//! Nothing of the head is passed on as it came. Ambiguous heads are refused, so that the
//! server sees the request that was judged.

use super::body::HttpBodyRemainder;
use super::host::{HostParseError, ProxyTarget};
use crate::job::GrantedHost;

/// A request to the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyRequest {
    pub(crate) target: ProxyTarget,
    pub(crate) errand: ProxyRequestKind,
}

/// The kind of request: a tunnel or a single fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProxyRequestKind {
    /// Relay bytes both ways.
    Tunnel,
    /// Forward one request and its response.
    Fetch {
        /// The rewritten head for the server.
        head: Vec<u8>,
        body: HttpBodyRemainder,
        answer: HttpResponseExtent,
        /// Whether the client waits for `100 Continue` before it sends the body.
        waits: bool,
    },
}

/// The extent of a response: with a body or only a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpResponseExtent {
    Whole,
    HeadOnly,
}

/// Why the proxy does not accept a request head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxyRequestError {
    /// A line or a character that HTTP does not allow.
    #[error("the head of the request is malformed")]
    Malformed,
    /// An unsupported version of HTTP.
    #[error("only HTTP/1.0 and HTTP/1.1 are spoken here")]
    Version,
    /// A request in the form meant for a server, or with another scheme.
    #[error("this is a proxy: ask with `CONNECT host:port` or with `http://host/`")]
    Form,
    /// A host in a refused spelling.
    #[error(transparent)]
    Host(#[from] HostParseError),
    /// The `GrantedHost` line names another host, or there are two.
    #[error("the `Host` line and the request name different hosts")]
    Mismatch,
    /// The end of the body is ambiguous.
    #[error("the length of the body is ambiguous")]
    Length,
    /// An expectation other than `100-continue`.
    #[error("the expectation cannot be met")]
    Expectation,
}

struct ProxyRequestHeader<'a> {
    name: String,
    value: &'a [u8],
}

/// Hop-by-hop headers, which are not forwarded. Those named in a `Connection` line are
/// added.
const HOP_BY_HOP: [&str; 10] = [
    "connection",
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that a `Connection` line must not remove.
const KEPT: [&str; 3] = ["content-length", "host", "transfer-encoding"];

impl ProxyRequest {
    /// Parses a whole head, including the empty line at its end.
    pub fn parse(head: &[u8]) -> Result<Self, ProxyRequestError> {
        let mut lines = split_lines(head)?.into_iter();
        let first = lines.next().ok_or(ProxyRequestError::Malformed)?;
        let (method, asked, version) = split_first_line(first)?;
        let headers: Vec<_> = lines.map(parse_header).collect::<Result<_, _>>()?;
        if method == "CONNECT" {
            return connect(asked, version, &headers);
        }
        fetch(method, asked, version, &headers)
    }

    /// Returns the requested host and port.
    pub fn host(&self) -> GrantedHost {
        self.target.host()
    }

    /// Returns the head for the server, or `None` for a tunnel.
    pub fn forwarded(&self) -> Option<&[u8]> {
        match &self.errand {
            ProxyRequestKind::Tunnel => None,
            ProxyRequestKind::Fetch { head, .. } => Some(head),
        }
    }
}

impl ProxyRequestError {
    /// Returns the status line for the error.
    pub(crate) fn status(&self) -> &'static str {
        match self {
            Self::Malformed | Self::Form | Self::Mismatch | Self::Length => "400 Bad Request",
            Self::Host(_) => "403 Forbidden",
            Self::Expectation => "417 Expectation Failed",
            Self::Version => "505 HTTP Version Not Supported",
        }
    }
}

fn connect(
    asked: &str,
    version: ProxyHttpVersion,
    headers: &[ProxyRequestHeader<'_>],
) -> Result<ProxyRequest, ProxyRequestError> {
    let target = ProxyTarget::parse(asked.as_bytes(), None)?;
    agree(&target, headers, Some(target.port))?;
    // A tunnel has no body; announcing one is aimed at a server that reads requests
    // differently.
    if HttpBodyRemainder::announced(version, framing(headers))? != HttpBodyRemainder::Nothing {
        return Err(ProxyRequestError::Length);
    }
    Ok(ProxyRequest {
        target,
        errand: ProxyRequestKind::Tunnel,
    })
}

fn fetch(
    method: &str,
    asked: &str,
    version: ProxyHttpVersion,
    headers: &[ProxyRequestHeader<'_>],
) -> Result<ProxyRequest, ProxyRequestError> {
    let (scheme, rest) = asked.split_at_checked(7).ok_or(ProxyRequestError::Form)?;
    if !scheme.eq_ignore_ascii_case("http://") || rest.contains('#') {
        return Err(ProxyRequestError::Form);
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let target = ProxyTarget::parse(authority.as_bytes(), Some(80))?;
    agree(&target, headers, Some(80))?;
    let body = HttpBodyRemainder::announced(version, framing(headers))?;
    let waits = expects(headers)?;
    let line = match (method, path) {
        ("OPTIONS", "") => format!("{method} * {}", version.text()),
        (_, path) if path.starts_with('/') => format!("{method} {path} {}", version.text()),
        (_, query) => format!("{method} /{query} {}", version.text()),
    };
    let answer = match method {
        "HEAD" => HttpResponseExtent::HeadOnly,
        _ => HttpResponseExtent::Whole,
    };
    Ok(ProxyRequest {
        errand: ProxyRequestKind::Fetch {
            head: rewrite(&line, &target, headers, &body)?,
            body,
            answer,
            waits,
        },
        target,
    })
}

/// Writes the head that the server sees.
fn rewrite(
    line: &str,
    target: &ProxyTarget,
    headers: &[ProxyRequestHeader<'_>],
    body: &HttpBodyRemainder,
) -> Result<Vec<u8>, ProxyRequestError> {
    let named = named_by_connection(headers)?;
    let mut host = target.host();
    host.port = host.port.filter(|port| *port != 80);
    let mut head = format!("{line}\r\nHost: {host}\r\n").into_bytes();
    for header in headers {
        let name = header.name.as_str();
        if name == "host" || HOP_BY_HOP.contains(&name) || named.iter().any(|n| n == name) {
            continue;
        }
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(header.value);
        head.extend_from_slice(b"\r\n");
    }
    if matches!(body, HttpBodyRemainder::Chunked(_)) {
        head.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    Ok(head)
}

fn named_by_connection(
    headers: &[ProxyRequestHeader<'_>],
) -> Result<Vec<String>, ProxyRequestError> {
    let mut named = Vec::new();
    for header in headers.iter().filter(|h| h.name == "connection") {
        for name in header.value.split(|byte| *byte == b',') {
            let name = String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase();
            if KEPT.contains(&name.as_str()) {
                return Err(ProxyRequestError::Malformed);
            }
            named.push(name);
        }
    }
    Ok(named)
}

/// Checks that the `GrantedHost` header, if any, names the same host as the request.
fn agree(
    target: &ProxyTarget,
    headers: &[ProxyRequestHeader<'_>],
    port: Option<u16>,
) -> Result<(), ProxyRequestError> {
    let mut hosts = headers.iter().filter(|header| header.name == "host");
    let (first, second) = (hosts.next(), hosts.next());
    if second.is_some() {
        return Err(ProxyRequestError::Mismatch);
    }
    match first.map(|host| ProxyTarget::parse(host.value, port)) {
        None => Ok(()),
        Some(Ok(named)) if named == *target => Ok(()),
        Some(_) => Err(ProxyRequestError::Mismatch),
    }
}

fn expects(headers: &[ProxyRequestHeader<'_>]) -> Result<bool, ProxyRequestError> {
    let mut expectations = headers.iter().filter(|header| header.name == "expect");
    match (expectations.next(), expectations.next()) {
        (None, _) => Ok(false),
        (Some(one), None) if one.value.eq_ignore_ascii_case(b"100-continue") => Ok(true),
        _ => Err(ProxyRequestError::Expectation),
    }
}

fn framing<'a>(headers: &'a [ProxyRequestHeader<'a>]) -> impl Iterator<Item = (&'a str, &'a [u8])> {
    headers
        .iter()
        .map(|header| (header.name.as_str(), header.value))
}

/// The HTTP version that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyHttpVersion {
    Http10,
    Http11,
}

impl ProxyHttpVersion {
    fn text(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
        }
    }
}

fn split_first_line(line: &[u8]) -> Result<(&str, &str, ProxyHttpVersion), ProxyRequestError> {
    if !line.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(ProxyRequestError::Malformed);
    }
    let line = std::str::from_utf8(line).map_err(|_| ProxyRequestError::Malformed)?;
    let mut words = line.split(' ');
    let (Some(method), Some(asked), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(ProxyRequestError::Malformed);
    };
    if method.is_empty() || !method.bytes().all(is_token) || asked.is_empty() {
        return Err(ProxyRequestError::Malformed);
    }
    match version {
        "HTTP/1.1" => Ok((method, asked, ProxyHttpVersion::Http11)),
        "HTTP/1.0" => Ok((method, asked, ProxyHttpVersion::Http10)),
        _ if version.starts_with("HTTP/") => Err(ProxyRequestError::Version),
        _ => Err(ProxyRequestError::Malformed),
    }
}

/// Splits a head into its lines. Each ends in CR LF, and neither occurs anywhere else.
/// Some servers would read a line that begins with a space as a continuation, so it is
/// refused along with other invalid names.
fn split_lines(head: &[u8]) -> Result<Vec<&[u8]>, ProxyRequestError> {
    let inside = head
        .strip_suffix(b"\r\n\r\n")
        .ok_or(ProxyRequestError::Malformed)?;
    let mut lines: Vec<_> = inside.split(|byte| *byte == b'\n').collect();
    let last = lines.len() - 1;
    for line in &mut lines[..last] {
        *line = line
            .strip_suffix(b"\r")
            .ok_or(ProxyRequestError::Malformed)?;
    }
    if lines.iter().any(|line| line.is_empty()) {
        return Err(ProxyRequestError::Malformed);
    }
    Ok(lines)
}

fn parse_header(line: &[u8]) -> Result<ProxyRequestHeader<'_>, ProxyRequestError> {
    let colon = line.iter().position(|byte| *byte == b':');
    let (name, value) = line.split_at(colon.ok_or(ProxyRequestError::Malformed)?);
    let value = value[1..].trim_ascii();
    let plain = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    if name.is_empty() || !name.iter().copied().all(is_token) || !value.iter().all(plain) {
        return Err(ProxyRequestError::Malformed);
    }
    Ok(ProxyRequestHeader {
        name: String::from_utf8_lossy(name).to_ascii_lowercase(),
        value,
    })
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
