//! Spellings of hosts, in rules and in requests.

use crate::rules::{PolicyRule, RequestedHost};

#[test]
fn every_spelling_of_a_host_is_one_value() {
    for (asked, one) in [
        ("runsc", "runsc"),
        ("RUNSC", "runsc"),
        ("RunSC.", "runsc"),
        ("RUNSC.:443", "runsc:443"),
        ("127.0.0.1:80", "127.0.0.1:80"),
        ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
        ("[::FFFF:7f00:1]", "127.0.0.1"),
        ("[2001:DB8:0::1]:80", "[2001:db8::1]:80"),
        ("2001:db8::1", "[2001:db8::1]"),
    ] {
        assert_eq!(RequestedHost::read(asked).to_string(), one, "{asked}");
    }
}

#[test]
fn a_ban_on_a_host_holds_in_every_spelling_and_a_grant_is_no_wider() {
    // The rule, the request, whether a ban catches it, whether a grant admits it.
    for (rule, asked, is_caught, is_granted) in [
        ("runsc", "runsc", true, true),
        ("runsc", "RUNSC", true, true),
        ("runsc", "RUNSC.", true, true),
        ("runsc", "runsc:443", true, false),
        ("runsc", "RunSC.:8080", true, false),
        ("runsc", "runsc.example.org", false, false),
        ("RUNSC", "runsc", true, true),
        ("RUNSC.", "runsc:80", true, false),
        ("runsc:443", "runsc", true, false),
        ("runsc:443", "RUNSC:443", true, true),
        ("runsc:443", "runsc:80", false, false),
        ("runsc:*", "runsc:80", true, true),
        ("runsc:*", "runsc", true, false),
        ("127.0.0.1", "127.0.0.1:8099", true, false),
        ("127.0.0.1", "[::ffff:127.0.0.1]:8099", true, false),
        ("[::ffff:127.0.0.1]", "127.0.0.1", true, true),
        ("[::1]", "[::1]:80", true, false),
        ("[::1]:80", "[0::1]:80", true, true),
        ("[[]::1[]]:80", "[::1]:80", true, true),
        ("[[]::1[]]:80", "[::1]:81", false, false),
        ("*.example.org", "A.Example.org:8080", true, false),
        ("*.example.org", "a.example.org", true, true),
        ("*.example.org", "example.org", false, false),
        ("*:443", "docs.rs", true, false),
        ("*:443", "docs.rs:443", true, true),
        ("{a,b}.org:80", "b.org:80", true, true),
        ("*", "docs.rs:8080", true, true),
    ] {
        let parsed = PolicyRule::parse(&format!("Fetch({rule})")).unwrap();
        assert_eq!(
            parsed.catches_name("fetch", asked),
            is_caught,
            "ban {rule} {asked}"
        );
        assert_eq!(
            parsed.admits_name("fetch", asked),
            is_granted,
            "grant {rule} {asked}"
        );
        assert!(!parsed.catches_name("secret", asked), "{rule} {asked}");
    }
}
