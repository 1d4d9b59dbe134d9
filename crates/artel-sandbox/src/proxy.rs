//! The filtering proxy: the only way from a sandbox to a network.
//!
//! The walls leave a command no network but a few listening sockets of its own.
//! Connections to them are accepted out here and judged. A granted host is looked up once,
//! the answer is checked and pinned, and exactly that address is dialled. Everything else
//! is refused with the reason. Without a grant nothing passes.

mod address;
mod body;
mod client;
mod connection;
mod grants;
mod host;
mod open;
mod page;
mod passage;
mod reach;
mod relay;
mod request;
mod response;
mod socks;
mod wait;

use std::fmt;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::PollFlags;

use self::connection::ProxyConnection;
use self::grants::ProxyGrants;
use self::passage::ProxyCounters;
use self::wait::{ConnectionSlotPool, Interest, ProxyWaitError, ProxyWaitLimit, WaitableFlag};
use crate::job::GrantedHost;
use crate::sandbox::{ProxyDoor, ProxyDoorKind};

pub use self::host::{HostFault, HostParseError};
pub use self::passage::{ProxyAccess, ProxyAccessOutcome, ProxyTotals};
pub use self::reach::{ProxyDialer, ProxyLimits, ProxyOptions, ProxyResolver};
pub use self::request::{ProxyRequest, ProxyRequestError};
pub use self::socks::{SocksRequest, SocksRequestError};

/// A running proxy. Dropping it ends it and every connection.
#[derive(Debug)]
pub struct FilteringProxy {
    shared: Arc<ProxySharedState>,
    acceptor: Option<JoinHandle<()>>,
}

/// Called about every attempt when it is over, on the thread that served it. The command
/// decides how many attempts there are, so the observer must cope with many.
pub type Observer = Arc<dyn Fn(ProxyAccess) + Send + Sync>;

/// Why the proxy could not start.
#[derive(Debug, thiserror::Error)]
pub enum ProxyStartError {
    /// A grant does not name a valid host.
    #[error("could not start the proxy: a grant cannot be read")]
    Grant(#[from] HostParseError),
    /// The system could not provide a thread or descriptor.
    #[error("could not start the proxy")]
    System(#[from] io::Error),
}

pub(crate) struct ProxySharedState {
    grants: ProxyGrants,
    reach: ProxyOptions,
    observer: Observer,
    counters: ProxyCounters,
    stop: WaitableFlag,
    slots: Arc<ConnectionSlotPool>,
}

impl FilteringProxy {
    /// Starts serving these doors under these grants. Pass a [`ProxyResolver`] if only name
    /// resolution is to differ.
    pub fn serve(
        doors: Vec<ProxyDoor>,
        grants: Vec<GrantedHost>,
        reach: impl Into<ProxyOptions>,
        observer: Observer,
    ) -> Result<Self, ProxyStartError> {
        let reach = reach.into();
        for door in &doors {
            door.listener.set_nonblocking(true)?;
        }
        let shared = Arc::new(ProxySharedState {
            grants: ProxyGrants::new(&grants)?,
            slots: Arc::new(ConnectionSlotPool::new(reach.limits.connections)),
            reach,
            observer,
            counters: ProxyCounters::default(),
            stop: WaitableFlag::new()?,
        });
        let inside = Arc::clone(&shared);
        let acceptor = thread::Builder::new()
            .name("artel-proxy".to_owned())
            .spawn(move || accept_all(&inside, &doors))?;
        Ok(Self {
            shared,
            acceptor: Some(acceptor),
        })
    }

    /// Returns the totals so far.
    pub fn counts(&self) -> ProxyTotals {
        self.shared.counters.read()
    }

    /// Ends every connection, waits until all of them have been reported, and returns the
    /// totals.
    pub fn stop(mut self) -> ProxyTotals {
        self.end();
        self.counts()
    }

    fn end(&mut self) {
        self.shared.stop.raise();
        self.shared.slots.close();
        if let Some(acceptor) = self.acceptor.take() {
            // Joining fails only if an observer panicked, which has been reported already.
            acceptor.join().ok();
        }
    }
}

impl Drop for FilteringProxy {
    fn drop(&mut self) {
        self.end();
    }
}

impl ProxySharedState {
    fn report(&self, host: &str, port: u16, verdict: ProxyAccessOutcome, (up, down): (u64, u64)) {
        let passage = ProxyAccess {
            host: host.to_owned(),
            port,
            verdict,
            bytes_up: up,
            bytes_down: down,
        };
        self.counters.passed(&passage);
        (self.observer)(passage);
    }
}

impl fmt::Debug for ProxySharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxySharedState")
            .field("grants", &self.grants)
            .finish_non_exhaustive()
    }
}

/// Accepts connections while there are slots, each in its own thread. The scope ends when
/// the last connection has ended.
fn accept_all(shared: &ProxySharedState, doors: &[ProxyDoor]) {
    thread::scope(|scope| {
        let mut turn = 0;
        while let Some(slot) = shared.slots.take() {
            let Ok((client, kind)) = accept(shared, doors, turn) else {
                return;
            };
            turn += 1;
            shared.counters.connected();
            let connection = ProxyConnection::new(shared, client, slot);
            let thread = thread::Builder::new().name("artel-passage".to_owned());
            // Without a thread the connection is closed; the client sees that and may try
            // again.
            thread
                .spawn_scoped(scope, move || connection.serve(kind))
                .ok();
        }
    });
}

/// Pause when the system has no descriptor for another connection.
const BREATHER: Duration = Duration::from_millis(50);

/// Waits for a connection at any door. The doors take turns, so that a busy one does not
/// starve the others.
fn accept(
    shared: &ProxySharedState,
    doors: &[ProxyDoor],
    turn: usize,
) -> Result<(TcpStream, ProxyDoorKind), ProxyWaitError> {
    let (late, early) = doors.split_at(turn % doors.len().max(1));
    let doors: Vec<_> = early.iter().chain(late).collect();
    let interests: Vec<Interest<'_>> = doors
        .iter()
        .map(|door| (door.listener.as_fd(), PollFlags::IN))
        .collect();
    loop {
        let ready = shared.stop.wait(&interests, ProxyWaitLimit::Stopped)?;
        let ready = doors.iter().zip(ready).find(|(_, flags)| !flags.is_empty());
        let Some((door, _)) = ready else { continue };
        let accepted = door.listener.accept().and_then(|(client, _)| {
            client.set_nonblocking(true)?;
            client.set_nodelay(true)?;
            Ok(client)
        });
        match accepted {
            Ok(client) => return Ok((client, door.kind)),
            Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
            // The client may have disconnected, or descriptors are short for a moment.
            Err(_) => match shared.stop.wait(&[], ProxyWaitLimit::Idle(BREATHER)) {
                Err(ProxyWaitError::Late) => {}
                Err(ended) => return Err(ended),
                Ok(_) => {}
            },
        }
    }
}
