//! Where the server listens: on this machine alone, unless a person says otherwise.

use std::net::{IpAddr, SocketAddr};

use artel_types::{Code, Failure};
use artel_workshop::Listens;
use tokio::net::TcpListener;

/// How far the server may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// From this machine.
    Loopback,
    /// From wherever the address is reachable, because a person said so.
    Public,
}

/// An address that may be listened on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(SocketAddr);

/// Who said where to listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// The settings.
    BySettings,
    /// Whoever started it: it is listened there again when it is started anew.
    AtStart,
}

impl Said {
    pub(crate) fn at(self, bound: SocketAddr) -> Listens {
        match self {
            Self::BySettings => Listens::AsSet(bound.to_string()),
            Self::AtStart => Listens::AsNamed(bound.to_string()),
        }
    }
}

impl Address {
    /// Tells how far whoever listens there is reached; what is no address is reached by nobody else.
    pub fn reach_of(text: &str) -> Reach {
        match text.parse::<SocketAddr>() {
            Ok(address) if !is_loopback(address.ip()) => Reach::Public,
            _ => Reach::Loopback,
        }
    }

    /// Reads an address. One that others can reach is refused where nobody said so.
    pub fn parse(text: &str, reach: Reach) -> Result<Self, Failure> {
        let address = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => text.to_owned(),
        };
        let address: SocketAddr = address.parse().map_err(|_| {
            Failure::new(Code::H001, format!("`{text}` is no address to listen on"))
                .advise("name an address and a port, such as 127.0.0.1:7717 or [::1]:7717")
        })?;
        if !is_loopback(address.ip()) && reach == Reach::Loopback {
            return Err(Failure::new(
                Code::H001,
                format!("`{text}` can be reached from elsewhere"),
            )
            .because("whoever holds a token can have agents work on this machine")
            .advise(
                "listen on 127.0.0.1:7717; or add `--public` and put a proxy with TLS before it",
            ));
        }
        Ok(Self(address))
    }

    pub(crate) async fn bind(self) -> Result<(TcpListener, SocketAddr), Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(Code::H001, format!("cannot listen on {}", self.0))
                .because(error.to_string())
                .advise("`artel daemon status` shows whether a daemon runs; `--listen 127.0.0.1:0` takes any free port")
        };
        let listener = TcpListener::bind(self.0).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        Ok((listener, bound))
    }
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Reach};

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
                Address::parse(text, Reach::Loopback).is_ok(),
                is_fine,
                "{text}"
            );
        }
        assert!(Address::parse("0.0.0.0:7717", Reach::Public).is_ok());
    }
}
