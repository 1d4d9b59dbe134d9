//! HTTP: tunnels and plain requests, and heads that try to say two things at once.

use std::io::{Read, Write};
use std::net::Shutdown;

use artel_sandbox::proxy::{ProxyAccess, ProxyAccessOutcome, ProxyRequest};

use crate::support::{PUBLIC, Running, World, read_head, rest, server, web_server};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A world with `example.test`, which leads to one server on every port that is granted.
fn example(answer: &'static str) -> (Running, std::sync::Arc<std::sync::Mutex<Vec<String>>>) {
    let (address, heads) = web_server(answer);
    let running = World::granting(&["example.test", "example.test:8080"])
        .name("example.test", &[PUBLIC])
        .name("evil.test", &["1.1.1.1"])
        .everywhere(address)
        .start();
    (running, heads)
}

#[test]
fn a_plain_request_is_written_anew_for_the_server() {
    let (running, heads) = example(OK);
    let answer = running.say_text(
        "GET http://EXAMPLE.test:8080/a/b?c=d HTTP/1.1\r\nHost: example.test:8080\r\n\
         Proxy-Connection: keep-alive\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\n\
         Proxy-Authorization: Basic Zm9v\r\nTE: trailers\r\nUpgrade: h2c\r\nKeep-Alive: 5\r\n\
         Accept: */*\r\nX-Kept: caf\u{e9}\r\n\r\n",
    );
    assert_eq!(
        answer,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
    );
    let heads = heads.lock().unwrap();
    assert_eq!(
        heads.as_slice(),
        [
            "GET /a/b?c=d HTTP/1.1\r\nHost: example.test:8080\r\naccept: */*\r\n\
          x-kept: caf\u{e9}\r\nConnection: close\r\n\r\n"
        ]
    );
}

