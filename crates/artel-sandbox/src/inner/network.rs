//! The network namespace: a loopback and nothing else, plus the doors of a grant.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::Timespec;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::step::{SandboxStepContext, SandboxStepError};
use crate::control::{self, MOST_DESCRIPTORS, SandboxStarterMessage};
use crate::sys;

const STEP: &str = "network namespace";

/// Number of attempts to listen at a new address, one per millisecond: two seconds in all.
const TRIES: u32 = 2000;

/// Brings up the loopback, creates the doors, and hands them out. Returns the proxy's
/// port.
pub(super) fn open(
    doors: &[Option<SocketAddr>],
    control: BorrowedFd<'_>,
) -> Result<Option<u16>, SandboxStepError> {
    let socket = request_socket(AddressFamily::INET)?;
    sys::loopback_up(socket.as_fd()).at(STEP, "bring up the loopback interface")?;
    if doors.is_empty() {
        return Ok(None);
    }
    if doors.len() > MOST_DESCRIPTORS {
        let why = format!("more than {MOST_DESCRIPTORS} addresses were granted");
        return Err(SandboxStepError::new(STEP, why));
    }
    give_addresses(doors, &socket)?;
    let mut listeners = Vec::new();
    let mut port = None;
    for door in doors {
        let address = door.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let listener = listen(address).at(STEP, &format!("listen at {address}"))?;
        if door.is_none() {
            port = Some(
                listener
                    .local_addr()
                    .at(STEP, "name the proxy's port")?
                    .port(),
            );
        }
        listeners.push(listener);
    }
    let fds: Vec<_> = listeners.iter().map(AsFd::as_fd).collect();
    control::say(control, &SandboxStarterMessage::Doors(doors.to_vec()), &fds)
        .at(STEP, "hand out the doors")?;
    Ok(port)
}

/// Listens at an address that was added a moment ago. The kernel takes an IPv6 address
/// into use only after checking for another owner, even if there cannot be one.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let moment = Timespec {
        tv_sec: 0,
        tv_nsec: 1_000_000,
    };
    for _ in 0..TRIES {
        match TcpListener::bind(address) {
            Err(cause) if cause.kind() == io::ErrorKind::AddrNotAvailable => {
                let _ = rustix::thread::nanosleep(&moment);
            }
            other => return other,
        }
    }
    TcpListener::bind(address)
}

/// Adds every granted address to the loopback, so that connecting to it leads to its door.
fn give_addresses(doors: &[Option<SocketAddr>], socket: &OwnedFd) -> Result<(), SandboxStepError> {
    let mut given = Vec::new();
    for address in doors.iter().flatten().map(SocketAddr::ip) {
        if address.is_loopback() || given.contains(&address) {
            continue;
        }
        let what = format!("give the loopback interface the address {address}");
        match address {
            IpAddr::V4(address) => sys::add_address_v4(socket.as_fd(), given.len(), address),
            IpAddr::V6(address) => {
                let socket = request_socket(AddressFamily::INET6)?;
                sys::add_address_v6(socket.as_fd(), address)
            }
        }
        .at(STEP, &what)?;
        given.push(address);
    }
    Ok(())
}

fn request_socket(family: AddressFamily) -> Result<OwnedFd, SandboxStepError> {
    socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
        .at(STEP, "make a socket for interface requests")
}

/// Sets the variables by which programs find the proxy, and removes those that would
/// bypass it.
pub(super) fn name_proxy(env: &mut Vec<(std::ffi::OsString, std::ffi::OsString)>, port: u16) {
    const NAMES: [&str; 3] = ["http_proxy", "https_proxy", "all_proxy"];
    env.retain(|(name, _)| {
        let name = name.to_string_lossy().to_ascii_lowercase();
        name != "no_proxy" && !NAMES.contains(&name.as_str())
    });
    let proxy = format!("http://127.0.0.1:{port}");
    for name in NAMES {
        env.push((name.into(), proxy.clone().into()));
        env.push((name.to_ascii_uppercase().into(), proxy.clone().into()));
    }
}
