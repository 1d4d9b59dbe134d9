//! Slots: how many commands run at once, across all runs and processes of this user.
//!
//! A slot is a lock on a file, so the kernel releases it whatever happens to its holder.
//! Some slots are reserved for commands that a person started: a machine busy with agents
//! still responds. A call that finds no free slot waits its turn, reports the holders, and
//! can be cancelled.

mod queue;
#[cfg(test)]
mod tests;

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::num::NonZeroUsize;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use crate::run::CancelToken;
use queue::{CommandConcurrencyQueue, CommandConcurrencyTicket};

/// Time after which the first in the queue checks again without a notification. The
/// notification about a killed holder comes a moment before its lock is released.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The same interval right after a notification, and when notifications are unavailable.
const LOOK_SOON: Duration = Duration::from_millis(10);

/// Number of bytes read of a holder's label.
const LONGEST_LABEL: usize = 200;

/// The slots of this user. Clones share one queue.
#[derive(Debug, Clone)]
pub struct CommandConcurrencyPool {
    shared: Arc<CommandConcurrencyPoolState>,
}

/// The initiator of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandInitiator {
    /// A person started it and waits for it.
    Person,
    /// An agent started it.
    Agent,
}

/// What a call is waiting for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandConcurrencyWait {
    /// Number of calls of this process ahead of it.
    pub ahead: usize,
    /// The holders of the slots it could get, by their own labels.
    pub holders: Vec<String>,
}

/// A held slot. Dropping it releases it.
#[derive(Debug)]
pub struct CommandConcurrencyPermit {
    lock: OwnedFd,
    /// Open for writing, because closing it notifies the waiters.
    label: File,
}

/// Why no slot was given.
#[derive(Debug, thiserror::Error)]
pub enum CommandConcurrencyError {
    /// The call was cancelled while it waited.
    #[error("the command was called off while it waited for a slot")]
    Cancelled,
    /// The folder of the slots cannot be used.
    #[error("could not use the slots in `{folder}`")]
    Unusable {
        /// The path of the folder.
        folder: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

#[derive(Debug)]
struct CommandConcurrencyPoolState {
    folder: PathBuf,
    total: usize,
    reserved: usize,
    people: CommandConcurrencyQueue,
    agents: CommandConcurrencyQueue,
}

impl CommandConcurrencyPool {
    /// Creates the slots of a machine: twice as many as it has cores, a fifth of them reserved
    /// for people. `folder` is created if it is missing; all processes of the user must use
    /// the same one.
    pub fn of_cores(
        folder: impl Into<PathBuf>,
        cores: NonZeroUsize,
    ) -> Result<Self, CommandConcurrencyError> {
        let total = cores.get().saturating_mul(2);
        Self::new(folder, total, (total / 5).max(1))
    }

    /// Creates `total` slots, of which `reserved` are for people. At least one is always left
    /// for agents.
    pub fn new(
        folder: impl Into<PathBuf>,
        total: usize,
        reserved: usize,
    ) -> Result<Self, CommandConcurrencyError> {
        let (folder, total) = (folder.into(), total.max(2));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(|cause| CommandConcurrencyError::Unusable {
                folder: folder.clone(),
                cause,
            })?;
        Ok(Self {
            shared: Arc::new(CommandConcurrencyPoolState {
                folder,
                total,
                reserved: reserved.clamp(1, total - 1),
                people: CommandConcurrencyQueue::default(),
                agents: CommandConcurrencyQueue::default(),
            }),
        })
    }

    /// Takes a slot, or waits for one in call order. `label` tells others what holds it.
    /// `waiting` is called whenever the reason for waiting changes.
    pub fn acquire(
        &self,
        who: CommandInitiator,
        label: &str,
        cancel: &CancelToken,
        waiting: &mut dyn FnMut(&CommandConcurrencyWait),
    ) -> Result<CommandConcurrencyPermit, CommandConcurrencyError> {
        self.take(who, label, cancel, waiting)
            .map_err(|cause| CommandConcurrencyError::Unusable {
                folder: self.shared.folder.clone(),
                cause,
            })?
            .ok_or(CommandConcurrencyError::Cancelled)
    }

    /// Waits for a slot. `None` means that the call was cancelled.
    fn take(
        &self,
        who: CommandInitiator,
        label: &str,
        cancel: &CancelToken,
        waiting: &mut dyn FnMut(&CommandConcurrencyWait),
    ) -> io::Result<Option<CommandConcurrencyPermit>> {
        let ticket = self.line(who).join()?;
        let (mut told, mut bell, mut patience) = (None, SlotReleaseWatch::Unhung, LOOK_AGAIN);
        while !cancel.is_cancelled() {
            ticket.hush();
            let ahead = ticket.ahead();
            if ahead == 0 {
                if let Some(slot) = self.try_take(who, label)? {
                    return Ok(Some(slot));
                }
                if matches!(bell, SlotReleaseWatch::Unhung) {
                    // The watch is set up before the next check, so no release in between is
                    // missed.
                    bell = self.hang_bell();
                    continue;
                }
            }
            let now = CommandConcurrencyWait {
                ahead,
                holders: self.holders(who),
            };
            if told.as_ref() != Some(&now) {
                waiting(&now);
                told = Some(now);
            }
            patience = wait(&ticket, ahead, &bell, cancel, patience)?;
        }
        Ok(None)
    }

    /// Takes a free slot, if there is one. The last ones are for people, who use them last.
    fn try_take(
        &self,
        who: CommandInitiator,
        label: &str,
    ) -> io::Result<Option<CommandConcurrencyPermit>> {
        for path in self.open_to(who) {
            let flags = OFlags::RDONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            // Read-only, because closing a file that was open for writing wakes every waiter.
            let lock = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?;
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(CommandConcurrencyPermit::hold(lock, &path, label)?)),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(cause) => return Err(cause.into()),
            }
        }
        Ok(None)
    }

