//! Runs a command that a person types inside the sandbox.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use artel_rules::excerpt;
use artel_rules::patience::{self, CommandGracePeriods};
use artel_sandbox::proxy::{
    FilteringProxy, ProxyAccess, ProxyAccessOutcome, ProxyOptions, ProxyResolver,
};
use artel_sandbox::run::{
    CommandTerminationCause, CommandWatchOptions, FinishedCommand, LiveCommandEvent,
    OutputSpoolOptions, OutputStreamKind,
};
use artel_sandbox::{
    CommandExit, ExceededCommandLimit, GrantedHost, SandboxCommandSpec, SandboxLimits,
    SandboxNetwork, SandboxStdin,
};
use artel_types::{Failure, FailureCode, SecretRedactor};

use super::bench::{cancel, sandbox_failed};
use super::scratch::PrivateScratchFolder;
use crate::caller::CommandContext;
use crate::trouble::WorkshopFailures;

/// A command that a person wants to run in the sandbox.
#[derive(Debug, Clone, Default)]
pub struct SandboxedCommand {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Folders that the command may write.
    pub write: Vec<PathBuf>,
    /// Hosts that the command may reach.
    pub net: Vec<String>,
    /// The memory limit, in bytes.
    pub memory: Option<u64>,
    /// The time limit, or `None` for no limit of its own.
    pub timeout: Option<Duration>,
}

/// The outcome of a sandboxed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxedCommandOutcome {
    /// The exit code; 128 plus the number for a signal, 124 for a timeout.
    pub code: u8,
    /// A remark for the person.
    pub note: Option<String>,
}

/// The time limit of a command without one of its own.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

impl CommandContext {
    /// Runs a command in the sandbox. A person typed it, so policy is not asked. Its output
    /// goes unchanged to this process's output.
    pub fn sandbox_run(
        &self,
        run: &SandboxedCommand,
    ) -> Result<SandboxedCommandOutcome, WorkshopFailures> {
        let hosts = run
            .net
            .iter()
            .map(|host| parse(host))
            .collect::<Result<Vec<_>, _>>()?;
        let (sandbox, demand) = self.sandbox()?;
        let scratch = PrivateScratchFolder::new(self, "sandbox")?;
        let mut view = self.view(&self.closed_here())?;
        for folder in &run.write {
            view.write.push(self.writable(folder)?);
        }
        let here = self
            .environment
            .current_dir()
            .map_or_else(|| "/".into(), ToOwned::to_owned);
        let mut limits = SandboxLimits::default();
        limits.memory = run.memory.unwrap_or(limits.memory);
        let job = SandboxCommandSpec {
            argv: run.argv.clone(),
            cwd: here,
            env: self.child_environment(),
            view,
            network: if hosts.is_empty() {
                SandboxNetwork::None
            } else {
                SandboxNetwork::Hosts(hosts.clone())
            },
            limits,
            stdin: SandboxStdin::Inherit,
        };
        let mut live = |live: LiveCommandEvent<'_>| print(&live);
        let watch = CommandWatchOptions {
            live: &mut live,
            clock: self.clock.clone(),
            patience: patience::CommandTimeLimits::exactly(run.timeout.unwrap_or(LONGEST)),
            graces: CommandGracePeriods::default(),
            cancel: cancel()?,
            redactor: SecretRedactor::none(),
            spool: OutputSpoolOptions {
                head: 0,
                tail: 0,
                ..OutputSpoolOptions::new(scratch.path().join("spool"))
            },
            excerpt: excerpt::OutputExcerptLimits::default(),
        };
        let observer = std::sync::Arc::new(|passage: ProxyAccess| refused(&passage));
        let finished = sandbox.run(&job, demand, watch, |doors| {
            (!doors.is_empty()).then(|| {
                FilteringProxy::serve(
                    doors,
                    hosts,
                    ProxyOptions::from(ProxyResolver::system()),
                    observer,
                )
            })
        });
        let finished = finished.map_err(|error| sandbox_failed(&error))?;
        ended(&finished, run)
    }

