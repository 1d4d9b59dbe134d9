//! The sandbox of a run's processes, with its view, its environment and its limits.

mod jobs;
mod path_walls;
mod started_for;

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use artel_policy::{ConsentRecord, PathWall, PolicyAction};
use artel_rules::excerpt;
use artel_rules::patience::{self, CommandGracePeriods};
use artel_sandbox::proxy::{FilteringProxy, ProxyAccess, ProxyOptions as NetworkReach};
use artel_sandbox::run::{
    CancelToken, CommandTerminationCause, CommandWatchOptions, FinishedCommand, LiveCommandEvent,
    OutputSpoolOptions,
};
use artel_sandbox::slots::{
    CommandConcurrencyError, CommandConcurrencyPermit, CommandConcurrencyPool,
    CommandConcurrencyWait,
};
use artel_sandbox::{
    CommandExit, ExceededCommandLimit, GrantedHost, RequiredSandboxLevel, Sandbox,
    SandboxCommandSpec, SandboxError, SandboxLimits, SandboxNetwork, SandboxStdin, SandboxView,
};
use artel_types::{Clock, Secret, SecretDetector, SecretRedactor};
use serde_json::json;

pub use jobs::{BackgroundJobState, BackgroundJobs};
pub use path_walls::{ToolCallConsent, histories_of_kept, keep_from_reading_in};
pub use started_for::ProcessStartReason;

use crate::checks::ProgramSearchPath;
use crate::{ToolContext, ToolError, ToolErrorKind, ToolObservation, nearest};

/// The sandbox of one run.
pub struct ToolSandbox {
    /// The walls.
    pub sandbox: Sandbox,
    /// The lowest level of walls that the profile accepts.
    pub demand: RequiredSandboxLevel,
    /// The files that every command sees; the run's tree is writable among them.
    pub view: SandboxView,
    /// Paths that the person's rules hide from commands or protect from writing.
    pub path_walls: Vec<PathWall>,
    /// The environment of every command.
    pub environment: Vec<(OsString, OsString)>,
    /// The resource limits of a command.
    pub limits: SandboxLimits,
    /// A private folder for output; each command gets its own folder in it.
    pub spool: PathBuf,
    pub clock: Clock,
    /// Time that commands get to exit when asked.
    pub graces: CommandGracePeriods,
    /// Secrets that are redacted exactly in output, in addition to those that a command gets.
    pub known: Vec<Secret>,
    /// Formats of other texts that look like secrets.
    pub formats: Arc<dyn SecretDetector>,
    /// Resolves names to addresses for network grants.
    pub reach: NetworkReach,
    /// The source of secrets.
    pub keys: Arc<dyn ToolSecretLookup>,
    /// Is notified of events while commands run.
    pub audience: Arc<dyn ToolProcessObserver>,
    /// Limits how many commands run at once, over all runs.
    pub slots: CommandConcurrencyPool,
    /// The reason why commands start.
    pub started_for: ProcessStartReason,
    /// Ends everything that runs here.
    pub cancel: CancelToken,
    /// Counts the commands, to name their folders.
    pub count: AtomicU64,
}

/// The key store, as far as tools may use it.
pub trait ToolSecretLookup: Send + Sync {
    /// Returns a secret by its name.
    fn secret(&self, name: &str) -> Option<Secret>;
}

/// An observer of running commands.
pub trait ToolProcessObserver: Send + Sync {
    /// Receives a command's output, with secrets redacted.
    fn output(&self, live: &LiveCommandEvent<'_>);
    /// Is notified that a process tried to reach a host.
    fn passage(&self, passage: &ProxyAccess);
    /// Is notified that a command waits for its turn.
    fn waiting(&self, what: &str);
}

/// One command to run.
#[derive(Debug, Clone, Default)]
pub struct ToolProcessSpec {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The folder where it starts, relative to the run's tree.
    pub cwd: String,
    /// Time limit. Without one, it depends on the command's words.
    pub timeout: Option<Duration>,
    /// Whether the time limit stays fixed even if the command prints output.
    pub is_exact: bool,
    /// Names of the secrets that it gets.
    pub secrets: Vec<String>,
    /// Hosts that it may reach.
    pub network: Vec<String>,
    /// Its standard input.
    pub stdin: Vec<u8>,
    /// Additional variables.
    pub environment: Vec<(String, String)>,
    /// Folders outside the view that it may read.
    pub read: Vec<PathBuf>,
    /// Folders outside the view that it may write; Artel sets them, never a model.
    pub write: Vec<PathBuf>,
    /// Limits that replace the usual ones.
    pub limits: Option<SandboxLimits>,
    /// Label shown to others that wait for it. Without one, its words are shown.
    pub label: Option<String>,
}

/// Progress of a command before it starts.
pub(crate) enum ProcessQueueState<'a> {
    /// It waits, for the given reason.
    Awaited(&'a str),
    /// It starts now.
    Come,
}

impl ToolProcessSpec {
    /// Creates a command from words alone.
    pub fn of(words: Vec<String>) -> Self {
        Self {
            words,
            cwd: ".".to_owned(),
            ..Self::default()
        }
    }

