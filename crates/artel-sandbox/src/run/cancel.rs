//! A handle that ends what waits for it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, eventfd};

const NOT: u8 = 0;
const SOFT: u8 = 1;
const HARD: u8 = 2;

/// Ends a command, or any number of them: all clones are one. It can be hardened, never undone.
#[derive(Debug, Clone)]
pub struct Cancel {
    shared: Arc<Shared>,
}

/// How far it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cancelled {
    Not,
    Soft,
    Hard,
}

#[derive(Debug)]
struct Shared {
    state: AtomicU8,
    /// Readable from the first cancel on, and never read: it must wake everyone.
    soft: OwnedFd,
    /// Readable from the hard cancel on.
    hard: OwnedFd,
}

impl Cancel {
    /// Makes a handle that nobody used yet.
    pub fn new() -> io::Result<Self> {
        let bell = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self {
            shared: Arc::new(Shared {
                state: AtomicU8::new(NOT),
                soft: bell()?,
                hard: bell()?,
            }),
        })
    }

    /// Asks for the end: whoever runs gets its graces.
    pub fn soft(&self) {
        self.shared.state.fetch_max(SOFT, Ordering::SeqCst);
        ring(&self.shared.soft);
    }

    /// Ends at once.
    pub fn hard(&self) {
        self.shared.state.store(HARD, Ordering::SeqCst);
        ring(&self.shared.soft);
        ring(&self.shared.hard);
    }

    /// Tells whether somebody cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.state() != Cancelled::Not
    }

    pub(crate) fn state(&self) -> Cancelled {
        match self.shared.state.load(Ordering::SeqCst) {
            NOT => Cancelled::Not,
            SOFT => Cancelled::Soft,
            _ => Cancelled::Hard,
        }
    }

    /// Returns the descriptor that becomes readable at the first cancel.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.shared.soft.as_fd()
    }

    /// Returns the descriptor that becomes readable when there is more to know than `known`.
    pub(crate) fn news(&self, known: Cancelled) -> Option<BorrowedFd<'_>> {
        match known {
            Cancelled::Not => Some(self.shared.soft.as_fd()),
            Cancelled::Soft => Some(self.shared.hard.as_fd()),
            Cancelled::Hard => None,
        }
    }
}

/// Makes the descriptor readable. It cannot fail but where it is readable already.
fn ring(bell: &OwnedFd) {
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}
