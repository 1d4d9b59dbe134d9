//! What can go wrong before a command runs.

use std::io;
use std::path::PathBuf;

use crate::level::Level;

/// Why a command was not started, or the ladder could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine does not give what the profile demands. Nothing ran.
    #[error("the sandbox reaches level {reached}, and {demanded} is demanded; missing: {missing}")]
    TooLow {
        /// What the profile demands.
        demanded: Level,
        /// What stands.
        reached: Level,
        /// Each missing wall with why and what would help.
        missing: String,
    },
    /// A network grant can only be kept by a network namespace.
    #[error("a network grant needs level full, and this machine reaches {reached}")]
    NetworkNeedsFull {
        /// What stands.
        reached: Level,
    },
    /// The job contradicts itself.
    #[error("the command cannot be started: {why}")]
    BadJob {
        /// What is wrong with it.
        why: String,
    },
    /// The starter, a second process of this program, could not be started.
    #[error("could not start `{program}` as the sandbox's starter")]
    NoStarter {
        /// This program.
        program: PathBuf,
        /// Why not.
        #[source]
        cause: io::Error,
    },
    /// The system refused something that is needed for every start.
    #[error("could not {what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why not.
        #[source]
        cause: io::Error,
    },
}

impl SandboxError {
    /// Returns a mapper for errors of the system, with what was tried.
    pub(crate) fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |cause| Self::System {
            what,
            cause: cause.into(),
        }
    }
}