    /// Returns the beginning of the label, on one line.
    fn label(&self) -> String {
        let words = || self.words.join(" ");
        let label = self.label.clone().unwrap_or_else(words);
        label
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(80)
            .collect()
    }
}

/// Runs a command to its end and returns what the model sees of it.
pub fn run(bench: &ToolContext, order: ToolProcessSpec) -> Result<ToolObservation, ToolError> {
    let room = workroom(bench)?;
    let cancel = room.cancel.clone();
    let finished = room.finish(bench, &order, cancel, &|_| {})?;
    room.observe(&order.words, &finished)
}

/// Returns the sandbox, or an error if this run may not start processes.
pub fn workroom(bench: &ToolContext) -> Result<&Arc<ToolSandbox>, ToolError> {
    bench.workroom.as_ref().ok_or_else(|| {
        ToolError::new(ToolErrorKind::Refused, "no process can be started here")
            .hint("use the file tools")
    })
}

impl ToolSandbox {
    /// Runs a command to its end.
    pub(crate) fn finish(
        &self,
        bench: &ToolContext,
        order: &ToolProcessSpec,
        cancel: CancelToken,
        turn: &dyn Fn(ProcessQueueState<'_>),
    ) -> Result<FinishedCommand, ToolError> {
        // The slot comes first: a secret is not fetched before its command can run.
        let slot = self.slot(order, &cancel, turn)?;
        turn(ProcessQueueState::Come);
        let (job, redactor) = self.job(bench, order)?;
        let patience = match order.timeout {
            Some(time) if order.is_exact => patience::CommandTimeLimits::exactly(time),
            Some(time) => patience::CommandTimeLimits::of_base(time),
            None => patience::CommandTimeLimits::of_command(&order.words),
        };
        let mut live = |live: LiveCommandEvent<'_>| self.audience.output(&live);
        let watch = CommandWatchOptions {
            live: &mut live,
            clock: self.clock.clone(),
            patience,
            graces: self.graces,
            cancel,
            redactor,
            spool: self.spool()?,
            excerpt: excerpt::OutputExcerptLimits::default(),
        };
        let hosts = match &job.network {
            SandboxNetwork::Hosts(hosts) => hosts.clone(),
            SandboxNetwork::None => Vec::new(),
        };
        let audience = Arc::clone(&self.audience);
        let observer = Arc::new(move |passage: ProxyAccess| audience.passage(&passage));
        let finished = self.sandbox.run(&job, self.demand, watch, |doors| {
            (!doors.is_empty()).then(|| {
                FilteringProxy::serve(doors, hosts, self.reach.clone(), observer)
                    .map_err(|error| error.to_string())
            })
        });
        drop(slot);
        finished.map_err(|error| sandbox_trouble(&error))
    }

    /// Waits for the command's turn. The person and the caller's callback are notified of the
    /// reason.
    fn slot(
        &self,
        order: &ToolProcessSpec,
        cancel: &CancelToken,
        turn: &dyn Fn(ProcessQueueState<'_>),
    ) -> Result<CommandConcurrencyPermit, ToolError> {
        let label = order.label();
        let mut waiting = |waiting: &CommandConcurrencyWait| {
            let what = awaited(waiting);
            turn(ProcessQueueState::Awaited(&what));
            self.audience.waiting(&format!("`{label}` {what}"));
        };
        let slot = self
            .slots
            .acquire(self.started_for.on_behalf(), &label, cancel, &mut waiting);
        slot.map_err(|error| match error {
            CommandConcurrencyError::Cancelled => {
                ToolError::new(ToolErrorKind::Cancelled, error.to_string())
            }
            CommandConcurrencyError::Unusable { .. } => {
                ToolError::new(ToolErrorKind::Machine, error.to_string())
            }
        })
    }

    /// Applies the person's path rules to the view of a process in a tree, as if nobody was
    /// asked.
    pub fn keep_paths(&self, view: &mut SandboxView, tree: &Path) -> Result<(), ToolError> {
        path_walls::raise(view, tree, &self.path_walls, &ToolCallConsent::None)
    }

    /// Creates the sandbox job of a command, and the redactor for its output.
    fn job(
        &self,
        bench: &ToolContext,
        order: &ToolProcessSpec,
    ) -> Result<(SandboxCommandSpec, SecretRedactor), ToolError> {
        let cwd = bench
            .tree
            .resolve(Path::new(&order.cwd))
            .map_err(|error| ToolError::new(ToolErrorKind::Refused, error.to_string()))?;
        let mut env = self.environment.clone();
        let own = order.environment.iter();
        env.extend(own.map(|(name, value)| (name.into(), value.into())));
        let mut secrets = Vec::new();
        for name in &order.secrets {
            let secret = self.keys.secret(name).ok_or_else(|| {
                ToolError::new(
                    ToolErrorKind::NotFound,
                    format!("no secret `{name}` is stored"),
                )
                .hint(format!(
                    "the person can store it: `artel auth set --tool {name}`"
                ))
            })?;
            env.push((variable_of(name).into(), secret.expose().into()));
            secrets.push(secret);
        }
        let mut view = self.view.clone();
        view.read.extend(order.read.iter().cloned());
        view.write.extend(order.write.iter().cloned());
        path_walls::raise(
            &mut view,
            bench.tree.path(),
            &self.path_walls,
            &bench.consent,
        )?;
        let job = SandboxCommandSpec {
            argv: order.words.iter().map(OsString::from).collect(),
            cwd: bench.tree.path().join(cwd.path),
            env,
            view,
            network: network(&order.network)?,
            limits: order.limits.unwrap_or(self.limits),
            stdin: if order.stdin.is_empty() {
                SandboxStdin::Empty
            } else {
                SandboxStdin::Bytes(order.stdin.clone())
            },
        };
        let known = self.known.iter().chain(&secrets);
        let redactor =
            SecretRedactor::of_known_values(known).with_formats(Arc::clone(&self.formats));
        Ok((job, redactor))
    }

    /// Creates a folder that one command may write in addition to the run's tree.
    pub(crate) fn state_folder(&self) -> Result<PathBuf, ToolError> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        self.folder(&format!("state-{number:06}"))
    }

    fn spool(&self) -> Result<OutputSpoolOptions, ToolError> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        Ok(OutputSpoolOptions::new(
            self.folder(&format!("{number:06}"))?,
        ))
    }

