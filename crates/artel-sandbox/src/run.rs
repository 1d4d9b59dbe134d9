//! Watches a running command to its end: its output, its time, its ending.
//!
//! Everything happens on the caller's thread, which waits in one place for output, the end, a
//! cancel and the next deadline. Memory does not grow with the output: it is cleaned of secrets,
//! spooled to disk up to a cap, shown live and excerpted as it comes. However the command ends,
//! its whole tree is swept before the result is handed out.

mod cancel;
mod channel;
mod spool;
mod supervise;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use artel_rules::excerpt::{self, Excerpted};
use artel_rules::patience::{self, Overdue, Sent};
use artel_types::{Clock, Redactor};

pub use cancel::Cancel;
pub use spool::{Spool, Spooled};

use spool::Spooling;

use crate::error::SandboxError;
use crate::job::Job;
use crate::level::Demand;
use crate::process::{Exit, Limited, Usage};
use crate::sandbox::{Door, Sandbox, Started};

/// What is tried when the files for the output are made.
const SPOOL: &str = "make the files for the output";

/// Where output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// The standard output.
    Stdout,
    /// The standard error.
    Stderr,
}

/// What can be shown while a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Live<'a> {
    /// It printed this. Secrets are gone; control characters are not.
    Output(Stream, &'a [u8]),
    /// This was sent to all of its processes.
    Signalled(patience::Signal),
}

/// How a command is watched.
pub struct Watch<'a> {
    /// Told whatever happens, at once. It is on the way of the output, so it must be quick.
    pub live: &'a mut dyn FnMut(Live<'_>),
    /// Tells the time.
    pub clock: Clock,
    /// How long it may take.
    pub patience: patience::Limits,
    /// How long it gets to leave when it is asked to.
    pub graces: patience::Graces,
    /// Ends it early.
    pub cancel: Cancel,
    /// Takes the secrets out of its output.
    pub redactor: Redactor,
    /// Where its output goes.
    pub spool: Spool,
    /// How much of its output a model is shown.
    pub excerpt: excerpt::Limits,
}

/// A command that has ended, with all it left.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended; nothing if even the kernel could not end it in time.
    pub exit: Option<Exit>,
    /// Who ended it, unless it ended by itself.
    pub killed: Option<Killed>,
    /// Whether the output may lack what would have come.
    pub partial: bool,
    /// How long it took.
    pub duration: Duration,
    /// Its output.
    pub stdout: Output,
    /// Its messages.
    pub stderr: Output,
    /// What it used.
    pub usage: Usage,
    /// What it made under other spellings of protected names, such as `.GIT`, and what is now called
    /// `.GIT.set-aside`.
    pub set_aside: Vec<PathBuf>,
}

/// One stream of a command that has ended.
#[derive(Debug, Clone)]
pub struct Output {
    /// The full text, or the first and the last part of it.
    pub spooled: Spooled,
    /// What a model is shown.
    pub excerpt: Excerpted,
}

/// How a command was ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Killed {
    /// Why.
    pub by: By,
    /// The number of the last signal that was sent.
    pub signal: i32,
    /// What we sent, and when; nothing where the kernel kept a limit.
    pub sent: Sent,
}

/// Why a command was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Its time was over.
    Timeout(Overdue),
    /// Somebody called it off.
    Cancel,
    /// It met a limit.
    Limit(Limited),
}

impl Sandbox {
    /// Runs a command to its end. `serve` is given the doors of its network grant, and what it
    /// returns is kept until the command has ended.
    pub fn run<Served>(
        &self,
        job: &Job,
        demand: Demand,
        watch: Watch<'_>,
        serve: impl FnOnce(Vec<Door>) -> Served,
    ) -> Result<Finished, SandboxError> {
        // Made first: a command whose output cannot be kept must not have begun.
        let files = watch.spool.open().map_err(SandboxError::system(SPOOL))?;
        let mut started = self.start(job, demand)?;
        let served = serve(std::mem::take(&mut started.doors));
        let finished = started.watch_into(files, watch);
        drop(served);
        finished
    }
}

impl Started {
    /// Watches the command to its end. If watching itself fails, its whole tree is ended.
    pub fn watch(self, watch: Watch<'_>) -> Result<Finished, SandboxError> {
        let files = watch.spool.open().map_err(SandboxError::system(SPOOL))?;
        self.watch_into(files, watch)
    }

    fn watch_into(self, files: [Spooling; 2], watch: Watch<'_>) -> Result<Finished, SandboxError> {
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

impl Finished {
    /// Returns what a model is shown: counts, both streams, and where something was left out,
    /// `fetch`, the sentence that says how to get the full text.
    pub fn render(&self, fetch: &str) -> String {
        let mut text = excerpt::render(&self.stdout.excerpt, &self.stderr.excerpt, fetch);
        for path in &self.set_aside {
            let told = format!("\n[{path:?} is a protected name in another spelling: set aside]");
            text.push_str(&told);
        }
        text
    }
}

impl Killed {
    /// Returns the signal's name.
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
