//! Runs hook commands, always in the sandbox, with the run's files to read.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use artel_rules::{excerpt, patience};
use artel_sandbox::proxy::{FilteringProxy, ProxyAccess};
use artel_sandbox::run::{
    CommandTerminationCause, CommandWatchOptions, FinishedCommand, LiveCommandEvent,
    OutputSpoolOptions, SpooledOutput,
};
use artel_sandbox::{
    CommandExit, GrantedHost, SandboxCommandSpec, SandboxNetwork, SandboxStdin, SandboxView,
};
use artel_tools::{ProcessStartReason, ToolSandbox};
use artel_types::{ForeignSource, SecretRedactor};

use super::answer::{HookAnswer, HookCommandOutcome};
use super::hook::{Hook, HookSource};

/// Most bytes of output; more than this is not an answer.
const LARGEST_OUTPUT: u64 = 256 << 10;

/// Bytes kept beyond that limit, only to see that there was more.
const TAIL: usize = 1 << 10;

/// Everything needed to run one hook command.
pub(super) struct HookCommandSpec<'t> {
    pub(super) hook: &'t Hook,
    pub(super) command: &'t str,
    pub(super) stdin: Vec<u8>,
    pub(super) environment: Vec<(&'static str, String)>,
    pub(super) tree: &'t Path,
    /// The conversation as a file, if that file exists.
    pub(super) transcript: &'t Path,
    /// Letters, digits and `-` that are unique to the run.
    pub(super) session: String,
}

/// Runs a command until it ends.
pub(super) fn run(room: &ToolSandbox, task: HookCommandSpec<'_>) -> HookCommandOutcome {
    let number = room.count.fetch_add(1, Ordering::Relaxed);
    let folder = format!("hook-{}-{number:06}", task.session);
    let folder = room.spool.join(folder);
    // A process that was killed may have left a folder of that name.
    drop(std::fs::remove_dir_all(&folder));
    let ended = run_in(room, task, &folder).unwrap_or_else(HookCommandOutcome::failed);
    // The output has been read. If the folder cannot be removed, it is swept with the
    // others.
    drop(std::fs::remove_dir_all(&folder));
    ended
}

fn run_in(
    room: &ToolSandbox,
    task: HookCommandSpec<'_>,
    folder: &Path,
) -> Result<HookCommandOutcome, String> {
    artel_files::make_dirs(folder, 0o700).map_err(|error| error.to_string())?;
    let time = task.hook.time();
    let label: String = task.command.chars().take(80).collect();
    let mut waiting = |_: &artel_sandbox::slots::CommandConcurrencyWait| {
        room.audience
            .waiting(&format!("the hook `{label}` waits for a free place"));
    };
    let slot = room
        .slots
        .acquire(
            started_for(task.hook).on_behalf(),
            &label,
            &room.cancel,
            &mut waiting,
        )
        .map_err(|error| error.to_string())?;
    let hosts = hosts(task.hook)?;
    let tree = task.tree;
    let mut job = job(room, task, hosts.clone());
    // Nobody is asked on behalf of a hook, and its output reaches the agent.
    room.keep_paths(&mut job.view, tree)
        .map_err(|trouble| trouble.what)?;
    let mut live = |_: LiveCommandEvent<'_>| {};
    let redactor =
        SecretRedactor::of_known_values(&room.known).with_formats(Arc::clone(&room.formats));
    let watch = CommandWatchOptions {
        live: &mut live,
        clock: room.clock.clone(),
        patience: patience::CommandTimeLimits::exactly(time),
        graces: room.graces,
        cancel: room.cancel.clone(),
        redactor,
        spool: OutputSpoolOptions {
            folder: folder.to_owned(),
            head: LARGEST_OUTPUT,
            tail: TAIL,
        },
        excerpt: excerpt::OutputExcerptLimits::default(),
    };
    let audience = Arc::clone(&room.audience);
    let observer = Arc::new(move |passage: ProxyAccess| audience.passage(&passage));
    let finished = room.sandbox.run(&job, room.demand, watch, |doors| {
        (!doors.is_empty()).then(|| {
            FilteringProxy::serve(doors, hosts, room.reach.clone(), observer)
                .map_err(|error| error.to_string())
        })
    });
    drop(slot);
    let finished = finished.map_err(|error| error.to_string())?;
    HookCommandOutcome::of(&finished, time)
}

fn started_for(hook: &Hook) -> ProcessStartReason {
    match &hook.source {
        HookSource::User(_) => ProcessStartReason::OwnHook,
        HookSource::BuiltIn | HookSource::Other(_) => ProcessStartReason::OtherHook,
    }
}

impl HookCommandOutcome {
    fn failed(trouble: String) -> Self {
        Self {
            trouble: Some(trouble),
            ..Self::default()
        }
    }

    fn of(finished: &FinishedCommand, time: Duration) -> Result<Self, String> {
        if let Some(killed) = &finished.killed {
            return Err(match killed.by {
                CommandTerminationCause::Timeout(_) => format!("it took longer than {time:?}"),
                CommandTerminationCause::Cancel => "it was called off".to_owned(),
                CommandTerminationCause::Limit(limited) => format!("it met a limit: {limited:?}"),
            });
        }
        let exit = match &finished.exit {
            Some(CommandExit::Code(code)) => *code,
            Some(CommandExit::Signal(signal)) => return Err(format!("signal {signal} ended it")),
            Some(CommandExit::NotStarted { step, why }) => {
                return Err(format!("it was not started ({step}): {why}"));
            }
            None => return Err("it cannot be ended".to_owned()),
        };
        Ok(Self {
            exit: Some(exit),
            stdout: text(&finished.stdout.spooled)?,
            stderr: finished.stderr.excerpt.text.clone(),
            trouble: None,
        })
    }
}