    fn folder(&self, name: &str) -> Result<PathBuf, ToolError> {
        let folder = self.spool.join(name);
        // Output need not survive a power failure, so nothing is synced.
        if DirBuilder::new().mode(0o700).create(&folder).is_ok() {
            return Ok(folder);
        }
        artel_files::make_dirs(&folder, 0o700).map_err(|error| {
            ToolError::new(
                ToolErrorKind::Machine,
                format!("no room for output: {error}"),
            )
        })?;
        Ok(folder)
    }

    /// Turns the result of a command into an observation for the model.
    pub(crate) fn observe(
        &self,
        words: &[String],
        finished: &FinishedCommand,
    ) -> Result<ToolObservation, ToolError> {
        let text = self.text_of(finished);
        if let Some(CommandExit::NotStarted { step, why }) = &finished.exit {
            return Err(self.not_started(words, step, why));
        }
        if let Some(killed) = &finished.killed {
            let (kind, why) = match killed.by {
                CommandTerminationCause::Timeout(overdue) => {
                    (ToolErrorKind::TimedOut, overdue.to_string())
                }
                CommandTerminationCause::Cancel => {
                    (ToolErrorKind::Cancelled, "it was called off".to_owned())
                }
                CommandTerminationCause::Limit(limited) => {
                    (ToolErrorKind::Failed, limit_text(limited).to_owned())
                }
            };
            let what = format!("ended by {}: {why}\n{text}", killed.signal_name());
            return Err(ToolError::new(kind, what.trim_end()));
        }
        let code = match finished.exit {
            Some(CommandExit::Code(code)) => code,
            Some(CommandExit::Signal(signal)) => 128 + signal,
            _ => -1,
        };
        let data = json!({
            "exit": code,
            "millis": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
            "stdout": finished.stdout.spooled.path,
            "stderr": finished.stderr.spooled.path,
            "bytes": finished.stdout.spooled.bytes + finished.stderr.spooled.bytes,
            "sandbox": self.sandbox.engaged().level.to_string(),
        });
        let text = match (code, text.is_empty()) {
            (0, true) => "done, without output".to_owned(),
            (0, false) => text,
            (_, true) => format!("exit code {code}, without output"),
            (_, false) => format!("exit code {code}\n{text}"),
        };
        let fuller = fuller(finished);
        let is_cut = text.contains(&fuller);
        let hints = is_cut.then(|| format!("{fuller} brings all of it, piece by piece"));
        Ok(ToolObservation {
            text,
            data,
            is_partial: finished.partial,
            hints: hints.into_iter().collect(),
            ..ToolObservation::default()
        })
    }

