//! How hosts are spelled: one value for what is checked and what is used.

use artel_sandbox::GrantedHost;
use artel_sandbox::proxy::HostFault::{self, *};
use proptest::prelude::*;

#[test]
fn every_spelling_has_one_canonical_form() {
    for (text, name, port) in [
        ("example.com", "example.com", None),
        ("example.com:443", "example.com", Some(443)),
        ("EXAMPLE.Com:8443", "example.com", Some(8443)),
        ("example.com.", "example.com", None),
        ("Example.COM.:80", "example.com", Some(80)),
        ("a.b-c.d", "a.b-c.d", None),
        ("my_bucket.example.com", "my_bucket.example.com", None),
        ("xn--bcher-kva.example", "xn--bcher-kva.example", None),
        ("intranet", "intranet", None),
        ("3com.com", "3com.com", None),
        ("1.2.3.4.example", "1.2.3.4.example", None),
        ("127.0.0.1.nip.io:80", "127.0.0.1.nip.io", Some(80)),
        ("0x7f.example", "0x7f.example", None),
        ("127.0.0.1", "127.0.0.1", None),
        ("127.0.0.1.", "127.0.0.1", None),
        ("10.0.0.1:5432", "10.0.0.1", Some(5432)),
        ("[::1]:80", "::1", Some(80)),
        ("[::1]", "::1", None),
        ("[0:0:0:0:0:0:0:1]:1", "::1", Some(1)),
        ("[2001:DB8::A]:65535", "2001:db8::a", Some(65535)),
        ("[::ffff:127.0.0.1]:80", "127.0.0.1", Some(80)),
        ("[::ffff:7f00:1]:80", "127.0.0.1", Some(80)),
        ("[::127.0.0.1]:80", "::7f00:1", Some(80)),
    ] {
        let host = GrantedHost::parse(text).unwrap();
        let expected = GrantedHost {
            name: name.to_owned(),
            port,
        };
        assert_eq!(host, expected, "{text}");
        assert_eq!(
            GrantedHost::parse(&host.to_string()).unwrap(),
            expected,
            "{text}"
        );
    }
}

/// Spellings that another program could read differently, or that name nothing.
const REFUSED: &[(&str, HostFault)] = &[
    ("", Empty),
    (".", Empty),
    (":80", Empty),
    ("..", Label),
    ("a..b", Label),
    (".a", Label),
    ("example.com..", Label),
    ("-a.example", Label),
    ("a-.example", Label),
    ("localhost", ThisMachine),
    ("LOCALHOST.:80", ThisMachine),
    ("foo.localhost", ThisMachine),
    ("localhost.localdomain", ThisMachine),
    ("127.1", Number),
    ("0x7f.1", Number),
    ("0x7f000001", Number),
    ("0X7F000001", Number),
    ("2130706433", Number),
    ("017700000001", Number),
    ("0177.0.0.1", Number),
    ("127.0.0.01", Number),
    ("127.0.0.0x1", Number),
    ("127.0.0.1.1", Number),
    ("256.0.0.1", Number),
    ("1.2.3", Number),
    ("example.1", Number),
    ("example.0x", Number),
    ("0.0.0.0:80", Nowhere),
    ("0.1.2.3:80", Nowhere),
    ("[::]:80", Nowhere),
    ("[::ffff:0.0.0.0]:80", Nowhere),
    ("224.0.0.1:80", Nowhere),
    ("255.255.255.255:80", Nowhere),
    ("[ff02::1]:80", Nowhere),
    ("::1", Brackets),
    ("::1:443", Brackets),
    ("[::1", Brackets),
    ("[::1]80", Brackets),
    ("[::1]:", Port),
    ("[127.0.0.1]:80", Brackets),
    ("[example.com]:80", Brackets),
    ("[fe80::1%eth0]:80", Brackets),
    ("[::1%25lo]:80", Brackets),
    ("a[b]", Brackets),
    ("example.com:", Port),
    ("example.com:0", Port),
    ("example.com:65536", Port),
    ("example.com:+80", Port),
    ("example.com:080", Port),
    ("example.com:-1", Port),
    ("example.com:8 0", Port),
    ("example.com:80:80", Port),
    ("example.com:http", Port),
    ("example.com:80/x", Port),
    ("example.com:٤٤٣", Port),
    ("evil.com\0.allowed.com", Character),
    ("allowed.com\0", Character),
    ("allowed.com\r\nHost: evil.com", Character),
    ("allowed.com\n", Character),
    ("allowed.com ", Character),
    (" allowed.com", Character),
    ("allowed%2ecom", Character),
    ("allowed.com%00.evil.com", Character),
    ("allowed.com\\@evil.com", User),
    ("allowed.com\\.evil.com", Character),
    ("allowed.com#.evil.com", Character),
    ("allowed.com?.evil.com", Character),
    ("allowed.com;evil.com", Character),
    ("allowed.com,evil.com", Character),
    ("allowed.com@evil.com", User),
    ("allowed.com:443@evil.com", User),
    ("user:password@allowed.com:443", User),
    ("https://allowed.com", Page),
    ("allowed.com/path", Page),
    ("*", Wildcard),
    ("*.com", Wildcard),
    ("*.example.com:443", Wildcard),
    ("exämple.com", NotAscii),
    ("еxample.com", NotAscii),
    ("example。com", NotAscii),
    ("１２７.0.0.1", NotAscii),
    ("example\u{200b}.com", NotAscii),
    ("example.c_m", Character),
];

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    for (text, fault) in REFUSED {
        check_refused(text, *fault);
    }
    check_refused(&format!("{}.com", "a".repeat(64)), TooLong);
    check_refused(&format!("{}com", "a.".repeat(126)), TooLong);
    assert!(GrantedHost::parse(&format!("{}com", "a.".repeat(125))).is_ok());
}

proptest! {
    #[test]
    fn whatever_is_read_reads_the_same_again(text in "[\\PC\\x00-\\x20.:\\[\\]0-9a-fx%@*-]{0,40}") {
        if let Ok(host) = GrantedHost::parse(&text) {
            prop_assert!(host.name.bytes().all(|b| b.is_ascii_graphic()));
            prop_assert_eq!(GrantedHost::parse(&host.to_string()), Ok(host));
        }
    }
}

#[test]
fn a_bad_host_is_shown_escaped_and_with_advice() {
    let bad = GrantedHost::parse("evil.com\0\u{1b}[2J.allowed.com").unwrap_err();
    let expected = "`evil.com\\x00\\x1b[2J.allowed.com` is not a host: \
                    a name has letters, digits, `-` and dots only";
    assert_eq!(bad.to_string(), expected);
}

fn check_refused(text: &str, fault: HostFault) {
    let refused = GrantedHost::parse(text).map_err(|bad| bad.fault);
    assert_eq!(refused, Err(fault), "{text:?}");
}
