//! The starter's own part, outside the walls: prepares, creates the tree, waits, cleans
//! up.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::net::RecvFlags;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use super::first::{self, FirstProcessInput, say_failed};
use super::plain;
use super::program::StandardStreams;
use super::protect::{self, ProtectedPaths};
use super::step::{SandboxStepContext, SandboxStepError};
use super::view::{self, ResolvedSandboxView};
use super::written::{PERIOD, WritableFileCounter, WriteLimitState, WriteLimitWatcher};
use crate::cgroup;
use crate::control::{self, SandboxStarterMessage};
use crate::level::SandboxLevel;
use crate::process::ExceededCommandLimit;
use crate::spec::SandboxStarterSpec;
use crate::sys::{self, EndedChild, ForkSide};

/// The namespaces of level full. The cgroup namespace follows once the tree is in its
/// group.
const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS;

/// Runs as the starter and returns its exit code.
pub(super) fn main() -> i32 {
    let Ok((control, stdout, stderr)) = settle() else {
        return 70;
    };
    let done = receive(&control).and_then(|(spec, stdin)| {
        let streams = StandardStreams {
            stdin,
            stdout,
            stderr,
        };
        run(spec, &control, streams)
    });
    match done {
        Ok(()) => 0,
        Err(failed) => {
            say_failed(control.as_fd(), failed);
            127
        }
    }
}

/// Leaves the session of the starting process, closes every leaked descriptor, and moves
/// the three given ones out of reach of programs that print.
fn settle() -> io::Result<(OwnedFd, OwnedFd, OwnedFd)> {
    rustix::process::setsid()?;
    sys::close_from(3)?;
    let control = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok((control, stdout, stderr))
}

fn receive(control: &OwnedFd) -> Result<(SandboxStarterSpec, OwnedFd), SandboxStepError> {
    let (_, fds) = control::receive(control.as_fd(), RecvFlags::empty())
        .at("starter", "receive its orders")?;
    let [orders, stdin] = <[OwnedFd; 2]>::try_from(fds)
        .map_err(|_| SandboxStepError::new("starter", "its orders came incomplete"))?;
    let mut text = Vec::new();
    std::fs::File::from(orders)
        .read_to_end(&mut text)
        .at("starter", "read its orders")?;
    let spec = serde_json::from_slice(&text)
        .map_err(io::Error::other)
        .at("starter", "understand its orders")?;
    Ok((spec, stdin))
}

fn run(
    spec: SandboxStarterSpec,
    control: &OwnedFd,
    streams: StandardStreams,
) -> Result<(), SandboxStepError> {
    if spec.level == SandboxLevel::Full {
        return full(spec, control, streams);
    }
    let groups = make_groups(&spec)?;
    let ended = plain::run(spec, control, streams, &groups);
    // Without namespaces nothing can be created under protected names at all.
    let left = EndedTreeState {
        set_aside: Vec::new(),
        kept: WriteLimitState::Yes,
    };
    finish(&groups, control, ended, left)
}

fn full(
    spec: SandboxStarterSpec,
    control: &OwnedFd,
    streams: StandardStreams,
) -> Result<(), SandboxStepError> {
    let roots = view::roots(&spec.job.view)?;
    let mut protected = protect::prepare(&spec.job.view, &roots)?;
    let done = ResolvedSandboxView::of(&spec.job, &protected)
        .and_then(|resolved| tree(spec, control, streams, &resolved, &protected));
    protected.release();
    done
}

/// Creates the tree and waits for its end.
fn tree(
    spec: SandboxStarterSpec,
    control: &OwnedFd,
    mut streams: StandardStreams,
    resolved: &ResolvedSandboxView,
    protected: &ProtectedPaths,
) -> Result<(), SandboxStepError> {
    let (go, ready) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at("starter", "make a pipe")?;
    let pump = TerminalInputForwarder::before(&mut streams)?;
    let limits = spec.job.limits;
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let groups = make_groups(&spec)?;
    let ways = groups.ways_in().at("limits", "open the cgroups");
    let side = ways.and_then(|ways| {
        let side = sys::clone_into(NAMESPACES).at("user namespace", "make namespaces")?;
        Ok((side, ways))
    });
    let (side, ways) = side.inspect_err(|_| groups.remove())?;
    let (pid, first) = match side {
        ForkSide::Parent { pid, pidfd } => (pid, pidfd),
        ForkSide::Child => {
            drop((ready, pump));
            let orders = FirstProcessInput {
                control: control.try_clone().at("starter", "keep its socket")?,
                spec,
                resolved,
                protected,
                streams,
                ways,
                go,
                user: user.as_raw(),
                group: group.as_raw(),
            };
            std::process::exit(first::run(orders))
        }
    };
    drop((go, streams, ways));
    // Our memory holds the command's environment, so no other process of this user should see
    // it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at("starter", "close its memory")?;
    let made = control::say(
        control.as_fd(),
        &SandboxStarterMessage::Hello,
        &[first.as_fd()],
    )
    .at("starter", "report the start")
    .and_then(|()| {
        let admitted = groups.admit_to_the_rest(pid);
        admitted.at("limits", "put the command under its limits")
    });
    if let Err(failed) = made {
        drop(ready);
        let _ = rustix::process::pidfd_send_signal(&first, rustix::process::Signal::KILL);
        drop(sys::wait(pid, 0));
        groups.remove();
        return Err(failed);
    }
    // A first process that already failed has reported why.
    let _ = rustix::io::write(&ready, &[1]);
    drop(ready);
    let mut meter = WriteLimitWatcher {
        first: &first,
        pid,
        groups: &groups,
        most: limits.written,
        files: WritableFileCounter::of(resolved.writable(), limits.files),
        kept: WriteLimitState::Yes,
    };
    if let Some(pump) = pump {
        pump.run(&mut meter);
    }
    await_end(&mut meter);
    let ended = sys::wait(pid, 0)
        .at("starter", "wait for the command")
        .and_then(|ended| {
            ended.ok_or_else(|| SandboxStepError::new("starter", "lost the command"))
        });
    meter.look_at_the_end();
    let left = EndedTreeState {
        set_aside: protected.set_aside(),
        kept: meter.kept,
    };
    finish(&groups, control, ended, left)
}

