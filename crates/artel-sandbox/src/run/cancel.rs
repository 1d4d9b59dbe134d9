//! A handle that cancels commands.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, eventfd};

const NOT: u8 = 0;
const SOFT: u8 = 1;
const HARD: u8 = 2;

/// Cancels any number of commands: all clones act as one. A soft cancel can become hard
/// but never be undone.
#[derive(Debug, Clone)]
pub struct CancelToken {
    shared: Arc<CancelTokenShared>,
}

/// The state of a cancel: none, soft or hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CancelTokenState {
    Not,
    Soft,
    Hard,
}

#[derive(Debug)]
struct CancelTokenShared {
    state: AtomicU8,
    /// Readable from the first cancel on, and never drained, because it must wake every
    /// waiter.
    soft: OwnedFd,
    /// Readable from the hard cancel on.
    hard: OwnedFd,
}

impl CancelToken {
    /// Creates a handle that is not cancelled.
    pub fn new() -> io::Result<Self> {
        let bell = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self {
            shared: Arc::new(CancelTokenShared {
                state: AtomicU8::new(NOT),
                soft: bell()?,
                hard: bell()?,
            }),
        })
    }

    /// Asks commands to end, with time to react.
    pub fn soft(&self) {
        self.shared.state.fetch_max(SOFT, Ordering::SeqCst);
        ring(&self.shared.soft);
    }

    /// Ends commands at once.
    pub fn hard(&self) {
        self.shared.state.store(HARD, Ordering::SeqCst);
        ring(&self.shared.soft);
        ring(&self.shared.hard);
    }

    /// Returns whether it was cancelled, softly or hard.
    pub fn is_cancelled(&self) -> bool {
        self.state() != CancelTokenState::Not
    }

    pub(crate) fn state(&self) -> CancelTokenState {
        match self.shared.state.load(Ordering::SeqCst) {
            NOT => CancelTokenState::Not,
            SOFT => CancelTokenState::Soft,
            _ => CancelTokenState::Hard,
        }
    }

    /// Returns the descriptor that becomes readable at the first cancel.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.shared.soft.as_fd()
    }

    /// Returns the descriptor that becomes readable when the state goes beyond `known`, or
    /// `None` if it cannot.
    pub(crate) fn news(&self, known: CancelTokenState) -> Option<BorrowedFd<'_>> {
        match known {
            CancelTokenState::Not => Some(self.shared.soft.as_fd()),
            CancelTokenState::Soft => Some(self.shared.hard.as_fd()),
            CancelTokenState::Hard => None,
        }
    }
}

/// Makes the descriptor readable. Writing fails only if it is readable already.
fn ring(bell: &OwnedFd) {
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}
