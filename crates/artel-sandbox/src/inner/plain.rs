//! Levels partial and none: no namespaces, so the starter itself follows the tree.
//!
//! At level partial, Landlock and the system call filter are in force. Every process that
//! loses its parent becomes a child of the starter, so no process outlives the command.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::process::set_child_subreaper;

use super::children::{ChildWatchOutcome, ChildWatcher, SignalReach};
use super::first::{say_failed, wait_for_go};
use super::landlock::{self, LandlockRules};
use super::program::{self, StandardStreams};
use super::protect::{self, ProtectedPaths};
use super::rlimit::{self, NprocLimitScope};
use super::step::{SandboxStepContext, SandboxStepError};
use super::{privileges, probe, seccomp, view};
use crate::cgroup;
use crate::control::{self, SandboxStarterMessage};
use crate::level::SandboxLevel;
use crate::spec::{SandboxStarterSpec, SandboxStarterTask};
use crate::sys::{self, EndedChild, ForkSide};

/// Runs the command and returns the resources used by the tree.
pub(super) fn run(
    mut spec: SandboxStarterSpec,
    control: &OwnedFd,
    streams: StandardStreams,
    groups: &cgroup::CommandCgroups,
) -> Result<EndedChild, SandboxStepError> {
    let scratch = CommandScratchFolder::make()?;
    if spec.level == SandboxLevel::Partial {
        let folder = scratch.0.clone().into_os_string();
        spec.job.env.retain(|(name, _)| name != "TMPDIR");
        spec.job.env.push(("TMPDIR".into(), folder));
    }
    set_child_subreaper(Some(rustix::process::getpid())).at("starter", "keep orphans")?;
    let mut protected = match spec.level {
        SandboxLevel::None => ProtectedPaths::default(),
        _ => protect::prepare(&spec.job.view, &view::roots(&spec.job.view)?)?,
    };
    let status = command(&spec, control, streams, &protected, &scratch.0).and_then(|(pid, go)| {
        let follower = ChildWatcher::new(SignalReach::Machine)?;
        follow(pid, go, &follower, control, groups)
    });
    end_everyone(groups);
    protected.release();
    let (cpu, largest) = sys::used_by_children();
    Ok(EndedChild {
        pid: 0,
        status: status?,
        cpu,
        largest,
    })
}

/// A private folder for temporary files, removed with the command.
struct CommandScratchFolder(PathBuf);

impl CommandScratchFolder {
    fn make() -> Result<Self, SandboxStepError> {
        let path = Path::new("/tmp").join(format!("artel-{}", std::process::id()));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .at("private files", "make a private folder")?;
        Ok(Self(path))
    }
}

impl Drop for CommandScratchFolder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Creates the process that builds the walls and becomes the command.
fn command(
    spec: &SandboxStarterSpec,
    control: &OwnedFd,
    streams: StandardStreams,
    protected: &ProtectedPaths,
    scratch: &Path,
) -> Result<(i32, OwnedFd), SandboxStepError> {
    let (go, ready) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at("starter", "make a pipe")?;
    match sys::clone_into(0).at("starter", "make a process")? {
        ForkSide::Parent { pid, .. } => {
            control::say(control.as_fd(), &SandboxStarterMessage::Hello, &[])
                .at("starter", "report the start")?;
            Ok((pid, ready))
        }
        ForkSide::Child => {
            drop(ready);
            let ran =
                wait_for_go(&go).and_then(|()| inside(spec, control, streams, protected, scratch));
            let code = match ran {
                Ok(code) => code,
                Err(failed) => {
                    say_failed(control.as_fd(), failed);
                    127
                }
            };
            std::process::exit(code)
        }
    }
}