    /// Returns the labels of the slots that `who` could get.
    fn holders(&self, who: CommandInitiator) -> Vec<String> {
        let label = |path: PathBuf| {
            let mut bytes = Vec::new();
            let file = File::open(path).ok()?;
            file.take(LONGEST_LABEL as u64)
                .read_to_end(&mut bytes)
                .ok()?;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned())
        };
        let labels = self.open_to(who).filter_map(label);
        labels.filter(|label| !label.is_empty()).collect()
    }

    fn open_to(&self, who: CommandInitiator) -> impl Iterator<Item = PathBuf> {
        let count = match who {
            CommandInitiator::Person => self.shared.total,
            CommandInitiator::Agent => self.shared.total - self.shared.reserved,
        };
        (0..count).map(|number| self.shared.folder.join(format!("slot-{number}")))
    }

    fn line(&self, who: CommandInitiator) -> &CommandConcurrencyQueue {
        match who {
            CommandInitiator::Person => &self.shared.people,
            CommandInitiator::Agent => &self.shared.agents,
        }
    }

    fn hang_bell(&self) -> SlotReleaseWatch {
        let hang = || -> rustix::io::Result<OwnedFd> {
            let bell = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            inotify::add_watch(&bell, &self.shared.folder, WatchFlags::CLOSE_WRITE)?;
            Ok(bell)
        };
        hang().map_or(SlotReleaseWatch::Broken, SlotReleaseWatch::Hung)
    }
}

/// Notifies when a holder in any process releases its slot.
enum SlotReleaseWatch {
    Unhung,
    Hung(OwnedFd),
    /// The user has too many inotify watches; checking at intervals works too.
    Broken,
}

impl SlotReleaseWatch {
    /// Drains the pending notifications.
    fn quiet(&self) {
        let Self::Hung(bell) = self else { return };
        let mut events = [0; 4096];
        while rustix::io::read(bell, &mut events).is_ok_and(|count| count > 0) {}
    }
}

impl CommandConcurrencyPermit {
    fn hold(lock: OwnedFd, path: &Path, label: &str) -> io::Result<Self> {
        let mut file = File::options().write(true).truncate(true).open(path)?;
        let line: String = label
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(LONGEST_LABEL / 4)
            .collect();
        file.write_all(line.as_bytes())?;
        Ok(Self { lock, label: file })
    }
}

impl Drop for CommandConcurrencyPermit {
    fn drop(&mut self) {
        // The label is cleared first, then the lock is released, and closing the file notifies
        // the others last. If one of these fails, the close, which the kernel always does,
        // makes up for it.
        drop(self.label.set_len(0));
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

/// Waits for a reason to check again, and returns how long to wait the next time. The
/// first in the queue is notified by the holders, every other call by the one before it.
fn wait(
    ticket: &CommandConcurrencyTicket<'_>,
    ahead: usize,
    bell: &SlotReleaseWatch,
    cancel: &CancelToken,
    patience: Duration,
) -> io::Result<Duration> {
    let mut waits = vec![wait_for(ticket.bell()), wait_for(cancel.bell())];
    let timeout = match (ahead, bell) {
        (0, SlotReleaseWatch::Hung(bell)) => {
            waits.push(wait_for(bell.as_fd()));
            Some(patience)
        }
        (0, _) => Some(LOOK_SOON),
        _ => None,
    };
    let timeout = timeout.map(Timespec::try_from).transpose();
    match poll(&mut waits, timeout.map_err(io::Error::other)?.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(cause) => return Err(cause.into()),
    }
    let rang = waits.get(2).is_some_and(|wait| !wait.revents().is_empty());
    if rang {
        bell.quiet();
    }
    Ok(if rang { LOOK_SOON } else { LOOK_AGAIN })
}

fn wait_for(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}
