//! Reports of what passed and what did not, for the journal.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

/// One attempt to reach a host, reported when it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyAccess {
    /// The host in its canonical spelling, or the requested text, escaped. Empty if the
    /// request named none.
    pub host: String,
    /// The port, or zero if none was understood.
    pub port: u16,
    /// The outcome of the attempt.
    pub verdict: ProxyAccessOutcome,
    /// Bytes sent to the host.
    pub bytes_up: u64,
    /// Bytes received from the host.
    pub bytes_down: u64,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyAccessOutcome {
    /// It was granted and connected.
    Allowed {
        /// The address that was checked and dialled.
        address: SocketAddr,
    },
    /// It was not granted or not understood.
    Refused {
        /// The reason, as the command saw it.
        why: String,
    },
    /// It was granted but could not be reached.
    Unreachable {
        /// The failure.
        why: String,
    },
}

/// Totals since the proxy started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProxyTotals {
    /// Accepted connections.
    pub connections: u64,
    /// Attempts that connected.
    pub allowed: u64,
    /// Attempts that were refused.
    pub refused: u64,
    /// Attempts that were granted but failed.
    pub unreachable: u64,
    /// Bytes sent.
    pub bytes_up: u64,
    /// Bytes received.
    pub bytes_down: u64,
}

/// The running counters.
#[derive(Debug, Default)]
pub(crate) struct ProxyCounters {
    connections: AtomicU64,
    allowed: AtomicU64,
    refused: AtomicU64,
    unreachable: AtomicU64,
    bytes_up: AtomicU64,
    bytes_down: AtomicU64,
}

impl ProxyCounters {
    pub(crate) fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn passed(&self, passage: &ProxyAccess) {
        let verdict = match passage.verdict {
            ProxyAccessOutcome::Allowed { .. } => &self.allowed,
            ProxyAccessOutcome::Refused { .. } => &self.refused,
            ProxyAccessOutcome::Unreachable { .. } => &self.unreachable,
        };
        verdict.fetch_add(1, Ordering::Relaxed);
        self.bytes_up.fetch_add(passage.bytes_up, Ordering::Relaxed);
        self.bytes_down
            .fetch_add(passage.bytes_down, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> ProxyTotals {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ProxyTotals {
            connections: count(&self.connections),
            allowed: count(&self.allowed),
            refused: count(&self.refused),
            unreachable: count(&self.unreachable),
            bytes_up: count(&self.bytes_up),
            bytes_down: count(&self.bytes_down),
        }
    }
}
