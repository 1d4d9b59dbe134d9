//! Which addresses a name may lead to, and what a written address grants.

use std::sync::atomic::{AtomicUsize, Ordering};

use artel_sandbox::proxy::{ProxyAccessOutcome, ProxyResolver};

use crate::support::{PUBLIC, World, echo_server};

/// Addresses that are not public, the family by the first word of what is said of them.
const NOT_PUBLIC: &[(&str, &str)] = &[
    ("127.0.0.1", "loopback"),
    ("127.255.255.254", "loopback"),
    ("10.0.0.1", "private"),
    ("10.255.255.255", "private"),
    ("172.16.0.1", "private"),
    ("172.31.255.255", "private"),
    ("192.168.0.1", "private"),
    ("169.254.0.1", "link-local"),
    ("169.254.169.254", "a metadata"),
    ("168.63.129.16", "a metadata"),
    ("100.64.0.1", "shared"),
    ("100.100.100.200", "shared"),
    ("100.127.255.255", "shared"),
    ("0.0.0.0", "unspecified"),
    ("0.1.2.3", "unspecified"),
    ("224.0.0.1", "multicast"),
    ("239.255.255.250", "multicast"),
    ("240.0.0.1", "reserved"),
    ("255.255.255.255", "broadcast"),
    ("192.0.0.192", "reserved"),
    ("192.0.2.1", "for documentation"),
    ("198.51.100.1", "for documentation"),
    ("203.0.113.1", "for documentation"),
    ("198.18.0.1", "for benchmarks"),
    ("198.19.255.255", "for benchmarks"),
    ("192.88.99.1", "a relay"),
    ("::", "unspecified"),
    ("::1", "loopback"),
    ("::7f00:1", "an IPv4"),
    ("::ffff:127.0.0.1", "loopback"),
    ("::ffff:10.0.0.1", "private"),
    ("::ffff:169.254.169.254", "a metadata"),
    ("64:ff9b::7f00:1", "loopback"),
    ("64:ff9b::10.0.0.1", "private"),
    ("64:ff9b:1::1", "private"),
    ("2002:7f00:1::", "a tunnel"),
    ("2002:a00:1::", "a tunnel"),
    ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "a tunnel"),
    ("2001:2::1", "for benchmarks"),
    ("2001:20::1", "reserved"),
    ("2001:db8::1", "for documentation"),
    ("3fff::1", "for documentation"),
    ("fc00::1", "private"),
    ("fd00:ec2::254", "private"),
    ("fe80::1", "link-local"),
    ("fe80::5efe:808:808", "link-local"),
    ("2606:4700::5efe:a00:1", "private"),
    ("febf::1", "link-local"),
    ("fec0::1", "private"),
    ("ff02::1", "multicast"),
    ("100::1", "a discard"),
    ("4000::1", "reserved"),
];

const PUBLIC_ADDRESSES: &[&str] = &[
    PUBLIC,
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450::1",
    "::ffff:1.1.1.1",
    "64:ff9b::101:101",
];

#[test]
fn a_name_that_leads_anywhere_but_to_the_public_is_refused() {
    let mut world = World::granting(&[]);
    for (index, (address, _)) in NOT_PUBLIC.iter().enumerate() {
        let name = format!("n{index}.test");
        world = world.grant(&name).name(&name, &[address]);
    }
    let mut running = world.start();
    for (index, (address, what)) in NOT_PUBLIC.iter().enumerate() {
        let answer = running.say_text(format!("CONNECT n{index}.test:443 HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 403 "), "{address}: {answer}");
        assert!(
            answer.contains(&format!("which is {what}")),
            "{address}: {answer}"
        );
    }
    assert_eq!(running.dialled(), []);
    assert_eq!(running.passages().len(), NOT_PUBLIC.len());
}

#[test]
fn a_name_that_leads_to_the_public_is_dialled_there() {
    let mut world = World::granting(&[]);
    for (index, address) in PUBLIC_ADDRESSES.iter().enumerate() {
        let name = format!("n{index}.test");
        world = world.grant(&name).name(&name, &[address]);
    }
    let running = world.start();
    for (index, address) in PUBLIC_ADDRESSES.iter().enumerate() {
        let answer = running.say_text(format!("CONNECT n{index}.test:443 HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 502 "), "{address}: {answer}");
    }
    let dialled: Vec<_> = running.dialled().iter().map(|to| to.ip()).collect();
    let expected: Vec<std::net::IpAddr> = PUBLIC_ADDRESSES
        .iter()
        .map(|address| address.parse::<std::net::IpAddr>().unwrap().to_canonical())
        .collect();
    assert_eq!(dialled, expected);
}

