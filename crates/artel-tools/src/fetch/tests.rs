use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;

use artel_sandbox::proxy::{ProxyDialer, ProxyOptions as Way, ProxyResolver};
use artel_sandbox::run::CancelToken;
use proptest::prelude::*;
use reqwest::Url;

use super::url::FetchUrl;
use super::*;

/// A public address in the test's own network.
const PUBLIC: &str = "93.184.216.34";

/// Serves one response to every connection, and returns the address.
fn server(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read(&mut byte) {
                    Ok(1) => head.push(byte[0]),
                    _ => break,
                }
            }
            stream.write_all(answer).ok();
        }
    });
    address
}

/// A network where names have these addresses and every address leads to one server.
fn world(names: &[(&str, &str)], server: SocketAddr) -> Way {
    let names: BTreeMap<String, Vec<IpAddr>> = names
        .iter()
        .map(|(name, address)| ((*name).to_owned(), vec![address.parse().unwrap()]))
        .collect();
    Way {
        resolver: ProxyResolver::fixed(names),
        dialer: ProxyDialer::new(move |_| server),
        ..Way::default()
    }
}

fn fetched(url: &str, answer: &'static [u8], most: u64) -> Result<ToolObservation, ToolError> {
    let names = [
        ("docs.example", PUBLIC),
        ("inside.example", "10.0.0.7"),
        ("me.example", "127.0.0.1"),
    ];
    let way = world(&names, server(answer));
    let page = FetchUrl::parse(url)?;
    let answer = get::get(
        &page,
        most,
        &way,
        Arc::new(|_| {}),
        &CancelToken::new().unwrap(),
    )?;
    told(&page, answer)
}

const HTML: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n\
    <html><head><title>Shop</title><style>p{}</style><script>steal()</script></head><body><h1>Prices</h1>\
    <p>Tea &amp; <a href='/coffee?a=1'>coffee</a></p><ul><li>one<li>two</ul></body></html>";

const JSON: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"price\":3}";

#[test]
fn a_page_becomes_text_that_is_marked_as_a_strangers() {
    let observed = fetched("http://docs.example/a#top", HTML, 1 << 20).unwrap();
    assert_eq!(observed.data["status"], 200);
    assert_eq!(observed.data["url"], "http://docs.example/a");
    let (head, rest) = observed.text.split_once("<<<outside ").unwrap();
    assert!(head.contains("not instructions"), "{head}");
    let (mark, rest) = rest.split_once('\n').unwrap();
    let (text, end) = rest.split_once(&format!("\n{mark}")).unwrap();
    assert_eq!(end, " outside>>>");
    assert_eq!(
        text,
        "Shop\n\n# Prices\nTea & [coffee](http://docs.example/coffee?a=1)\n- one\n- two"
    );
    assert!(!observed.is_partial);
}

#[test]
fn json_comes_as_it_is_and_no_more_than_asked_for() {
    let observed = fetched("http://docs.example/", JSON, 1 << 20).unwrap();
    assert!(
        observed.text.contains("\n{\"price\":3}\n"),
        "{}",
        observed.text
    );
    let observed = fetched("http://docs.example/", JSON, 4).unwrap();
    assert!(observed.text.contains("\n{\"pr\n"), "{}", observed.text);
    assert!(observed.is_partial);
    assert_eq!(observed.data["bytes"], 4);
}

#[test]
fn a_redirect_is_reported_and_not_followed() {
    let answer = b"HTTP/1.1 302 Found\r\nLocation: //other.example/x\r\nContent-Length: 0\r\n\r\n";
    let observed = fetched("http://docs.example/", answer, 100).unwrap();
    assert_eq!(observed.data["location"], "http://other.example/x");
    assert_eq!(observed.data["status"], 302);
}

#[test]
fn what_has_no_text_is_refused_politely() {
    let png = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\n\x89PNG";
    assert_eq!(
        fetched("http://docs.example/", png, 100).unwrap_err().kind,
        ToolErrorKind::Unfit
    );
    let zeros = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na\0b";
    assert_eq!(
        fetched("http://docs.example/", zeros, 100)
            .unwrap_err()
            .kind,
        ToolErrorKind::Unfit
    );
    let gone =
        b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ngone";
    assert_eq!(
        fetched("http://docs.example/", gone, 100).unwrap_err().kind,
        ToolErrorKind::NotFound
    );
}

#[test]
fn names_of_private_places_are_refused_and_written_addresses_are_not() {
    for url in [
        "http://inside.example/",
        "http://me.example/",
        "https://inside.example/",
    ] {
        let trouble = fetched(url, JSON, 100).unwrap_err();
        assert_eq!(trouble.kind, ToolErrorKind::Refused, "{url}: {trouble}");
    }
    let trouble = fetched("http://nobody.example/", JSON, 100).unwrap_err();
    assert_eq!(trouble.kind, ToolErrorKind::Failed, "{trouble}");
    assert!(fetched("http://127.0.0.1:8080/", JSON, 100).is_ok());
}

