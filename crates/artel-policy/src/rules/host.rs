//! One spelling for all the spellings of a host, in rules and in requests.
//!
//! A grant is compared with the whole host, port included. A ban is read widely: without a
//! port it covers every port, and with one it also covers a request for the host as a
//! whole.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};

use globset::GlobMatcher;

use super::compile;

/// A requested host in its canonical spelling: lower case, without a final dot, an address
/// in its standard form, and an IPv4 address embedded in IPv6 as plain IPv4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedHost {
    name: String,
    port: Option<String>,
}

impl RequestedHost {
    /// Reads `HOST`, `HOST:PORT` or `[IPV6]:PORT`. Any other text becomes a name as it is.
    pub fn read(text: &str) -> Self {
        let (name, port) = split(text.trim());
        Self {
            name: canonical_name(name),
            port: port.map(str::to_owned),
        }
    }
}

impl std::fmt::Display for RequestedHost {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.name.contains(':') {
            write!(formatter, "[{}]", self.name)?
        } else {
            formatter.write_str(&self.name)?
        }
        match &self.port {
            Some(port) => write!(formatter, ":{port}"),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct HostPattern {
    whole: GlobMatcher,
    name: GlobMatcher,
    port: Option<GlobMatcher>,
}

impl HostPattern {
    pub(super) fn read(text: &str) -> Result<Self, globset::Error> {
        let (written, port) = split(text);
        let name = canonical_name(written);
        // The brackets of an address are not a glob's.
        let is_address = name.parse::<IpAddr>().is_ok();
        let name = if is_address {
            Cow::from(globset::escape(&name))
        } else {
            Cow::from(name)
        };
        let brackets = if is_address && name.contains(':') {
            ["[[]", "[]]"]
        } else {
            ["", ""]
        };
        let tail = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self {
            whole: compile(&format!("{}{name}{}{tail}", brackets[0], brackets[1]))?,
            name: compile(&name)?,
            port: port.map(compile).transpose()?,
        })
    }

    /// Returns whether a grant with this pattern covers exactly this host.
    pub(super) fn admits(&self, host: &RequestedHost) -> bool {
        self.whole.is_match(host.to_string())
    }

    /// Returns whether a ban with this pattern matches this host.
    pub(super) fn catches(&self, host: &RequestedHost) -> bool {
        let is_port = match (&self.port, &host.port) {
            (Some(banned), Some(port)) => banned.is_match(port),
            (None, _) | (_, None) => true,
        };
        self.admits(host) || (is_port && self.name.is_match(&host.name))
    }
}

/// Splits the port from a host. A name contains no colon, and an IPv6 address stands in
/// brackets. A colon within a glob's own brackets does not count.
fn split(text: &str) -> (&str, Option<&str>) {
    let is_whole = text.parse::<Ipv6Addr>().is_ok();
    match text.rsplit_once(':') {
        Some((name, port)) if !is_whole && !port.contains([']', '}']) => (name, Some(port)),
        _ => (text, None),
    }
}

fn canonical_name(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    // A rule that was made from a host has its brackets escaped.
    let inside = [("[[]", "[]]"), ("[", "]")]
        .iter()
        .find_map(|(open, close)| {
            let inside = lower.strip_prefix(open)?.strip_suffix(close)?;
            inside.parse::<Ipv6Addr>().ok()
        });
    let address = match inside {
        Some(six) => Some(IpAddr::from(six)),
        None => lower.trim_end_matches('.').parse().ok(),
    };
    match address {
        Some(address) => address.to_canonical().to_string(),
        None => match lower.strip_suffix('.') {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => lower,
        },
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