#[test]
fn one_private_address_among_public_ones_spoils_the_answer() {
    for addresses in [[PUBLIC, "127.0.0.1"], ["fd00::1", PUBLIC]] {
        let running = World::granting(&["mixed.test"])
            .name("mixed.test", &addresses)
            .start();
        let answer = running.say_text("CONNECT mixed.test:443 HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert_eq!(running.dialled(), []);
    }
}

#[test]
fn a_name_is_looked_up_once_and_the_checked_address_is_dialled() {
    let turns = AtomicUsize::new(0);
    let mut world = World::granting(&["rebind.test"]).route("93.184.216.34:443", echo_server());
    world.resolver = Some(ProxyResolver::new(move |_| {
        let address = match turns.fetch_add(1, Ordering::Relaxed) {
            0 => PUBLIC,
            _ => "127.0.0.1",
        };
        Ok(vec![address.parse().unwrap()])
    }));
    let mut running = world.start();
    let request = "CONNECT rebind.test:443 HTTP/1.1\r\n\r\n";

    let mut first = running.connect();
    std::io::Write::write_all(&mut first, request.as_bytes()).unwrap();
    assert!(crate::support::read_head(&mut first).starts_with("HTTP/1.1 200 "));
    assert_eq!(running.asked(), ["rebind.test"], "one look-up");

    // The next connection is judged by its own answer.
    let second = running.say_text(request);
    assert!(second.starts_with("HTTP/1.1 403 "), "{second}");
    assert_eq!(running.dialled(), ["93.184.216.34:443".parse().unwrap()]);
    let address = "93.184.216.34:443".parse().unwrap();
    let passages = running.passages();
    assert!(
        passages
            .iter()
            .any(|p| p.verdict == ProxyAccessOutcome::Allowed { address })
    );
}

#[test]
fn a_name_that_was_not_granted_is_not_looked_up() {
    let running = World::granting(&["example.test"])
        .name("secret.evil.test", &[PUBLIC])
        .start();
    for request in [
        "CONNECT secret.evil.test:443 HTTP/1.1\r\n\r\n",
        "GET http://secret.evil.test/ HTTP/1.1\r\n\r\n",
        "CONNECT example.test:8443 HTTP/1.1\r\n\r\n",
    ] {
        let answer = running.say_text(request);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    }
    assert_eq!(running.asked(), Vec::<String>::new());
    assert_eq!(running.dialled(), []);
}

#[test]
fn a_grant_covers_its_own_spelling_and_ports_only() {
    let echo = echo_server();
    for (grant, asked, granted) in [
        ("example.test", "example.test:443", true),
        ("example.test", "example.test:80", true),
        ("example.test", "EXAMPLE.TEST.:443", true),
        ("example.test", "example.test:22", false),
        ("example.test:22", "example.test:22", true),
        ("example.test:22", "example.test:443", false),
        ("example.test", "sub.example.test:443", false),
        ("example.test", "badexample.test:443", false),
        ("example.test", "example.test.evil.test:443", false),
        ("example.test", "test:443", false),
        ("example.test", "93.184.216.34:443", false),
        ("93.184.216.34:443", "example.test:443", false),
        ("93.184.216.34", "93.184.216.34:443", true),
        ("93.184.216.34", "93.184.216.34:80", true),
        ("93.184.216.34", "93.184.216.34:8080", false),
        ("127.0.0.1:8080", "127.0.0.1:8080", true),
        ("127.0.0.1:8080", "[::ffff:127.0.0.1]:8080", true),
        ("127.0.0.1:8080", "127.0.0.1:8081", false),
        ("127.0.0.1:8080", "127.0.0.2:8080", false),
        ("127.0.0.1:8080", "127.1:8080", false),
        ("127.0.0.1:8080", "2130706433:8080", false),
        ("127.0.0.1:8080", "0x7f.1:8080", false),
        ("127.0.0.1:8080", "localhost:8080", false),
        ("127.0.0.1:8080", "[::1]:8080", false),
        ("127.0.0.1:8080", "0.0.0.0:8080", false),
        ("[::1]:8080", "[::1]:8080", true),
        ("[::1]:8080", "[0:0::1]:8080", true),
        ("[::1]:8080", "127.0.0.1:8080", false),
        ("10.0.0.1", "10.0.0.1:443", true),
        ("169.254.169.254:80", "169.254.169.254:80", true),
    ] {
        let running = World::granting(&[grant])
            .name("example.test", &[PUBLIC])
            .everywhere(echo)
            .start();
        let answer = running.say_half(format!("CONNECT {asked} HTTP/1.1\r\n\r\n"));
        let expected = if granted {
            "HTTP/1.1 200 "
        } else {
            "HTTP/1.1 403 "
        };
        assert!(
            answer.starts_with(expected),
            "{grant} for {asked}: {answer}"
        );
        assert_eq!(
            running.dialled().len(),
            usize::from(granted),
            "{grant} for {asked}"
        );
    }
}

#[test]
fn no_grant_means_that_nothing_passes() {
    let running = World::granting(&[])
        .name("example.test", &[PUBLIC])
        .everywhere(echo_server())
        .start();
    for asked in [
        "example.test:443",
        "93.184.216.34:443",
        "127.0.0.1:80",
        "[::1]:80",
    ] {
        let answer = running.say_text(format!("CONNECT {asked} HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 403 "), "{asked}: {answer}");
    }
    assert_eq!(running.dialled(), []);
}

#[test]
fn the_next_address_is_tried_where_one_is_dead() {
    let running = World::granting(&["example.test"])
        .name("example.test", &["1.1.1.1", PUBLIC])
        .route("93.184.216.34:443", echo_server())
        .start();
    let answer = running.say_half("CONNECT example.test:443 HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(running.dialled().len(), 2);
}
