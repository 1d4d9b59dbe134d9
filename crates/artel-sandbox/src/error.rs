//! Errors before a command runs.

use std::io;
use std::path::PathBuf;

use crate::level::SandboxLevel;

/// Why a command was not started, or the sandbox could not be tested.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine does not provide what the profile requires. Nothing ran.
    #[error("the sandbox reaches level {reached}, and {demanded} is demanded; missing: {missing}")]
    TooLow {
        /// The level that the profile requires.
        demanded: SandboxLevel,
        /// The level that the machine reached.
        reached: SandboxLevel,
        /// Each missing wall, with the reason and what would help.
        missing: String,
    },
    /// Only a network namespace can enforce a network grant.
    #[error("a network grant needs level full, and this machine reaches {reached}")]
    NetworkNeedsFull {
        /// The level that the machine reached.
        reached: SandboxLevel,
    },
    /// The command specification contradicts itself.
    #[error("the command cannot be started: {why}")]
    BadJob {
        /// The contradiction.
        why: String,
    },
    /// The starter, which is a second process of this program, could not be started.
    #[error("could not start `{program}` as the sandbox's starter")]
    NoStarter {
        /// The executable of this program.
        program: PathBuf,
        /// The error when starting it.
        #[source]
        cause: io::Error,
    },
    /// The system refused something that every start needs.
    #[error("could not {what}")]
    System {
        /// The failed operation, as a verb phrase.
        what: &'static str,
        /// The error of the system call.
        #[source]
        cause: io::Error,
    },
}

impl SandboxError {
    /// Returns a function that turns a system error into a [`SandboxError::System`] for this
    /// operation.
    pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |cause| Self::System {
            what,
            cause: cause.into(),
        }
    }
}
