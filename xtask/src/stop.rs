//! The error of every task.

use std::fmt::Display;

/// Why a task ends early; each variant has its own exit code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum XtaskError {
    /// The command line is invalid.
    Usage(String),
    /// The task ran and failed.
    Failed(String),
}

impl XtaskError {
    /// Returns a failure that says what failed and why.
    pub(crate) fn because(what: impl Display, cause: impl Display) -> Self {
        Self::Failed(format!("{what}: {cause}"))
    }
}