/// Reads the whole output; a partial answer is not an answer.
fn text(spooled: &SpooledOutput) -> Result<String, String> {
    if spooled.bytes > LARGEST_OUTPUT {
        return Err(format!("it said more than {LARGEST_OUTPUT} bytes"));
    }
    let most = LARGEST_OUTPUT + 4096;
    let bytes =
        artel_files::read_bounded(&spooled.path, most).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn job(
    room: &ToolSandbox,
    task: HookCommandSpec<'_>,
    hosts: Vec<GrantedHost>,
) -> SandboxCommandSpec {
    let view = view(room, &task);
    let mut env = room.environment.clone();
    let own = task.environment.into_iter();
    env.extend(own.map(|(name, value)| (name.into(), value.into())));
    SandboxCommandSpec {
        argv: ["/bin/sh", "-c", task.command].map(Into::into).to_vec(),
        cwd: task.tree.to_owned(),
        env,
        view,
        network: if hosts.is_empty() {
            SandboxNetwork::None
        } else {
            SandboxNetwork::Hosts(hosts)
        },
        limits: room.limits,
        stdin: SandboxStdin::Bytes(task.stdin),
    }
}

/// Returns what a hook can see: what every command can, the conversation, and the run's
/// files, which it can change only where it declares so. Only the person's own hooks see
/// more.
fn view(room: &ToolSandbox, task: &HookCommandSpec<'_>) -> SandboxView {
    let (hook, command, tree) = (task.hook, task.command, task.tree);
    let mut view = room.view.clone();
    view.write.clear();
    view.overlays.clear();
    view.read.push(tree.to_owned());
    if task.transcript.is_file() {
        view.read.push(task.transcript.to_owned());
    }
    let profile = &hook.profile;
    let HookSource::User(_) = hook.source else {
        let inside = profile.write.iter();
        view.write
            .extend(inside.filter_map(|path| inside_of(path, tree)));
        return view;
    };
    let home = home(room);
    let whole = |path: &PathBuf| at(path, tree, home.as_deref());
    view.read.extend(profile.read.iter().filter_map(whole));
    view.write.extend(profile.write.iter().filter_map(whole));
    // The person's own scripts can be anywhere; only the words of the command say where.
    let scripts = command
        .split_whitespace()
        .map(|word| PathBuf::from(word.trim_matches(['"', '\''])));
    let scripts = scripts.filter(|path| path.is_absolute() || path.starts_with("~"));
    let scripts = scripts.filter_map(|path| at(&path, tree, home.as_deref()));
    view.read.extend(scripts.filter(|path| path.is_file()));
    view
}

/// Returns the real place of a path that stays inside a tree, or `None` if links lead out
/// of it.
fn inside_of(path: &Path, tree: &Path) -> Option<PathBuf> {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !path.components().all(is_plain) {
        return None;
    }
    let tree = tree.canonicalize().ok()?;
    let real = tree.join(path).canonicalize().ok()?;
    (real.starts_with(&tree) && real.is_dir()).then_some(real)
}

/// Returns the place of a path from the person's own settings: absolute, in their home, or
/// in the tree.
fn at(path: &Path, tree: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if let Ok(rest) = path.strip_prefix("~") {
        return Some(home?.join(rest)).filter(|path| path.exists());
    }
    if path.is_absolute() {
        return Some(path.to_owned()).filter(|path| path.exists());
    }
    inside_of(path, tree)
}

fn home(room: &ToolSandbox) -> Option<PathBuf> {
    let pairs = room.environment.iter();
    let home = pairs.rev().find(|(name, _)| name == "HOME");
    home.map(|(_, value)| PathBuf::from(value))
}

/// Returns the hosts that a hook can reach. Hooks that came with the work can reach none.
fn hosts(hook: &Hook) -> Result<Vec<GrantedHost>, String> {
    let hosts = host_names(hook).iter().map(|host| GrantedHost::parse(host));
    let hosts: Result<_, _> = hosts.collect();
    hosts.map_err(|bad| bad.to_string())
}

fn host_names(hook: &Hook) -> &[String] {
    match &hook.source {
        HookSource::User(_) => &hook.profile.network,
        HookSource::BuiltIn | HookSource::Other(_) => &[],
    }
}

/// Returns the hosts through which a hook may have brought foreign content into the run:
/// by its words to the agent, or by files that it can write among the run's. A hook that
/// only sends something out brings nothing in.
pub(super) fn foreign_through(hook: &Hook, answer: &HookAnswer, tree: &Path) -> Vec<ForeignSource> {
    let is_inside = |path: &PathBuf| !path.starts_with("~") && tree.join(path).starts_with(tree);
    if !answer.reaches_the_agent() && !hook.profile.write.iter().any(is_inside) {
        return Vec::new();
    }
    let hosts = host_names(hook).iter();
    hosts.map(ForeignSource::host).collect()
}
