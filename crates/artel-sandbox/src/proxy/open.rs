//! From a target to a connection: granted, looked up once, pinned, dialled.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};

use super::grants::{Grants, Pinned, Refused};
use super::host::Target;
use super::reach::Reach;
use super::wait::{Deadline, Ended, Flag, Slot, Until};

/// Why no connection was opened.
#[derive(Debug)]
pub(crate) enum NotOpened {
    Refused(Refused),
    Unreachable(Unreachable),
    Stopped,
}

/// Why a granted host could not be reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreachable {
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
    target: &Target,
    grants: &Grants,
    reach: &Reach,
    stop: &Flag,
    slot: &Arc<Slot>,
) -> Result<(TcpStream, SocketAddr), NotOpened> {
    let admitted = grants.admit(target).map_err(NotOpened::Refused)?;
    let answer = match admitted.name() {
        Some(name) => look_up(name, reach, stop, slot)?,
        None => Vec::new(),
    };
    let pinned = admitted.pin(&answer).map_err(NotOpened::Refused)?;
    dial(&pinned, reach, stop)
}

/// Number of addresses of one name that are tried.
const MOST_TRIED: usize = 4;

/// Asks the resolver on its own thread, because the system's resolver cannot be
/// interrupted. The thread keeps the connection's slot, so that abandoned lookups cannot
/// pile up.
fn look_up(
    name: &str,
    reach: &Reach,
    stop: &Flag,
    slot: &Arc<Slot>,
) -> Result<Vec<IpAddr>, NotOpened> {
    let failed = |cause| NotOpened::Unreachable(Unreachable::Failed(cause));
    let done = Arc::new(Flag::new().map_err(failed)?);
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
    let deadline = Deadline::after(reach.limits.connect).map_err(failed)?;
    stop.wait_for(&done, PollFlags::IN, Until::Deadline(&deadline))?;
    let no_address = |cause| NotOpened::Unreachable(Unreachable::NoAddress(cause));
    answered
        .try_recv()
        .map_err(|cause| no_address(io::Error::other(cause)))?
        .map_err(no_address)
}

/// Dials the addresses one after the other. They share the time, so that a dead one at the
/// front does not use it up.
fn dial(
    pinned: &[Pinned],
    reach: &Reach,
    stop: &Flag,
) -> Result<(TcpStream, SocketAddr), NotOpened> {
    let tried = &pinned[..pinned.len().min(MOST_TRIED)];
    let share = reach.limits.connect / u32::try_from(tried.len().max(1)).unwrap_or(1);
    let nothing = io::Error::from(io::ErrorKind::NotFound);
    let mut failure = NotOpened::Unreachable(Unreachable::NoAddress(nothing));
    for pinned in tried {
        let address = pinned.address();
        match connect(reach.dialer.route(address), share, stop) {
            Ok(stream) => return Ok((stream, address)),
            Err(Ended::Stopped) => return Err(NotOpened::Stopped),
            Err(ended) => failure = ended.into(),
        }
    }
    Err(failure)
}

fn connect(address: SocketAddr, limit: Duration, stop: &Flag) -> Result<TcpStream, Ended> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS) => {
            let deadline = Deadline::after(limit)?;
            stop.wait_for(&socket, PollFlags::OUT, Until::Deadline(&deadline))?;
            rustix::net::sockopt::socket_error(&socket)??;
        }
        Err(cause) => return Err(cause.into()),
    }
    Ok(TcpStream::from(socket))
}

impl From<Ended> for NotOpened {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Stopped => Self::Stopped,
            Ended::Late => Self::Unreachable(Unreachable::Late),
            Ended::Failed(cause) => Self::Unreachable(Unreachable::Failed(cause)),
        }
    }
}
