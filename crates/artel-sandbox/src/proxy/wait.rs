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
pub(crate) enum ProxyWaitError {
    /// The proxy is stopping.
    Stopped,
    /// The time limit was reached.
    Late,
    /// The connection or the system failed.
    Failed(io::Error),
}

impl From<io::Error> for ProxyWaitError {
    fn from(cause: io::Error) -> Self {
        Self::Failed(cause)
    }
}

impl From<Errno> for ProxyWaitError {
    fn from(cause: Errno) -> Self {
        Self::Failed(cause.into())
    }
}

/// A flag that can be waited for. Once raised, it stays raised.
#[derive(Debug)]
pub(crate) struct WaitableFlag(OwnedFd);

impl WaitableFlag {
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
pub(crate) struct ProxyDeadline(OwnedFd);

impl ProxyDeadline {
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
pub(crate) enum ProxyWaitLimit<'a> {
    /// Until a point in time that several waits share.
    Deadline(&'a ProxyDeadline),
    /// For this long without any event.
    Idle(Duration),
    /// Until the proxy stops.
    Stopped,
}

/// A descriptor to wait for, and the events of interest.
pub(crate) type Interest<'a> = (BorrowedFd<'a>, PollFlags);

impl WaitableFlag {
    /// Waits until one of these is ready, and returns the ready events of each. If the flag is
    /// raised, the wait ends first of all.
    pub(crate) fn wait(
        &self,
        interests: &[Interest<'_>],
        until: ProxyWaitLimit<'_>,
    ) -> Result<Vec<PollFlags>, ProxyWaitError> {
        let timer = match until {
            ProxyWaitLimit::Deadline(deadline) => Some(&deadline.0),
            ProxyWaitLimit::Idle(_) | ProxyWaitLimit::Stopped => None,
        };
        let limit = match until {
            ProxyWaitLimit::Idle(time) => Some(timespec(time)),
            ProxyWaitLimit::Deadline(_) | ProxyWaitLimit::Stopped => None,
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
                Ok(0) => return Err(ProxyWaitError::Late),
                Ok(_) if !all[0].revents().is_empty() => return Err(ProxyWaitError::Stopped),
                Ok(_) => {}
            }
            let ready: Vec<_> = all[first..].iter().map(PollFd::revents).collect();
            if ready.iter().all(PollFlags::is_empty) {
                return Err(ProxyWaitError::Late);
            }
            return Ok(ready);
        }
    }

    /// Waits until one descriptor is ready.
    pub(crate) fn wait_for(
        &self,
        fd: &impl AsFd,
        flags: PollFlags,
        until: ProxyWaitLimit<'_>,
    ) -> Result<(), ProxyWaitError> {
        self.wait(&[(fd.as_fd(), flags)], until).map(drop)
    }
}

impl AsFd for WaitableFlag {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The limit on simultaneous connections. Further ones wait in the kernel's own queue.
#[derive(Debug)]
pub(crate) struct ConnectionSlotPool {
    free: Mutex<ConnectionSlotPoolState>,
    changed: Condvar,
}

#[derive(Debug)]
struct ConnectionSlotPoolState {
    slots: usize,
    closed: bool,
}

/// One of the connection slots, released when dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot(Arc<ConnectionSlotPool>);

impl ConnectionSlotPool {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            free: Mutex::new(ConnectionSlotPoolState {
                slots,
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits for a slot. Returns `None` once the pool is closed.
    pub(crate) fn take(self: &Arc<Self>) -> Option<ConnectionSlot> {
        let full = |free: &mut ConnectionSlotPoolState| free.slots == 0 && !free.closed;
        let mut free = self
            .changed
            .wait_while(self.free(), full)
            .unwrap_or_else(PoisonError::into_inner);
        if free.closed {
            return None;
        }
        free.slots -= 1;
        drop(free);
        Some(ConnectionSlot(Arc::clone(self)))
    }

    pub(crate) fn close(&self) {
        self.free().closed = true;
        self.changed.notify_all();
    }

    fn free(&self) -> MutexGuard<'_, ConnectionSlotPoolState> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionSlot {
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
