//! Follows the command and everything it started, until the command has ended.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::RecvFlags;

use super::step::{At, Failed};
use crate::control;
use crate::sys;

/// Whose processes a signal to everything would reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of our own namespace: all of them are the command's.
    Namespace,
    /// Those of the whole machine: only the command's group may be meant.
    Machine,
}

/// How following ended.
pub(super) enum Followed {
    /// The command ended with this status.
    Ended(i32),
    /// Whoever started it is gone, or wants everything to end now.
    CalledOff,
}

/// A descriptor that tells of ended children. It is made after the command was started: the signal
/// it stands for is blocked from then on, and a command that inherited that would never hear of
/// its own children's end. Who ended before is found by looking first.
pub(super) struct Follower {
    told: OwnedFd,
    reach: Reach,
}

impl Follower {
    pub(super) fn new(reach: Reach) -> Result<Self, Failed> {
        let told = sys::children_fd().at("starter", "watch for ended children")?;
        Ok(Self { told, reach })
    }

    /// Passes signals on and reaps whoever ends, until the command does.
    pub(super) fn follow(&self, command: i32, control: &OwnedFd) -> Followed {
        loop {
            if let Some(status) = reap(command) {
                return Followed::Ended(status);
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
                // One reading stands for any number of ends: all of them are looked for.
                let _ = rustix::io::read(&self.told, &mut [0; 1024]);
            }
            if asked && !self.pass_on(command, control) {
                return Followed::CalledOff;
            }
        }
    }

    /// Passes one signal on; says whether to go on.
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
        let everyone = self.reach == Reach::Namespace && signal != libc::SIGINT;
        let target = if everyone { -1 } else { -command };
        // Nobody left to hear it is fine.
        drop(sys::kill(target, signal));
        true
    }
}

/// Reaps everyone who has ended and returns the command's status if it is among them.
fn reap(command: i32) -> Option<i32> {
    let mut status = None;
    while let Ok(Some(ended)) = sys::wait(-1, libc::WNOHANG) {
        if ended.pid == command {
            status = Some(ended.status);
        }
    }
    status
}
