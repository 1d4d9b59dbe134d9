//! The socket between the process that starts a command and the starter around the
//! command.
//!
//! It keeps message boundaries and carries descriptors. The far side is only ever our own
//! starter: the command never holds an end. When our end closes, the tree inside ends, so
//! a killed process of ours leaves nothing running.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use serde::{Deserialize, Serialize};

use crate::level::SandboxLayer;
use crate::process::ExceededCommandLimit;

/// Longest message, in bytes. Long texts are cut before they are sent.
const LONGEST: usize = 64 * 1024;

/// Limit on descriptors per message; the kernel's own limit is 253.
pub(crate) const MOST_DESCRIPTORS: usize = 128;

/// A message from the starter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SandboxStarterMessage {
    /// The first process of the tree exists. Its pidfd is attached if it has its own
    /// namespace.
    Hello,
    /// The listeners inside the network namespace, in this order; their descriptors are
    /// attached.
    Doors(Vec<Option<SocketAddr>>),
    /// A wall could not be built, or the program could not be started.
    Failed { step: String, why: String },
    /// The results of the probe that ran inside.
    Probed(Vec<SandboxLayer>),
    /// The command ended with this status, in the form of `waitpid`.
    Exited(i32),
    /// All processes have ended.
    Done {
        /// The status of the first process.
        status: i32,
        /// Peak memory in bytes.
        peak: u64,
        /// Processor time.
        cpu: Duration,
        /// The limit that was reached, if any.
        limited: Option<ExceededCommandLimit>,
        /// Paths that used another spelling of a protected name and were set aside.
        set_aside: Vec<PathBuf>,
    },
}

/// Creates both ends of the socket.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Sends one message with descriptors attached.
pub(crate) fn send(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    loop {
        match rustix::net::sendmsg(
            socket,
            &[IoSlice::new(bytes)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        ) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
}

/// Receives one message with its descriptors. An empty message means the socket was
/// closed.
pub(crate) fn receive(
    socket: BorrowedFd<'_>,
    flags: RecvFlags,
) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; LONGEST];
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let got = loop {
        let mut slices = [IoSliceMut::new(&mut bytes)];
        match rustix::net::recvmsg(socket, &mut slices, &mut ancillary, flags) {
            Ok(got) => break got,
            Err(Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
    };
    if got.flags.contains(ReturnFlags::CTRUNC) || got.flags.contains(ReturnFlags::TRUNC) {
        return Err(io::Error::other("a message of the starter was cut short"));
    }
    let mut fds = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    bytes.truncate(got.bytes);
    Ok((bytes, fds))
}

/// Sends a message from the starter's side.
pub(crate) fn say(
    socket: BorrowedFd<'_>,
    said: &SandboxStarterMessage,
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let bytes = serde_json::to_vec(said).map_err(io::Error::other)?;
    send(socket, &bytes, fds)
}

/// Receives a message from the starter, or `None` once the socket was closed.
pub(crate) fn hear(
    socket: &OwnedFd,
    flags: RecvFlags,
) -> io::Result<Option<(SandboxStarterMessage, Vec<OwnedFd>)>> {
    let (bytes, fds) = receive(socket.as_fd(), flags)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let said = serde_json::from_slice(&bytes).map_err(io::Error::other)?;
    Ok(Some((said, fds)))
}
