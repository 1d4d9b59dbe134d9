//! SOCKS 5, as far as a connection needs it: no listening, no datagrams, no passwords.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::host::{BadHost, HostFault, Name, Target};
use crate::job::Host;

/// A request for a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocksRequest {
    pub(crate) target: Target,
}

/// A request that is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSocks {
    /// Bytes that are not SOCKS 5.
    #[error("the SOCKS request is malformed")]
    Malformed,
    /// Listening or datagrams.
    #[error("only connections pass: no listening, no datagrams")]
    Command,
    /// A kind of address nobody knows.
    #[error("the kind of address is unknown")]
    Kind,
    /// A host in a spelling that is refused.
    #[error(transparent)]
    Host(#[from] BadHost),
}

/// What a reply says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Connected = 0,
    Malformed = 1,
    NotAllowed = 2,
    Unreachable = 4,
    NoCommand = 7,
    NoKind = 8,
}

/// The answer to SOCKS 4: rejected.
pub(crate) const REJECTED_BY_4: [u8; 8] = [0, 0x5b, 0, 0, 0, 0, 0, 0];

/// No name and no password.
pub(crate) const NO_METHOD: [u8; 2] = [5, 0];

/// None of the offered ways to introduce oneself.
pub(crate) const NOT_ACCEPTABLE: [u8; 2] = [5, 0xff];

/// Reads a greeting: how long it is and whether it offers to go without a password. Nothing is
/// returned while it is incomplete.
pub(crate) fn greeting(input: &[u8]) -> Result<Option<(usize, [u8; 2])>, BadSocks> {
    let Some(count) = header(input)? else {
        return Ok(None);
    };
    let length = 2 + usize::from(count);
    Ok(input.get(2..length).map(|methods| {
        let answer = if methods.contains(&0) {
            NO_METHOD
        } else {
            NOT_ACCEPTABLE
        };
        (length, answer)
    }))
}

impl SocksRequest {
    /// Reads a request from the front of the input, with its length. Nothing is returned while it
    /// is incomplete.
    pub fn parse(input: &[u8]) -> Result<Option<(Self, usize)>, BadSocks> {
        match header(input)? {
            None => return Ok(None),
            Some(1) => {}
            Some(2 | 3) => return Err(BadSocks::Command),
            Some(_) => return Err(BadSocks::Malformed),
        }
        let kind = match input.get(2..4) {
            None => return Ok(None),
            Some([0, kind]) => *kind,
            Some(_) => return Err(BadSocks::Malformed),
        };
        let (start, length) = match kind {
            1 => (4, 4),
            4 => (4, 16),
            3 => match input.get(4) {
                None => return Ok(None),
                Some(length) => (5, usize::from(*length)),
            },
            _ => return Err(BadSocks::Kind),
        };
        let end = start + length + 2;
        let Some(rest) = input.get(start..end) else {
            return Ok(None);
        };
        let (address, port) = rest.split_at(length);
        let target = target(address, u16::from_be_bytes([port[0], port[1]]), kind)?;
        Ok(Some((Self { target }, end)))
    }

    /// Returns the host and port it asks for.
    pub fn host(&self) -> Host {
        self.target.host()
    }
}

impl BadSocks {
    pub(crate) fn reply(&self) -> Reply {
        match self {
            Self::Malformed => Reply::Malformed,
            Self::Command => Reply::NoCommand,
            Self::Kind => Reply::NoKind,
            Self::Host(_) => Reply::NotAllowed,
        }
    }
}

impl Reply {
    /// The reply as it is sent. The address in it means nothing: it would be one of ours.
    pub(crate) fn bytes(self) -> [u8; 10] {
        [5, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// Returns the second byte once the first is known to be right.
fn header(input: &[u8]) -> Result<Option<u8>, BadSocks> {
    match input {
        [5, second, ..] => Ok(Some(*second)),
        [] | [5] => Ok(None),
        _ => Err(BadSocks::Malformed),
    }
}

/// The bytes are a name only if they are one in our spelling: a name server and a comparison
/// would not stop at the same NUL.
fn target(address: &[u8], port: u16, kind: u8) -> Result<Target, BadHost> {
    let bad = |fault| BadHost::new(address, fault);
    if port == 0 {
        return Err(bad(HostFault::Port));
    }
    let four = <[u8; 4]>::try_from(address).ok().filter(|_| kind == 1);
    let six = <[u8; 16]>::try_from(address).ok().filter(|_| kind == 4);
    let name = match (four, six) {
        (Some(four), _) => Name::address(IpAddr::V4(Ipv4Addr::from(four))),
        (_, Some(six)) => Name::address(IpAddr::V6(Ipv6Addr::from(six))),
        _ => std::str::from_utf8(address)
            .map_err(|_| HostFault::NotAscii)
            .and_then(Name::parse),
    };
    Ok(Target {
        name: name.map_err(bad)?,
        port,
    })
}