#[test]
fn the_path_is_what_follows_the_host() {
    for (asked, line) in [
        ("GET http://example.test", "GET / HTTP/1.1"),
        (
            "GET http://example.test?q=http://evil.test/",
            "GET /?q=http://evil.test/ HTTP/1.1",
        ),
        (
            "GET HTTP://example.test/@evil.test",
            "GET /@evil.test HTTP/1.1",
        ),
        (
            "GET http://example.test//evil.test/",
            "GET //evil.test/ HTTP/1.1",
        ),
        ("OPTIONS http://example.test", "OPTIONS * HTTP/1.1"),
        ("DELETE http://example.test:80/x", "DELETE /x HTTP/1.1"),
    ] {
        let request = ProxyRequest::parse(format!("{asked} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let expected = format!("{line}\r\nHost: example.test\r\nConnection: close\r\n\r\n");
        assert_eq!(request.forwarded(), Some(expected.as_bytes()), "{asked}");
    }
}

/// Heads that ask for something else, or for two things at once, and the status of the answer.
const REFUSED: &[(&str, u16)] = &[
    ("GET http://evil.test/ HTTP/1.1\r\n\r\n", 403),
    ("GET http://example.test:81/ HTTP/1.1\r\n\r\n", 403),
    ("GET http://example.test@evil.test/ HTTP/1.1\r\n\r\n", 403),
    ("GET http://user:pass@example.test/ HTTP/1.1\r\n\r\n", 403),
    (
        "GET http://example.test:80@evil.test/ HTTP/1.1\r\n\r\n",
        403,
    ),
    ("GET http://example.test\\@evil.test/ HTTP/1.1\r\n\r\n", 403),
    ("GET http://evil.test\\.example.test/ HTTP/1.1\r\n\r\n", 403),
    (
        "GET http://evil.test%00.example.test/ HTTP/1.1\r\n\r\n",
        403,
    ),
    ("GET http:///example.test/ HTTP/1.1\r\n\r\n", 403),
    ("GET http://127.0.0.1/ HTTP/1.1\r\n\r\n", 403),
    ("GET http://2130706433/ HTTP/1.1\r\n\r\n", 403),
    ("GET http://0x7f.1/ HTTP/1.1\r\n\r\n", 403),
    ("GET http://localhost./ HTTP/1.1\r\n\r\n", 403),
    ("GET http://[::ffff:127.0.0.1]/ HTTP/1.1\r\n\r\n", 403),
    ("GET http://evil.test#@example.test/ HTTP/1.1\r\n\r\n", 400),
    ("GET https://example.test/ HTTP/1.1\r\n\r\n", 400),
    ("GET ftp://example.test/ HTTP/1.1\r\n\r\n", 400),
    ("GET file:///etc/passwd HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n", 400),
    ("GET example.test HTTP/1.1\r\n\r\n", 400),
    ("GET //example.test/ HTTP/1.1\r\n\r\n", 400),
    (
        "GET http://example.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        400,
    ),
    (
        "GET http://example.test/ HTTP/1.1\r\nHost: example.test:8080\r\n\r\n",
        400,
    ),
    (
        "GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\nHost: evil.test\r\n\r\n",
        400,
    ),
    (
        "GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\nhost: example.test\r\n\r\n",
        400,
    ),
    ("GET http://example.test/ HTTP/1.1\r\nHost:\r\n\r\n", 400),
    (
        "GET http://example.test/ HTTP/1.1\r\nHost : example.test\r\n\r\n",
        400,
    ),
    (
        "GET http://example.test/ HTTP/1.1\r\n Host: evil.test\r\n\r\n",
        400,
    ),
    (
        "GET http://example.test/ HTTP/1.1\r\nX: y\r\n folded\r\n\r\n",
        400,
    ),
    (
        "GET http://example.test/ HTTP/1.1\r\nX: y\nHost: evil.test\r\n\r\n",
        400,
    ),
    (
        "GET http://example.test/ HTTP/1.1\r\nX: y\rHost: evil.test\r\n\r\n",
        400,
    ),
    ("GET http://example.test/ HTTP/1.1\r\nX: a\0b\r\n\r\n", 400),
    ("GET http://example.test/ HTTP/1.1\r\nNoColon\r\n\r\n", 400),
    ("GET http://example.test/ HTTP/1.1\r\n: empty\r\n\r\n", 400),
    (
        "GET http://example.test/ HTTP/1.1\r\nX\u{7f}: y\r\n\r\n",
        400,
    ),
    ("GET http://example.test/ x HTTP/1.1\r\n\r\n", 400),
    ("GET  http://example.test/ HTTP/1.1\r\n\r\n", 400),
    ("GET http://example.test/\tHTTP/1.1\r\n\r\n", 400),
    ("GET http://example.test/\u{e9} HTTP/1.1\r\n\r\n", 400),
    ("GET http://example.test/ http/1.1\r\n\r\n", 400),
    ("G\"T http://example.test/ HTTP/1.1\r\n\r\n", 400),
    (
        "GET http://example.test/ HTTP/1.1\r\nConnection: host\r\n\r\n",
        400,
    ),
    (
        "GET http://example.test/ HTTP/1.1\r\nConnection: x, Content-Length\r\n\r\n",
        400,
    ),
    ("GET http://example.test/ HTTP/2.0\r\n\r\n", 505),
    ("PRI * HTTP/2.0\r\n\r\n", 505),
    (
        "POST http://example.test/ HTTP/1.1\r\nExpect: a-pony\r\n\r\n",
        417,
    ),
    (
        "CONNECT evil.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n",
        400,
    ),
    (
        "CONNECT example.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n",
        400,
    ),
    (
        "CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:80\r\n\r\n",
        400,
    ),
    (
        "CONNECT example.test:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
        400,
    ),
    (
        "CONNECT example.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        400,
    ),
    ("CONNECT example.test HTTP/1.1\r\n\r\n", 403),
    ("CONNECT example.test:0443 HTTP/1.1\r\n\r\n", 403),
    ("CONNECT example.test:443/ HTTP/1.1\r\n\r\n", 403),
    (
        "CONNECT example.test:443@evil.test:443 HTTP/1.1\r\n\r\n",
        403,
    ),
    ("CONNECT http://example.test:443 HTTP/1.1\r\n\r\n", 403),
    ("CONNECT example.test:22 HTTP/1.1\r\n\r\n", 403),
    ("CONNECT example.test:443\0 HTTP/1.1\r\n\r\n", 400),
];

#[test]
fn what_cannot_be_read_in_one_way_reaches_nobody() {
    let (running, heads) = example(OK);
    let long = format!(
        "GET http://example.test/ HTTP/1.1\r\nX: {}\r\n\r\n",
        "x".repeat(40_000)
    );
    let refused = REFUSED.iter().copied().chain([(long.as_str(), 431)]);
    for (head, status) in refused {
        let answer = running.say_text(head);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{head:?} should be {status}: {answer}"
        );
        assert!(
            answer.contains("\r\nConnection: close\r\n"),
            "{head:?}: {answer}"
        );
    }
    assert_eq!(running.dialled(), []);
    assert_eq!(heads.lock().unwrap().len(), 0);
}

#[test]
fn a_body_that_could_end_in_two_places_reaches_nobody() {
    let (running, _) = example(OK);
    for lines in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: -1",
        "Content-Length: 0x5",
        "Content-Length: 5 5",
        "Content-Length:",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: \u{b}chunked",
    ] {
        let head = format!("POST http://example.test/ HTTP/1.1\r\n{lines}\r\n\r\nhello");
        let answer = running.say_text(head);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{lines}: {answer}");
    }
    let old = "POST http://example.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert!(running.say_text(old).starts_with("HTTP/1.1 400 "));
    assert_eq!(running.dialled(), []);
}

