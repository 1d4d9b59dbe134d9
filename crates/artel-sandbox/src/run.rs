//! Watches a running command to its end: its output, its time, its ending.
//!
//! Everything happens on the caller's thread, which waits in one place for output, the
//! end, a cancel and the next deadline. Memory does not grow with the output: as it
//! arrives, it is redacted, spooled to disk up to a cap, shown live and excerpted. However
//! the command ends, its whole tree is killed before the result is returned.

mod cancel;
mod channel;
mod spool;
mod supervise;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use artel_rules::excerpt::{self, OutputExcerpt};
use artel_rules::patience::{self, CommandTimeout, SentStopSignals};
use artel_types::{Clock, SecretRedactor};

pub use cancel::CancelToken;
pub use spool::{OutputSpoolOptions, SpooledOutput};

use spool::OutputSpooler;

use crate::error::SandboxError;
use crate::job::SandboxCommandSpec;
use crate::level::RequiredSandboxLevel;
use crate::process::{CommandExit, CommandResourceUsage, ExceededCommandLimit};
use crate::sandbox::{ProxyDoor, Sandbox, StartedCommand};

/// The operation named in an error when the output files cannot be created.
const SPOOL: &str = "make the files for the output";

/// The output stream that text came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputStreamKind {
    /// The standard output.
    Stdout,
    /// The standard error.
    Stderr,
}

/// Something to show while a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveCommandEvent<'a> {
    /// The command printed this. Secrets are removed; control characters are not.
    Output(OutputStreamKind, &'a [u8]),
    /// This signal was sent to all of its processes.
    Signalled(patience::CommandStopSignal),
}

/// Options for watching a command.
pub struct CommandWatchOptions<'a> {
    /// Called for every event at once. It delays the output, so it must be quick.
    pub live: &'a mut dyn FnMut(LiveCommandEvent<'_>),
    /// The source of the time.
    pub clock: Clock,
    /// Time limits of the command.
    pub patience: patience::CommandTimeLimits,
    /// Time that the command gets to exit after each signal.
    pub graces: patience::CommandGracePeriods,
    /// The handle that ends the command early.
    pub cancel: CancelToken,
    /// Removes secrets from the output.
    pub redactor: SecretRedactor,
    /// The place and the limits for keeping the output.
    pub spool: OutputSpoolOptions,
    /// Limits on the output that a model sees.
    pub excerpt: excerpt::OutputExcerptLimits,
}

/// A command that has ended, with all its results.
#[derive(Debug, Clone)]
pub struct FinishedCommand {
    /// The exit, or `None` if even the kernel could not end it in time.
    pub exit: Option<CommandExit>,
    /// The termination from outside, or `None` if it ended by itself.
    pub killed: Option<CommandTermination>,
    /// Whether output may be missing because the command was cut short.
    pub partial: bool,
    /// The time it ran.
    pub duration: Duration,
    /// Its standard output.
    pub stdout: CommandOutput,
    /// Its standard error.
    pub stderr: CommandOutput,
    /// The resources it used.
    pub usage: CommandResourceUsage,
    /// Paths it created under other spellings of protected names, such as `.GIT`. They are now
    /// called `.GIT.set-aside`.
    pub set_aside: Vec<PathBuf>,
}

/// One output stream of a command that has ended.
#[derive(Debug, Clone)]
pub struct CommandOutput {
    /// The output on disk: all of it, or its first and last part.
    pub spooled: SpooledOutput,
    /// The part that a model sees.
    pub excerpt: OutputExcerpt,
}

/// The termination of a command from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandTermination {
    /// The cause.
    pub by: CommandTerminationCause,
    /// The number of the last signal sent.
    pub signal: i32,
    /// The signals we sent, and when; none if the kernel enforced a limit.
    pub sent: SentStopSignals,
}

/// Why a command was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandTerminationCause {
    /// Its time was up.
    Timeout(CommandTimeout),
    /// It was cancelled.
    Cancel,
    /// It reached a limit.
    Limit(ExceededCommandLimit),
}

impl Sandbox {
    /// Runs a command to its end. `serve` gets the doors of its network grant; its return
    /// value is kept until the command has ended.
    pub fn run<Served>(
        &self,
        job: &SandboxCommandSpec,
        demand: RequiredSandboxLevel,
        watch: CommandWatchOptions<'_>,
        serve: impl FnOnce(Vec<ProxyDoor>) -> Served,
    ) -> Result<FinishedCommand, SandboxError> {
        // The files come first: a command whose output cannot be kept must not start.
        let files = watch.spool.open().map_err(SandboxError::system(SPOOL))?;
        let mut started = self.start(job, demand)?;
        let served = serve(std::mem::take(&mut started.doors));
        let finished = started.watch_into(files, watch);
        drop(served);
        finished
    }
}

impl StartedCommand {
    /// Watches the command to its end. If watching fails, its whole tree is ended.
    pub fn watch(self, watch: CommandWatchOptions<'_>) -> Result<FinishedCommand, SandboxError> {
        let files = watch.spool.open().map_err(SandboxError::system(SPOOL))?;
        self.watch_into(files, watch)
    }

    fn watch_into(
        self,
        files: [OutputSpooler; 2],
        watch: CommandWatchOptions<'_>,
    ) -> Result<FinishedCommand, SandboxError> {
        let Self {
            stdout,
            stderr,
            process,
            doors,
        } = self;
        let finished = supervise::supervise(&process, [stdout, stderr], files, watch)
            .map_err(SandboxError::system("watch the command"));
        drop(doors);
        finished
    }
}

impl FinishedCommand {
    /// Returns the text for a model: counts, both streams, and, where something was left out,
    /// the sentence `fetch`, which says how to get the full text.
    pub fn render(&self, fetch: &str) -> String {
        let mut text = excerpt::render(&self.stdout.excerpt, &self.stderr.excerpt, fetch);
        for path in &self.set_aside {
            let told = format!("\n[{path:?} is a protected name in another spelling: set aside]");
            text.push_str(&told);
        }
        text
    }
}

impl CommandTermination {
    /// Returns the name of the last signal.
    pub fn signal_name(&self) -> String {
        match self.signal {
            libc::SIGINT => "SIGINT".to_owned(),
            libc::SIGTERM => "SIGTERM".to_owned(),
            libc::SIGKILL => "SIGKILL".to_owned(),
            libc::SIGXCPU => "SIGXCPU".to_owned(),
            libc::SIGXFSZ => "SIGXFSZ".to_owned(),
            other => format!("signal {other}"),
        }
    }
}
