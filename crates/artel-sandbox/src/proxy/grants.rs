//! The decision about what may be reached, separate from everything that moves bytes.

use std::net::{IpAddr, SocketAddr};

use super::address::not_public;
use super::host::{HostParseError, ProxyTarget, ProxyTargetHost, split};
use crate::job::GrantedHost;

/// The granted hosts. If there are none, nothing passes.
#[derive(Debug, Default)]
pub(crate) struct ProxyGrants(Vec<(ProxyTargetHost, Option<u16>)>);

/// A granted target; only [`ProxyGrants::admit`] creates one.
#[derive(Debug)]
pub(crate) struct AdmittedTarget<'a>(&'a ProxyTarget);

/// An address that may be dialled; only [`AdmittedTarget`] creates one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PinnedAddress(SocketAddr);

/// Why a target may not be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TargetRefusedError {
    #[error("{host} was not granted")]
    NotGranted { host: GrantedHost },
    #[error("{host} leads to {address}, which is {what}")]
    NotPublic {
        host: GrantedHost,
        address: IpAddr,
        what: &'static str,
    },
    #[error(transparent)]
    Spelling(#[from] HostParseError),
}

/// The ports of a grant that names none.
const USUAL_PORTS: [u16; 2] = [80, 443];

impl ProxyGrants {
    /// Parses the grants again: they are plain values that anyone can create, and one in
    /// another spelling would never match.
    pub(crate) fn new(hosts: &[GrantedHost]) -> Result<Self, HostParseError> {
        let read = |host: &GrantedHost| {
            let text = host.to_string();
            split(&text).map_err(|fault| HostParseError::new(text.as_bytes(), fault))
        };
        Ok(Self(hosts.iter().map(read).collect::<Result<_, _>>()?))
    }

    /// Admits a target that was granted by the same name or the same address, never one for
    /// the other.
    pub(crate) fn admit<'a>(
        &self,
        target: &'a ProxyTarget,
    ) -> Result<AdmittedTarget<'a>, TargetRefusedError> {
        let granted = self.0.iter().any(|(name, port)| {
            let fits = match port {
                Some(port) => *port == target.port,
                None => USUAL_PORTS.contains(&target.port),
            };
            fits && *name == target.name
        });
        if granted {
            return Ok(AdmittedTarget(target));
        }
        Err(TargetRefusedError::NotGranted {
            host: target.host(),
        })
    }
}

impl AdmittedTarget<'_> {
    /// Returns the name to look up, or `None` if the target is an address.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.0.name {
            ProxyTargetHost::Domain(name) => Some(name),
            ProxyTargetHost::Address(_) => None,
        }
    }

    /// Pins the addresses to dial. A literal address was granted explicitly. The addresses of
    /// a name must all be public: a private one among them is an attack, and which of them
    /// gets dialled would be a matter of luck.
    pub(crate) fn pin(&self, answer: &[IpAddr]) -> Result<Vec<PinnedAddress>, TargetRefusedError> {
        let pinned = |address: IpAddr| PinnedAddress(SocketAddr::new(address, self.0.port));
        if let ProxyTargetHost::Address(address) = self.0.name {
            return Ok(vec![pinned(address)]);
        }
        let public = |address: &IpAddr| match not_public(*address) {
            None => Ok(pinned(address.to_canonical())),
            Some(what) => Err(TargetRefusedError::NotPublic {
                host: self.0.host(),
                address: *address,
                what,
            }),
        };
        answer.iter().map(public).collect()
    }
}

impl PinnedAddress {
    pub(crate) fn address(self) -> SocketAddr {
        self.0
    }
}

impl TargetRefusedError {
    /// Returns advice for a person and for a model.
    pub(crate) fn advice(&self) -> String {
        match self {
            Self::NotGranted { host } => {
                format!("a person can grant it with `artel sandbox run --net {host} -- COMMAND`")
            }
            Self::NotPublic { host, address, .. } => {
                let direct = GrantedHost {
                    name: address.to_string(),
                    port: host.port,
                };
                format!("a person can grant that very address with `--net {direct}`")
            }
            Self::Spelling(_) => "ask for one host and port, spelled as in the grant".to_owned(),
        }
    }
}
