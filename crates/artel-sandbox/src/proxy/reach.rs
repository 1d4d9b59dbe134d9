//! The proxy's means to reach the world: name resolution, dialling, limits.
//!
//! All of these are values, so that a test can replace the whole network.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// Everything the proxy uses in addition to its grants.
#[derive(Debug, Clone, Default)]
pub struct ProxyOptions {
    /// Resolves names to addresses.
    pub resolver: ProxyResolver,
    /// Maps granted addresses to the ones dialled.
    pub dialer: ProxyDialer,
    /// Time limits and the connection limit.
    pub limits: ProxyLimits,
}

/// Looks up the addresses of a name. It is asked once per connection, and only for granted
/// names.
#[derive(Clone)]
pub struct ProxyResolver(Arc<Lookup>);

type Lookup = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Maps a granted address to the one that is dialled. In production that is the same
/// address; a test substitutes its own listener for a public address.
#[derive(Clone)]
pub struct ProxyDialer(Arc<Route>);

type Route = dyn Fn(SocketAddr) -> SocketAddr + Send + Sync;

/// Time limits and connection limit of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyLimits {
    /// Time limit for the whole head of a request.
    pub head: Duration,
    /// Time limit for a lookup, and again for connecting.
    pub connect: Duration,
    /// Longest time without any byte in either direction.
    pub idle: Duration,
    /// Limit on simultaneous connections; further ones wait.
    pub connections: usize,
}

impl ProxyResolver {
    /// Returns the system's resolver.
    pub fn system() -> Self {
        Self::new(|name| {
            let found = (name, 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    /// Returns a resolver that knows only these names.
    pub fn fixed(names: BTreeMap<String, Vec<IpAddr>>) -> Self {
        Self::new(move |name| {
            let unknown = || io::Error::new(io::ErrorKind::NotFound, "no such name");
            names.get(name).cloned().ok_or_else(unknown)
        })
    }

    /// Returns a resolver that calls a function, on its own thread.
    pub fn new(lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// Returns the addresses of a name, public or not.
    pub fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        (self.0)(name)
    }
}

impl ProxyDialer {
    /// Returns the dialer that uses every address unchanged.
    pub fn system() -> Self {
        Self::new(|address| address)
    }

    /// Returns a dialer that maps addresses with a function.
    pub fn new(route: impl Fn(SocketAddr) -> SocketAddr + Send + Sync + 'static) -> Self {
        Self(Arc::new(route))
    }

    pub(crate) fn route(&self, address: SocketAddr) -> SocketAddr {
        (self.0)(address)
    }
}

impl Default for ProxyResolver {
    fn default() -> Self {
        Self::system()
    }
}

impl Default for ProxyDialer {
    fn default() -> Self {
        Self::system()
    }
}

impl Default for ProxyLimits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(300),
            connections: 64,
        }
    }
}

impl From<ProxyResolver> for ProxyOptions {
    fn from(resolver: ProxyResolver) -> Self {
        Self {
            resolver,
            ..Self::default()
        }
    }
}

impl fmt::Debug for ProxyResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

impl fmt::Debug for ProxyDialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dialer")
    }
}
