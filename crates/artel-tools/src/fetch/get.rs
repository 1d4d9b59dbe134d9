//! Sends the request through its own proxy that knows only one host, with limits on time
//! and size.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artel_sandbox::proxy::{
    FilteringProxy, Observer, ProxyAccess, ProxyAccessOutcome, ProxyOptions,
};
use artel_sandbox::run::CancelToken;
use artel_sandbox::{ProxyDoor, ProxyDoorKind};
use encoding_rs::{Encoding, UTF_8};
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, redirect};

use super::url::FetchUrl;
use crate::{ToolError, ToolErrorKind};

/// Time limit for the whole request.
const LONGEST: Duration = Duration::from_secs(30);

/// Time limit for the connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Poll interval for cancellation.
const GLANCE: Duration = Duration::from_millis(50);

/// The response of a host.
#[derive(Debug)]
pub(super) struct FetchResponse {
    pub(super) status: u16,
    pub(super) bytes: u64,
    pub(super) body: FetchedContent,
}

/// The content of a response.
#[derive(Debug)]
pub(super) enum FetchedContent {
    /// The page is at another address.
    Moved { location: String },
    /// A page with tags.
    Html { text: String, is_cut: bool },
    /// Text as it stands.
    Text { text: String, is_cut: bool },
    /// Content that cannot be read as text.
    Unfit { kind: String },
}

/// The kind of content that a response declares.
enum FetchContentType {
    Html,
    Text,
    Unknown,
    Unfit,
}

/// The reason why a request failed.
enum FetchError {
    Client(reqwest::Error),
    System(std::io::Error),
    Cancelled,
}

/// Requests a page.
pub(super) fn get(
    page: &FetchUrl,
    most: u64,
    reach: &ProxyOptions,
    told: Observer,
    cancel: &CancelToken,
) -> Result<FetchResponse, ToolError> {
    let machine = |what: String| ToolError::new(ToolErrorKind::Machine, what);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listener =
        listener.map_err(|error| machine(format!("no door for the request: {error}")))?;
    let door = listener
        .local_addr()
        .map_err(|error| machine(error.to_string()))?;
    let passages: Arc<Mutex<Vec<ProxyAccess>>> = Arc::default();
    let kept = Arc::clone(&passages);
    let observer = Arc::new(move |passage: ProxyAccess| {
        kept.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(passage.clone());
        told(passage);
    });
    let doors = vec![ProxyDoor {
        listener,
        kind: ProxyDoorKind::Proxy,
    }];
    let proxy = FilteringProxy::serve(doors, vec![page.host()], reach.clone(), observer)
        .map_err(|error| machine(error.to_string()))?;
    // Runs in its own runtime on its own thread: the caller may be inside another runtime.
    let answer = std::thread::scope(|scope| {
        let way = format!("http://{door}");
        let asking = scope.spawn(move || ask(page, most, &way, cancel));
        asking.join()
    });
    proxy.stop();
    let passages = passages.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(trouble) = passages.iter().find_map(|passage| stopped(page, passage)) {
        return Err(trouble);
    }
    match answer {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(FetchError::Client(error))) => Err(not_answered(page, &error)),
        Ok(Err(FetchError::System(error))) => Err(machine(error.to_string())),
        Ok(Err(FetchError::Cancelled)) => Err(called_off(page)),
        Err(_) => Err(machine("the request ended unexpectedly".to_owned())),
    }
}

/// Returns the error for a connection that the proxy did not let through.
fn stopped(page: &FetchUrl, passage: &ProxyAccess) -> Option<ToolError> {
    let host = page.host();
    match &passage.verdict {
        ProxyAccessOutcome::Allowed { .. } => None,
        ProxyAccessOutcome::Refused { why } => Some(
            ToolError::new(
                ToolErrorKind::Refused,
                format!("{host} cannot be fetched: {why}"),
            )
            .hint("a name must lead to public addresses only"),
        ),
        ProxyAccessOutcome::Unreachable { why } => Some(ToolError::new(
            ToolErrorKind::Failed,
            format!("{host} cannot be reached: {why}"),
        )),
    }
}

fn called_off(page: &FetchUrl) -> ToolError {
    let what = format!("{} had not answered when it was called off", page.host());
    ToolError::new(ToolErrorKind::Cancelled, what)
}

fn not_answered(page: &FetchUrl, error: &reqwest::Error) -> ToolError {
    let mut why = Vec::new();
    let mut next: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(cause) = next {
        why.push(cause.to_string());
        next = cause.source();
    }
    let (kind, what) = if error.is_timeout() {
        (
            ToolErrorKind::TimedOut,
            "did not answer in 30 seconds".to_owned(),
        )
    } else {
        (
            ToolErrorKind::Failed,
            format!("did not answer: {}", why.join(": ")),
        )
    };
    ToolError::new(kind, format!("{} {what}", page.host()))
}

