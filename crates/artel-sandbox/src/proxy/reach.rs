//! How the proxy reaches the world: who answers for names, where addresses lead, how long.
//!
//! All of it are values, so that a test can hold the whole network in its hand.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// Everything the proxy uses beyond its grants.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// Who answers for names.
    pub resolver: Resolver,
    /// Where addresses lead.
    pub dialer: Dialer,
    /// How long and how many.
    pub limits: Limits,
}

/// Answers which addresses a name has. It is asked once for each connection, and only for names
/// that were granted.
#[derive(Clone)]
pub struct Resolver(Arc<Lookup>);

type Lookup = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Says where an address that was granted is really dialled. In earnest that is the address
/// itself; a test puts its own listener in the place of a public address.
#[derive(Clone)]
pub struct Dialer(Arc<Route>);

type Route = dyn Fn(SocketAddr) -> SocketAddr + Send + Sync;

/// How long the proxy waits and how much it takes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For the whole head of a request.
    pub head: Duration,
    /// For a look-up, and again for a connection.
    pub connect: Duration,
    /// With nothing moving in either direction.
    pub idle: Duration,
    /// Connections at once; more wait.
    pub connections: usize,
}

impl Resolver {
    /// The resolver of the system.
    pub fn system() -> Self {
        Self::new(|name| {
            let found = (name, 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    /// One that knows these names and no others.
    pub fn fixed(names: BTreeMap<String, Vec<IpAddr>>) -> Self {
        Self::new(move |name| {
            let unknown = || io::Error::new(io::ErrorKind::NotFound, "no such name");
            names.get(name).cloned().ok_or_else(unknown)
        })
    }

    /// One that answers by a function, from a thread of its own.
    pub fn new(lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// Returns the addresses of a name, whatever they are.
    pub fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        (self.0)(name)
    }
}

impl Dialer {
    /// Every address leads to itself.
    pub fn system() -> Self {
        Self::new(|address| address)
    }

    /// Addresses lead where the function says.
    pub fn new(route: impl Fn(SocketAddr) -> SocketAddr + Send + Sync + 'static) -> Self {
        Self(Arc::new(route))
    }

    pub(crate) fn route(&self, address: SocketAddr) -> SocketAddr {
        (self.0)(address)
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self::system()
    }
}

impl Default for Dialer {
    fn default() -> Self {
        Self::system()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(300),
            connections: 64,
        }
    }
}

impl From<Resolver> for Reach {
    fn from(resolver: Resolver) -> Self {
        Self {
            resolver,
            ..Self::default()
        }
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dialer")
    }
}
