//! The network: listeners that answer everyone outside are out of reach inside.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixListener};

use artel_sandbox::{CommandExit, GrantedHost, ProxyDoorKind, SandboxNetwork};

use crate::fixture::{Place, finish, run, start};

/// Answers every connection with `pong`, as long as the test runs.
fn serve_tcp(address: &str) -> SocketAddr {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer));
    address
}

fn answer(mut stream: std::net::TcpStream) {
    let mut question = [0; 4];
    if stream.read_exact(&mut question).is_ok() {
        // Whoever asked may be gone.
        drop(stream.write_all(b"pong"));
    }
}

fn serve_udp(address: &str) -> SocketAddr {
    let socket = UdpSocket::bind(address).unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut question = [0; 16];
        while let Ok((_, from)) = socket.recv_from(&mut question) {
            drop(socket.send_to(b"pong", from));
        }
    });
    address
}

#[test]
fn tcp_and_udp_listeners_of_the_host_are_out_of_reach() {
    let place = Place::new();
    let listeners = [
        ("tcp", serve_tcp("127.0.0.1:0")),
        ("tcp", serve_tcp("[::1]:0")),
        ("udp", serve_udp("127.0.0.1:0")),
        ("udp", serve_udp("[::1]:0")),
    ];
    for (kind, address) in listeners {
        let script = format!("\"$PROBE\" {kind} {address}");
        assert_eq!(
            place.outside(&script).stdout,
            "open pong\n",
            "{kind} {address}"
        );
        let inside = place.inside(&script);
        assert!(
            inside.stdout.starts_with("shut"),
            "{kind} {address}: {inside:?}"
        );
    }
}

#[test]
fn every_address_beyond_the_loopback_is_unreachable() {
    let place = Place::new();
    let addresses = [
        "192.0.2.1:80",
        "10.0.0.1:80",
        "169.254.169.254:80",
        "8.8.8.8:53",
        "224.0.0.1:80",
        "[2001:db8::1]:80",
        "[fe80::1%1]:80",
        "[fd00::1]:80",
    ];
    let unreachable = format!("shut {}\n", libc::ENETUNREACH);
    for address in addresses {
        for kind in ["tcp", "udp"] {
            let inside = place.inside(&format!("\"$PROBE\" {kind} '{address}'"));
            let said = inside.stdout.as_str();
            assert!(
                said == unreachable || said.starts_with("shut"),
                "{address}: {inside:?}"
            );
        }
    }
    let interfaces = place.inside("cat /proc/net/dev").stdout;
    let names: Vec<_> = interfaces
        .lines()
        .skip(2)
        .filter_map(|line| line.split(':').next())
        .collect();
    assert_eq!(
        names.iter().map(|name| name.trim()).collect::<Vec<_>>(),
        ["lo"]
    );
}

#[test]
fn names_are_not_resolved() {
    let place = Place::new();
    let inside = place.inside("getent ahosts example.com; echo code $?");
    assert!(!inside.stdout.contains("code 0"), "{inside:?}");
}

#[test]
fn local_sockets_of_the_host_are_out_of_reach() {
    let place = Place::new();
    let path = place.outside.join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let script = format!("\"$PROBE\" unix {}", path.display());
    assert_eq!(place.outside(&script).stdout, "open connected\n");
    assert!(place.inside(&script).stdout.starts_with("shut"));

    let name = format!("artel-walls-{}", std::process::id());
    let address = UnixAddress::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let script = format!("\"$PROBE\" abstract {name}");
    assert_eq!(place.outside(&script).stdout, "open connected\n");
    assert!(place.inside(&script).stdout.starts_with("shut"));
}

#[test]
fn a_socket_of_the_host_inside_a_writable_folder_is_out_of_reach_too() {
    let place = Place::new();
    std::fs::create_dir(place.inside.join("deep")).unwrap();
    for path in ["socket", "deep/socket"].map(|name| place.inside.join(name)) {
        let _listener = UnixListener::bind(&path).unwrap();
        let script = format!("\"$PROBE\" unix {}", path.display());
        assert_eq!(place.outside(&script).stdout, "open connected\n");
        assert!(place.inside(&script).stdout.starts_with("shut"), "{path:?}");
    }
}

