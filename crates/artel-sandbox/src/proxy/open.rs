//! From a target to a connection: granted, looked up once, pinned, dialled.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};

use super::grants::{PinnedAddress, ProxyGrants, TargetRefusedError};
use super::host::ProxyTarget;
use super::reach::ProxyOptions;
use super::wait::{ConnectionSlot, ProxyDeadline, ProxyWaitError, ProxyWaitLimit, WaitableFlag};

/// Why no connection was opened.
#[derive(Debug)]
pub(crate) enum ProxyOpenError {
    Refused(TargetRefusedError),
    Unreachable(HostUnreachableError),
    Stopped,
}

/// Why a granted host could not be reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostUnreachableError {
    #[error("its name has no address: {0}")]
    NoAddress(io::Error),
    #[error("nobody answered in time")]
    Late,
    #[error("the connection failed: {0}")]
    Failed(io::Error),
}

/// Connects to a target if it was granted.
///
/// A name that was not granted is not even looked up, because the query would reveal the
/// name's content to a stranger's name server. The addresses that were checked are the
/// ones dialled; no name is looked up twice for one connection.
pub(crate) fn open(
    target: &ProxyTarget,
    grants: &ProxyGrants,
    reach: &ProxyOptions,
    stop: &WaitableFlag,
    slot: &Arc<ConnectionSlot>,
) -> Result<(TcpStream, SocketAddr), ProxyOpenError> {
    let admitted = grants.admit(target).map_err(ProxyOpenError::Refused)?;
    let answer = match admitted.name() {
        Some(name) => look_up(name, reach, stop, slot)?,
        None => Vec::new(),
    };
    let pinned = admitted.pin(&answer).map_err(ProxyOpenError::Refused)?;
    dial(&pinned, reach, stop)
}

/// Number of addresses of one name that are tried.
const MOST_TRIED: usize = 4;

/// Asks the resolver on its own thread, because the system's resolver cannot be
/// interrupted. The thread keeps the connection's slot, so that abandoned lookups cannot
/// pile up.
fn look_up(
    name: &str,
    reach: &ProxyOptions,
    stop: &WaitableFlag,
    slot: &Arc<ConnectionSlot>,
) -> Result<Vec<IpAddr>, ProxyOpenError> {
    let failed = |cause| ProxyOpenError::Unreachable(HostUnreachableError::Failed(cause));
    let done = Arc::new(WaitableFlag::new().map_err(failed)?);
    let (answer, answered) = mpsc::channel();
    let ask = {
        let (done, slot) = (Arc::clone(&done), Arc::clone(slot));
        let (resolver, name) = (reach.resolver.clone(), name.to_owned());
        move || {
            // The receiver may be gone by now.
            answer.send(resolver.look_up(&name)).ok();
            done.raise();
            drop(slot);
        }
    };
    thread::Builder::new()
        .name("artel-lookup".to_owned())
        .spawn(ask)
        .map_err(failed)?;
    let deadline = ProxyDeadline::after(reach.limits.connect).map_err(failed)?;
    stop.wait_for(&done, PollFlags::IN, ProxyWaitLimit::Deadline(&deadline))?;
    let no_address = |cause| ProxyOpenError::Unreachable(HostUnreachableError::NoAddress(cause));
    answered
        .try_recv()
        .map_err(|cause| no_address(io::Error::other(cause)))?
        .map_err(no_address)
}

/// Dials the addresses one after the other. They share the time, so that a dead one at the
/// front does not use it up.
fn dial(
    pinned: &[PinnedAddress],
    reach: &ProxyOptions,
    stop: &WaitableFlag,
) -> Result<(TcpStream, SocketAddr), ProxyOpenError> {
    let tried = &pinned[..pinned.len().min(MOST_TRIED)];
    let share = reach.limits.connect / u32::try_from(tried.len().max(1)).unwrap_or(1);
    let nothing = io::Error::from(io::ErrorKind::NotFound);
    let mut failure = ProxyOpenError::Unreachable(HostUnreachableError::NoAddress(nothing));
    for pinned in tried {
        let address = pinned.address();
        match connect(reach.dialer.route(address), share, stop) {
            Ok(stream) => return Ok((stream, address)),
            Err(ProxyWaitError::Stopped) => return Err(ProxyOpenError::Stopped),
            Err(ended) => failure = ended.into(),
        }
    }
    Err(failure)
}

fn connect(
    address: SocketAddr,
    limit: Duration,
    stop: &WaitableFlag,
) -> Result<TcpStream, ProxyWaitError> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS) => {
            let deadline = ProxyDeadline::after(limit)?;
            stop.wait_for(&socket, PollFlags::OUT, ProxyWaitLimit::Deadline(&deadline))?;
            rustix::net::sockopt::socket_error(&socket)??;
        }
        Err(cause) => return Err(cause.into()),
    }
    Ok(TcpStream::from(socket))
}

impl From<ProxyWaitError> for ProxyOpenError {
    fn from(ended: ProxyWaitError) -> Self {
        match ended {
            ProxyWaitError::Stopped => Self::Stopped,
            ProxyWaitError::Late => Self::Unreachable(HostUnreachableError::Late),
            ProxyWaitError::Failed(cause) => Self::Unreachable(HostUnreachableError::Failed(cause)),
        }
    }
}
