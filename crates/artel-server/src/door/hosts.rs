//! The host names by which the server may be called, and which of them belong to the
//! console alone.
//!
//! Programs call the server by its address. Browsers sign in at a name that no other
//! program on the machine uses: a cookie set at 127.0.0.1 is sent to every port there,
//! whichever program listens.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use artel_workshop::ConsoleHostName;

use crate::listen::ListenReach;

/// The kind of name by which the server was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalledHostKind {
    /// The console's own name on this machine: a cookie counts.
    Console,
    /// The name that a proxy gives the console: a cookie counts, and is only sent over TLS.
    Proxied,
    /// An address that other programs on this machine share: only a token counts.
    Address,
}

impl CalledHostKind {
    /// Returns whether a cookie counts at this name.
    pub(crate) fn takes_cookies(self) -> bool {
        self != Self::Address
    }
}

/// The allowed values of `Host`.
#[derive(Debug, Clone)]
pub(crate) struct AllowedHosts {
    console: ConsoleHostName,
    /// Names of a proxy that belong to this console alone.
    proxied: Vec<String>,
    addresses: Vec<String>,
}

impl AllowedHosts {
    /// Allows the console's name, the bound address, the loopback names, and the names in
    /// the settings.
    ///
    /// An unspecified address such as 0.0.0.0 is not a name to call the server by: on this
    /// machine loopback is used instead, and other machines use a name from the settings.
    pub(crate) fn of(bound: SocketAddr, console: ConsoleHostName, more: &[String]) -> Self {
        let (port, ip) = (bound.port(), bound.ip());
        let mut addresses = Vec::new();
        if !ip.is_unspecified() {
            addresses.push(bound.to_string().to_ascii_lowercase());
        }
        if ip.is_loopback() || ip.is_unspecified() {
            addresses.extend([
                format!("localhost:{port}"),
                format!("127.0.0.1:{port}"),
                format!("[::1]:{port}"),
            ]);
        }
        let more = more.iter().map(|name| name.trim().to_ascii_lowercase());
        let (proxied, shared): (Vec<_>, Vec<_>) = more.partition(|name| is_a_proxys(name));
        addresses.extend(shared);
        Self {
            console,
            proxied,
            addresses,
        }
    }

    /// Returns the kind of name in a `Host` header, or `None` if it is not allowed.
    pub(crate) fn called(&self, host: &str) -> Option<CalledHostKind> {
        let host = host.to_ascii_lowercase();
        if self.console.is_in(&host) {
            return Some(CalledHostKind::Console);
        }
        if self.proxied.contains(&host) {
            return Some(CalledHostKind::Proxied);
        }
        self.addresses
            .contains(&host)
            .then_some(CalledHostKind::Address)
    }

    /// Returns whether an `Origin` belongs to the pages served at a `Host`. At the console
    /// it must be the same host and port: another port is another server.
    pub(crate) fn is_origin_at(&self, host: &str, origin: &str) -> bool {
        let from = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        let Some(from) = from else {
            return false;
        };
        match self.called(host) {
            Some(CalledHostKind::Console | CalledHostKind::Proxied) => {
                from.eq_ignore_ascii_case(host)
            }
            Some(CalledHostKind::Address) => {
                let from = from.to_ascii_lowercase();
                self.addresses.contains(&from) || self.proxied.contains(&from)
            }
            None => false,
        }
    }
}

/// Returns whether a name from the settings is a proxy's, and not an address that it shares
/// with whatever else listens there.
fn is_a_proxys(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_number = name.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let is_address = is_number || name.starts_with("0x") || name.parse::<IpAddr>().is_ok();
    !is_address && name.trim_end_matches('.') != "localhost"
}

/// Returns the URLs at which browsers reach the console, with the one to give to people
/// first.
///
/// A proxy has TLS. The console's name below `localhost` resolves to 127.0.0.1 and `[::1]`,
/// so it is left out if the server listens on neither.
pub fn console_bases(console: &ConsoleHostName, listen: &str, hosts: &[String]) -> Vec<String> {
    let hosts = hosts.iter().map(|host| host.trim().to_ascii_lowercase());
    let proxied = hosts.filter(|host| is_a_proxys(host));
    let mut bases: Vec<String> = proxied.map(|host| format!("https://{host}")).collect();
    let bound = listen.parse::<SocketAddr>().ok();
    let Some(bound) = bound.filter(|bound| is_where_localhost_leads(bound.ip())) else {
        return bases;
    };
    let here = format!("http://{console}:{}", bound.port());
    match crate::listen::ListenAddress::reach_of(listen) {
        ListenReach::Public => bases.push(here),
        ListenReach::Loopback => bases.insert(0, here),
    }
    bases
}

fn is_where_localhost_leads(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip == Ipv4Addr::LOCALHOST || ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unspecified(),
    }
}

#[cfg(test)]
mod tests {
    use artel_workshop::ConsoleHostName;

    use super::{AllowedHosts, CalledHostKind, console_bases};

    const NAME: &str = "018f2b3c-0f1e2d3c4b5a69788796a5b4c3d2e1f0.localhost";

    fn name() -> ConsoleHostName {
        ConsoleHostName::parse(NAME).unwrap()
    }

    fn words(hosts: &[&str]) -> Vec<String> {
        hosts.iter().map(|&host| host.to_owned()).collect()
    }

