//! The queue of calls that wait for a slot, in order.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

/// The waiting calls, first come first.
#[derive(Debug, Default)]
pub(super) struct CommandConcurrencyQueue {
    waiting: Mutex<VecDeque<Arc<OwnedFd>>>,
}

/// A place in the queue. Dropping it leaves the queue and notifies the call that is first
/// then.
#[derive(Debug)]
pub(super) struct CommandConcurrencyTicket<'a> {
    queue: &'a CommandConcurrencyQueue,
    bell: Arc<OwnedFd>,
}

impl CommandConcurrencyQueue {
    /// Joins at the end.
    pub(super) fn join(&self) -> io::Result<CommandConcurrencyTicket<'_>> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let bell = Arc::new(bell);
        self.line().push_back(Arc::clone(&bell));
        Ok(CommandConcurrencyTicket { queue: self, bell })
    }

    fn line(&self) -> MutexGuard<'_, VecDeque<Arc<OwnedFd>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CommandConcurrencyTicket<'_> {
    /// Returns the number of calls ahead.
    pub(super) fn ahead(&self) -> usize {
        let line = self.queue.line();
        let place = line.iter().position(|bell| Arc::ptr_eq(bell, &self.bell));
        place.unwrap_or(0)
    }

    /// Clears the notification. The caller checks its place after this.
    pub(super) fn hush(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&*self.bell, &mut count);
    }

    /// Returns the descriptor that becomes readable when this call is first in the queue.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Drop for CommandConcurrencyTicket<'_> {
    fn drop(&mut self) {
        let mut line = self.queue.line();
        line.retain(|bell| !Arc::ptr_eq(bell, &self.bell));
        // Only the first call can act on it; waking all would cost the square of the queue's
        // length.
        if let Some(bell) = line.front() {
            let _ = rustix::io::write(&**bell, &1u64.to_ne_bytes());
        }
    }
}