#[test]
fn the_refusal_says_what_why_and_how() {
    let (mut running, _) = example(OK);
    let answer = running.say_text("GET http://evil.test:8080/ HTTP/1.1\r\n\r\n");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(
        body,
        "artel: evil.test:8080 was not granted\n  \
         try: a person can grant it with `artel sandbox run --net evil.test:8080 -- COMMAND`\n"
    );
    let expected = ProxyAccess {
        host: "evil.test".to_owned(),
        port: 8080,
        verdict: ProxyAccessOutcome::Refused {
            why: "evil.test:8080 was not granted".to_owned(),
        },
        bytes_up: 0,
        bytes_down: 0,
    };
    assert_eq!(running.passages(), [expected]);
}

#[test]
fn a_second_request_on_the_same_connection_never_passes() {
    let (running, heads) = example(OK);
    let two = "GET http://example.test/1 HTTP/1.1\r\n\r\nGET http://evil.test/2 HTTP/1.1\r\n\r\n";
    let answer = running.say_text(two);
    assert!(
        answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hello"),
        "{answer}"
    );
    let body = "POST http://example.test/3 HTTP/1.1\r\nContent-Length: 2\r\n\r\n\
                hiGET http://evil.test/4 HTTP/1.1\r\n\r\n";
    assert!(running.say_text(body).ends_with("hello"));
    let heads = heads.lock().unwrap();
    assert_eq!(heads.len(), 2);
    assert!(heads[0].starts_with("GET /1 ") && heads[1].starts_with("POST /3 "));
    assert_eq!(running.asked(), ["example.test", "example.test"]);
}

#[test]
fn a_redirect_is_handed_back_and_not_followed() {
    let moved = "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n\
                 Content-Length: 0\r\nConnection: keep-alive\r\n\r\n";
    let (running, _) = example(moved);
    let answer = running.say_text("GET http://example.test/ HTTP/1.1\r\n\r\n");
    assert_eq!(
        answer,
        "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(running.dialled().len(), 1);
}

#[test]
fn a_body_arrives_whole_and_nothing_behind_it() {
    for (body, expected) in [
        ("Content-Length: 5\r\n\r\nhello", "hello"),
        (
            "Transfer-Encoding: CHUNKED\r\n\r\n3;name=x\r\nhel\r\n002\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n",
            "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        ),
    ] {
        let length = expected.len();
        let address = server(move |mut stream| {
            read_head(&mut stream);
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&body).unwrap();
            // Anything behind the body would come before the end.
            assert_eq!(rest(&mut stream), b"");
        });
        let running = World::granting(&["example.test"])
            .name("example.test", &[PUBLIC])
            .everywhere(address)
            .start();
        let request = format!("POST http://example.test/ HTTP/1.1\r\n{body}SMUGGLED");
        let answer = running.say_text(request);
        assert!(answer.ends_with(&format!("\r\n\r\n{expected}")), "{answer}");
    }
}

#[test]
fn a_body_that_breaks_its_rules_is_cut() {
    for body in [
        "zz\r\n",
        "-1\r\n",
        "5\nhello\r\n",
        "5\r\nhelloXX\r\n0\r\n\r\n",
        "\r\n",
        "5;\r\x01\r\n",
    ] {
        let address = server(|mut stream| {
            rest(&mut stream);
        });
        let running = World::granting(&["example.test"])
            .name("example.test", &[PUBLIC])
            .everywhere(address)
            .start();
        let head = "POST http://example.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let answer = running.say_text(format!("{head}{body}"));
        assert_eq!(answer, "", "{body:?}");
    }
}

#[test]
fn answers_end_where_they_say() {
    for (method, answer, expected) in [
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n", ""),
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", ""),
        (
            "GET",
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
            "",
        ),
        (
            "GET",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloMORE",
            "hello",
        ),
        ("GET", "HTTP/1.0 200 OK\r\n\r\nall of it", "all of it"),
        ("GET", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "ok"),
        (
            "GET",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nMORE",
            "2\r\nok\r\n0\r\n\r\n",
        ),
        (
            "GET",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "ok",
        ),
        (
            "GET",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
            "short",
        ),
    ] {
        let (running, _) = example(answer);
        let whole = running.say_text(format!("{method} http://example.test/ HTTP/1.1\r\n\r\n"));
        let (_, body) = whole.rsplit_once("Connection: close\r\n\r\n").unwrap();
        assert_eq!(body, expected, "{answer}");
    }
    for odd in [
        "",
        "SSH-2.0-x\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 2\r\n\r\n",
    ] {
        let (running, _) = example(odd);
        let answer = running.say_text("GET http://example.test/ HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 502 "), "{odd:?}: {answer}");
    }
}