    fn writable(&self, folder: &std::path::Path) -> Result<PathBuf, Failure> {
        let path = self.absolute(folder);
        path.canonicalize().map_err(|error| {
            Failure::new(
                FailureCode::W010,
                format!("there is no folder `{}`", path.display()),
            )
            .because(error.to_string())
            .advise("make it first: only what exists can be opened for writing")
        })
    }
}

fn parse(host: &str) -> Result<GrantedHost, Failure> {
    GrantedHost::parse(host).map_err(|bad| {
        Failure::new(FailureCode::B005, bad.to_string())
            .advise("name one host: `--net example.com`, `--net 127.0.0.1:5432`")
    })
}

fn print(live: &LiveCommandEvent<'_>) {
    // A closed output is for the command to notice, not for this process.
    match live {
        LiveCommandEvent::Output(OutputStreamKind::Stdout, bytes) => {
            let mut out = io::stdout().lock();
            drop(out.write_all(bytes).and_then(|()| out.flush()));
        }
        LiveCommandEvent::Output(OutputStreamKind::Stderr, bytes) => {
            drop(io::stderr().write_all(bytes))
        }
        LiveCommandEvent::Signalled(_) => {}
    }
}

fn refused(passage: &ProxyAccess) {
    if let ProxyAccessOutcome::Refused { why } = &passage.verdict {
        let host = artel_policy::record::visible(&passage.host);
        drop(writeln!(
            io::stderr(),
            "note: {host}:{} was refused: {why}",
            passage.port
        ));
    }
}

fn ended(
    finished: &FinishedCommand,
    run: &SandboxedCommand,
) -> Result<SandboxedCommandOutcome, WorkshopFailures> {
    let done = |code: i32, note: Option<String>| {
        Ok(SandboxedCommandOutcome {
            code: u8::try_from(code & 0xff).unwrap_or(1),
            note,
        })
    };
    if let Some(CommandExit::NotStarted { step, why }) = &finished.exit {
        let program = run
            .argv
            .first()
            .map(|word| word.to_string_lossy().into_owned());
        let program = program.unwrap_or_default();
        if step == "program" {
            let what = format!("`{program}` could not be started inside");
            return Err(Failure::new(FailureCode::B003, what)
                .because(why.clone())
                .advise("only what the sandbox shows can be run; `sandbox.read` in the settings adds folders")
                .into());
        }
        let what = format!("the sandbox could not be built: {step}");
        return Err(Failure::new(FailureCode::B001, what)
            .because(why.clone())
            .advise("`artel doctor` shows every layer and what would help")
            .into());
    }
    match finished.killed.map(|killed| killed.by) {
        Some(CommandTerminationCause::Timeout(_)) => {
            let time = run.timeout.unwrap_or(LONGEST);
            return done(
                124,
                Some(format!("ended after {time:?}; `--timeout` gives it longer")),
            );
        }
        Some(CommandTerminationCause::Limit(limited)) => {
            let note = match limited {
                ExceededCommandLimit::Memory => {
                    "ended: it used more memory than it may; `--memory` gives it more"
                }
                ExceededCommandLimit::Processes => "it started more processes than it may",
                ExceededCommandLimit::FileSize => "ended: it wrote a larger file than it may",
                ExceededCommandLimit::Files => "ended: it made more files than it may",
                ExceededCommandLimit::CpuTime => "ended: it used more processor time than it may",
            };
            return done(code_of(finished.exit.as_ref()), Some(note.to_owned()));
        }
        Some(CommandTerminationCause::Cancel) | None => {}
    }
    done(code_of(finished.exit.as_ref()), None)
}

fn code_of(exit: Option<&CommandExit>) -> i32 {
    match exit {
        Some(CommandExit::Code(code)) => *code,
        Some(CommandExit::Signal(signal)) => 128 + signal,
        Some(CommandExit::NotStarted { .. }) | None => 1,
    }
}