fn ask(
    page: &FetchUrl,
    most: u64,
    way: &str,
    cancel: &CancelToken,
) -> Result<FetchResponse, FetchError> {
    // The first caller to install a provider wins, and all install the same one.
    drop(rustls::crypto::ring::default_provider().install_default());
    let proxy = reqwest::Proxy::all(way).map_err(FetchError::Client)?;
    let client = Client::builder()
        .no_proxy()
        .proxy(proxy)
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .timeout(LONGEST)
        .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(FetchError::Client)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(FetchError::System)?;
    runtime.block_on(async {
        let answer = async {
            let response = client.get(page.url().clone()).send().await;
            let response = response.map_err(FetchError::Client)?;
            take(page, response, most).await.map_err(FetchError::Client)
        };
        tokio::select! {
            answer = answer => answer,
            () = cancelled(cancel) => Err(FetchError::Cancelled),
        }
    })
}

/// Returns when the run has been cancelled.
async fn cancelled(cancel: &CancelToken) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(GLANCE).await;
    }
}

async fn take(
    page: &FetchUrl,
    mut response: Response,
    most: u64,
) -> Result<FetchResponse, reqwest::Error> {
    let status = response.status();
    let header = |name| {
        let value = response.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    if status.is_redirection()
        && let Some(location) = header(LOCATION)
    {
        let location = page.url().join(&location).map_or(location, String::from);
        return Ok(FetchResponse {
            status: status.as_u16(),
            bytes: 0,
            body: FetchedContent::Moved { location },
        });
    }
    let kind = header(CONTENT_TYPE).unwrap_or_default();
    let content = content(&kind);
    if matches!(content, FetchContentType::Unfit) {
        return Ok(FetchResponse {
            status: status.as_u16(),
            bytes: 0,
            body: FetchedContent::Unfit {
                kind: essence(&kind),
            },
        });
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    let mut is_cut = false;
    while let Some(chunk) = response.chunk().await? {
        let room = most - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            is_cut = true;
            break;
        }
    }
    Ok(FetchResponse {
        status: status.as_u16(),
        bytes: bytes.len() as u64,
        body: body(&content, &kind, &bytes, is_cut.into()),
    })
}

/// Whether the content was longer than the part that was read.
struct FetchTruncation(bool);

impl From<bool> for FetchTruncation {
    fn from(is_cut: bool) -> Self {
        Self(is_cut)
    }
}

fn body(
    content: &FetchContentType,
    kind: &str,
    bytes: &[u8],
    FetchTruncation(is_cut): FetchTruncation,
) -> FetchedContent {
    let is_binary = bytes.iter().take(8192).any(|byte| *byte == 0);
    if is_binary {
        return FetchedContent::Unfit {
            kind: "binary".to_owned(),
        };
    }
    let (text, _, _) = encoding(kind).decode(bytes);
    let text = text.into_owned();
    let start = text
        .trim_start()
        .get(..15)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let looks_html = start.starts_with("<!doctype html") || start.starts_with("<html");
    match content {
        FetchContentType::Html => FetchedContent::Html { text, is_cut },
        FetchContentType::Unknown if looks_html => FetchedContent::Html { text, is_cut },
        _ => FetchedContent::Text { text, is_cut },
    }
}

/// Returns the media type without its parameters, safe to show.
fn essence(kind: &str) -> String {
    let essence = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    essence
        .chars()
        .filter(|letter| letter.is_ascii_graphic())
        .take(80)
        .collect()
}

fn content(kind: &str) -> FetchContentType {
    let kind = essence(kind);
    let (family, sort) = kind.split_once('/').unwrap_or((kind.as_str(), ""));
    match (family, sort) {
        ("", _) => FetchContentType::Unknown,
        ("text", "html") | ("application", "xhtml+xml") => FetchContentType::Html,
        ("text", _) => FetchContentType::Text,
        (
            "application",
            "json" | "xml" | "javascript" | "x-javascript" | "ecmascript" | "yaml" | "x-yaml"
            | "toml" | "x-toml" | "x-sh" | "sql" | "graphql" | "x-ndjson" | "rtf",
        ) => FetchContentType::Text,
        ("application", sort) if sort.ends_with("+json") || sort.ends_with("+xml") => {
            FetchContentType::Text
        }
        _ => FetchContentType::Unfit,
    }
}

/// Returns the encoding that the content type names, or UTF-8.
fn encoding(kind: &str) -> &'static Encoding {
    let lower = kind.to_ascii_lowercase();
    let label = lower.split_once("charset=").map(|(_, label)| label);
    let label = label.map(|label| label.split(';').next().unwrap_or_default());
    let label = label.map(|label| label.trim().trim_matches('"'));
    label
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .unwrap_or(UTF_8)
}