/// Waits for the end of the first process and checks the write limits meanwhile.
fn await_end(meter: &mut WriteLimitWatcher<'_>) {
    loop {
        let mut fds = [PollFd::new(meter.first, PollFlags::IN)];
        match poll(&mut fds, Some(&PERIOD)) {
            Ok(0) => meter.look(),
            Err(rustix::io::Errno::INTR) => {}
            // The caller waits again and finds out what is wrong.
            Ok(_) | Err(_) => return,
        }
    }
}

/// Facts about an ended tree, apart from its status and usage.
struct EndedTreeState {
    set_aside: Vec<PathBuf>,
    kept: WriteLimitState,
}

fn make_groups(spec: &SandboxStarterSpec) -> Result<cgroup::CommandCgroups, SandboxStepError> {
    spec.groups
        .make(&spec.job.limits)
        .at("limits", "make the cgroups")
}

/// Reports the usage and removes the groups.
fn finish(
    groups: &cgroup::CommandCgroups,
    control: &OwnedFd,
    ended: Result<EndedChild, SandboxStepError>,
    left: EndedTreeState,
) -> Result<(), SandboxStepError> {
    let used = (groups.peak(), groups.limited());
    groups.remove();
    let ended = ended?;
    let said = SandboxStarterMessage::Done {
        status: ended.status,
        peak: used.0.unwrap_or(ended.largest),
        cpu: ended.cpu,
        limited: match left.kept {
            WriteLimitState::Yes => used.1,
            WriteLimitState::TooMuch => Some(ExceededCommandLimit::FileSize),
            WriteLimitState::TooMany => Some(ExceededCommandLimit::Files),
        },
        set_aside: left.set_aside,
    };
    // The starting process may be gone; the tree has ended all the same.
    drop(control::say(control.as_fd(), &said, &[]));
    Ok(())
}

/// Forwards a person's typing into the tree. The terminal itself is never passed in,
/// because its holder can write to it and change it.
struct TerminalInputForwarder {
    terminal: OwnedFd,
    pipe: OwnedFd,
}

impl TerminalInputForwarder {
    /// Replaces a terminal by a pipe. Returns `None` if the input is not a terminal.
    fn before(streams: &mut StandardStreams) -> Result<Option<Self>, SandboxStepError> {
        if !rustix::termios::isatty(&streams.stdin) {
            return Ok(None);
        }
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .at("starter", "make a pipe")?;
        rustix::io::ioctl_fionbio(&write, true).at("starter", "set up a pipe")?;
        let terminal = std::mem::replace(&mut streams.stdin, read);
        Ok(Some(Self {
            terminal,
            pipe: write,
        }))
    }

    /// Forwards until the terminal or the tree ends.
    fn run(self, meter: &mut WriteLimitWatcher<'_>) {
        let first = meter.first;
        let mut typed = [0; 4096];
        loop {
            let mut fds = [
                PollFd::new(first, PollFlags::IN),
                PollFd::new(&self.terminal, PollFlags::IN),
            ];
            match poll(&mut fds, Some(&PERIOD)) {
                Ok(0) => meter.look(),
                Ok(_) => {}
                Err(_) => continue,
            }
            if !fds[0].revents().is_empty() {
                return;
            }
            if fds[1].revents().is_empty() {
                continue;
            }
            let count = match rustix::io::read(&self.terminal, &mut typed) {
                Ok(0) | Err(_) => return,
                Ok(count) => count,
            };
            if !self.pass(first, &typed[..count]) {
                return;
            }
        }
    }

    /// Writes all bytes. Returns whether the tree still accepts input.
    fn pass(&self, first: &OwnedFd, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let mut fds = [
                PollFd::new(first, PollFlags::IN),
                PollFd::new(&self.pipe, PollFlags::OUT),
            ];
            if poll(&mut fds, None).is_err() {
                continue;
            }
            if !fds[0].revents().is_empty() {
                return false;
            }
            match rustix::io::write(&self.pipe, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => return false,
            }
        }
        true
    }
}
