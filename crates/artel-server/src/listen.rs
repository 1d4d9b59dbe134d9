//! The address the server listens on: on this machine alone, unless a person says
//! otherwise.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use artel_types::{Failure, FailureCode};
use artel_workshop::DaemonListenAddress;
use tokio::net::{TcpListener, TcpStream};

/// Number of free ports that are tried for port 0: a port may be free in one address family
/// only.
const MOST_PORTS: usize = 32;

/// From where the server may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenReach {
    /// Only from this machine.
    Loopback,
    /// From everywhere the address is reachable, because a person allowed it.
    Public,
}

/// An address that the server may listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenAddress(SocketAddr);

/// The source of the listen address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenAddressSource {
    /// The settings.
    BySettings,
    /// The start command; a restart listens on the same address again.
    AtStart,
}

impl ListenAddressSource {
    pub(crate) fn at(self, bound: SocketAddr) -> DaemonListenAddress {
        match self {
            Self::BySettings => DaemonListenAddress::AsSet(bound.to_string()),
            Self::AtStart => DaemonListenAddress::AsNamed(bound.to_string()),
        }
    }
}

impl ListenAddress {
    /// Returns from where an address can be reached. Text that is not an address counts as
    /// loopback.
    pub fn reach_of(text: &str) -> ListenReach {
        match text.parse::<SocketAddr>() {
            Ok(address) if !is_loopback(address.ip()) => ListenReach::Public,
            _ => ListenReach::Loopback,
        }
    }

    /// Parses an address. One that others can reach is refused unless a person allowed it.
    pub fn parse(text: &str, reach: ListenReach) -> Result<Self, Failure> {
        let address = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => text.to_owned(),
        };
        let address: SocketAddr = address.parse().map_err(|_| {
            Failure::new(
                FailureCode::H001,
                format!("`{text}` is no address to listen on"),
            )
            .advise("name an address and a port, such as 127.0.0.1:7717 or [::1]:7717")
        })?;
        if !is_loopback(address.ip()) && reach == ListenReach::Loopback {
            return Err(Failure::new(
                FailureCode::H001,
                format!("`{text}` can be reached from elsewhere"),
            )
            .because("whoever holds a token can have agents work on this machine")
            .advise(
                "listen on 127.0.0.1:7717; or add `--public` and put a proxy with TLS before it",
            ));
        }
        Ok(Self(address))
    }

    /// Listens on the address, and on the other loopback address with the same port.
    ///
    /// Browsers try both for names below `localhost`. Another program on the other address
    /// would be sent the console's cookies and the keys of its pages.
    pub(crate) async fn bind(self) -> Result<(ServerListeners, SocketAddr), Failure> {
        let mut last = None;
        let tries = match self.0.port() {
            0 => MOST_PORTS,
            _ => 1,
        };
        for _ in 0..tries {
            let first = TcpListener::bind(self.0).await;
            let first = first.map_err(|error| unbound(self.0, &error))?;
            let bound = first.local_addr();
            let bound = bound.map_err(|error| unbound(self.0, &error))?;
            let Some(twin) = twin_of(bound) else {
                return Ok((ServerListeners { first, twin: None }, bound));
            };
            match TcpListener::bind(twin).await {
                Ok(twin) => {
                    let twin = Some(twin);
                    return Ok((ServerListeners { first, twin }, bound));
                }
                Err(error) if error.kind() == ErrorKind::AddrInUse => {
                    let why = format!(
                        "another program listens there, and browsers would mistake it for the \
                         console at {bound}"
                    );
                    let advice = "stop that program, or choose another port: `--listen \
                                  127.0.0.1:0` takes any free one";
                    last = Some(unbound(twin, &error).because(why).advise(advice));
                }
                // The machine lacks the other address family, so no other program listens
                // there either.
                Err(_) => return Ok((ServerListeners { first, twin: None }, bound)),
            }
        }
        Err(last.unwrap_or_else(|| {
            Failure::new(FailureCode::H001, format!("cannot listen on {}", self.0))
        }))
    }
}

/// The listening sockets.
pub(crate) struct ServerListeners {
    first: TcpListener,
    twin: Option<TcpListener>,
}

impl ServerListeners {
    /// Waits for the next connection.
    pub(crate) async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        match &self.twin {
            Some(twin) => tokio::select! {
                accepted = self.first.accept() => accepted,
                accepted = twin.accept() => accepted,
            },
            None => self.first.accept().await,
        }
    }
}

/// Returns the other address that `localhost` resolves to, or `None` if a name below it
/// does not lead to `bound` or the socket covers both already.
fn twin_of(bound: SocketAddr) -> Option<SocketAddr> {
    let twin = match bound.ip() {
        IpAddr::V4(ip) if ip == Ipv4Addr::LOCALHOST || ip.is_unspecified() => {
            IpAddr::V6(Ipv6Addr::LOCALHOST)
        }
        IpAddr::V6(ip) if ip.is_loopback() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => return None,
    };
    Some(SocketAddr::new(twin, bound.port()))
}

fn unbound(address: SocketAddr, error: &io::Error) -> Failure {
    Failure::new(FailureCode::H001, format!("cannot listen on {address}"))
        .because(error.to_string())
        .advise("`artel daemon status` shows whether a daemon runs; `--listen 127.0.0.1:0` takes any free port")
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ListenAddress, ListenReach};

    #[test]
    fn only_loopback_unless_a_person_says_so() {
        for (text, is_fine) in [
            ("127.0.0.1:7717", true),
            ("127.0.0.2:1", true),
            ("[::1]:7717", true),
            ("localhost:7717", true),
            ("0.0.0.0:7717", false),
            ("[::]:7717", false),
            ("192.168.1.2:7717", false),
            ("[::ffff:127.0.0.1]:7717", false),
            ("example.org:7717", false),
            ("127.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(
                ListenAddress::parse(text, ListenReach::Loopback).is_ok(),
                is_fine,
                "{text}"
            );
        }
        assert!(ListenAddress::parse("0.0.0.0:7717", ListenReach::Public).is_ok());
    }
}
