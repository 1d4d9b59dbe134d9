//! Chooses the proxy for a call, from the environment.

use std::net::IpAddr;

use crate::ProcessEnvironment;
use crate::url::{HttpUrl, HttpUrlScheme, is_loopback};

impl ProcessEnvironment {
    /// Returns the proxy for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by its scheme, else
    /// `ALL_PROXY`, unless `NO_PROXY` covers its host. All of them may also be written in lower
    /// case, which wins. This machine is never behind a proxy.
    ///
    /// The result may contain a password and must not be shown.
    pub fn proxy_for(&self, url: &str) -> Option<String> {
        let url = HttpUrl::read(url)?;
        let own = match url.scheme {
            HttpUrlScheme::Http => "http_proxy",
            HttpUrlScheme::Https => "https_proxy",
        };
        let proxy = self.either(own).or_else(|| self.either("all_proxy"))?;
        if is_loopback(url.host) || self.is_exempt(&url) {
            return None;
        }
        let has_scheme = proxy.contains("://");
        Some(if has_scheme {
            proxy.to_owned()
        } else {
            format!("http://{proxy}")
        })
    }

    fn is_exempt(&self, url: &HttpUrl<'_>) -> bool {
        let list = self.either("no_proxy").unwrap_or_default();
        let entries = list.split([',', ' ']).filter(|entry| !entry.is_empty());
        entries.into_iter().any(|entry| covers(entry, url))
    }

    /// Returns a variable by its lower-case name, else by its upper-case one. An empty one
    /// counts as not set.
    fn either(&self, name: &str) -> Option<&str> {
        let set = |name: &str| {
            let text = self.get(name)?.to_str()?.trim();
            (!text.is_empty()).then_some(text)
        };
        set(name).or_else(|| set(&name.to_ascii_uppercase()))
    }
}

/// Returns whether an entry of `NO_PROXY` covers a host. An entry is `*`, a host, a domain
/// with everything below it, an address, or a network such as `10.0.0.0/8`; a host, domain
/// or address may have a port.
fn covers(entry: &str, url: &HttpUrl<'_>) -> bool {
    if entry == "*" {
        return true;
    }
    let address = url.host.parse::<IpAddr>().ok();
    if let Some((network, bits)) = entry.split_once('/') {
        let network = network.parse().ok().zip(bits.parse().ok());
        return network
            .zip(address)
            .is_some_and(|((network, bits), address)| is_in(address, network, bits));
    }
    let (host, port) = entry_parts(entry);
    if port.is_some_and(|port| port != url.port_or_usual()) {
        return false;
    }
    match host.parse::<IpAddr>() {
        Ok(listed) => address == Some(listed),
        Err(_) => is_below(url.host, host),
    }
}

fn entry_parts(entry: &str) -> (&str, Option<u16>) {
    if entry.parse::<IpAddr>().is_ok() {
        return (entry, None);
    }
    let (host, port) = match entry.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => (host, port.parse().ok()),
        _ => (entry, None),
    };
    (host.trim_matches(['[', ']']), port)
}

/// Returns whether a host is a domain or below it. `example.com`, `.example.com` and
/// `*.example.com` mean the same.
fn is_below(host: &str, domain: &str) -> bool {
    let plain = |name: &str| name.trim_matches('.').to_ascii_lowercase();
    let (host, domain) = (plain(host), plain(domain.trim_start_matches('*')));
    let above = host.strip_suffix(&domain);
    !domain.is_empty() && above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

fn is_in(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let same = |one: u128, other: u128, width: u32| {
        bits <= width
            && one.checked_shr(width - bits).unwrap_or(0)
                == other.checked_shr(width - bits).unwrap_or(0)
    };
    match (address, network) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            same(one.to_bits().into(), other.to_bits().into(), 32)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => same(one.to_bits(), other.to_bits(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn proxy_for(variables: &[(&str, &str)], url: &str) -> Option<String> {
        ProcessEnvironment::of(variables.iter().copied(), "/").proxy_for(url)
    }

    #[test]
    fn the_scheme_decides_which_variable_counts() {
        let all = [
            ("HTTP_PROXY", "http://plain:1"),
            ("HTTPS_PROXY", "http://safe:2"),
            ("ALL_PROXY", "http://any:3"),
        ];
        for (variables, url, expected) in [
            (&all[..], "http://a.example", Some("http://plain:1")),
            (&all, "https://a.example/v1", Some("http://safe:2")),
            (&all[2..], "https://a.example", Some("http://any:3")),
            (&all[..1], "https://a.example", None),
            (&[], "https://a.example", None),
            (
                &[("https_proxy", "safe:2")],
                "https://a",
                Some("http://safe:2"),
            ),
            (
                &[("https_proxy", "https://u:p@s")],
                "https://a",
                Some("https://u:p@s"),
            ),
            (
                &[("https_proxy", "http://low"), ("HTTPS_PROXY", "http://up")],
                "https://a",
                Some("http://low"),
            ),
            (
                &[("https_proxy", ""), ("HTTPS_PROXY", "http://up")],
                "https://a",
                Some("http://up"),
            ),
            (&all, "not an address", None),
        ] {
            assert_eq!(
                proxy_for(variables, url).as_deref(),
                expected,
                "{variables:?} {url}"
            );
        }
    }

    #[test]
    fn this_machine_is_never_behind_a_proxy() {
        let all = [("ALL_PROXY", "http://any:3")];
        for host in ["localhost:8080", "127.0.0.1", "127.3.2.1:1", "[::1]:80"] {
            assert_eq!(
                proxy_for(&all, &format!("http://{host}/v1")),
                None,
                "{host}"
            );
        }
    }

    #[test]
    fn no_proxy_is_honoured() {
        for (list, host, is_exempt) in [
            ("*", "a.example", true),
            ("a.example", "a.example", true),
            ("A.Example", "a.eXample", true),
            ("example", "a.example", true),
            (".example", "a.example", true),
            ("*.example", "a.example", true),
            (".example", "example", true),
            ("ample", "example", false),
            ("b.example, a.example", "a.example", true),
            ("b.example a.example", "a.example", true),
            ("a.example:443", "a.example", true),
            ("a.example:8443", "a.example", false),
            ("a.example:8443", "a.example:8443", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.30", false),
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("10.1.2.0/23", "10.1.3.9", true),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("10.0.0.0/33", "10.0.0.0", false),
            ("10.0.0.0/x", "10.0.0.0", false),
            ("fd00::/8", "[fd12::1]", true),
            ("::/0", "[fd12::1]", true),
            ("fd00::1", "[fd00::1]", true),
            ("[fd00::1]:443", "[fd00::1]", true),
            ("10.0.0.0/8", "a.example", false),
            ("", "a.example", false),
            (",.,*.", "a.example", false),
        ] {
            let variables = [("ALL_PROXY", "http://any:3"), ("NO_PROXY", list)];
            let proxy = proxy_for(&variables, &format!("https://{host}/v1"));
            assert_eq!(proxy.is_none(), is_exempt, "{list} {host}");
        }
    }

    proptest! {
        #[test]
        fn any_list_is_answered(list in ".{0,40}", networks in "[0-9./:*,\\[\\]]{0,40}") {
            for list in [&list, &networks] {
                if list.contains('\0') {
                    continue;
                }
                let variables = [("ALL_PROXY", "p:1"), ("no_proxy", list.as_str())];
                proxy_for(&variables, "https://10.1.2.3");
                proxy_for(&variables, "https://[fd00::1]");
            }
        }
    }
}