    pub(crate) fn text_of(&self, finished: &FinishedCommand) -> String {
        finished.render(&format!("{} has the full text", fuller(finished)))
    }

    fn not_started(&self, words: &[String], step: &str, why: &str) -> ToolError {
        let program = words.first().map(String::as_str).unwrap_or_default();
        let what = format!("`{program}` was not started ({step}): {why}");
        if step != "program" {
            return ToolError::new(ToolErrorKind::Machine, what);
        }
        let trouble = ToolError::new(ToolErrorKind::NotFound, what);
        match self.instead_of(program) {
            None => trouble.hint("only programs that the sandbox shows can be run"),
            Some(hint) => trouble.hint(hint),
        }
    }

    /// Returns a hint about alternatives to a missing program: tools, installed programs, or
    /// else programs with similar names.
    pub(crate) fn instead_of(&self, program: &str) -> Option<String> {
        let pairs = self.environment.iter();
        let programs =
            ProgramSearchPath::of(pairs.map(|(name, value)| (name.as_ref(), value.as_ref())));
        let is_there = |other: &&&str| {
            let first = other.split(' ').next().unwrap_or_default();
            first == "the" || programs.has(first)
        };
        let others: Vec<_> = alternatives(program)
            .iter()
            .filter(is_there)
            .copied()
            .collect();
        if !others.is_empty() {
            let marked = others.iter().map(|other| {
                if other.starts_with("the ") {
                    (*other).to_owned()
                } else {
                    format!("`{other}`")
                }
            });
            let marked: Vec<_> = marked.collect();
            return Some(format!("instead of `{program}`: {}", marked.join(", ")));
        }
        let names = programs.names();
        let alike = nearest(program, names.iter().map(String::as_str), 3);
        let alike: Vec<_> = alike.iter().map(|name| format!("`{name}`")).collect();
        (!alike.is_empty())
            .then(|| format!("installed programs like `{program}`: {}", alike.join(", ")))
    }

