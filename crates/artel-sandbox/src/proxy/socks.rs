//! SOCKS 5, limited to connecting: no listening, no datagrams, no passwords.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::host::{HostFault, HostParseError, ProxyTarget, ProxyTargetHost};
use crate::job::GrantedHost;

/// A request for a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocksRequest {
    pub(crate) target: ProxyTarget,
}

/// Why a SOCKS request is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocksRequestError {
    /// Bytes that are not SOCKS 5.
    #[error("the SOCKS request is malformed")]
    Malformed,
    /// A request to listen or to send datagrams.
    #[error("only connections pass: no listening, no datagrams")]
    Command,
    /// An unknown kind of address.
    #[error("the kind of address is unknown")]
    Kind,
    /// A host in a refused spelling.
    #[error(transparent)]
    Host(#[from] HostParseError),
}

/// The reply code of a SOCKS request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocksReply {
    Connected = 0,
    Malformed = 1,
    NotAllowed = 2,
    Unreachable = 4,
    NoCommand = 7,
    NoKind = 8,
}

/// The reply to SOCKS 4: rejected.
pub(crate) const REJECTED_BY_4: [u8; 8] = [0, 0x5b, 0, 0, 0, 0, 0, 0];

/// The reply that selects no authentication.
pub(crate) const NO_METHOD: [u8; 2] = [5, 0];

/// The reply if no offered authentication method is accepted.
pub(crate) const NOT_ACCEPTABLE: [u8; 2] = [5, 0xff];

/// Parses a greeting. Returns its length and the reply, which depends on whether it offers
/// to go without a password, or `None` while the greeting is incomplete.
pub(crate) fn greeting(input: &[u8]) -> Result<Option<(usize, [u8; 2])>, SocksRequestError> {
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
    /// Parses a request at the start of the input. Returns it with its length, or `None` while
    /// it is incomplete.
    pub fn parse(input: &[u8]) -> Result<Option<(Self, usize)>, SocksRequestError> {
        match header(input)? {
            None => return Ok(None),
            Some(1) => {}
            Some(2 | 3) => return Err(SocksRequestError::Command),
            Some(_) => return Err(SocksRequestError::Malformed),
        }
        let kind = match input.get(2..4) {
            None => return Ok(None),
            Some([0, kind]) => *kind,
            Some(_) => return Err(SocksRequestError::Malformed),
        };
        let (start, length) = match kind {
            1 => (4, 4),
            4 => (4, 16),
            3 => match input.get(4) {
                None => return Ok(None),
                Some(length) => (5, usize::from(*length)),
            },
            _ => return Err(SocksRequestError::Kind),
        };
        let end = start + length + 2;
        let Some(rest) = input.get(start..end) else {
            return Ok(None);
        };
        let (address, port) = rest.split_at(length);
        let target = target(address, u16::from_be_bytes([port[0], port[1]]), kind)?;
        Ok(Some((Self { target }, end)))
    }

    /// Returns the requested host and port.
    pub fn host(&self) -> GrantedHost {
        self.target.host()
    }
}

impl SocksRequestError {
    pub(crate) fn reply(&self) -> SocksReply {
        match self {
            Self::Malformed => SocksReply::Malformed,
            Self::Command => SocksReply::NoCommand,
            Self::Kind => SocksReply::NoKind,
            Self::Host(_) => SocksReply::NotAllowed,
        }
    }
}

impl SocksReply {
    /// Returns the bytes of the reply. The address in it has no meaning; it would be one of
    /// ours.
    pub(crate) fn bytes(self) -> [u8; 10] {
        [5, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// Returns the second byte, once the first one is known to be right.
fn header(input: &[u8]) -> Result<Option<u8>, SocksRequestError> {
    match input {
        [5, second, ..] => Ok(Some(*second)),
        [] | [5] => Ok(None),
        _ => Err(SocksRequestError::Malformed),
    }
}

/// Reads the target. The bytes of a name must be a name in our spelling, because a name
/// server and a comparison might not stop at the same NUL.
fn target(address: &[u8], port: u16, kind: u8) -> Result<ProxyTarget, HostParseError> {
    let bad = |fault| HostParseError::new(address, fault);
    if port == 0 {
        return Err(bad(HostFault::Port));
    }
    let four = <[u8; 4]>::try_from(address).ok().filter(|_| kind == 1);
    let six = <[u8; 16]>::try_from(address).ok().filter(|_| kind == 4);
    let name = match (four, six) {
        (Some(four), _) => ProxyTargetHost::address(IpAddr::V4(Ipv4Addr::from(four))),
        (_, Some(six)) => ProxyTargetHost::address(IpAddr::V6(Ipv6Addr::from(six))),
        _ => std::str::from_utf8(address)
            .map_err(|_| HostFault::NotAscii)
            .and_then(ProxyTargetHost::parse),
    };
    Ok(ProxyTarget {
        name: name.map_err(bad)?,
        port,
    })
}
