//! Classifies network errors as faults.

use std::error::Error;
use std::io;
use std::time::Duration;

use artel_types::model::{ModelFault, ModelFaultKind};

/// Classifies a failure to send a request or to get any response.
pub(super) fn of_sending(error: &reqwest::Error) -> ModelFault {
    let kind = if is_about_trust(error) {
        ModelFaultKind::Untrusted
    } else if system_kind(error) == Some(io::ErrorKind::ConnectionRefused) {
        ModelFaultKind::Unreachable
    } else if error.is_builder() {
        ModelFaultKind::BadRequest
    } else {
        ModelFaultKind::Network
    };
    ModelFault::new(kind, chain(error))
}

/// Classifies a failure in the middle of a response: whatever it was, the rest is missing.
pub(super) fn of_reading(error: &reqwest::Error) -> ModelFault {
    ModelFault::new(ModelFaultKind::Cut, chain(error))
}

pub(super) fn silent(patience: Duration, when: &str) -> ModelFault {
    ModelFault::new(
        ModelFaultKind::Silent,
        format!("nothing came for {} s {when}", patience.as_secs_f32()),
    )
}

/// Returns the messages of an error and all its causes, without the address. The address is
/// known, and that of a proxy may contain a password.
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

/// Returns whether trust could not be established: a wrong certificate, or a server that
/// does not even speak TLS.
fn is_about_trust(error: &reqwest::Error) -> bool {
    causes(error).any(holds_distrust)
}

/// Returns whether an error is about trust. The error inside an I/O error is not among its
/// causes, and may be another I/O error.
fn holds_distrust(error: &(dyn Error + 'static)) -> bool {
    let wrapped = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || wrapped.is_some_and(|inner| holds_distrust(inner))
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |error| (*error).source())
}
