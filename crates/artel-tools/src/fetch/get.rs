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

use super::url::Page;
use crate::{Trouble, TroubleKind};

/// Time limit for the whole request.
const LONGEST: Duration = Duration::from_secs(30);

/// Time limit for the connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Poll interval for cancellation.
const GLANCE: Duration = Duration::from_millis(50);

/// The response of a host.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) bytes: u64,
    pub(super) body: Body,
}

/// The content of a response.
#[derive(Debug)]
pub(super) enum Body {
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
enum Content {
    Html,
    Text,
    Unknown,
    Unfit,
}

/// The reason why a request failed.
enum Failed {
    Client(reqwest::Error),
    System(std::io::Error),
    Cancelled,
}

/// Requests a page.
pub(super) fn get(
    page: &Page,
    most: u64,
    reach: &ProxyOptions,
    told: Observer,
    cancel: &CancelToken,
) -> Result<Answer, Trouble> {
    let machine = |what: String| Trouble::new(TroubleKind::Machine, what);
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
        Ok(Err(Failed::Client(error))) => Err(not_answered(page, &error)),
        Ok(Err(Failed::System(error))) => Err(machine(error.to_string())),
        Ok(Err(Failed::Cancelled)) => Err(called_off(page)),
        Err(_) => Err(machine("the request ended unexpectedly".to_owned())),
    }
}

/// Returns the error for a connection that the proxy did not let through.
fn stopped(page: &Page, passage: &ProxyAccess) -> Option<Trouble> {
    let host = page.host();
    match &passage.verdict {
        ProxyAccessOutcome::Allowed { .. } => None,
        ProxyAccessOutcome::Refused { why } => Some(
            Trouble::new(
                TroubleKind::Refused,
                format!("{host} cannot be fetched: {why}"),
            )
            .hint("a name must lead to public addresses only"),
        ),
        ProxyAccessOutcome::Unreachable { why } => Some(Trouble::new(
            TroubleKind::Failed,
            format!("{host} cannot be reached: {why}"),
        )),
    }
}

fn called_off(page: &Page) -> Trouble {
    let what = format!("{} had not answered when it was called off", page.host());
    Trouble::new(TroubleKind::Cancelled, what)
}

fn not_answered(page: &Page, error: &reqwest::Error) -> Trouble {
    let mut why = Vec::new();
    let mut next: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(cause) = next {
        why.push(cause.to_string());
        next = cause.source();
    }
    let (kind, what) = if error.is_timeout() {
        (
            TroubleKind::TimedOut,
            "did not answer in 30 seconds".to_owned(),
        )
    } else {
        (
            TroubleKind::Failed,
            format!("did not answer: {}", why.join(": ")),
        )
    };
    Trouble::new(kind, format!("{} {what}", page.host()))
}

fn ask(page: &Page, most: u64, way: &str, cancel: &CancelToken) -> Result<Answer, Failed> {
    // The first caller to install a provider wins, and all install the same one.
    drop(rustls::crypto::ring::default_provider().install_default());
    let proxy = reqwest::Proxy::all(way).map_err(Failed::Client)?;
    let client = Client::builder()
        .no_proxy()
        .proxy(proxy)
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .timeout(LONGEST)
        .user_agent(concat!("artel/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(Failed::Client)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failed::System)?;
    runtime.block_on(async {
        let answer = async {
            let response = client.get(page.url().clone()).send().await;
            let response = response.map_err(Failed::Client)?;
            take(page, response, most).await.map_err(Failed::Client)
        };
        tokio::select! {
            answer = answer => answer,
            () = cancelled(cancel) => Err(Failed::Cancelled),
        }
    })
}

/// Returns when the run has been cancelled.
async fn cancelled(cancel: &CancelToken) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(GLANCE).await;
    }
}

async fn take(page: &Page, mut response: Response, most: u64) -> Result<Answer, reqwest::Error> {
    let status = response.status();
    let header = |name| {
        let value = response.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    if status.is_redirection()
        && let Some(location) = header(LOCATION)
    {
        let location = page.url().join(&location).map_or(location, String::from);
        return Ok(Answer {
            status: status.as_u16(),
            bytes: 0,
            body: Body::Moved { location },
        });
    }
    let kind = header(CONTENT_TYPE).unwrap_or_default();
    let content = content(&kind);
    if matches!(content, Content::Unfit) {
        return Ok(Answer {
            status: status.as_u16(),
            bytes: 0,
            body: Body::Unfit {
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
    Ok(Answer {
        status: status.as_u16(),
        bytes: bytes.len() as u64,
        body: body(&content, &kind, &bytes, is_cut.into()),
    })
}

/// Whether the content was longer than the part that was read.
struct Cut(bool);

impl From<bool> for Cut {
    fn from(is_cut: bool) -> Self {
        Self(is_cut)
    }
}

fn body(content: &Content, kind: &str, bytes: &[u8], Cut(is_cut): Cut) -> Body {
    let is_binary = bytes.iter().take(8192).any(|byte| *byte == 0);
    if is_binary {
        return Body::Unfit {
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
        Content::Html => Body::Html { text, is_cut },
        Content::Unknown if looks_html => Body::Html { text, is_cut },
        _ => Body::Text { text, is_cut },
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

fn content(kind: &str) -> Content {
    let kind = essence(kind);
    let (family, sort) = kind.split_once('/').unwrap_or((kind.as_str(), ""));
    match (family, sort) {
        ("", _) => Content::Unknown,
        ("text", "html") | ("application", "xhtml+xml") => Content::Html,
        ("text", _) => Content::Text,
        (
            "application",
            "json" | "xml" | "javascript" | "x-javascript" | "ecmascript" | "yaml" | "x-yaml"
            | "toml" | "x-toml" | "x-sh" | "sql" | "graphql" | "x-ndjson" | "rtf",
        ) => Content::Text,
        ("application", sort) if sort.ends_with("+json") || sort.ends_with("+xml") => Content::Text,
        _ => Content::Unfit,
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