#[test]
fn a_client_that_waits_to_be_told_is_told() {
    let (running, heads) = example(OK);
    let mut stream = running.connect();
    let head = "POST http://example.test/ HTTP/1.1\r\nExpect: 100-continue\r\n\
                Content-Length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(read_head(&mut stream), "HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"hi").unwrap();
    assert!(rest(&mut stream).ends_with(b"hello"));
    assert!(!heads.lock().unwrap()[0].contains("xpect"));
}

#[test]
fn an_early_answer_arrives_while_the_body_is_still_coming() {
    let (running, _) = example("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    let mut stream = running.connect();
    let head = "POST http://example.test/ HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    assert!(read_head(&mut stream).starts_with("HTTP/1.1 413 "));
}

#[test]
fn a_tunnel_carries_bytes_both_ways_and_both_ends() {
    let address = server(|mut stream| {
        let asked = rest(&mut stream);
        stream.write_all(b"you said ").unwrap();
        stream.write_all(&asked).unwrap();
    });
    let mut running = World::granting(&["example.test"])
        .name("example.test", &[PUBLIC])
        .everywhere(address)
        .start();
    let mut stream = running.connect();
    stream
        .write_all(b"CONNECT example.test:443 HTTP/1.1\r\nHost: example.test\r\n\r\nearly ")
        .unwrap();
    assert_eq!(
        read_head(&mut stream),
        "HTTP/1.1 200 Connection established\r\n\r\n"
    );
    let much = vec![b'x'; 3_000_000];
    let mut writer = stream.try_clone().unwrap();
    let sent = much.clone();
    let sender = std::thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let answer = rest(&mut stream);
    sender.join().unwrap();
    assert_eq!(answer.len(), "you said early ".len() + much.len());
    assert!(answer.starts_with(b"you said early xxx"));
    let expected = ProxyAccess {
        host: "example.test".to_owned(),
        port: 443,
        verdict: ProxyAccessOutcome::Allowed {
            address: "93.184.216.34:443".parse().unwrap(),
        },
        bytes_up: 3_000_006,
        bytes_down: 3_000_015,
    };
    assert_eq!(running.passages(), [expected]);
}

#[test]
fn a_host_that_is_not_there_is_told_apart_from_one_that_is_refused() {
    let mut running = World::granting(&["gone.test", "dead.test"])
        .name("dead.test", &[PUBLIC])
        .start();
    for name in ["gone.test", "dead.test"] {
        let answer = running.say_text(format!("GET http://{name}/ HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    }
    let passages = running.passages();
    assert_eq!(passages.len(), 2);
    let unreachable = |p: &ProxyAccess| matches!(p.verdict, ProxyAccessOutcome::Unreachable { .. });
    assert!(passages.iter().all(unreachable), "{passages:?}");
}
