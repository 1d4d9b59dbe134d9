//! What the network said, sorted.

use std::error::Error;
use std::io;
use std::time::Duration;

use artel_types::model::{Fault, FaultKind};

/// Sorts a failure to send a request or to get an answer at all.
pub(super) fn of_sending(error: &reqwest::Error) -> Fault {
    let kind = if is_about_trust(error) {
        FaultKind::Untrusted
    } else if system_kind(error) == Some(io::ErrorKind::ConnectionRefused) {
        FaultKind::Unreachable
    } else if error.is_builder() {
        FaultKind::BadRequest
    } else {
        FaultKind::Network
    };
    Fault::new(kind, chain(error))
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
    let mut said: Vec<String> = causes(error).map(ToString::to_string).collect();
    said.dedup();
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
    let mut found = causes(error).filter_map(|error| error.downcast_ref::<io::Error>());
    found.next().map(io::Error::kind)
}

/// Tells whether the two sides did not come to trust each other: a certificate that does not fit,
/// or somebody who does not even speak the language.
fn is_about_trust(error: &reqwest::Error) -> bool {
    causes(error).any(holds_distrust)
}

/// What a system error wraps is not among its causes, and may be another system error.
fn holds_distrust(error: &(dyn Error + 'static)) -> bool {
    let wrapped = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || wrapped.is_some_and(|inner| holds_distrust(inner))
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |error| (*error).source())
}