#[test]
fn sockets_inside_work_among_themselves() {
    let place = Place::new();
    let script = "python3 - <<'END'\n\
        import socket, os, threading\n\
        for family, address in [(socket.AF_INET, ('127.0.0.1', 0)), (socket.AF_INET6, ('::1', 0)), (socket.AF_UNIX, 'own-socket')]:\n\
        \x20   s = socket.socket(family); s.bind(address); s.listen()\n\
        \x20   c = socket.socket(family); c.connect(s.getsockname()); a, _ = s.accept()\n\
        \x20   c.sendall(b'x'); print(a.recv(1).decode(), end='')\n\
        a, b = socket.socketpair(); a.send(b'y'); print(b.recv(1).decode(), end='')\n\
        print(len(socket.if_nameindex()))\n\
        END";
    let mut job = place.job(&["/bin/sh", "-c", script]);
    job.env[0].1 = "/usr/bin:/bin".into();
    let inside = run(&job);
    assert_eq!(inside.stdout, "xxxy1\n", "{inside:?}");
}

#[test]
fn a_grant_opens_its_doors_and_nothing_else() {
    let place = Place::new();
    let listener = serve_tcp("127.0.0.1:0");
    let granted = ["192.0.2.7:8080", "[2001:db8::7]:443", "127.0.0.1:9"];
    let script = format!(
        "for a in 192.0.2.7:8080 '[2001:db8::7]:443' 127.0.0.1:9; do \"$PROBE\" tcp $a; done; \
         \"$PROBE\" tcp 192.0.2.7:81; \"$PROBE\" tcp 192.0.2.8:8080; \"$PROBE\" tcp {listener}; \
         \"$PROBE\" tcp ${{HTTPS_PROXY#http://}}; echo $http_proxy$NO_PROXY$no_proxy"
    );
    let mut job = place.job(&["/bin/sh", "-c", &script]);
    job.env.push(("NO_PROXY".into(), "*".into()));
    job.env.push(("no_proxy".into(), "*".into()));
    let mut hosts = vec![host("example.com", None)];
    for address in granted {
        let address: SocketAddr = address.parse().unwrap();
        hosts.push(host(&address.ip().to_string(), Some(address.port())));
    }
    job.network = SandboxNetwork::Hosts(hosts);
    let mut started = start(&job);
    let doors = std::mem::take(&mut started.doors);
    let kinds: Vec<_> = doors.iter().map(|door| door.kind).collect();
    let expected = granted.map(|address| ProxyDoorKind::Address(address.parse().unwrap()));
    assert_eq!(kinds, [&[ProxyDoorKind::Proxy][..], &expected].concat());
    for door in doors {
        std::thread::spawn(move || door.listener.incoming().flatten().for_each(answer));
    }
    let inside = finish(started);
    let lines: Vec<_> = inside.stdout.lines().collect();
    assert_eq!(lines[..3], ["open pong"; 3], "{inside:?}");
    assert!(
        lines[3..6].iter().all(|line| line.starts_with("shut")),
        "{inside:?}"
    );
    assert_eq!(lines[6], "open pong", "{inside:?}");
    assert!(
        lines[7].starts_with("http://127.0.0.1:") && !lines[7].contains('*'),
        "{inside:?}"
    );
}

#[test]
fn an_empty_grant_is_none() {
    let place = Place::new();
    let mut job = place.job(&["/bin/sh", "-c", "echo \"[$HTTP_PROXY]\""]);
    job.network = SandboxNetwork::Hosts(Vec::new());
    let started = start(&job);
    assert!(started.doors.is_empty());
    let inside = finish(started);
    assert_eq!(
        (inside.exit, inside.stdout.as_str()),
        (CommandExit::Code(0), "[]\n")
    );
}

fn host(name: &str, port: Option<u16>) -> GrantedHost {
    GrantedHost {
        name: name.to_owned(),
        port,
    }
}
