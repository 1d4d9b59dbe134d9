//! Detects the use of Artel's own command line and interface, which could change what an
//! agent may do.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::PolicyAnswer;

/// Words of Artel's command line that change what an agent may do.
const SWITCHES: &[&str] = &[
    "approve", "auth", "config", "deny", "grant", "grants", "policy", "reject", "revoke",
    "sandbox", "secret", "token", "tool", "trust", "workshop",
];

/// Words in an address that suggest Artel's own interface.
const INTERFACE: &[&str] = &["approv", "grant", "policy", "artel"];

/// Programs that send requests; below, the methods and options that make a request change
/// something.
const CLIENTS: &[&str] = &[
    "curl", "wget", "wget2", "http", "https", "httpie", "xh", "xhs",
];
const METHODS: &[&str] = &["POST", "PUT", "PATCH", "DELETE"];
const BODIES: &[&str] = &[
    "-d", "--data", "--json", "-F", "--form", "--post", "--body", "-T", "--up",
];

/// Decides about commands that could change what an agent may do. Artel's own command line
/// is denied where it would; other uses of it, and anything that could reach Artel's
/// interface, are asked about.
pub(super) fn own_command(words: &[String]) -> Option<PolicyAnswer> {
    let (program, arguments) = words.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if name == "artel" {
        let mut nouns = arguments
            .iter()
            .filter(|word| !word.starts_with('-'))
            .take(3);
        let is_switch = nouns.any(|word| SWITCHES.contains(&word.as_str()));
        return Some(if is_switch {
            PolicyAnswer::Deny
        } else {
            PolicyAnswer::Ask
        });
    }
    let has_socket = arguments.iter().any(|word| word.contains("artel.sock"));
    let local = || arguments.iter().filter(|word| names_this_machine(word));
    let speaks = |word: &String| {
        let lower = word.to_ascii_lowercase();
        INTERFACE.iter().any(|sign| lower.contains(sign))
    };
    let reaches = has_socket
        || local().any(speaks)
        || CLIENTS.contains(&name)
            && arguments.iter().any(|word| changes(word))
            && local().next().is_some();
    reaches.then_some(PolicyAnswer::Ask)
}

/// Returns whether a word makes a request change something.
fn changes(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    let method = upper
        .trim_start_matches("--METHOD=")
        .trim_start_matches("--REQUEST=");
    let method = method.strip_prefix("-X").unwrap_or(method);
    METHODS.contains(&method) || BODIES.iter().any(|body| word.starts_with(body))
}

/// Returns whether a word names this machine, in any spelling: `localhost.`, `0x7f.1`,
/// `2130706433`, `[::ffff:127.0.0.1]`.
fn names_this_machine(word: &str) -> bool {
    let value = match word.split_once('=') {
        Some((name, value)) if name.starts_with('-') => value,
        _ => word,
    };
    let after = value.split_once("://").map(|(_, rest)| rest);
    let is_address = after.is_some();
    let rest = after.unwrap_or(value);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or(inner),
        None if host.matches(':').count() > 1 => host,
        None => host.split(':').next().unwrap_or(host),
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_plain_number = host.bytes().all(|byte| byte.is_ascii_digit());
    if host == "localhost" || host.ends_with(".localhost") || host == "ip6-localhost" {
        return true;
    }
    // A bare number is an address only where an address is expected.
    if is_plain_number && !is_address && !rest.contains(['/', ':']) {
        return false;
    }
    if let Ok(address) = host
        .split('%')
        .next()
        .unwrap_or_default()
        .parse::<Ipv6Addr>()
    {
        let mapped = address.to_ipv4().filter(|_| !address.is_loopback());
        return address.is_loopback()
            || address.is_unspecified()
            || mapped.is_some_and(|v4| is_local(IpAddr::V4(v4)));
    }
    old_address(&host).is_some_and(|address| is_local(IpAddr::V4(address)))
}

fn is_local(address: IpAddr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || matches!(address, IpAddr::V4(v4) if v4.octets()[0] == 0)
}

/// Parses an address as the C library does: one to four numbers, also octal and
/// hexadecimal, the last of which fills the remaining bytes.
fn old_address(host: &str) -> Option<Ipv4Addr> {
    let numbers = host.split('.').map(number).collect::<Option<Vec<u32>>>()?;
    let (last, firsts) = numbers.split_last()?;
    if firsts.len() > 3 || firsts.iter().any(|number| *number > 255) {
        return None;
    }
    let mut bits = *last;
    for (at, number) in firsts.iter().enumerate() {
        bits |= number.checked_shl(24 - 8 * u32::try_from(at).ok()?)?;
    }
    Some(Ipv4Addr::from(bits))
}

fn number(text: &str) -> Option<u32> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u32::from_str_radix(hex, 16).ok();
    }
    match text.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        Some(octal) => u32::from_str_radix(octal, 8).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_in_every_spelling() {
        for local in [
            "http://localhost/x",
            "http://LOCALHOST.:80/x",
            "http://a.localhost",
            "localhost:3000/x",
            "http://127.1",
            "http://0x7f.1:8080/x",
            "http://0/x",
            "http://0.0.0.0",
            "http://2130706433/x",
            "http://017700000001",
            "http://0177.0.0.1",
            "http://[::1]:80/",
            "http://[::]/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://user:pw@127.0.0.1/",
            "--url=http://127.0.0.1/",
            "127.0.0.1:8080",
        ] {
            assert!(names_this_machine(local), "{local}");
        }
        for other in [
            "http://example.org/localhost",
            "http://8.8.8.8",
            "http://localhost.example.org",
            "1",
            "0",
            "grant",
            "http://[2001:db8::1]/",
            "a.rs:12",
            "-d",
        ] {
            assert!(!names_this_machine(other), "{other}");
        }
    }
}
