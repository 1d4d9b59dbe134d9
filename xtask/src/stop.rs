//! Why a task ends early.

use std::fmt::Display;

/// Why a task ends early; the two have different exit codes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The command line does not make sense.
    Usage(String),
    /// The task was tried and did not work.
    Failed(String),
}

impl Stop {
    /// Says what failed and what the system said about it.
    pub(crate) fn because(what: impl Display, cause: impl Display) -> Self {
        Self::Failed(format!("{what}: {cause}"))
    }
}
