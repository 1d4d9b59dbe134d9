//! What the network said, sorted.

use std::error::Error;
use std::io;
use std::time::Duration;

use artel_types::model::{Fault, FaultKind};

/// Sorts a failure to send a request or to get an answer at all.
pub(super) fn of_sending(error: &reqwest::Error) -> Fault {
    let said = chain(error);
    let kind = if error.is_timeout() {
        FaultKind::Network
    } else if let Some(kind) = system_kind(error) {
        match kind {
            io::ErrorKind::ConnectionRefused => FaultKind::Unreachable,
            _ if is_about_trust(&said) => FaultKind::Untrusted,
            _ => FaultKind::Network,
        }
    } else if is_about_trust(&said) {
        FaultKind::Untrusted
    } else if error.is_builder() {
        FaultKind::BadRequest
    } else {
        FaultKind::Network
    };
    Fault::new(kind, said)
}

/// Sorts a failure in the middle of an answer: whatever it was, the rest is missing.
pub(super) fn of_reading(error: &reqwest::Error) -> Fault {
    Fault::new(FaultKind::Cut, chain(error))
}

pub(super) fn silent(patience: Duration, when: &str) -> Fault {
    Fault::new(
        FaultKind::Silent,
        format!("nothing came for {} s {when}", patience.as_secs_f32()),
    )
}

/// Returns what an error and all that it wraps say, without the address: it is known, and proxies
/// may have a password in theirs.
pub(super) fn chain(error: &reqwest::Error) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut inner = error.source();
    while let Some(error) = inner {
        let text = error.to_string();
        if said.last() != Some(&text) {
            said.push(text);
        }
        inner = error.source();
    }
    if said.is_empty() {
        let what = if error.is_timeout() {
            "it took too long"
        } else if error.is_builder() {
            "the request cannot be put together"
        } else {
            "the connection failed"
        };
        said.push(what.to_owned());
    }
    said.join(": ")
}

fn system_kind(error: &reqwest::Error) -> Option<io::ErrorKind> {
    let mut inner: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = inner {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        inner = error.source();
    }
    None
}

fn is_about_trust(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    ["certificate", "tls", "handshake"]
        .iter()
        .any(|word| said.contains(word))
}
