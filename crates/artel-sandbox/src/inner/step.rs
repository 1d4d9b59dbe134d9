//! A step of the building that failed, told by name.

use std::io;

/// Which step failed and why, fit for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    pub(super) step: String,
    pub(super) why: String,
}

impl Failed {
    pub(super) fn new(step: &str, why: impl Into<String>) -> Self {
        Self {
            step: step.to_owned(),
            why: why.into(),
        }
    }
}

/// Names the step that an error belongs to.
pub(super) trait At<T> {
    /// The step and what exactly was tried.
    fn at(self, step: &str, what: &str) -> Result<T, Failed>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, step: &str, what: &str) -> Result<T, Failed> {
        self.map_err(|cause| Failed::new(step, format!("could not {what}: {}", cause.into())))
    }
}
