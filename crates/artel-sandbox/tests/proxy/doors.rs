//! Doors that lead to one address, in both families, and the ends of everything.

use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::sync::Arc;

use artel_sandbox::proxy::{FilteringProxy, ProxyAccess, ProxyAccessOutcome, ProxyResolver};
use artel_sandbox::{GrantedHost, ProxyDoor, ProxyDoorKind};

use crate::support::{World, connect, echo, echo_server, rest, server_at};

#[test]
fn a_door_leads_to_exactly_its_address() {
    for loopback in ["127.0.0.1:0", "[::1]:0"] {
        let address = server_at(loopback, echo);
        let host = GrantedHost::parse(&address.to_string()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let doors = vec![ProxyDoor {
            listener,
            kind: ProxyDoorKind::Address(address),
        }];
        // The real dialer: what is granted by its address is dialled as it is.
        let (told, passages) = std::sync::mpsc::channel();
        let observer = Arc::new(move |passage: ProxyAccess| told.send(passage).unwrap());
        let proxy =
            FilteringProxy::serve(doors, vec![host], ProxyResolver::system(), observer).unwrap();

        let mut stream = connect(at);
        // It is no proxy: whatever is said goes through.
        let said = b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n";
        stream.write_all(said).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(rest(&mut stream), said);
        let passage = passages.recv().unwrap();
        assert_eq!(passage.verdict, ProxyAccessOutcome::Allowed { address });
        assert_eq!((passage.bytes_up, passage.bytes_down), (34, 34));
        assert_eq!(proxy.stop().allowed, 1);
    }
}

#[test]
fn a_door_to_what_was_not_granted_is_shut() {
    let address: SocketAddr = echo_server();
    for grants in [[].as_slice(), &["127.0.0.1:1"], &["example.test"]] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let running = World::granting(grants)
            .door(listener, ProxyDoorKind::Address(address))
            .start();
        let mut stream = connect(at);
        stream.write_all(b"ping").ok();
        assert_eq!(rest(&mut stream), b"", "{grants:?}");
        assert_eq!(running.dialled(), []);
    }
}

#[test]
fn grants_in_another_spelling_start_no_proxy() {
    for name in ["127.1", "a b", "evil.test@example.test", ""] {
        let grant = GrantedHost {
            name: name.to_owned(),
            port: None,
        };
        let observer = Arc::new(|_| {});
        let refused =
            FilteringProxy::serve(Vec::new(), vec![grant], ProxyResolver::system(), observer);
        assert!(refused.is_err(), "{name:?}");
    }
}
