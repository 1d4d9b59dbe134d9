//! A failed step of building the sandbox, identified by name.

use std::io;

/// The step that failed and why, fit for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SandboxStepError {
    pub(super) step: String,
    pub(super) why: String,
}

impl SandboxStepError {
    pub(super) fn new(step: &str, why: impl Into<String>) -> Self {
        Self {
            step: step.to_owned(),
            why: why.into(),
        }
    }
}

/// Adds the step to a system error.
pub(super) trait SandboxStepContext<T> {
    /// Names the step and exactly what was attempted.
    fn at(self, step: &str, what: &str) -> Result<T, SandboxStepError>;
}

impl<T, E: Into<io::Error>> SandboxStepContext<T> for Result<T, E> {
    fn at(self, step: &str, what: &str) -> Result<T, SandboxStepError> {
        self.map_err(|cause| {
            SandboxStepError::new(step, format!("could not {what}: {}", cause.into()))
        })
    }
}