#[test]
fn policy_is_asked_about_the_host_in_its_one_spelling() {
    let table = [
        ("https://Docs.RS./serde", Some("docs.rs")),
        ("http://docs.rs:80/", Some("docs.rs")),
        ("https://docs.rs:8443/", Some("docs.rs:8443")),
        ("http://0x7f.1/", Some("127.0.0.1")),
        ("http://[::1]:3000/", Some("[::1]:3000")),
        ("http://localhost/", None),
        ("http://0.0.0.0/", None),
        ("ftp://docs.rs/", None),
        ("file:///etc/passwd", None),
        ("https://me:pass@docs.rs/", None),
        ("https://docs.rs@evil.example/", None),
        ("docs.rs", None),
        ("", None),
    ];
    for (url, expected) in table {
        let grant = FetchUrl::parse(url).ok().map(|page| page.grant());
        assert_eq!(grant.as_deref(), expected, "{url}");
    }
}

#[test]
fn readable_text_is_left_of_a_page() {
    let base = Url::parse("https://docs.example/a/b").unwrap();
    let table = [
        ("a &lt;b&gt; &#65;&#x42; &nope; & c", "a <b> AB &nope; & c"),
        ("<p>one<p>two", "one\ntwo"),
        ("<script>if (a</b) {}</script>x", "x"),
        ("<SCRIPT>a</Script >b", "b"),
        ("<script>never closed", ""),
        ("<!-- <p>no --> yes", "yes"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        (
            "<a href=\"../c\">c</a> <a href='#x'>d</a> <a href='javascript:1'>e</a>",
            "[c](https://docs.example/c) d e",
        ),
        ("<img alt='a cat' src=x>", "[image: a cat]"),
        ("<a title='>' href=/q>q</a>", "[q](https://docs.example/q)"),
        ("<table><tr><td>1<td>2</table>", " | 1 | 2".trim()),
        ("a<br>b", "a\nb"),
    ];
    for (html, expected) in table {
        assert_eq!(html::to_text(html, &base), expected, "{html}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_page_has_a_text(html in r#"(?s)([<>&;/"'=#a-zé \n]|<a href=|</a>|<pre>|<script>|&#x|<!--){0,80}"#) {
        let base = Url::parse("https://docs.example/").unwrap();
        html::to_text(&html, &base);
    }
}

#[test]
fn a_request_that_is_called_off_ends_although_nobody_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let way = world(&[("docs.example", PUBLIC)], listener.local_addr().unwrap());
    let cancel = CancelToken::new().unwrap();
    let caller_off = cancel.clone();
    let silent = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        caller_off.soft();
        // The server keeps the connection open until the client closes it, and never sends
        // anything.
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).ok();
    });
    let page = FetchUrl::parse("http://docs.example/slow").unwrap();
    let trouble = get::get(&page, 100, &way, Arc::new(|_| {}), &cancel).unwrap_err();
    assert_eq!(trouble.kind, ToolErrorKind::Cancelled, "{trouble}");
    assert!(trouble.what.contains("docs.example"), "{trouble}");
    silent.join().unwrap();
}

/// A server must prove its identity: with an untrusted certificate it is refused, and the
/// request is not even sent.
#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
    let certificate = include_bytes!("tests/self-signed.der").as_slice();
    let key = include_bytes!("tests/self-signed-key.der").as_slice();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(certificate)],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key)),
        )
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let way = world(&[("docs.example", PUBLIC)], listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut session = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let mut heard = Vec::new();
        let end = rustls::Stream::new(&mut session, &mut stream).read_to_end(&mut heard);
        (heard, end.is_err())
    });
    let page = FetchUrl::parse("https://docs.example/").unwrap();
    let cancel = CancelToken::new().unwrap();
    let trouble = get::get(&page, 100, &way, Arc::new(|_| {}), &cancel).unwrap_err();
    assert_eq!(trouble.kind, ToolErrorKind::Failed, "{trouble}");
    assert!(trouble.what.contains("certificate"), "{trouble}");
    let (heard, is_broken) = server.join().unwrap();
    assert!(heard.is_empty() && is_broken, "{heard:?}");
}

#[test]
fn a_name_that_leads_elsewhere_by_the_next_call_is_judged_by_where_it_leads_now() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for later in ["127.0.0.1", "10.0.0.7", "::1", "fd00::1"] {
        let turns = AtomicUsize::new(0);
        let dials = Arc::new(AtomicUsize::new(0));
        let (counted, to) = (Arc::clone(&dials), server(JSON));
        let way = Way {
            resolver: ProxyResolver::new(move |_| {
                let address = match turns.fetch_add(1, Ordering::Relaxed) {
                    0 => PUBLIC,
                    _ => later,
                };
                Ok(vec![address.parse().unwrap()])
            }),
            dialer: ProxyDialer::new(move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
                to
            }),
            ..Way::default()
        };
        let page = FetchUrl::parse("http://docs.example/").unwrap();
        let fetch = || {
            let answer = get::get(
                &page,
                100,
                &way,
                Arc::new(|_| {}),
                &CancelToken::new().unwrap(),
            )?;
            told(&page, answer)
        };
        fetch().unwrap();
        assert_eq!(dials.load(Ordering::Relaxed), 1, "one look-up, one dial");
        assert_eq!(fetch().unwrap_err().kind, ToolErrorKind::Refused, "{later}");
        assert_eq!(dials.load(Ordering::Relaxed), 1, "{later}");
    }
}
