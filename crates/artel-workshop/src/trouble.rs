//! Several failures at once: a settings file can be wrong in many places.

use artel_files::FileError;
use artel_types::{Code, Failure};

/// One or more things that are wrong. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Failure>);

impl<F: Into<Failure>> From<F> for Problems {
    fn from(failure: F) -> Self {
        Self(vec![failure.into()])
    }
}

/// Says what went wrong with a file of the workshop.
pub(crate) fn file_failure(code: Code, error: &FileError) -> Failure {
    use std::error::Error as _;
    let failure = Failure::new(code, error.to_string());
    match error.source() {
        Some(why) => failure.because(why.to_string()),
        None => failure,
    }
    .advise("look at the file's folder, owner and mode, then repeat")
}
