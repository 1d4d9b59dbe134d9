//! Tests of real refusals and how they are classified.

use std::time::Duration;

use artel_types::Timestamp;
use artel_types::model::{ModelFault, ModelFaultKind};
use proptest::prelude::*;
use serde_json::json;

use crate::wire::WireFormat;

fn now() -> Timestamp {
    "2026-11-15T08:00:00Z".parse().unwrap()
}

fn refused(wire: WireFormat, status: u16, headers: &[(&str, &str)], body: &[u8]) -> ModelFault {
    let header = |name: &str| {
        let found = headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    wire.fault(status, &header, body, now())
}

/// One refusal per line: the format, the status, the kind, the body.
const REFUSALS: &str = include_str!("../tests/refusals.txt");

#[test]
fn every_refusal_has_its_sort() {
    for line in REFUSALS.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.splitn(4, ' ');
        let mut field = || fields.next().unwrap_or_default();
        let wire = wire(field());
        let status = field().parse().unwrap();
        let sort = field();
        let fault = refused(wire, status, &[], field().as_bytes());
        assert_eq!(fault.kind.as_str(), sort, "{line}");
        assert_eq!(fault.status, Some(status));
    }
}

fn wire(name: &str) -> WireFormat {
    let name = name.to_owned();
    let found = WireFormat::ALL
        .into_iter()
        .find(|wire| format!("{wire:?}").to_lowercase() == name);
    found.unwrap_or_else(|| panic!("there is no format {name}"))
}

/// Columns: `retry-after-ms`, `retry-after`, the message, `retryDelay`; then the wait in
/// seconds.
const WAITS: &str = "
    -    | -      | -                                     | -     | -
    1500 | 9      | -                                     | -     | 1.5
    soon | 9      | -                                     | -     | 9
    -    | 0      | -                                     | -     | 0
    -    | 30     | try again in 1s                       | -     | 30
    -    | 2.5    | -                                     | -     | 2.5
    -    | 3600   | -                                     | -     | 3600
    -    | 99999999999999999999 | -                       | -     | 604800
    -    | -5     | -                                     | -     | -
    -    | 1e3    | -                                     | -     | -
    -    | inf    | -                                     | -     | -
    -    | NaN    | -                                     | -     | -
    -    | 1.2.3  | -                                     | -     | -
    -    | soon   | try again in 1s                       | -     | 1
    -    | Sun, 15 Nov 2026 08:00:42 GMT | -              | -     | 42
    -    | Mon, 15 Nov 2026 08:00:42 GMT | -              | -     | 42
    -    | Sun, 06 Nov 1994 08:49:37 GMT | -              | -     | 0
    -    | Thu, 31 Dec 9998 23:59:59 GMT | -              | -     | 604800
    -    | Sun, 99 Nov 2026 08:00:42 GMT | -              | -     | -
    -    | -      | Please retry in 9s.                   | 42s   | 42
    -    | -      | Please retry in 9s.                   | 0.5s  | 0.5
    -    | -      | Please retry in 9s.                   | soon  | 9
    -    | -      | Please retry in 9s.                   | -3s   | 9
    -    | -      | Please try again in 11.054s. Visit …  | -     | 11.054
    -    | -      | Please try again in 420ms.            | -     | 0.42
    -    | -      | Please try again in 6m0s.             | -     | 360
    -    | -      | Please try again in 1h2m3s.           | -     | 3723
    -    | -      | Please try again in 999999999h.       | -     | 604800
    -    | -      | Please try again in a while.          | -     | -
    -    | -      | Please try again in 5 minutes.        | -     | -
";

#[test]
fn a_wait_is_understood_in_every_form() {
    for line in WAITS.lines().filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let mut headers = vec![("retry-after-ms", fields[0]), ("retry-after", fields[1])];
        headers.retain(|(_, value)| *value != "-");
        let details = json!([{ "retryDelay": fields[3] }]);
        let body = json!({ "error": { "message": fields[2], "details": details } });
        let fault = refused(
            WireFormat::Google,
            429,
            &headers,
            body.to_string().as_bytes(),
        );
        let expected = fields[4].parse().ok().map(Duration::from_secs_f64);
        assert_eq!(fault.retry_after, expected, "{line}");
    }
}

#[test]
fn the_request_has_a_name_for_support() {
    let check = |headers: &[(&str, &str)], body: &str, expected: Option<&str>| {
        let fault = refused(WireFormat::Anthropic, 500, headers, body.as_bytes());
        assert_eq!(fault.request_id.as_deref(), expected, "{headers:?}");
    };
    let body = r#"{"error":{"message":"no"},"request_id":"req_body"}"#;
    check(&[], "", None);
    check(&[], body, Some("req_body"));
    check(
        &[("request-id", "req_1"), ("x-request-id", "2")],
        body,
        Some("req_1"),
    );
    check(&[("x-request-id", "2"), ("cf-ray", "4")], body, Some("2"));
    check(
        &[("x-goog-request-id", "3"), ("cf-ray", "4")],
        "",
        Some("3"),
    );
    check(&[("cf-ray", "4-FRA")], "", Some("4-FRA"));
    check(&[("cf-ray", "\u{1b}[2J")], "", Some("[2J"));
}

#[test]
fn the_message_is_what_a_person_would_read() {
    let check = |body: &[u8], expected: &str| {
        let fault = refused(WireFormat::Chat, 500, &[], body);
        assert_eq!(fault.message, expected);
    };
    check(b"", "status 500, without a word");
    check(b"null", "status 500, without a word");
    check(
        br#"{"error":{"message":"no\n\n  more\u001b[2J"}}"#,
        "no more [2J",
    );
    check(br#"{"error":"a string"}"#, "a string");
    check(br#"{"message":"at the top"}"#, "at the top");
    check(br#"{"detail":"of the page"}"#, "of the page");
    check(br#"{"error":{"reason":7}}"#, r#"{"error":{"reason":7}}"#);
    check(b"  upstream\r\n timed   out ", "upstream timed out");
    check(b"bad \xff\xfe bytes", "bad \u{fffd}\u{fffd} bytes");
    check(
        b"<!DOCTYPE html>\n<html><head><TITLE lang=en>502 Bad Gateway</TITLE></head></html>",
        "502 Bad Gateway",
    );
    check(
        b"<html><style>p { color: red }</style><body><script>x<y</script><h1>No</h1> entry<br>",
        "No entry",
    );
    check(b"<html><title></title><p>words</p>", "words");
    check("<Ünïcode><b>bold</b>".as_bytes(), "bold");
    let long = "long ".repeat(10_000);
    let fault = refused(WireFormat::Chat, 500, &[], long.as_bytes());
    assert_eq!(fault.message.chars().count(), ModelFault::LONGEST);
}

proptest! {
    #[test]
    fn any_body_is_a_refusal(
        status in any::<u16>(),
        body in prop::collection::vec(any::<u8>(), 0..500),
        wait in ".{0,20}",
    ) {
        for wire in WireFormat::ALL {
            let fault = refused(wire, status, &[("retry-after", &wait)], &body);
            prop_assert!(fault.message.chars().count() <= ModelFault::LONGEST);
            prop_assert!(!fault.message.contains(char::is_control));
            prop_assert!(fault.retry_after <= Some(Duration::from_secs(604_800)));
        }
    }

    #[test]
    fn any_page_is_a_refusal(page in "(<(title|script|p|/[a-z]+|é)?>?|[a-z<>é ]{0,5}){0,20}") {
        let fault = refused(WireFormat::Chat, 502, &[], page.as_bytes());
        prop_assert_eq!(fault.kind, ModelFaultKind::Server);
    }
}