    #[test]
    fn on_every_address_loopback_and_names_from_the_settings_call_it() {
        let bound = "0.0.0.0:7717".parse().unwrap();
        let hosts = AllowedHosts::of(bound, name(), &words(&["artel.example"]));
        for name in ["127.0.0.1:7717", "localhost:7717", "artel.example"] {
            assert!(hosts.called(name).is_some(), "{name}");
        }
        for name in ["0.0.0.0:7717", "192.168.0.7:7717", "elsewhere:7717"] {
            assert_eq!(hosts.called(name), None, "{name}");
        }
    }

    #[test]
    fn only_its_own_names_and_cookies_at_the_consoles() {
        let bound = "127.0.0.1:7717".parse().unwrap();
        let hosts = AllowedHosts::of(bound, name(), &words(&["artel.example"]));
        let forwarded = format!("{NAME}:9000");
        let (console, address) = (Some(CalledHostKind::Console), Some(CalledHostKind::Address));
        let proxied = Some(CalledHostKind::Proxied);
        for (host, called) in [
            (NAME, console),
            (&forwarded, console),
            ("artel.example", proxied),
            ("ARTEL.example", proxied),
            ("127.0.0.1:7717", address),
            ("localhost:7717", address),
            ("LOCALHOST:7717", address),
            ("[::1]:7717", address),
            ("localhost", None),
            ("localhost.:7717", None),
            ("127.1:7717", None),
            ("0.0.0.0:7717", None),
            ("2130706433:7717", None),
            ("0x7f000001:7717", None),
            ("[::ffff:127.0.0.1]:7717", None),
            ("127.0.0.1:7718", None),
            ("attacker.example:7717", None),
            ("artel.example.attacker.example", None),
            ("artel.example:80", None),
            ("", None),
        ] {
            assert_eq!(hosts.called(host), called, "{host}");
            let own = format!("http://{host}");
            assert_eq!(hosts.is_origin_at(host, &own), called.is_some(), "{host}");
        }
    }

    #[test]
    fn a_page_of_the_console_acts_at_its_own_host_and_port_alone() {
        let bound = "127.0.0.1:7717".parse().unwrap();
        let hosts = AllowedHosts::of(bound, name(), &words(&["artel.example"]));
        let own = format!("{NAME}:7717");
        for (host, origin, is_fine) in [
            (own.as_str(), format!("http://{NAME}:7717"), true),
            (&own, format!("http://{}:7717", NAME.to_uppercase()), true),
            (&own, format!("http://{NAME}:3000"), false),
            (&own, format!("http://{NAME}"), false),
            (&own, "http://127.0.0.1:7717".to_owned(), false),
            (&own, "https://artel.example".to_owned(), false),
            (&own, "null".to_owned(), false),
            ("artel.example", "https://artel.example".to_owned(), true),
            ("artel.example", format!("http://{NAME}:7717"), false),
            ("127.0.0.1:7717", "http://localhost:7717".to_owned(), true),
            ("127.0.0.1:7717", format!("http://{NAME}:7717"), false),
            ("127.0.0.1:7717", "file://127.0.0.1:7717".to_owned(), false),
        ] {
            assert_eq!(
                hosts.is_origin_at(host, &origin),
                is_fine,
                "{origin} at {host}"
            );
        }
    }

    #[test]
    fn a_name_from_the_settings_that_others_share_takes_no_cookie() {
        let bound = "127.0.0.1:7717".parse().unwrap();
        let shared = [
            "localhost",
            "localhost:9000",
            "localhost.:9000",
            "127.0.0.1:9000",
            "127.1:9000",
            "2130706433:9000",
            "0x7f000001:9000",
            "[::1]:9000",
            "192.168.0.7:80",
        ];
        let hosts = AllowedHosts::of(bound, name(), &words(&shared));
        for host in shared {
            assert_eq!(hosts.called(host), Some(CalledHostKind::Address), "{host}");
        }
        for host in ["artel.example:8443", "devbox:7717", "devbox"] {
            let hosts = AllowedHosts::of(bound, name(), &words(&[host]));
            assert_eq!(hosts.called(host), Some(CalledHostKind::Proxied), "{host}");
        }
    }

    #[test]
    fn a_link_leads_to_where_a_browser_finds_the_console() {
        let here = |port: u16| format!("http://{NAME}:{port}");
        let proxy = "https://artel.example".to_owned();
        let hosts = ["artel.example", "localhost:9000"];
        for (listen, hosts, bases) in [
            ("127.0.0.1:7717", &[][..], vec![here(7717)]),
            ("[::1]:7717", &[], vec![here(7717)]),
            ("0.0.0.0:80", &[], vec![here(80)]),
            ("[::]:80", &[], vec![here(80)]),
            ("127.0.0.1:7717", &hosts, vec![here(7717), proxy.clone()]),
            ("0.0.0.0:80", &hosts, vec![proxy.clone(), here(80)]),
            ("192.168.0.7:80", &hosts, vec![proxy]),
            ("192.168.0.7:80", &[], vec![]),
            ("127.0.0.2:7717", &[], vec![]),
        ] {
            assert_eq!(
                console_bases(&name(), listen, &words(hosts)),
                bases,
                "{listen}"
            );
        }
    }
}
