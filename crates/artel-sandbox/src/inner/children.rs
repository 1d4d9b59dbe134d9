//! Follows the command and everything it started until the command has ended.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::RecvFlags;

use super::step::{SandboxStepContext, SandboxStepError};
use crate::control;
use crate::sys;

/// The processes that a signal to everything would reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalReach {
    /// Those of our own namespace, which all belong to the command.
    Namespace,
    /// Those of the whole machine, so only the command's group may be signalled.
    Machine,
}

/// The outcome of watching a command.
pub(super) enum ChildWatchOutcome {
    /// The command ended with this status.
    Ended(i32),
    /// The starting process is gone, or wants everything to end now.
    CalledOff,
}

/// A descriptor that reports ended children. It is created after the command was started,
/// because it blocks SIGCHLD from then on, and a command that inherited the blocked signal
/// would never learn that its own children ended. Children that ended earlier are found by
/// checking first.
pub(super) struct ChildWatcher {
    told: OwnedFd,
    reach: SignalReach,
}

impl ChildWatcher {
    pub(super) fn new(reach: SignalReach) -> Result<Self, SandboxStepError> {
        let told = sys::children_fd().at("starter", "watch for ended children")?;
        Ok(Self { told, reach })
    }

    /// Forwards signals and reaps ended children until the command itself ends.
    pub(super) fn follow(&self, command: i32, control: &OwnedFd) -> ChildWatchOutcome {
        loop {
            if let Some(status) = reap(command) {
                return ChildWatchOutcome::Ended(status);
            }
            let mut fds = [
                PollFd::new(&self.told, PollFlags::IN),
                PollFd::new(control, PollFlags::IN),
            ];
            if poll(&mut fds, None).is_err() {
                continue;
            }
            let [told, asked] = fds.map(|fd| !fd.revents().is_empty());
            if told {
                // One read may stand for any number of ended children, so all of them are
                // looked for.
                let _ = rustix::io::read(&self.told, &mut [0; 1024]);
            }
            if asked && !self.pass_on(command, control) {
                return ChildWatchOutcome::CalledOff;
            }
        }
    }

    /// Forwards one signal. Returns whether to continue.
    fn pass_on(&self, command: i32, control: &OwnedFd) -> bool {
        let received = control::receive(control.as_fd(), RecvFlags::DONTWAIT);
        let signal = match received {
            Ok((bytes, _)) => match bytes.first() {
                Some(signal) => i32::from(*signal),
                None => return false,
            },
            Err(cause) => return cause.kind() == std::io::ErrorKind::WouldBlock,
        };
        if signal == libc::SIGKILL {
            return false;
        }
        let everyone = self.reach == SignalReach::Namespace && signal != libc::SIGINT;
        let target = if everyone { -1 } else { -command };
        // It is fine if no process is left to receive it.
        drop(sys::kill(target, signal));
        true
    }
}

/// Reaps all ended children and returns the command's status if it is among them.
fn reap(command: i32) -> Option<i32> {
    let mut status = None;
    while let Ok(Some(ended)) = sys::wait(-1, libc::WNOHANG) {
        if ended.pid == command {
            status = Some(ended.status);
        }
    }
    status
}
