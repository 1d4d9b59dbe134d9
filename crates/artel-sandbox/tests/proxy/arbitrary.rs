//! Arbitrary bytes: the proxy neither falls over nor dials what was not granted.

use std::net::SocketAddr;

use artel_sandbox::proxy::{ProxyRequest, SocksRequest};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{PUBLIC, World, web_server};

/// Pieces that are likely to add up to something.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"CONNECT ".to_vec()),
        Just(b"GET http://".to_vec()),
        Just(b"POST http://".to_vec()),
        Just(b"example.test".to_vec()),
        Just(b"evil.test".to_vec()),
        Just(b"127.0.0.1".to_vec()),
        Just(b"[::1]".to_vec()),
        Just(b":443".to_vec()),
        Just(b":80".to_vec()),
        Just(b"@".to_vec()),
        Just(b"/".to_vec()),
        Just(b" HTTP/1.1\r\n".to_vec()),
        Just(b"Host: ".to_vec()),
        Just(b"Content-Length: 3".to_vec()),
        Just(b"Transfer-Encoding: chunked".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b"\0".to_vec()),
        Just(vec![5, 1, 0]),
        Just(b"\x05\x01\x00\x03\x0cexample.test\x01\xbb".to_vec()),
        Just(b"\x05\x01\x00\x03\x09evil.test\x01\xbb".to_vec()),
        Just(vec![5, 1, 0, 1, 127, 0, 0, 1, 0, 80]),
        vec(any::<u8>(), 0..8),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Requests that are almost right, with anything behind them.
fn requests() -> impl Strategy<Value = Vec<u8>> {
    let host = prop_oneof![
        6 => Just("example.test"),
        1 => Just("evil.test"),
        1 => Just("127.0.0.1"),
        1 => Just("example.test@evil.test"),
    ];
    let line = prop_oneof![
        Just("Host: example.test\r\n"),
        Just("Host: evil.test\r\n"),
        Just("Accept: */*\r\n"),
        Just("Content-Length: 3\r\n"),
        Just("Transfer-Encoding: chunked\r\n"),
    ];
    let http = (any::<bool>(), host.clone(), vec(line, 0..3), pieces()).prop_map(
        |(connect, host, lines, more)| {
            let first = if connect {
                format!("CONNECT {host}:443 HTTP/1.1\r\n")
            } else {
                format!("GET http://{host}/ HTTP/1.1\r\n")
            };
            [first.as_bytes(), lines.concat().as_bytes(), b"\r\n", &more].concat()
        },
    );
    let socks = (host, pieces()).prop_map(|(host, more)| {
        let length = u8::try_from(host.len()).unwrap();
        let head = [5, 1, 0, 5, 1, 0, 3, length];
        [&head, host.as_bytes(), &[1, 187], &more].concat()
    });
    prop_oneof![http, socks, pieces()]
}

#[test]
fn whatever_is_said_only_what_was_granted_is_dialled() {
    let (address, _) = web_server("HTTP/1.1 204 No Content\r\n\r\n");
    let running = World::granting(&["example.test"])
        .name("example.test", &[PUBLIC])
        .name("evil.test", &["1.1.1.1"])
        .everywhere(address)
        .start();
    let granted: [SocketAddr; 2] =
        [80, 443].map(|port| (PUBLIC.parse::<std::net::IpAddr>().unwrap(), port).into());
    proptest!(ProptestConfig::with_cases(512), |(said in requests())| {
        running.say_half(&said);
        for dialled in running.dialled() {
            prop_assert!(granted.contains(&dialled), "{said:?} dialled {dialled}");
        }
        prop_assert!(running.asked().iter().all(|name| name == "example.test"));
    });
    assert!(!running.dialled().is_empty(), "some of it was a request");
    // It still works, and nothing of what came before is left behind.
    let answer = running.say_text("GET http://example.test/ HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
}

proptest! {
    #[test]
    fn a_head_names_one_host_and_goes_out_as_one_head(mut said in requests()) {
        said.extend_from_slice(b"\r\n\r\n");
        if let Ok(request) = ProxyRequest::parse(&said) {
            let host = request.host();
            prop_assert_eq!(artel_sandbox::GrantedHost::parse(&host.to_string()), Ok(host));
            if let Some(head) = request.forwarded() {
                let ends = head.windows(4).filter(|window| window == b"\r\n\r\n").count();
                prop_assert_eq!(ends, 1, "one head");
                prop_assert!(head.ends_with(b"\r\n\r\n"));
            }
        }
    }

    #[test]
    fn a_socks_request_does_not_change_with_what_follows(said in pieces(), more in pieces()) {
        if let Ok(Some((request, length))) = SocksRequest::parse(&said) {
            let longer = [said.as_slice(), &more].concat();
            prop_assert_eq!(SocksRequest::parse(&longer), Ok(Some((request, length))));
            prop_assert_eq!(SocksRequest::parse(&said[..length - 1]), Ok(None));
        }
    }
}
