//! What passed and what did not, told to whoever keeps the journal.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

/// One attempt to reach something, told when it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The host in its one spelling, or what was asked for instead, escaped; empty where the
    /// request named none.
    pub host: String,
    /// The port, zero where none was understood.
    pub port: u16,
    /// What came of it.
    pub verdict: Verdict,
    /// Bytes that went to the host.
    pub bytes_up: u64,
    /// Bytes that came from it.
    pub bytes_down: u64,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was granted, and connected to this address.
    Allowed {
        /// The address that was checked and dialled.
        address: SocketAddr,
    },
    /// It was not granted, or not understood.
    Refused {
        /// The reason, as the command was told it.
        why: String,
    },
    /// It was granted, yet could not be reached.
    Unreachable {
        /// What failed.
        why: String,
    },
}

/// How much passed since the proxy began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections taken.
    pub connections: u64,
    /// Attempts that connected.
    pub allowed: u64,
    /// Attempts that were refused.
    pub refused: u64,
    /// Attempts that were granted and failed.
    pub unreachable: u64,
    /// Bytes that went out.
    pub bytes_up: u64,
    /// Bytes that came in.
    pub bytes_down: u64,
}

/// The counters while they run.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    connections: AtomicU64,
    allowed: AtomicU64,
    refused: AtomicU64,
    unreachable: AtomicU64,
    bytes_up: AtomicU64,
    bytes_down: AtomicU64,
}

impl Counters {
    pub(crate) fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn passed(&self, passage: &Passage) {
        let verdict = match passage.verdict {
            Verdict::Allowed { .. } => &self.allowed,
            Verdict::Refused { .. } => &self.refused,
            Verdict::Unreachable { .. } => &self.unreachable,
        };
        verdict.fetch_add(1, Ordering::Relaxed);
        self.bytes_up.fetch_add(passage.bytes_up, Ordering::Relaxed);
        self.bytes_down
            .fetch_add(passage.bytes_down, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Counts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            connections: count(&self.connections),
            allowed: count(&self.allowed),
            refused: count(&self.refused),
            unreachable: count(&self.unreachable),
            bytes_up: count(&self.bytes_up),
            bytes_down: count(&self.bytes_down),
        }
    }
}
