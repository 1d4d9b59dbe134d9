//! Sends signals to the daemon: to reload its settings, or to stop. A daemon that does not
//! stop is killed. A process handle is held meanwhile, so that no signal can reach another
//! process that got the same process id.

use std::os::fd::OwnedFd;
use std::time::Duration;

use artel_journal::LeaseOwner;
use artel_types::{DaemonStopped, Failure, FailureCode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::RunningDaemon;
use crate::workshop::Workshop;

/// Poll interval while waiting for a process to end.
const LOOK: Duration = Duration::from_millis(20);

/// Time limit for the system to remove a killed process.
const CLEARING: Duration = Duration::from_secs(5);

/// The way a daemon ended that was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DaemonStopOutcome {
    /// It stopped by itself.
    AtRest,
    /// It did not stop within this time and was killed. Work under way is taken up at the next
    /// start, as after a crash.
    Killed(Duration),
}

impl Workshop {
    /// Makes the daemon reload its settings.
    pub fn signal_reload(&self, runs: &RunningDaemon) -> Result<(), Failure> {
        match self.hold_daemon(runs)? {
            Some(process) => send(runs, &process, Signal::HUP).map(drop),
            None => Err(Failure::new(FailureCode::H003, "the daemon has ended")
                .advise("`artel daemon start` starts it")),
        }
    }

    /// Stops the daemon. If it has not stopped after `patience`, it is killed, and this
    /// process records its end.
    pub async fn stop_daemon(
        &self,
        runs: &RunningDaemon,
        patience: Duration,
    ) -> Result<DaemonStopOutcome, Failure> {
        let Some(process) = self.hold_daemon(runs)? else {
            return Ok(DaemonStopOutcome::AtRest);
        };
        if send(runs, &process, Signal::TERM)? == SignalDelivery::TooLate
            || has_ended(&process, patience).await
        {
            return Ok(DaemonStopOutcome::AtRest);
        }
        send(runs, &process, Signal::KILL)?;
        if !has_ended(&process, CLEARING).await {
            return Err(still_there(runs.pid));
        }
        let seconds = patience.as_secs_f64();
        let fact = DaemonStopped {
            pid: runs.pid,
            why: format!("killed, because it had not come to rest after {seconds} s"),
        };
        self.note_daemon(&self.open()?.journal, fact.into())?;
        // Other programs may look for this file; Artel does not.
        drop(std::fs::remove_file(self.daemon_pid_file()));
        Ok(DaemonStopOutcome::Killed(patience))
    }

    /// Waits until the system has removed a daemon that was killed: its address stays in use
    /// until then. Does not wait for a daemon that is still running.
    pub async fn outwait_dying_daemon(&self) -> Result<(), Failure> {
        let owner = self.daemon_owner()?.filter(LeaseOwner::is_ending);
        let Some(owner) = owner else { return Ok(()) };
        match held(&owner)? {
            Some(process) if !has_ended(&process, CLEARING).await => Err(still_there(owner.pid)),
            _ => Ok(()),
        }
    }

    /// Opens a handle of the daemon's process, or returns `None` if it has ended.
    fn hold_daemon(&self, runs: &RunningDaemon) -> Result<Option<OwnedFd>, Failure> {
        let owner = self.daemon_owner()?.filter(|owner| owner.pid == runs.pid);
        owner.map_or(Ok(None), |owner| held(&owner))
    }

    /// Returns the last process that held the daemon's lease, whether or not it is still
    /// alive.
    fn daemon_owner(&self) -> Result<Option<LeaseOwner>, Failure> {
        let leases = self.reader_as_it_is()?.leases()?.into_iter();
        let mut ours = leases.filter(|lease| lease.name == super::NAME);
        Ok(ours.next().and_then(|lease| lease.owner))
    }
}

/// Whether a signal reached its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SignalDelivery {
    Arrived,
    TooLate,
}

/// Opens a handle of a process, or returns `None` if it has ended.
fn held(owner: &LeaseOwner) -> Result<Option<OwnedFd>, Failure> {
    let pid = i32::try_from(owner.pid).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else { return Ok(None) };
    match pidfd_open(pid, PidfdFlags::empty()) {
        // The check comes after the handle is open: from then on the process id cannot be reused.
        Ok(process) => Ok((owner.is_ending() || !owner.is_dead()).then_some(process)),
        Err(Errno::SRCH) => Ok(None),
        Err(error) => Err(unreached(owner.pid, error)),
    }
}

fn send(
    runs: &RunningDaemon,
    process: &OwnedFd,
    signal: Signal,
) -> Result<SignalDelivery, Failure> {
    match pidfd_send_signal(process, signal) {
        Ok(()) => Ok(SignalDelivery::Arrived),
        Err(Errno::SRCH) => Ok(SignalDelivery::TooLate),
        Err(error) => Err(unreached(runs.pid, error)),
    }
}

/// Waits up to `limit` for a process to end, including all of its threads.
async fn has_ended(process: &OwnedFd, limit: Duration) -> bool {
    let mut waited = Duration::ZERO;
    loop {
        let mut looks = [PollFd::new(process, PollFlags::IN)];
        if poll(&mut looks, Some(&Timespec::default())).is_ok_and(|ended| ended > 0) {
            return true;
        }
        if waited >= limit {
            return false;
        }
        tokio::time::sleep(LOOK).await;
        waited += LOOK;
    }
}

fn unreached(pid: u32, error: Errno) -> Failure {
    let what = format!("the daemon (process {pid}) cannot be signalled");
    Failure::new(FailureCode::H003, what)
        .because(error.to_string())
        .advise("whoever started it can end it")
}

fn still_there(pid: u32) -> Failure {
    let what = format!("the daemon (process {pid}) was killed and is not gone yet");
    Failure::new(FailureCode::H002, what)
        .because("the system waits for something that it has under way, mostly a disk")
        .advise("try again in a moment")
}

#[cfg(test)]
mod tests;
