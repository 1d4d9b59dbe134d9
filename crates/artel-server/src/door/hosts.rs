//! The names by which the server may be called.

use std::net::SocketAddr;

/// The names by which the server may be called, as they stand in `Host`.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    names: Vec<String>,
}

impl Hosts {
    /// Allows the address itself, the names of loopback, and what the settings add. What stands for
    /// every address of the machine is none to call it by: on this machine loopback is, and others
    /// use a name from the settings.
    pub(crate) fn of(bound: SocketAddr, more: &[String]) -> Self {
        let (port, ip) = (bound.port(), bound.ip());
        let mut names = Vec::new();
        if !ip.is_unspecified() {
            names.push(bound.to_string().to_ascii_lowercase());
        }
        if ip.is_loopback() || ip.is_unspecified() {
            names.extend([
                format!("localhost:{port}"),
                format!("127.0.0.1:{port}"),
                format!("[::1]:{port}"),
            ]);
        }
        names.extend(more.iter().map(|name| name.trim().to_ascii_lowercase()));
        Self { names }
    }

    /// Tells whether a `Host` names this server.
    pub(crate) fn has(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.names.contains(&host)
    }

    /// Tells whether an `Origin` is one of this server's pages.
    pub(crate) fn has_origin(&self, origin: &str) -> bool {
        let host = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.has(host))
    }
}

#[cfg(test)]
mod tests {
    use super::Hosts;

    #[test]
    fn on_every_address_loopback_and_names_from_the_settings_call_it() {
        let hosts = Hosts::of(
            "0.0.0.0:7717".parse().unwrap(),
            &["artel.example".to_owned()],
        );
        for name in ["127.0.0.1:7717", "localhost:7717", "artel.example"] {
            assert!(hosts.has(name), "{name}");
        }
        for name in ["0.0.0.0:7717", "192.168.0.7:7717", "elsewhere:7717"] {
            assert!(!hosts.has(name), "{name}");
        }
    }

    #[test]
    fn only_its_own_names() {
        let bound = "127.0.0.1:7717".parse().unwrap();
        let hosts = Hosts::of(bound, &["artel.example".to_owned()]);
        for (host, is_ours) in [
            ("127.0.0.1:7717", true),
            ("localhost:7717", true),
            ("LOCALHOST:7717", true),
            ("[::1]:7717", true),
            ("artel.example", true),
            ("localhost", false),
            ("localhost.:7717", false),
            ("127.1:7717", false),
            ("0.0.0.0:7717", false),
            ("2130706433:7717", false),
            ("0x7f000001:7717", false),
            ("[::ffff:127.0.0.1]:7717", false),
            ("127.0.0.1:7718", false),
            ("attacker.example:7717", false),
            ("artel.example.attacker.example", false),
            ("", false),
        ] {
            assert_eq!(hosts.has(host), is_ours, "{host}");
            assert_eq!(
                hosts.has_origin(&format!("http://{host}")),
                is_ours,
                "{host}"
            );
        }
        assert!(!hosts.has_origin("null"));
        assert!(!hosts.has_origin("file://127.0.0.1:7717"));
    }
}