    /// Adds what a person should know about the sandbox to a record.
    pub(crate) fn describe(&self, record: &mut ConsentRecord) {
        let engaged = self.sandbox.engaged();
        record.sandbox.insert(0, engaged.level.to_string());
        let writable = self
            .view
            .write
            .iter()
            .map(|path| format!("writes {}", path.display()));
        record.sandbox.extend(writable);
        if !record
            .sandbox
            .iter()
            .any(|line| line.starts_with("network"))
        {
            record.sandbox.push("no network".to_owned());
        }
        let names = self
            .environment
            .iter()
            .map(|(name, _)| name.to_string_lossy().into_owned());
        record.environment.extend(names);
        record.environment.sort();
    }
}

/// Returns the call that gets the whole output of a command, formatted for hints.
fn fuller(finished: &FinishedCommand) -> String {
    let folder = finished.stdout.spooled.path.parent();
    let number = folder.and_then(Path::file_name);
    let number = number.unwrap_or_default().to_string_lossy();
    format!("`output {}`", json!({ "id": number }))
}

/// Describes what a command waits for.
fn awaited(waiting: &CommandConcurrencyWait) -> String {
    let mut what = "waits for a free place".to_owned();
    match waiting.ahead {
        0 => {}
        1 => what.push_str("; 1 is before it"),
        more => what.push_str(&format!("; {more} are before it")),
    }
    let holders = waiting.holders.iter().filter(|holder| !holder.is_empty());
    let holders: Vec<_> = holders.map(|holder| format!("`{holder}`")).collect();
    if !holders.is_empty() {
        what.push_str(&format!("; running: {}", holders.join(", ")));
    }
    what
}

/// Returns the variable for a secret: `github` becomes `GITHUB_TOKEN`. A name that already
/// looks like a variable stays as it is.
fn variable_of(name: &str) -> String {
    let is_variable = name
        .chars()
        .all(|letter| letter.is_ascii_uppercase() || letter == '_' || letter.is_ascii_digit());
    if is_variable {
        return name.to_owned();
    }
    let upper: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    format!("{upper}_TOKEN")
}

/// Returns the network access to these hosts; without a host there is none.
pub(crate) fn network(hosts: &[String]) -> Result<SandboxNetwork, ToolError> {
    if hosts.is_empty() {
        return Ok(SandboxNetwork::None);
    }
    let hosts = hosts
        .iter()
        .map(|host| GrantedHost::parse(host))
        .collect::<Result<_, _>>()
        .map_err(|bad| ToolError::new(ToolErrorKind::BadInput, bad.to_string()))?;
    Ok(SandboxNetwork::Hosts(hosts))
}

/// Returns the network actions that policy judges, in the spelling that is also used.
pub(crate) fn reached(network: &SandboxNetwork) -> impl Iterator<Item = PolicyAction> + '_ {
    let hosts = match network {
        SandboxNetwork::Hosts(hosts) => hosts.as_slice(),
        _ => &[],
    };
    hosts
        .iter()
        .map(|host| PolicyAction::Network(host.to_string()))
}

fn limit_text(limited: ExceededCommandLimit) -> &'static str {
    match limited {
        ExceededCommandLimit::Memory => "it used more memory than it may",
        ExceededCommandLimit::Processes => "it started more processes than it may",
        ExceededCommandLimit::FileSize => "it wrote a larger file than it may",
        ExceededCommandLimit::Files => "it made more files than it may",
        ExceededCommandLimit::CpuTime => "it used more processor time than it may",
    }
}

/// Returns programs that can replace one that is not installed.
fn alternatives(program: &str) -> &'static [&'static str] {
    match program {
        "python" => &["python3"],
        "pip" => &["pip3", "python3 -m pip"],
        "rg" => &["the `grep` tool", "grep -rn"],
        "fd" | "fdfind" => &["the `glob` tool", "find"],
        "bat" => &["the `read` tool", "cat"],
        "jq" => &["python3 -m json.tool", "node -e"],
        "yarn" | "pnpm" => &["npm"],
        "nodejs" => &["node"],
        "gmake" => &["make"],
        "cc" => &["gcc", "clang"],
        "pytest" => &["python3 -m pytest", "the `run_tests` tool"],
        "wget" => &["the `fetch` tool", "curl"],
        "curl" => &["the `fetch` tool", "wget"],
        "tree" => &["the `list` tool", "find"],
        "hexdump" | "xxd" => &["od -c"],
        "python2" => &["python3"],
        "ack" | "ag" => &["the `grep` tool", "grep -rn"],
        "less" | "more" => &["the `read` tool", "cat"],
        "vi" | "vim" | "nano" => &["the `edit` tool"],
        _ => &[],
    }
}

fn sandbox_trouble(error: &SandboxError) -> ToolError {
    let kind = match error {
        SandboxError::TooLow { .. } | SandboxError::NetworkNeedsFull { .. } => {
            ToolErrorKind::Refused
        }
        SandboxError::BadJob { .. } => ToolErrorKind::BadInput,
        SandboxError::NoStarter { .. } | SandboxError::System { .. } => ToolErrorKind::Machine,
    };
    ToolError::new(kind, error.to_string())
}
