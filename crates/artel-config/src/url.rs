//! URLs in settings and variables: just enough parsing to tell scheme, host and port.
//!
//! A host that ends in a number must be an IP address in its usual spelling. Some programs
//! understand other spellings (`127.1`, `0x7f000001`) and others do not, which makes it
//! possible to fool a check.

use std::net::{IpAddr, Ipv6Addr};

/// A URL split into its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HttpUrl<'t> {
    pub(crate) scheme: HttpUrlScheme,
    /// Host, without the brackets of an IPv6 address.
    pub(crate) host: &'t str,
    pub(crate) port: Option<u16>,
    /// Everything after the port: empty, or from `/` on.
    pub(crate) path: &'t str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpUrlScheme {
    Http,
    Https,
}

impl<'t> HttpUrl<'t> {
    /// Parses an `http://` or `https://` URL. A user, a query and a fragment are refused,
    /// because keys hide in all three.
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        let (scheme, rest) = scheme(text)?;
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"\\@?#<>`{}^|".contains(&byte);
        if !rest.bytes().all(is_plain) {
            return None;
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = host_and_port(authority)?;
        let port = match port {
            None => None,
            Some(digits) => Some(digits.parse().ok().filter(|port| *port != 0)?),
        };
        is_host(host).then_some(Self {
            scheme,
            host,
            port,
            path,
        })
    }

    /// Returns the port, or the scheme's usual one if none is given.
    pub(crate) fn port_or_usual(&self) -> u16 {
        self.port.unwrap_or(match self.scheme {
            HttpUrlScheme::Http => 80,
            HttpUrlScheme::Https => 443,
        })
    }
}

/// Returns whether a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn scheme(text: &str) -> Option<(HttpUrlScheme, &str)> {
    let (name, rest) = text.split_once("://")?;
    match name.to_ascii_lowercase().as_str() {
        "http" => Some((HttpUrlScheme::Http, rest)),
        "https" => Some((HttpUrlScheme::Https, rest)),
        _ => None,
    }
}

fn host_and_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        host.parse::<Ipv6Addr>().ok()?;
        return match after.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None => after.is_empty().then_some((host, None)),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Some((host, Some(port))),
        None => Some((authority, None)),
    }
}

fn is_host(host: &str) -> bool {
    if host.parse::<IpAddr>().is_ok() {
        return true;
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let name = host.strip_suffix('.').unwrap_or(host);
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    host.len() <= 253 && name.split('.').all(is_label) && !is_number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Option<(&str, u16, &str)>) {
        let found = HttpUrl::read(text);
        let found = found.map(|url| (url.host, url.port_or_usual(), url.path));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn addresses_are_taken_apart() {
        check("http://127.0.0.1:8080/v1", Some(("127.0.0.1", 8080, "/v1")));
        check("HTTPS://Example.com", Some(("Example.com", 443, "")));
        check("http://localhost/", Some(("localhost", 80, "/")));
        check("http://[::1]:11434", Some(("::1", 11434, "")));
        check("https://[fe80::1]", Some(("fe80::1", 443, "")));
        check(
            "http://host_name-1.a./x",
            Some(("host_name-1.a.", 80, "/x")),
        );
    }

    #[test]
    fn what_hides_something_is_no_address() {
        for text in [
            "",
            "localhost:8080",
            "ftp://host",
            "http://",
            "http:///path",
            "http://:80",
            "http://host:",
            "http://host:0",
            "http://host:65536",
            "http://host:http",
            "http://user@host",
            "http://user:word@host",
            "http://host?key=1",
            "http://host/#part",
            "http://ho st",
            "http://host\n",
            "http://hôst",
            "http://a..b",
            "http://-\u{202e}",
            "http://[::1",
            "http://[::1]x",
            "http://[host]",
            "http://::1",
            "http://127.1",
            "http://2130706433",
            "http://0x7f.1",
            "http://127.0.0.1.",
            "http://127.0.0.256",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn this_machine_is_known() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example", "128.0.0.1", "::2", "10.0.0.1", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_answered(text in ".{0,60}") {
            let _ = HttpUrl::read(&text);
            let _ = HttpUrl::read(&format!("http://{text}"));
        }
    }
}