fn inside(
    spec: &SandboxStarterSpec,
    control: &OwnedFd,
    streams: StandardStreams,
    protected: &ProtectedPaths,
    scratch: &Path,
) -> Result<i32, SandboxStepError> {
    privileges::no_new()?;
    rlimit::set(&spec.job.limits, &spec.groups, NprocLimitScope::Nothing)?;
    if spec.level == SandboxLevel::Partial {
        landlock::restrict(
            &rules(spec, protected, scratch)?,
            landlock::LandlockTcpAccess::Refused,
        )?;
        seccomp::restrict(seccomp::SeccompSocketAccess::OnlyPairs)?;
    }
    if let SandboxStarterTask::Probe(outside) = &spec.task {
        let layers = probe::without_namespaces(outside);
        control::say(control.as_fd(), &SandboxStarterMessage::Probed(layers), &[])
            .at("starter", "report the test")?;
        return Ok(0);
    }
    Err(program::become_it(&spec.job, streams))
}

/// Returns the view as Landlock rules. Protected and hidden names are left out of every
/// grant.
fn rules(
    spec: &SandboxStarterSpec,
    protected: &ProtectedPaths,
    scratch: &Path,
) -> Result<LandlockRules, SandboxStepError> {
    let view = &spec.job.view;
    if !view.overlays.is_empty() {
        return Err(SandboxStepError::new(
            "overlay",
            "a writable layer needs a mount namespace",
        ));
    }
    let mut rules = LandlockRules {
        devices: ["null", "zero", "full", "random", "urandom"]
            .map(|name| Path::new("/dev").join(name))
            .into(),
        write: vec![scratch.to_owned()],
        ..LandlockRules::default()
    };
    let mut hidden: Vec<_> = view.hidden.iter().flat_map(fs::canonicalize).collect();
    hidden.extend(protected.sockets.iter().cloned());
    // Nothing can be shown in the place of a file here.
    let covered = view.substitutes.iter();
    hidden.extend(covered.flat_map(|it| fs::canonicalize(&it.hidden)));
    for path in view
        .read
        .iter()
        .chain(&protected.readable)
        .flat_map(fs::canonicalize)
    {
        rules
            .read
            .extend(landlock::around(&path, &hidden, &mut rules.list));
    }
    let mut kept = hidden;
    kept.extend(protected.frozen.iter().chain(&protected.masked).cloned());
    for root in view::roots(view)? {
        // Nothing can be created at the root itself, because Landlock cannot single out a new
        // protected name.
        rules
            .write
            .extend(landlock::around(&root, &kept, &mut rules.list));
    }
    rules.read.extend(protected.frozen.iter().cloned());
    Ok(rules)
}

/// Puts the command under its limits, lets it go, and follows it to its end.
fn follow(
    pid: i32,
    go: OwnedFd,
    follower: &ChildWatcher,
    control: &OwnedFd,
    groups: &cgroup::CommandCgroups,
) -> Result<i32, SandboxStepError> {
    groups
        .admit(pid)
        .at("limits", "put the command under its limits")?;
    rustix::io::write(&go, &[1]).at("starter", "let the command go")?;
    drop(go);
    let status = match follower.follow(pid, control) {
        ChildWatchOutcome::Ended(status) => status,
        ChildWatchOutcome::CalledOff => {
            drop(sys::kill(-pid, libc::SIGKILL));
            libc::SIGKILL
        }
    };
    drop(control::say(
        control.as_fd(),
        &SandboxStarterMessage::Exited(status),
        &[],
    ));
    Ok(status)
}

/// Ends every remaining process. Killing one makes its children ours, until none are left.
fn end_everyone(groups: &cgroup::CommandCgroups) {
    loop {
        let task = format!("/proc/self/task/{}/children", std::process::id());
        let children = fs::read_to_string(task).unwrap_or_default();
        let children = children.split_whitespace().flat_map(str::parse);
        for pid in children.chain(groups.members()) {
            drop(sys::kill(pid, libc::SIGKILL));
        }
        match sys::wait(-1, 0) {
            Ok(_) => {}
            Err(_) => return,
        }
    }
}
