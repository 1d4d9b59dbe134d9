//! The first process of the tree: builds the walls around itself, starts the command, ends
//! with it.
//!
//! It is process 1 of its namespace. When it ends, for whatever reason, the kernel ends
//! everything in there: processes that forked twice, left their session or ignore signals.

use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{
    DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal,
};

use super::children::{ChildWatchOutcome, ChildWatcher, SignalReach};
use super::landlock::{self, LandlockRules};
use super::program::{self, StandardStreams};
use super::protect::ProtectedPaths;
use super::rlimit::{self, NprocLimitScope};
use super::step::{SandboxStepContext, SandboxStepError};
use super::view::{self, BuiltSandboxView, ProbeFilePresence, ResolvedSandboxView};
use super::{network, privileges, probe, seccomp};
use crate::cgroup::CgroupTasksFile;
use crate::control::{self, SandboxStarterMessage};
use crate::spec::{PidLimitScope, SandboxStarterSpec, SandboxStarterTask};
use crate::sys;

/// Everything that the first process is given.
pub(super) struct FirstProcessInput<'a> {
    pub(super) spec: SandboxStarterSpec,
    pub(super) resolved: &'a ResolvedSandboxView,
    pub(super) protected: &'a ProtectedPaths,
    pub(super) control: OwnedFd,
    pub(super) streams: StandardStreams,
    /// Handles of the cgroups that this process enters by itself.
    pub(super) ways: Vec<CgroupTasksFile>,
    /// Readable once the limits of the whole tree are in place. If it closes before, the
    /// starter died.
    pub(super) go: OwnedFd,
    /// The user and group, which stay the same inside.
    pub(super) user: u32,
    pub(super) group: u32,
}

/// Runs as the first process and returns its exit code.
pub(super) fn run(orders: FirstProcessInput<'_>) -> i32 {
    let Ok(control) = orders.control.try_clone() else {
        return 70;
    };
    match inside(orders) {
        Ok(status) => {
            drop(control::say(
                control.as_fd(),
                &SandboxStarterMessage::Exited(status),
                &[],
            ));
            0
        }
        Err(failed) => {
            say_failed(control.as_fd(), failed);
            127
        }
    }
}

/// Reports why nothing ran.
pub(super) fn say_failed(control: BorrowedFd<'_>, failed: SandboxStepError) {
    let mut why = failed.why;
    let cut = why.floor_char_boundary(4096);
    why.truncate(cut);
    let said = SandboxStarterMessage::Failed {
        step: failed.step,
        why,
    };
    drop(control::say(control, &said, &[]));
}

fn inside(mut orders: FirstProcessInput<'_>) -> Result<i32, SandboxStepError> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .at("starter", "follow the starter's end")?;
    for way in orders.ways.drain(..) {
        way.go().at("limits", "go where the limits are kept")?;
    }
    map_user(orders.user, orders.group)?;
    rustix::process::setsid().at("starter", "make a session")?;
    let spec = &orders.spec;
    let proxy = network::open(&spec.doors, orders.control.as_fd())?;
    let own_numbers = spec.numbers == PidLimitScope::OfTheNamespace;
    let pid_max = own_numbers.then_some(spec.job.limits.processes);
    let bait = match spec.task {
        SandboxStarterTask::Probe(_) => ProbeFilePresence::Laid,
        SandboxStarterTask::Command => ProbeFilePresence::None,
    };
    let limits = &spec.job.limits;
    let built = view::build(orders.resolved, orders.protected, limits, pid_max, bait)?;
    wait_for_go(&orders.go)?;
    sys::unshare(libc::CLONE_NEWCGROUP).at("cgroup namespace", "make a cgroup namespace")?;
    privileges::drop_all()?;
    landlock::restrict(
        &rules(&built),
        landlock::LandlockTcpAccess::LeftToTheNamespace,
    )?;
    // From here on no process of this user can inspect this one or borrow its descriptors.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at("starter", "close its memory")?;
    rlimit::set(
        &spec.job.limits,
        &spec.groups,
        NprocLimitScope::UserNamespace,
    )?;
    seccomp::restrict(seccomp::SeccompSocketAccess::OfTheNamespace)?;
    if let SandboxStarterTask::Probe(outside) = &spec.task {
        let layers = probe::inside(outside, &built);
        control::say(
            orders.control.as_fd(),
            &SandboxStarterMessage::Probed(layers),
            &[],
        )
        .at("starter", "report the test")?;
        return Ok(0);
    }
    if let Some(port) = proxy {
        network::name_proxy(&mut orders.spec.job.env, port);
    }
    let masked = &orders.protected.masked;
    if orders.protected.has_go && masked.iter().any(|path| path.ends_with(".git")) {
        leave_git_out(&mut orders.spec.job.env);
    }
    let command = program::start(&orders.spec.job, orders.streams)?;
    let command = i32::try_from(command.id()).unwrap_or(-1);
    let follower = ChildWatcher::new(SignalReach::Namespace)?;
    match follower.follow(command, &orders.control) {
        ChildWatchOutcome::Ended(status) => Ok(status),
        ChildWatchOutcome::CalledOff => Ok(libc::SIGKILL),
    }
}

/// Tells Go not to ask git about a tree that is not a repository. Go would take the empty
/// placeholder folder `.git` for a repository, and fail when git does not.
fn leave_git_out(env: &mut Vec<(OsString, OsString)>) {
    let flag = "-buildvcs=false";
    match env.iter_mut().rev().find(|(name, _)| name == "GOFLAGS") {
        Some((_, flags)) => {
            flags.push(" ");
            flags.push(flag);
        }
        None => env.push(("GOFLAGS".into(), flag.into())),
    }
}

/// Keeps the user and group: files created inside belong to the user who started the
/// command.
fn map_user(user: u32, group: u32) -> Result<(), SandboxStepError> {
    let step = "user namespace";
    let write = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text).at(step, &format!("write `{file}`"))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))
}

/// Waits until the starter has put us under our limits.
pub(super) fn wait_for_go(go: &OwnedFd) -> Result<(), SandboxStepError> {
    match rustix::io::retry_on_intr(|| rustix::io::read(go, &mut [0; 1])) {
        Ok(1) => Ok(()),
        Ok(_) => Err(SandboxStepError::new("limits", "the starter ended")),
        Err(cause) => Err(cause).at("limits", "wait for the starter"),
    }
}

/// Mirrors the view as Landlock rules. Listing is allowed everywhere, since only named
/// paths exist there.
fn rules(built: &BuiltSandboxView) -> LandlockRules {
    let mut rules = LandlockRules {
        list: vec!["/".into()],
        read: built.readable.clone(),
        write: built.writable.clone(),
        devices: vec!["/dev".into()],
    };
    rules.read.push("/proc".into());
    rules.write.extend(["/tmp".into(), "/dev/shm".into()]);
    rules
}
