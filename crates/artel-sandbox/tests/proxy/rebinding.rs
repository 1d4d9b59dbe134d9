//! A name whose addresses change between two looks at it.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};

use artel_sandbox::proxy::ProxyResolver;

use crate::support::{PUBLIC, World, server};

/// Answers every connection with the same few words.
fn web() -> SocketAddr {
    server(|mut stream| {
        use std::io::Write as _;
        let head = crate::support::read_head(&mut stream);
        assert!(!head.is_empty());
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
        stream.write_all(answer).ok();
    })
}

/// First public, then somewhere else.
fn rebinds(later: IpAddr) -> ProxyResolver {
    let turns = AtomicUsize::new(0);
    ProxyResolver::new(move |_| {
        Ok(vec![match turns.fetch_add(1, Ordering::Relaxed) {
            0 => PUBLIC.parse().unwrap(),
            _ => later,
        }])
    })
}

const PRIVATE: [&str; 4] = [
    "127.0.0.1",
    "169.254.169.254",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
];

/// Requests of one connection are judged one by one, each by its own look-up, or the connection
/// ends.
#[test]
fn a_name_that_changes_within_a_connection_leads_nowhere_private() {
    for later in PRIVATE {
        let mut world = World::granting(&["rebind.test"]).everywhere(web());
        world.resolver = Some(rebinds(later.parse().unwrap()));
        let running = world.start();
        let one = "GET http://rebind.test/ HTTP/1.1\r\nHost: rebind.test\r\n\r\n";
        let two = one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        running.say_half(format!("{one}{two}"));
        let again = running.say_text(&two);
        assert!(again.starts_with("HTTP/1.1 403 "), "{later}: {again}");
        let public: IpAddr = PUBLIC.parse().unwrap();
        let dialled = running.dialled();
        let all_public = dialled.iter().all(|to| to.ip() == public);
        assert!(!dialled.is_empty() && all_public, "{later}: {dialled:?}");
    }
}

/// Of several addresses that a name has at once, none is private: a mixed answer is no way in.
#[test]
fn a_name_with_a_private_address_among_others_leads_nowhere_private() {
    for private in PRIVATE {
        let mut world = World::granting(&["mixed.test"]).everywhere(web());
        let private: IpAddr = private.parse().unwrap();
        world.resolver = Some(ProxyResolver::new(move |_| {
            Ok(vec![private, PUBLIC.parse().unwrap(), private])
        }));
        let running = world.start();
        let says =
            "GET http://mixed.test/ HTTP/1.1\r\nHost: mixed.test\r\nConnection: close\r\n\r\n";
        running.say_text(says);
        running.say_text("CONNECT mixed.test:443 HTTP/1.1\r\nHost: mixed.test:443\r\n\r\n");
        let dialled = running.dialled();
        let none_private = dialled.iter().all(|to| to.ip() != private);
        assert!(none_private, "{private}: {dialled:?}");
    }
}

/// The name in the head is not the one that is looked up: what was granted is what is dialled.
#[test]
fn another_name_in_the_head_leads_nowhere_else() {
    let world = World::granting(&["granted.test"]).everywhere(web());
    let mut world = world
        .name("granted.test", &[PUBLIC])
        .name("other.test", &["93.184.216.35"]);
    world.resolver = None;
    let running = world.start();
    for request in [
        "GET http://granted.test/ HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n",
        "GET http://other.test/ HTTP/1.1\r\nHost: granted.test\r\nConnection: close\r\n\r\n",
        "GET http://granted.test@other.test/ HTTP/1.1\r\nHost: granted.test\r\nConnection: close\r\n\r\n",
        "GET http://other.test#@granted.test/ HTTP/1.1\r\nHost: granted.test\r\nConnection: close\r\n\r\n",
        "CONNECT granted.test:443@other.test:443 HTTP/1.1\r\nHost: granted.test\r\n\r\n",
    ] {
        running.say_text(request);
    }
    let asked = running.asked();
    assert!(asked.iter().all(|name| name == "granted.test"), "{asked:?}");
    let other: IpAddr = "93.184.216.35".parse().unwrap();
    assert!(running.dialled().iter().all(|to| to.ip() != other));
}
