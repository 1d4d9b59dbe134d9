//! Waiting: always for several things at once, one of which is the end of the proxy.
//!
//! Time limits are kernel timers, which are waited for like sockets, so a client that
//! sends one byte at a time gains nothing.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// Why a wait ended without result.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The proxy is stopping.
    Stopped,
    /// The time limit was reached.
    Late,
    /// The connection or the system failed.
    Failed(io::Error),
}

impl From<io::Error> for Ended {
    fn from(cause: io::Error) -> Self {
        Self::Failed(cause)
    }
}

impl From<Errno> for Ended {
    fn from(cause: Errno) -> Self {
        Self::Failed(cause.into())
    }
}

/// A flag that can be waited for. Once raised, it stays raised.
#[derive(Debug)]
pub(crate) struct Flag(OwnedFd);

impl Flag {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(
            0,
            EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK,
        )?))
    }

    pub(crate) fn raise(&self) {
        // Writing fails only if the counter would overflow, and then the flag is already
        // raised.
        rustix::io::write(&self.0, &1_u64.to_ne_bytes()).ok();
    }
}

/// A point in time that ends every wait for it.
#[derive(Debug)]
pub(crate) struct Deadline(OwnedFd);

impl Deadline {
    pub(crate) fn after(time: Duration) -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        // A timer set to zero would never fire.
        let value = timespec(time.max(Duration::from_nanos(1)));
        let once = Itimerspec {
            it_interval: timespec(Duration::ZERO),
            it_value: value,
        };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
        Ok(Self(timer))
    }
}

/// The limit of a wait.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until<'a> {
    /// Until a point in time that several waits share.
    Deadline(&'a Deadline),
    /// For this long without any event.
    Idle(Duration),
    /// Until the proxy stops.
    Stopped,
}

/// A descriptor to wait for, and the events of interest.
pub(crate) type Interest<'a> = (BorrowedFd<'a>, PollFlags);

impl Flag {
    /// Waits until one of these is ready, and returns the ready events of each. If the flag is
    /// raised, the wait ends first of all.
    pub(crate) fn wait(
        &self,
        interests: &[Interest<'_>],
        until: Until<'_>,
    ) -> Result<Vec<PollFlags>, Ended> {
        let timer = match until {
            Until::Deadline(deadline) => Some(&deadline.0),
            Until::Idle(_) | Until::Stopped => None,
        };
        let limit = match until {
            Until::Idle(time) => Some(timespec(time)),
            Until::Deadline(_) | Until::Stopped => None,
        };
        let own = std::iter::once(&self.0).chain(timer);
        let mut all: Vec<_> = own.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let first = all.len();
        for (fd, flags) in interests {
            all.push(PollFd::from_borrowed_fd(*fd, *flags));
        }
        loop {
            match poll(&mut all, limit.as_ref()) {
                Err(Errno::INTR) => continue,
                Err(cause) => return Err(cause.into()),
                Ok(0) => return Err(Ended::Late),
                Ok(_) if !all[0].revents().is_empty() => return Err(Ended::Stopped),
                Ok(_) => {}
            }
            let ready: Vec<_> = all[first..].iter().map(PollFd::revents).collect();
            if ready.iter().all(PollFlags::is_empty) {
                return Err(Ended::Late);
            }
            return Ok(ready);
        }
    }

    /// Waits until one descriptor is ready.
    pub(crate) fn wait_for(
        &self,
        fd: &impl AsFd,
        flags: PollFlags,
        until: Until<'_>,
    ) -> Result<(), Ended> {
        self.wait(&[(fd.as_fd(), flags)], until).map(drop)
    }
}

impl AsFd for Flag {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The limit on simultaneous connections. Further ones wait in the kernel's own queue.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Mutex<Free>,
    changed: Condvar,
}

#[derive(Debug)]
struct Free {
    slots: usize,
    closed: bool,
}

/// One of the connection slots, released when dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<Slots>);

impl Slots {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            free: Mutex::new(Free {
                slots,
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits for a slot. Returns `None` once the pool is closed.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Slot> {
        let full = |free: &mut Free| free.slots == 0 && !free.closed;
        let mut free = self
            .changed
            .wait_while(self.free(), full)
            .unwrap_or_else(PoisonError::into_inner);
        if free.closed {
            return None;
        }
        free.slots -= 1;
        drop(free);
        Some(Slot(Arc::clone(self)))
    }

    pub(crate) fn close(&self) {
        self.free().closed = true;
        self.changed.notify_all();
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.free().slots += 1;
        self.0.changed.notify_one();
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}
