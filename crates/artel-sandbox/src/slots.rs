//! Slots: how many commands run at once, over all runs and all processes of this user.
//!
//! A slot is a lock on a file, so the kernel gives it back whatever happens to its holder. A part
//! of the slots is kept for what a person started: a machine busy with agents still answers. A
//! call that finds none free waits its turn, says for whom, and can be called off.

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

use crate::run::Cancel;
use queue::{Queue, Ticket};

/// How long the first in line waits before it looks again without having heard anything: a holder
/// that was killed is heard of a moment before its lock is gone.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The same right after something was heard, and where nothing can be heard.
const LOOK_SOON: Duration = Duration::from_millis(10);

/// What is read of a holder's words.
const LONGEST_LABEL: usize = 200;

/// The slots of this user. Clones share one line.
#[derive(Debug, Clone)]
pub struct Slots {
    shared: Arc<Shared>,
}

/// On whose behalf a command starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// A person started it and waits for it.
    Person,
    /// An agent did.
    Agent,
}

/// What a call waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// How many calls of this process come before it.
    pub ahead: usize,
    /// What holds the slots it could have, in the holders' own words.
    pub holders: Vec<String>,
}

/// A slot that is held. Dropping it gives it back.
#[derive(Debug)]
pub struct Slot {
    lock: OwnedFd,
    /// Open for writing: closing it is what others hear.
    label: File,
}

/// Why no slot was given.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// The call was called off while it waited.
    #[error("the command was called off while it waited for a slot")]
    Cancelled,
    /// The folder of the slots cannot be used.
    #[error("could not use the slots in `{folder}`")]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        #[source]
        cause: io::Error,
    },
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    total: usize,
    reserved: usize,
    people: Queue,
    agents: Queue,
}

impl Slots {
    /// Makes the slots of a machine: twice as many as it has cores, a fifth kept for people.
    /// `folder` is made if it is missing; all processes of the user name the same.
    pub fn of_cores(folder: impl Into<PathBuf>, cores: NonZeroUsize) -> Result<Self, SlotError> {
        let total = cores.get().saturating_mul(2);
        Self::new(folder, total, (total / 5).max(1))
    }

    /// Makes `total` slots of which `reserved` are kept for people. One is always left for agents.
    pub fn new(
        folder: impl Into<PathBuf>,
        total: usize,
        reserved: usize,
    ) -> Result<Self, SlotError> {
        let (folder, total) = (folder.into(), total.max(2));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(|cause| SlotError::Unusable {
                folder: folder.clone(),
                cause,
            })?;
        Ok(Self {
            shared: Arc::new(Shared {
                folder,
                total,
                reserved: reserved.clamp(1, total - 1),
                people: Queue::default(),
                agents: Queue::default(),
            }),
        })
    }

    /// Takes a slot, or waits for one in the order of the calls. `label` says for others what
    /// holds it. `waiting` is told whenever what it waits for has changed.
    pub fn acquire(
        &self,
        who: Who,
        label: &str,
        cancel: &Cancel,
        waiting: &mut dyn FnMut(&Waiting),
    ) -> Result<Slot, SlotError> {
        self.take(who, label, cancel, waiting)
            .map_err(|cause| SlotError::Unusable {
                folder: self.shared.folder.clone(),
                cause,
            })?
            .ok_or(SlotError::Cancelled)
    }

    /// Does the waiting; nothing is a cancel.
    fn take(
        &self,
        who: Who,
        label: &str,
        cancel: &Cancel,
        waiting: &mut dyn FnMut(&Waiting),
    ) -> io::Result<Option<Slot>> {
        let ticket = self.line(who).join()?;
        let (mut told, mut bell, mut patience) = (None, Bell::Unhung, LOOK_AGAIN);
        while !cancel.is_cancelled() {
            ticket.hush();
            let ahead = ticket.ahead();
            if ahead == 0 {
                if let Some(slot) = self.try_take(who, label)? {
                    return Ok(Some(slot));
                }
                if matches!(bell, Bell::Unhung) {
                    // Hung first, then looked again: nothing can be missed in between.
                    bell = self.hang_bell();
                    continue;
                }
            }
            let now = Waiting {
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

    /// Takes a free slot, if there is one. The last ones are for people, who take them last.
    fn try_take(&self, who: Who, label: &str) -> io::Result<Option<Slot>> {
        for path in self.open_to(who) {
            let flags = OFlags::RDONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            // Read-only, since closing a file that was open for writing wakes everyone.
            let lock = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?;
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Slot::hold(lock, &path, label)?)),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(cause) => return Err(cause.into()),
            }
        }
        Ok(None)
    }

    /// Returns what holds the slots that someone could have.
    fn holders(&self, who: Who) -> Vec<String> {
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

    fn open_to(&self, who: Who) -> impl Iterator<Item = PathBuf> {
        let count = match who {
            Who::Person => self.shared.total,
            Who::Agent => self.shared.total - self.shared.reserved,
        };
        (0..count).map(|number| self.shared.folder.join(format!("slot-{number}")))
    }

    fn line(&self, who: Who) -> &Queue {
        match who {
            Who::Person => &self.shared.people,
            Who::Agent => &self.shared.agents,
        }
    }

    fn hang_bell(&self) -> Bell {
        let hang = || -> rustix::io::Result<OwnedFd> {
            let bell = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            inotify::add_watch(&bell, &self.shared.folder, WatchFlags::CLOSE_WRITE)?;
            Ok(bell)
        };
        hang().map_or(Bell::Broken, Bell::Hung)
    }
}

/// Rings when a holder, of any process, lets go.
enum Bell {
    Unhung,
    Hung(OwnedFd),
    /// The user has too many of them; looking now and then does as well.
    Broken,
}

impl Bell {
    /// Takes in what rang.
    fn quiet(&self) {
        let Self::Hung(bell) = self else { return };
        let mut events = [0; 4096];
        while rustix::io::read(bell, &mut events).is_ok_and(|count| count > 0) {}
    }
}

impl Slot {
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

impl Drop for Slot {
    fn drop(&mut self) {
        // The label goes first, the lock next, and closing the file last tells the others. What
        // fails here is made good by the closing, which the kernel does in any case.
        drop(self.label.set_len(0));
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

/// Waits until there is a reason to look, and returns how long to wait the next time. Who is not
/// first hears from the one before; the first hears from the holders.
fn wait(
    ticket: &Ticket<'_>,
    ahead: usize,
    bell: &Bell,
    cancel: &Cancel,
    patience: Duration,
) -> io::Result<Duration> {
    let mut waits = vec![wait_for(ticket.bell()), wait_for(cancel.bell())];
    let timeout = match (ahead, bell) {
        (0, Bell::Hung(bell)) => {
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
